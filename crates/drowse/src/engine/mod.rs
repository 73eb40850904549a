//! The engine: a registry of workers, how they find work, how they wait, and how jobs come in from
//! outside.
//!
//! | file | what |
//! |---|---|
//! | `registry` | what the workers of one pool share |
//! | `start`, `terminate` | how a pool begins and ends |
//! | `absent` | workers without a thread |
//! | `recruit`, `crew` | how its threads are started, and which of them are left |
//! | `worker` | what one worker has for itself |
//! | `search` | where a worker looks for jobs |
//! | `steal` | how it gets at the jobs of others |
//! | `wait` | what a worker does until a latch is set |
//! | `isolate`, `alone`, `lineage` | what a worker does that must not run other jobs |
//! | `in_order` | how it runs the jobs of a fifo meanwhile |
//! | `ancestry` | what a job descends from in other pools |
//! | `parcels` | jobs that are not in a deque, with where they come from |
//! | `place`, `places`, `spare` | who runs in the place of a worker that blocks |
//! | `deep` | what a worker does whose stack is full of waits |
//! | `stock` | counts that a worker holds, so that the shared ones are left alone |
//! | `bound` | how many jobs are under way, where somebody wants no more than so many |
//! | `inject` | jobs from outside |
//! | `join` | two closures, possibly in parallel |
//! | `enter` | how a closure gets to run on a worker |
//! | `guest` | how a thread outside takes the seat of a worker |
//! | `sites` | what is known of the places in a program that enter |
//! | `turns` | how a job from outside gets its turn while all workers are in the middle of others |
//! | `alarm` | who hears that the pool stands still |
//! | `stall` | the watch for workers that do not come back from their jobs |
//! | `outside` | threads outside that wait for the pool, for that watch |
//! | `trail` | what is known of a worker by those who ask why nothing moves |

mod absent;
mod alarm;
mod alone;
mod ancestry;
mod bound;
mod context;
mod crew;
mod current;
mod deep;
mod enter;
mod guest;
mod in_order;
mod inject;
mod isolate;
mod join;
mod lineage;
#[cfg(any(drowse_loom, drowse_shuttle))]
pub(crate) mod models;
mod outside;
mod parcels;
mod place;
mod places;
mod recruit;
mod registry;
mod rng;
mod search;
mod sites;
mod spare;
mod stall;
mod start;
mod steal;
mod stock;
mod terminate;
mod trail;
mod turns;
mod wait;
mod worker;

pub(crate) use alarm::DEADLOCK_AFTER;
#[cfg(any(drowse_loom, drowse_shuttle))]
pub(crate) use bound::Place;
pub(crate) use bound::{Bound, Bounded};
pub(crate) use context::{Captured, Context, Inherited};
pub use crew::BusyThread;
pub(crate) use crew::Unfinished;
pub(crate) use current::End;
pub(crate) use isolate::{Region, Since, is_isolated};
pub(crate) use join::{join_at, join_elsewhere};
pub(crate) use lineage::{Origins, Point};
pub(crate) use place::IfNobody;
pub(crate) use recruit::Recruiter;
pub(crate) use registry::{Handlers, Registry};
pub(crate) use stall::StallPlan;
pub(crate) use start::{Cause, Refused, StartPlan, ThreadBuilderParts, run_worker};
pub(crate) use stock::Stock;
pub(crate) use stock::{PanicGoes, SharedCount};
pub use trail::WaitFor;
pub(crate) use worker::WorkerThread;
