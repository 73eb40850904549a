//! Building a pool from the choices of its builder.

use super::ThreadPoolBuilder;
use super::choices::Choices;
use super::log::{log_start, special_settings};
use crate::api::env::{GUESTS, SLEEP, WAITING, default_num_threads, default_steering, is_logging};
use crate::api::error::{BuildErrorKind, ThreadPoolBuildError};
use crate::api::spawner::{DefaultSpawn, ThreadBuilder, ThreadSpawn};
use crate::api::{Waiting, max_num_threads};
use crate::diagnose::{self, Probe, Tracing};
use crate::engine::{
    Cause, Handlers, Recruiter, Refused, Registry, StartPlan, ThreadBuilderParts, Threads,
    WorkerThread,
};
use crate::unwind;
use drowse_sync::{Arc, Outlined, say};
use std::io;
use std::mem;
use std::thread;
use std::time::Duration;

impl ThreadPoolBuilder {
    /// Builds the global pool, with default choices. If not all threads can be started, prints
    /// that, and has fewer.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(in crate::api) fn build_default() -> Result<Arc<Registry>, ThreadPoolBuildError> {
        Choices::default().build(&mut DefaultSpawn, true)
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    pub(in crate::api) fn build_registry(self) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let Self { chosen, mut spawner } = self;
        chosen.build(&mut spawner, false)
    }
}

impl Choices {
    /// Builds a registry. If it may have fewer threads than were asked for, and the system
    /// refuses one, it has only as many as could be started. `is_global`: it may, and prints that.
    fn build(
        mut self,
        spawner: &mut dyn ThreadSpawn,
        is_global: bool,
    ) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let is_ours = spawner.is_ours();
        let wanted = if self.num_threads == 0 { default_num_threads() } else { self.num_threads };
        if let Some(kind) = self.contradiction(is_ours, wanted) {
            return Err(ThreadPoolBuildError::new(kind));
        }
        let mut attempt = Attempt {
            names: Names {
                chosen: self.thread_name.take(),
                // A thread that was taken over has a name already.
                first: usize::from(self.use_current_thread),
                has_default: is_ours && !cfg!(feature = "rayon-names"),
                known: Vec::new(),
            },
            handlers: Arc::new(mem::take(&mut self.handlers)),
            diagnose: mem::take(&mut self.diagnose).ready(),
            chosen: &self,
        };
        let (mut num_threads, mut refused) = (wanted, None);
        loop {
            let seats = attempt.seats(num_threads);
            let Some(tracing) = Tracing::begin(&attempt.diagnose, seats) else {
                return Err(ThreadPoolBuildError::new(BuildErrorKind::TraceInUse));
            };
            let Refused { started, cause, recruiter } =
                match attempt.build(num_threads, seats, &tracing, spawner) {
                    Ok(registry) => {
                        tracing.keep();
                        if let Some(error) = refused.filter(|_| is_global) {
                            say_fewer(num_threads, wanted, &error);
                        }
                        return Ok(registry);
                    }
                    Err(refused) => refused,
                };
            // The threads that were started end. A registry cannot shrink, so the same number is
            // started again, for a smaller one.
            let may_go_on = (is_global || attempt.chosen.allow_fewer_threads) && started > 0;
            let goes_on = may_go_on && matches!(cause, Cause::System(_));
            if goes_on || is_ours {
                let _ = recruiter.wait_for_all(Some(PATIENCE));
            }
            let kind = match cause {
                Cause::System(error) if goes_on => {
                    (num_threads, refused) = (started, Some(error));
                    // The system may count a thread that has ended for a moment longer.
                    #[allow(clippy::disallowed_methods, reason = "nothing tells when it has")]
                    thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Cause::System(error) => BuildErrorKind::Io { error, started, wanted },
                Cause::Name(name) => BuildErrorKind::NulInName { name },
                Cause::Panic(payload) => unwind::resume_unwinding(payload),
            };
            return Err(ThreadPoolBuildError::new(kind));
        }
    }

    /// Returns the reason why there cannot be such a pool, if there is one.
    fn contradiction(&self, is_ours: bool, wanted: usize) -> Option<BuildErrorKind> {
        let is_worker = || WorkerThread::with_current(|worker| worker.is_some());
        if self.use_current_thread && WorkerThread::in_handler() {
            Some(BuildErrorKind::CurrentThreadInHandler)
        } else if self.use_current_thread && is_worker() {
            Some(BuildErrorKind::CurrentThreadAlreadyInPool)
        } else if !is_ours && self.coming.is_special() {
            Some(BuildErrorKind::CannotStartLater)
        } else if wanted > max_num_threads() {
            Some(BuildErrorKind::TooManyThreads { wanted })
        } else {
            None
        }
    }
}

#[cold]
fn say_fewer(num_threads: usize, wanted: usize, error: &io::Error) {
    say(format_args!(
        "drowse: the global pool goes on with {num_threads} of {wanted} threads: {error}"
    ));
}

/// Returns the default limit on spares of a pool with this number of threads. An unused spare costs
/// next to nothing: see [`Table`](drowse_sync::Table).
fn default_spares(num_threads: usize) -> usize {
    if cfg!(any(drowse_loom, drowse_shuttle)) { 0 } else { num_threads.max(512) }
}

/// Time to wait for threads that are not needed after all. They may be busy with handlers.
const PATIENCE: Duration = Duration::from_secs(1);

/// State that is needed for each of several attempts to build a pool.
struct Attempt<'c> {
    names: Names,
    handlers: Arc<Outlined<Handlers>>,
    diagnose: diagnose::Ready,
    chosen: &'c Choices,
}

impl Attempt<'_> {
    /// Returns the number of workers and spares.
    fn seats(&self, num_threads: usize) -> usize {
        let spares = self.chosen.max_spare_threads.unwrap_or_else(|| default_spares(num_threads));
        num_threads + spares.min(max_num_threads())
    }

    fn build(
        &mut self,
        num_threads: usize,
        seats: usize,
        tracing: &Tracing,
        spawner: &mut dyn ThreadSpawn,
    ) -> Result<Arc<Registry>, Refused> {
        let chosen = self.chosen;
        let (is_ours, has_names) = (spawner.is_ours(), self.names.chosen.is_some());
        let protocol = chosen.sleep_protocol.or_else(|| SLEEP.get()).unwrap_or_default();
        let waiting = chosen.waiting.or_else(|| WAITING.get()).unwrap_or_default();
        let plan = StartPlan {
            num_threads,
            use_current_thread: chosen.use_current_thread,
            protocol,
            policy: chosen.sleep_policy.unwrap_or_else(|| protocol.policy()),
            steering: chosen.steering.unwrap_or_else(default_steering),
            oldest_first: chosen.oldest_first,
            guests: chosen.guests.or_else(|| GUESTS.get()).unwrap_or_default(),
            isolates: waiting == Waiting::Isolate,
            max_spare_threads: seats - num_threads,
            probe: Probe::new(&self.diagnose, tracing, num_threads, seats),
            handlers: Arc::clone(&self.handlers),
            recruiter: Recruiter::new(num_threads, chosen.stack_size),
            is_eager: !is_ours || chosen.coming.is_eager(),
            idle_timeout: if is_ours { chosen.coming.idle_timeout() } else { None },
            threads: &mut NewThreads { names: &mut self.names, tracing, spawner },
        };
        let settings =
            is_logging().then(|| special_settings(chosen, &plan, has_names, &self.diagnose));
        let registry = plan.start()?;
        if let Some(settings) = settings {
            log_start(num_threads, protocol, &settings);
        }
        Ok(registry)
    }
}

/// Names and starts the pool's threads.
struct NewThreads<'a> {
    names: &'a mut Names,
    tracing: &'a Tracing,
    spawner: &'a mut dyn ThreadSpawn,
}

impl Threads for NewThreads<'_> {
    fn name(&mut self, index: usize) -> Result<Option<String>, String> {
        let name = self.names.of(index)?;
        if let Some(name) = name.as_ref().filter(|_| self.names.chosen.is_some()) {
            self.tracing.name(index, name);
        }
        Ok(name)
    }

    fn spawn(&mut self, parts: ThreadBuilderParts) -> io::Result<()> {
        self.spawner.spawn(ThreadBuilder::new(parts))
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
