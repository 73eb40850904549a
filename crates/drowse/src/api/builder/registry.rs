//! Building a pool from the choices of its builder.

use super::ThreadPoolBuilder;
use super::choices::Choices;
use super::log::{Unplanned, log_start};
use crate::api::env::{GUESTS, SLEEP, WAITING, default_num_threads, default_steering, is_logging};
use crate::api::error::{BuildErrorKind, ThreadPoolBuildError};
use crate::api::spawner::{ThreadBuilder, ThreadSpawn};
use crate::api::{Waiting, max_num_threads};
use crate::diagnose::{self, Probe, Tracing};
use crate::engine::{Cause, Handlers, Recruiter, Refused, Registry, StartPlan, WorkerThread};
use crate::unwind;
use drowse_sleep::SleepProtocol;
use drowse_sync::{Arc, Outlined, say};
use std::io;
use std::mem;
use std::thread;
use std::time::Duration;

impl ThreadPoolBuilder {
    /// Builds a pool with default choices. If not all threads can be started, prints that, and has
    /// fewer.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(in crate::api) fn build_default() -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let less = |num_threads: usize, error: &io::Error| {
            let wanted = default_num_threads();
            say(format_args!(
                "drowse: the global pool goes on with {num_threads} of {wanted} threads: {error}"
            ));
        };
        Choices::default().build(true, &mut |thread| thread.start(), true, &less)
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    pub(in crate::api) fn build_registry(self) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let Self { chosen, mut spawner } = self;
        let allow_fewer = chosen.allow_fewer_threads;
        chosen.build(S::IS_OURS, &mut |thread| spawner.spawn(thread), allow_fewer, &|_, _| ())
    }
}

impl Choices {
    /// Builds a registry. If `allow_fewer`, and the system refuses a thread, the registry has only
    /// as many threads as could be started, and `less` is called with their number and the error.
    ///
    /// `spawn` starts the threads. `is_ours`: it does so like [`ThreadBuilder::start`].
    fn build(
        self,
        is_ours: bool,
        spawn: &mut Spawn<'_>,
        allow_fewer: bool,
        less: &dyn Fn(usize, &io::Error),
    ) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        if self.use_current_thread {
            if WorkerThread::in_handler() {
                return Err(ThreadPoolBuildError::new(BuildErrorKind::CurrentThreadInHandler));
            }
            if WorkerThread::with_current(|worker| worker.is_some()) {
                return Err(ThreadPoolBuildError::new(BuildErrorKind::CurrentThreadAlreadyInPool));
            }
        }
        if !is_ours && self.coming.is_special() {
            return Err(ThreadPoolBuildError::new(BuildErrorKind::CannotStartLater));
        }
        let wanted = if self.num_threads == 0 { default_num_threads() } else { self.num_threads };
        if wanted > max_num_threads() {
            return Err(ThreadPoolBuildError::new(BuildErrorKind::TooManyThreads { wanted }));
        }
        let mut attempt = Attempt::new(self, is_ours);
        let (mut num_threads, mut refused) = (wanted, None);
        loop {
            let Refused { started, cause, recruiter } = match attempt.build(num_threads, spawn)? {
                Ok(registry) => {
                    if let Some(error) = refused {
                        less(num_threads, &error);
                    }
                    return Ok(registry);
                }
                Err(refused) => refused,
            };
            // The threads that were started end. A registry cannot shrink, so the same number is
            // started again, for a smaller one.
            let goes_on = allow_fewer && started > 0 && matches!(cause, Cause::System(_));
            if goes_on || is_ours {
                let _ = recruiter.wait_for_all(Some(PATIENCE));
            }
            let error = match cause {
                Cause::System(error) if goes_on => error,
                Cause::System(error) => {
                    return Err(ThreadPoolBuildError::new(BuildErrorKind::Io {
                        error,
                        started,
                        wanted,
                    }));
                }
                Cause::Name(name) => {
                    return Err(ThreadPoolBuildError::new(BuildErrorKind::NulInName { name }));
                }
                Cause::Panic(payload) => unwind::resume_unwinding(payload),
            };
            (num_threads, refused) = (started, Some(error));
            // The system may count a thread that has ended for a moment longer.
            #[allow(clippy::disallowed_methods, reason = "nothing tells when it has")]
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Returns the default limit on spares of a pool with this number of threads. An unused spare costs
/// next to nothing: see [`Table`](drowse_sync::Table).
fn default_spares(num_threads: usize) -> usize {
    if cfg!(any(drowse_loom, drowse_shuttle)) { 0 } else { num_threads.max(512) }
}

/// Time to wait for threads that are not needed after all. They may be busy with handlers.
const PATIENCE: Duration = Duration::from_secs(1);

/// State that is needed for each of several attempts to build a pool.
struct Attempt {
    names: Names,
    protocol: SleepProtocol,
    guests: bool,
    waiting: Waiting,
    handlers: Arc<Outlined<Handlers>>,
    diagnose: diagnose::Ready,
    chosen: Choices,
    is_ours: bool,
}

/// Function that starts a thread for a worker.
type Spawn<'a> = dyn FnMut(ThreadBuilder) -> io::Result<()> + 'a;

impl Attempt {
    fn new(mut chosen: Choices, is_ours: bool) -> Self {
        Self {
            names: Names {
                chosen: chosen.thread_name.take(),
                // A thread that was taken over has a name already.
                first: usize::from(chosen.use_current_thread),
                has_default: is_ours && !cfg!(feature = "rayon-names"),
                known: Vec::new(),
            },
            protocol: chosen.sleep_protocol.or_else(|| SLEEP.get()).unwrap_or_default(),
            guests: chosen.guests.or_else(|| GUESTS.get()).unwrap_or_default(),
            waiting: chosen.waiting.or_else(|| WAITING.get()).unwrap_or_default(),
            handlers: Arc::new(mem::take(&mut chosen.handlers)),
            diagnose: mem::take(&mut chosen.diagnose).ready(),
            chosen,
            is_ours,
        }
    }

    fn build(
        &mut self,
        num_threads: usize,
        spawn: &mut Spawn<'_>,
    ) -> Result<Result<Arc<Registry>, Refused>, ThreadPoolBuildError> {
        let chosen = &self.chosen;
        let max_spare_threads =
            chosen.max_spare_threads.unwrap_or_else(|| default_spares(num_threads));
        let max_spare_threads = max_spare_threads.min(max_num_threads());
        let seats = num_threads + max_spare_threads;
        let Some(tracing) = Tracing::begin(&self.diagnose, seats) else {
            return Err(ThreadPoolBuildError::new(BuildErrorKind::TraceInUse));
        };
        let names = &mut self.names;
        let unplanned = Unplanned {
            allow_fewer_threads: chosen.allow_fewer_threads,
            max_spare_threads: chosen.max_spare_threads,
            has_names: names.chosen.is_some(),
        };
        let mut name = |index| {
            let name = names.of(index)?;
            if names.chosen.is_some() {
                name.iter().for_each(|name| tracing.name(index, name));
            }
            Ok(name)
        };
        let plan = StartPlan {
            num_threads,
            use_current_thread: chosen.use_current_thread,
            protocol: self.protocol,
            policy: chosen.sleep_policy.unwrap_or_else(|| self.protocol.policy()),
            steering: chosen.steering.unwrap_or_else(default_steering),
            oldest_first: chosen.oldest_first,
            guests: self.guests,
            isolates: self.waiting == Waiting::Isolate,
            max_spare_threads,
            probe: Probe::new(&self.diagnose, &tracing, num_threads, seats),
            handlers: Arc::clone(&self.handlers),
            recruiter: Recruiter::new(num_threads, chosen.stack_size),
            name: &mut name,
            is_eager: !self.is_ours || chosen.coming.is_eager(),
            idle_timeout: if self.is_ours { chosen.coming.idle_timeout() } else { None },
            spawn: &mut |parts| spawn(ThreadBuilder::new(parts)),
        };
        let settings = is_logging().then(|| unplanned.special_settings(&plan, &self.diagnose));
        Ok(Registry::build(plan).inspect(|_| {
            tracing.keep();
            if let Some(settings) = settings {
                log_start(num_threads, self.protocol, &settings);
            }
        }))
    }
}

/// Names of the pool's threads.
struct Names {
    chosen: Option<Box<dyn FnMut(usize) -> String>>,
    /// Index of the first worker whose thread the pool starts.
    first: usize,
    /// `true` if threads are named even if no names were chosen.
    has_default: bool,
    /// Names of the first workers. The user's closure is called once for each worker.
    known: Vec<Option<String>>,
}

impl Names {
    /// Returns the name of this worker's thread. `Err`: a name that the system does not accept.
    fn of(&mut self, index: usize) -> Result<Option<String>, String> {
        while self.known.len() <= index {
            let next = self.known.len();
            let name = match &mut self.chosen {
                _ if next < self.first => None,
                Some(chosen) => Some(chosen(next)),
                None => self.has_default.then(|| format!("drowse-{next}")),
            };
            if let Some(name) = name.as_ref().filter(|name| name.contains('\0')) {
                return Err(name.clone());
            }
            self.known.push(name);
        }
        Ok(self.known[index].clone())
    }
}
