//! The engine: a registry of workers; how they find work and wait; how jobs come in from outside.
//!
//! | file | contents |
//! |---|---|
//! | `registry` | state that the workers of one pool share |
//! | `start`, `terminate` | begin and end of a pool |
//! | `absent` | callbacks of the sleep protocol; workers without a thread |
//! | `recruit`, `crew` | start of threads, and the record of those that are left |
//! | `worker` | state of one worker |
//! | `search` | places where a worker looks for jobs |
//! | `steal` | thefts from other workers |
//! | `run` | the steps around a job that a worker runs |
//! | `wait` | the loop of a worker until a latch is set |
//! | `isolate`, `alone`, `lineage` | waits in isolation, where a worker must not run other jobs |
//! | `isolation` | state of isolation |
//! | `in_order`, `placeholders` | fifos in isolation |
//! | `context`, `inherit` | values that jobs inherit |
//! | `ancestry` | the ancestors of a job in other pools |
//! | `parcels` | jobs that are not in a deque, with their origins |
//! | `place`, `bench`, `spare` | threads that run in the place of a worker that blocks |
//! | `deep` | waits of a worker whose stack is full of waits |
//! | `stock` | counts that a worker holds, so that the shared ones are changed less often |
//! | `bound` | bound on the number of jobs under way |
//! | `inject` | jobs from outside, and broadcasts |
//! | `push` | pushes to a worker's deque, and their posts |
//! | `join` | two closures, possibly in parallel |
//! | `enter` | ways for a closure to get onto a worker |
//! | `guest` | threads outside that take the seat of a worker |
//! | `sites` | statistics of the places in a program that enter |
//! | `turns` | jobs from outside that run while all workers are in the middle of others |
//! | `observed` | a pool as its alarms see it |
//! | `current` | thread-local state: the current worker, and its end of the deque |
//! | `rng` | random numbers of thieves |
//! | `models` | access for the models |

mod absent;
mod alone;
mod ancestry;
mod bench;
mod bound;
mod context;
mod crew;
mod current;
mod deep;
mod enter;
mod guest;
mod in_order;
mod inherit;
mod inject;
mod isolate;
mod isolation;
mod join;
mod lineage;
#[cfg(any(drowse_loom, drowse_shuttle))]
pub(crate) mod models;
#[cfg(feature = "diagnose")]
mod observed;
mod parcels;
mod place;
mod placeholders;
mod push;
mod recruit;
mod registry;
mod rng;
mod run;
mod search;
mod sites;
mod spare;
mod start;
mod steal;
mod stock;
mod terminate;
mod turns;
mod wait;
mod worker;

pub(crate) use bench::NoTaker;
#[cfg(any(drowse_loom, drowse_shuttle))]
pub(crate) use bound::Place;
pub(crate) use bound::{Bound, Bounded};
pub(crate) use context::{Captured, Context, Inherited};
pub use crew::BusyThread;
pub(crate) use crew::Unfinished;
pub(crate) use current::End;
pub(crate) use isolate::{Region, is_isolated};
pub(crate) use join::{join_at, join_elsewhere};
pub(crate) use lineage::{Origins, Point};
pub(crate) use recruit::Recruiter;
pub(crate) use registry::{Handlers, Registry};
pub(crate) use start::{Cause, Refused, StartPlan, ThreadBuilderParts, Threads};
pub(crate) use stock::Stock;
pub(crate) use stock::{PanicGoes, SharedCount};
pub(crate) use worker::WorkerThread;
