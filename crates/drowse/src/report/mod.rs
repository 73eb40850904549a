//! Reports for people when nothing moves.

mod deadlock;
mod stall;
mod time;
mod worker;

pub use deadlock::{BlockedWorker, Deadlock};
pub use stall::{Stall, StalledWorker, WaitingThread};
pub(crate) use time::Exact;
pub use worker::{JobFrom, JobReport, WorkerReport, WorkerState};
