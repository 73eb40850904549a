//! The engine: a registry of workers, how they find work, how they wait, and how the outside gets in.
//!
//! | file | what |
//! |---|---|
//! | `registry` | what the workers of one pool share |
//! | `start`, `terminate` | how a pool begins and ends |
//! | `global` | the pool for those who chose none |
//! | `worker` | what one worker has for itself |
//! | `search` | where a worker looks for jobs |
//! | `steal` | how it comes by the jobs of others |
//! | `wait` | what a worker does until a latch is set |
//! | `inject` | jobs from outside |
//! | `enter` | how a closure gets to run on a worker |

mod enter;
mod global;
mod inject;
mod registry;
mod rng;
mod search;
mod start;
mod steal;
mod terminate;
mod wait;
mod worker;

pub(crate) use enter::in_worker;
pub(crate) use global::{global_registry, set_global_registry};
pub(crate) use registry::{Handlers, Registry};
pub(crate) use start::{StartPlan, ThreadBuilderParts, run_worker};
pub(crate) use worker::WorkerThread;
