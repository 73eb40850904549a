//! How a pool is built as it was chosen.

use super::ThreadPoolBuilder;
use crate::api::alarm_env::with_default_alarms;
use crate::api::env::{
    default_guests, default_num_threads, default_sleep_protocol, default_steering, log_start,
};
use crate::api::error::{BuildErrorKind, ThreadPoolBuildError};
use crate::api::spawner::{ThreadBuilder, ThreadSpawn, start_thread};
use crate::api::{current_thread_index, max_num_threads};
use crate::engine::{Registry, StartPlan, WorkerThread};
use crate::trace::{Recorder, Trace};
use drowse_sync::{Arc, say};
use std::io;
use std::thread;
use std::time::Duration;

impl ThreadPoolBuilder {
    /// A pool with nothing chosen. If not all threads can be started, it says so, and has fewer.
    ///
    /// # Errors
    ///
    /// If none can.
    pub(in crate::api) fn build_default() -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let wanted = default_num_threads();
        let (mut num_threads, mut refused) = (wanted, None);
        loop {
            let mut started = Vec::new();
            let spawn = |worker| start_thread(worker).map(|thread| started.push(thread));
            match Self::new().num_threads(num_threads).spawn_handler(spawn).build_registry() {
                Ok(registry) => {
                    if let Some(error) = refused {
                        say(format_args!(
                            "drowse: the global pool goes on with {num_threads} of {wanted} threads: {error}"
                        ));
                    }
                    return Ok(registry);
                }
                Err(error) if started.is_empty() => return Err(error),
                Err(error) => {
                    // A registry cannot shrink. So those that were started end, and as many are
                    // started again.
                    num_threads = started.len();
                    refused = Some(error);
                    started.into_iter().for_each(|thread| _ = thread.join());
                    // The system takes a moment to count what has ended as gone.
                    #[allow(clippy::disallowed_methods, reason = "nothing tells when it has")]
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    pub(in crate::api) fn build_registry(self) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        if self.use_current_thread {
            if WorkerThread::in_handler() {
                return Err(ThreadPoolBuildError::new(BuildErrorKind::CurrentThreadInHandler));
            }
            if current_thread_index().is_some() {
                return Err(ThreadPoolBuildError::new(BuildErrorKind::CurrentThreadAlreadyInPool));
            }
        }
        let num_threads = if self.num_threads == 0 { default_num_threads() } else { self.num_threads };
        let num_threads = num_threads.min(max_num_threads());
        let tracing = self.trace.map(|trace| Tracing::begin(trace, num_threads)).transpose()?;
        let protocol = self.sleep_protocol.unwrap_or_else(default_sleep_protocol);
        let guests = self.guests.unwrap_or_else(default_guests);
        let (mut thread_name, stack_size, mut spawner) = (self.thread_name, self.stack_size, self.spawner);
        let plan = StartPlan {
            num_threads,
            use_current_thread: self.use_current_thread,
            protocol,
            policy: self.sleep_policy.unwrap_or_else(|| protocol.policy()),
            steering: self.steering.unwrap_or_else(default_steering),
            oldest_first: self.oldest_first,
            guests,
            recorder: tracing.as_ref().map(|tracing| tracing.recorder.clone()),
            handlers: with_default_alarms(self.handlers),
            spawn: &mut |parts| {
                let name = thread_name.as_mut().map(|name| name(parts.index));
                if let (Some(name), Some(tracing)) = (&name, &tracing) {
                    tracing.name(parts.index, name);
                }
                spawner.spawn(ThreadBuilder::new(name, stack_size, parts))
            },
        };
        let registry = Registry::build(plan)
            .map_err(|error: io::Error| ThreadPoolBuildError::new(BuildErrorKind::Io(error)))?;
        tracing.into_iter().for_each(Tracing::keep);
        log_start(num_threads, protocol, guests);
        Ok(registry)
    }
}

/// A trace that was taken for a pool; given back if it is dropped.
struct Tracing {
    /// `None` once the pool runs and keeps it.
    trace: Option<Trace>,
    recorder: Recorder,
}

impl Tracing {
    fn begin(trace: Trace, num_threads: usize) -> Result<Self, ThreadPoolBuildError> {
        match trace.attach(num_threads) {
            Some(recorder) => Ok(Self { trace: Some(trace), recorder }),
            None => Err(ThreadPoolBuildError::new(BuildErrorKind::TraceInUse)),
        }
    }

    fn name(&self, worker: usize, name: &str) {
        if let Some(trace) = &self.trace {
            trace.set_worker_name(worker, name);
        }
    }

    /// The pool runs, and keeps the trace.
    fn keep(mut self) {
        self.trace = None;
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        if let Some(trace) = &self.trace {
            trace.detach();
        }
    }
}
