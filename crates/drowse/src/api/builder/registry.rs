//! How a pool is built as it was chosen.

use super::ThreadPoolBuilder;
use crate::api::env::{
    default_guests, default_num_threads, default_sleep_protocol, default_steering, default_waiting, log_start,
};
use crate::api::error::{BuildErrorKind, ThreadPoolBuildError};
use crate::api::spawner::{ThreadBuilder, ThreadSpawn};
use crate::api::{Waiting, current_thread_index, max_num_threads};
use crate::engine::{Handlers, Recruiter, Refused, Registry, StartPlan, WorkerThread};
use crate::trace::{Recorder, Trace};
use drowse_sleep::SleepProtocol;
use drowse_sync::{Arc, say};
use std::io;
use std::mem;
use std::thread;
use std::time::Duration;

impl ThreadPoolBuilder {
    /// A pool with nothing chosen. If not all threads can be started, it says so, and has fewer.
    ///
    /// # Errors
    ///
    /// If none can.
    pub(in crate::api) fn build_default() -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let builder = Self { allow_fewer_threads: true, ..Self::new() };
        builder.build_registry_or_less(|num_threads, error| {
            let wanted = default_num_threads();
            say(format_args!(
                "drowse: the global pool goes on with {num_threads} of {wanted} threads: {error}"
            ));
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    pub(in crate::api) fn build_registry(self) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        self.build_registry_or_less(|_, _| ())
    }

    /// The same. If it goes on with fewer threads, it says with how many, and why.
    fn build_registry_or_less(
        self,
        less: impl FnOnce(usize, io::Error),
    ) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        if self.use_current_thread {
            if WorkerThread::in_handler() {
                return Err(ThreadPoolBuildError::new(BuildErrorKind::CurrentThreadInHandler));
            }
            if current_thread_index().is_some() {
                return Err(ThreadPoolBuildError::new(BuildErrorKind::CurrentThreadAlreadyInPool));
            }
        }
        let wanted = if self.num_threads == 0 { default_num_threads() } else { self.num_threads };
        let wanted = wanted.min(max_num_threads());
        let allow_fewer = self.allow_fewer_threads;
        let mut attempt = Attempt::new(self, wanted);
        let (mut num_threads, mut refused) = (wanted, None);
        loop {
            let Refused { started, error, recruiter } = match attempt.build(num_threads)? {
                Ok(registry) => {
                    if let Some(error) = refused {
                        less(num_threads, error);
                    }
                    return Ok(registry);
                }
                Err(refused) => refused,
            };
            // Those that were started end. A registry cannot shrink: so as many are started again,
            // if that is enough.
            if !allow_fewer || started == 0 {
                if S::IS_OURS {
                    let _ = recruiter.wait_for_all(Some(PATIENCE));
                }
                return Err(ThreadPoolBuildError::new(BuildErrorKind::Io { error, started, wanted }));
            }
            let _ = recruiter.wait_for_all(Some(PATIENCE));
            (num_threads, refused) = (started, Some(error));
            // The system takes a moment to count what has ended as gone.
            #[allow(clippy::disallowed_methods, reason = "nothing tells when it has")]
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// How long to wait for threads that are not needed after all. They may be busy with handlers.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is needed for each of several attempts to build a pool.
struct Attempt<S> {
    names: Box<[Option<String>]>,
    protocol: SleepProtocol,
    guests: bool,
    waiting: Waiting,
    handlers: Arc<Handlers>,
    builder: ThreadPoolBuilder<S>,
}

impl<S: ThreadSpawn> Attempt<S> {
    fn new(mut builder: ThreadPoolBuilder<S>, num_threads: usize) -> Self {
        // All of them now: threads may be started later, when the closure is gone.
        let mut name = builder.thread_name.take();
        let first = usize::from(builder.use_current_thread);
        let names = (0..num_threads)
            .map(|index| name.as_mut().filter(|_| index >= first).map(|name| name(index)))
            .collect();
        Self {
            names,
            protocol: builder.sleep_protocol.unwrap_or_else(default_sleep_protocol),
            guests: builder.guests.unwrap_or_else(default_guests),
            waiting: builder.waiting.unwrap_or_else(default_waiting),
            handlers: Arc::new(mem::take(&mut builder.handlers)),
            builder,
        }
    }

    fn build(&mut self, num_threads: usize) -> Result<Result<Arc<Registry>, Refused>, ThreadPoolBuildError> {
        let builder = &mut self.builder;
        let trace = builder.trace.clone();
        let tracing = trace.map(|trace| Tracing::begin(trace, num_threads)).transpose()?;
        if let Some(tracing) = &tracing {
            let names = self.names.iter().take(num_threads).enumerate();
            names.for_each(|(index, name)| name.iter().for_each(|name| tracing.name(index, name)));
        }
        let plan = StartPlan {
            num_threads,
            use_current_thread: builder.use_current_thread,
            protocol: self.protocol,
            policy: builder.sleep_policy.unwrap_or_else(|| self.protocol.policy()),
            steering: builder.steering.unwrap_or_else(default_steering),
            oldest_first: builder.oldest_first,
            guests: self.guests,
            isolates: self.waiting == Waiting::Isolate,
            recorder: tracing.as_ref().map(|tracing| tracing.recorder.clone()),
            handlers: Arc::clone(&self.handlers),
            recruiter: Recruiter::new(self.names[..num_threads].into(), builder.stack_size),
            spawn: &mut |parts| builder.spawner.spawn(ThreadBuilder::new(parts)),
        };
        Ok(Registry::build(plan).inspect(|_| {
            tracing.into_iter().for_each(Tracing::keep);
            log_start(num_threads, self.protocol, self.guests, self.waiting);
        }))
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
