//! Reports for people when nothing moves.

mod deadlock;
mod stall;
mod worker;

pub use deadlock::{BlockedWorker, Deadlock};
pub use stall::{Stall, StalledWorker, WaitingThread};
pub use worker::{JobFrom, JobReport, WorkerReport, WorkerState};
