//! Choices for a pool, except for the way in which its threads are started.

use super::threads::Coming;
use crate::api::Waiting;
use crate::diagnose;
use crate::engine::Handlers;
use drowse_sleep::{Policy, SleepProtocol, Steering};
use drowse_sync::Outlined;

/// Choices for a pool: the part of a builder whose type does not depend on the spawn handler.
#[derive(Default)]
pub(super) struct Choices {
    pub(super) num_threads: usize,
    pub(super) use_current_thread: bool,
    pub(super) thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    pub(super) stack_size: Option<usize>,
    pub(super) allow_fewer_threads: bool,
    pub(super) coming: Coming,
    /// `None`: the environment's choice, else the default.
    pub(super) sleep_protocol: Option<SleepProtocol>,
    pub(super) sleep_policy: Option<Policy>,
    pub(super) steering: Option<Steering>,
    pub(super) oldest_first: bool,
    pub(super) guests: Option<bool>,
    pub(super) waiting: Option<Waiting>,
    pub(super) max_spare_threads: Option<usize>,
    pub(super) handlers: Outlined<Handlers>,
    pub(super) diagnose: diagnose::Plan,
}
