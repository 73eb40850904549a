//! The stall watch: a thread that looks, now and then, for workers that do not come back from their
//! jobs while others could do with them. It needs no marks. It costs the workers nothing: it looks
//! at what they leave behind anyway.

use super::registry::Registry;
use crate::report::{Stall, StalledWorker, WorkerState};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, Stopwatch, WaitWord, Weak, say, thread};
use std::time::Duration;

/// What is to be watched for, and who is told.
pub(crate) struct StallPlan {
    /// So long may a worker be inside one job while others could do with it. `None`: nobody
    /// watches.
    pub(crate) after: Option<Duration>,
    /// Without one, it is said on the standard error.
    pub(crate) handler: Option<Box<StallHandler>>,
}

type StallHandler = dyn Fn(&Stall) + Send + Sync;

/// Looks in each such time.
const LOOKS: u32 = 4;

/// Not more often than that.
const SHORTEST: Duration = Duration::from_millis(1);

const ON: u32 = 0;
const OVER: u32 = 1;

/// Ends the watch when it is dropped, if the pool has not ended before.
#[derive(Debug)]
pub(super) struct StallWatch(Arc<WaitWord>);

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.end();
    }
}

impl StallWatch {
    /// The pool ends, and nobody can stall any more. (The registry itself may stay: a thread that
    /// was taken over has it for the rest of its life.)
    pub(super) fn end(&self) {
        // ORDERING: relaxed; that it is over is all that there is to know.
        self.0.store(OVER, Ordering::Relaxed);
        // WAKE: the watch, between two looks.
        self.0.wake();
    }

    /// Starts the thread that watches a pool. If there is none to be had, that is said.
    fn start(pool: Weak<Registry>, workers: usize, after: Duration) -> Option<Self> {
        let word = Arc::new(WaitWord::new(ON));
        let is_over = Arc::clone(&word);
        let watch = move || {
            let mut book = Book::new(workers, after);
            while is_over.wait_while_for(ON, (after / LOOKS).max(SHORTEST)) {
                // It has the pool only while it looks.
                let Some(pool) = pool.upgrade() else { return };
                if let Some(stall) = book.look(&pool) {
                    pool.tell_of(&stall);
                }
            }
        };
        match thread::Builder::new().name("drowse-stalls".to_owned()).spawn(watch) {
            Ok(_) => Some(Self(word)),
            Err(error) => {
                say(format_args!("drowse: there is no thread to be had for the stall watch: {error}"));
                None
            }
        }
    }
}

/// What the watch remembers of each worker.
struct Book {
    clock: Stopwatch,
    after: Duration,
    pages: Vec<Page>,
    /// Looks in a row at which there were jobs, and nobody had moved since the look before.
    stuck_looks: u32,
}

#[derive(Clone, Default)]
struct Page {
    pulse: Pulse,
    /// When it was first seen like that.
    since: Duration,
    /// Whether that was told.
    told: bool,
}

/// What changes as a worker goes on: it searches, takes jobs, pushes and pops, sleeps, waits.
type Pulse = [u64; 8];

impl Book {
    fn new(workers: usize, after: Duration) -> Self {
        Self { clock: Stopwatch::start(), after, pages: vec![Page::default(); workers], stuck_looks: 0 }
    }

    /// Looks at everybody. Each stall is told once.
    fn look(&mut self, pool: &Registry) -> Option<Stall> {
        let now = self.clock.elapsed();
        let mut moved = false;
        for (worker, page) in self.pages.iter_mut().enumerate() {
            let pulse = pool.pulse(worker);
            if page.pulse != pulse {
                *page = Page { pulse, since: now, told: false };
                moved = true;
            }
        }
        let queued = pool.work_visible();
        self.stuck_looks = if queued && !moved { self.stuck_looks + 1 } else { 0 };
        let queued = self.stuck_looks >= 2;
        let waiting: Vec<_> = self.long_since(now).filter(|worker| pool.waits_in_a_job(*worker)).collect();
        let is_stalled = |worker: &usize| {
            let wanted = queued || !waiting.is_empty() || pool.has_letter(*worker);
            wanted && !self.pages[*worker].told && pool.is_inside_a_job(*worker)
        };
        let stalled: Vec<_> = self.long_since(now).filter(is_stalled).collect();
        if stalled.is_empty() {
            return None;
        }
        stalled.iter().for_each(|worker| self.pages[*worker].told = true);
        Some(Stall {
            num_threads: self.pages.len(),
            after: self.after,
            stalled: stalled
                .iter()
                .map(|worker| pool.stalled(*worker, now - self.pages[*worker].since))
                .collect(),
            queued,
            waiting: waiting.iter().map(|worker| pool.report_on(*worker, WorkerState::Asleep)).collect(),
        })
    }

    /// Those that have not moved for so long.
    fn long_since(&self, now: Duration) -> impl Iterator<Item = usize> + use<'_> {
        let pages = self.pages.iter().enumerate();
        pages.filter(move |(_, page)| now - page.since >= self.after).map(|(worker, _)| worker)
    }
}

impl Registry {
    /// Starts the watch, if somebody asked for it.
    pub(super) fn watch_for_stalls(self: &Arc<Self>) {
        let Some(after) = self.handlers.stall.as_ref().and_then(|plan| plan.after) else { return };
        if let Some(watch) = StallWatch::start(Arc::downgrade(self), self.num_threads(), after) {
            let _ = self.stall_watch.set(watch);
        }
    }

    fn pulse(&self, worker: usize) -> Pulse {
        let (thread, sleep) = (&self.threads[worker], self.sleep.metrics(worker));
        let [depth, level] = thread.trail.pulse();
        let [top, bottom] = thread.stealer.pulse();
        let meter = &thread.meter;
        let taken = meter.steals.get().wrapping_add(meter.injected.get());
        [meter.searches.get(), taken, sleep.sleeps, sleep.guests, depth, level, top, bottom]
    }

    fn is_inside_a_job(&self, worker: usize) -> bool {
        self.threads[worker].trail.is_at_something() && !self.sleep.is_asleep(worker)
    }

    /// Whether this worker sleeps, and not because there is nothing to do.
    fn waits_in_a_job(&self, worker: usize) -> bool {
        let report = self.report_on(worker, WorkerState::Asleep);
        self.sleep.is_asleep(worker) && !report.is_idle()
    }

    fn stalled(&self, worker: usize, since: Duration) -> StalledWorker {
        let task = self.threads[worker].trail.thread().and_then(|thread| thread.task());
        let report = self.report_on(worker, WorkerState::Active);
        let Some(task) = task else {
            let (thread_state, wait_channel, system_call) = (None, None, None);
            return StalledWorker { worker: report, since, thread_state, wait_channel, system_call };
        };
        StalledWorker {
            worker: report,
            since,
            thread_state: Some(task.state),
            wait_channel: task.wait_channel,
            system_call: task.system_call,
        }
    }

    fn tell_of(&self, stall: &Stall) {
        match self.handlers.stall.as_ref().and_then(|plan| plan.handler.as_ref()) {
            Some(handler) => self.catch_unwind(|| handler(stall)),
            None => say(format_args!("drowse: {stall}")),
        }
    }
}
