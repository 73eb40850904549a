//! Reports of pools in which nothing moves, and traces: behind one probe, and importing nothing of
//! the engine.
//!
//! The engine calls the [`Probe`] of its pool, and the alarms see the pool as a [`Pool`]. All but
//! [`WaitFor`], [`Exact`] and the names of the variables is compiled only with the feature
//! `diagnose`; without it [`null`] stands in for the plan, the probe and their guards. Its
//! functions do nothing, except that `Plan::ready` prints once that there are no reports.
//!
//! | file | contents |
//! |---|---|
//! | `probe`, `null` | what the engine calls |
//! | `plan` | choices of the builder and of the environment |
//! | `pool` | a pool as its alarms see it |
//! | `alarm` | the deadlock alarm |
//! | `stall` | the watch for workers that do not come back from their jobs |
//! | `outside` | threads outside that wait for the pool, for the stall watch |
//! | `trail` | breadcrumbs of a worker for the deadlock and stall reports |
//! | `report` | the reports |
//! | `trace` | record of what the workers did, step by step |
//! | `time` | times as reports and `DROWSE_LOG` write them |
//! | `wait_for` | causes for which a thread waits |

#[cfg(feature = "diagnose")]
mod alarm;
#[cfg(not(feature = "diagnose"))]
mod null;
#[cfg(feature = "diagnose")]
mod outside;
#[cfg(feature = "diagnose")]
mod plan;
#[cfg(feature = "diagnose")]
mod pool;
#[cfg(feature = "diagnose")]
mod probe;
#[cfg(feature = "diagnose")]
mod report;
#[cfg(feature = "diagnose")]
mod stall;
mod time;
#[cfg(feature = "diagnose")]
mod trace;
#[cfg(feature = "diagnose")]
mod trail;
mod wait_for;

#[cfg(not(feature = "diagnose"))]
pub(crate) use null::{OutsideWait, Plan, Probe, Ready, Tracing};
#[cfg(feature = "diagnose")]
pub(crate) use outside::OutsideWait;
#[cfg(feature = "diagnose")]
pub(crate) use plan::{Plan, Ready};
#[cfg(feature = "diagnose")]
pub(crate) use pool::{Pool, Watch};
#[cfg(feature = "diagnose")]
pub(crate) use probe::{Probe, Tracing};
#[cfg(feature = "diagnose")]
pub use report::{
    BlockedWorker, Deadlock, JobFrom, JobReport, Stall, StalledWorker, WaitingThread, WorkerReport,
    WorkerState,
};
pub(crate) use time::Exact;
#[cfg(feature = "diagnose")]
pub use trace::{Trace, TraceEvent, TraceRecord};
pub use wait_for::WaitFor;

/// Variable that asks for deadlock reports.
pub(crate) const DEADLOCK: &str = "DROWSE_DEADLOCK";
/// Variable that asks for a stall watch.
pub(crate) const STALL: &str = "DROWSE_STALL";
