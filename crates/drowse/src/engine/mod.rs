//! The engine: a registry of workers, how they find work, how they wait, and how jobs come in from
//! outside.
//!
//! | file | what |
//! |---|---|
//! | `registry` | what the workers of one pool share |
//! | `start`, `terminate` | how a pool begins and ends |
//! | `absent` | workers without a thread |
//! | `recruit` | who starts its threads, and knows which of them are left |
//! | `worker` | what one worker has for itself |
//! | `search` | where a worker looks for jobs |
//! | `steal` | how it gets at the jobs of others |
//! | `wait` | what a worker does until a latch is set |
//! | `isolate`, `alone`, `lineage` | what a worker does that must not run other jobs |
//! | `parcels` | jobs that are not in a deque, with where they come from |
//! | `place`, `places`, `spare` | who runs in the place of a worker that blocks |
//! | `deep` | what a worker does whose stack is full of waits |
//! | `stock` | counts that a worker holds, so that the shared ones are left alone |
//! | `bound` | how many jobs are under way, where somebody wants no more than so many |
//! | `inject` | jobs from outside |
//! | `enter` | how a closure gets to run on a worker |
//! | `guest` | how a thread outside takes the seat of a worker |
//! | `sites` | what is known of the places in a program that enter |
//! | `turns` | how a job from outside gets its turn while all workers are in the middle of others |
//! | `alarm` | who hears that the pool stands still |
//! | `stall` | the watch for workers that do not come back from their jobs |
//! | `trail` | what is known of a worker by those who ask why nothing moves |

mod absent;
mod alarm;
mod alone;
mod bound;
mod context;
mod current;
mod deep;
mod enter;
mod guest;
mod inject;
mod isolate;
mod lineage;
#[cfg(any(drowse_loom, drowse_shuttle))]
pub(crate) mod models;
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

#[cfg(any(drowse_loom, drowse_shuttle))]
pub(crate) use bound::Place;
pub(crate) use bound::{Bound, Bounded};
pub(crate) use context::{Captured, Context, Inherited};
pub(crate) use current::End;
pub(crate) use isolate::{Since, is_isolated, isolate, isolate_if};
pub(crate) use lineage::{Origins, Point};
pub(crate) use place::IfNobody;
pub use recruit::BusyThread;
pub(crate) use recruit::Recruiter;
pub(crate) use registry::{Handlers, Registry};
pub(crate) use search::Above;
pub(crate) use stall::StallPlan;
pub(crate) use start::{Refused, StartPlan, ThreadBuilderParts, run_worker};
pub(crate) use stock::SharedCount;
pub(crate) use stock::Stock;
pub use trail::WaitFor;
pub(crate) use worker::WorkerThread;
