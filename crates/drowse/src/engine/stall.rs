//! The stall watch: a thread that looks, now and then, for workers that do not come back from their
//! jobs while something waits for them: a job in a queue, another worker, the worker's own job
//! below, a thread outside. It needs no marks. It costs the workers nothing: it looks at what they
//! leave behind anyway. A thread outside that waits leaves a note, if there is a watch.

use super::outside::Outside;
use super::recruit::{Presence, Recruiter};
use super::registry::Registry;
use crate::report::{Stall, StalledWorker, WaitingThread, WorkerState};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, Stopwatch, WaitWord, Weak, say};
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

/// Before it reports, it looks closely, so many times in a row. The ends of the deque of a worker
/// that forks and joins may be by chance where they were.
const CLOSE_LOOKS: u32 = 32;
const BETWEEN_CLOSE_LOOKS: Duration = Duration::from_micros(50);

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
    fn start(
        pool: Weak<Registry>,
        recruiter: &Arc<Recruiter>,
        workers: usize,
        after: Duration,
    ) -> Option<Self> {
        let word = Arc::new(WaitWord::new(ON));
        let is_over = Arc::clone(&word);
        let watch = move |presence: &Presence| {
            let mut book = Book::new(workers, after);
            let pause = || _ = is_over.wait_while_for(ON, BETWEEN_CLOSE_LOOKS);
            while is_over.wait_while_for(ON, (after / LOOKS).max(SHORTEST)) {
                // It has the pool only while it looks.
                let Some(pool) = pool.upgrade() else { return };
                if let Some(stall) = book.look(&pool, &pause) {
                    presence.while_busy(&|| pool.tell_of(&stall));
                }
            }
        };
        match recruiter.start_watch("drowse-stalls", Box::new(watch)) {
            Ok(()) => Some(Self(word)),
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
    /// Looks in a row at which there were jobs, and no worker had moved since the look before.
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

/// What waits for the workers, at one look.
struct Wanted {
    /// Whether no worker has moved for long.
    is_still: bool,
    /// Whether jobs are queued, and no worker moves.
    queued: bool,
    /// Workers that have slept for long in the middle of a job.
    waiting: Vec<usize>,
    /// Threads outside that have waited for long, each with the worker that has begun what it waits
    /// for.
    outside: Vec<(WaitingThread, Option<usize>)>,
}

impl Book {
    fn new(workers: usize, after: Duration) -> Self {
        Self { clock: Stopwatch::start(), after, pages: vec![Page::default(); workers], stuck_looks: 0 }
    }

    /// Looks at all workers. Reports each stall once. Calls `pause` between close looks.
    fn look(&mut self, pool: &Registry, pause: &dyn Fn()) -> Option<Stall> {
        let moved = self.note_pulses(pool);
        let is_stuck = pool.work_visible() && !moved;
        self.stuck_looks = if is_stuck { self.stuck_looks + 1 } else { 0 };
        if self.stalled(pool, &self.wanted(pool)).is_empty() {
            return None;
        }
        for _ in 0..CLOSE_LOOKS {
            pause();
            if self.note_pulses(pool) {
                self.stuck_looks = 0;
            }
        }
        let wanted = self.wanted(pool);
        let stalled = self.stalled(pool, &wanted);
        if stalled.is_empty() {
            return None;
        }
        let now = self.clock.elapsed();
        let mut reports = Vec::with_capacity(stalled.len());
        for worker in stalled {
            let page = &mut self.pages[worker];
            page.told = true;
            reports.push(pool.stalled(worker, now - page.since));
        }
        let mut waiting = Vec::with_capacity(wanted.waiting.len());
        for worker in wanted.waiting {
            waiting.push(pool.report_on(worker, WorkerState::Asleep));
        }
        let mut outside = Vec::with_capacity(wanted.outside.len());
        for (thread, _) in wanted.outside {
            outside.push(thread);
        }
        Some(Stall {
            num_threads: pool.num_threads(),
            pool_name: pool.common_name(),
            after: self.after,
            stalled: reports,
            queued: wanted.queued,
            waiting,
            outside,
        })
    }

    /// Notes which workers have moved since the last time. Returns whether there are any.
    #[inline(never)]
    fn note_pulses(&mut self, pool: &Registry) -> bool {
        let now = self.clock.elapsed();
        let mut moved = false;
        for (worker, page) in self.pages.iter_mut().take(pool.sleep.seats_in_use()).enumerate() {
            let pulse = pool.pulse(worker);
            if page.pulse != pulse {
                *page = Page { pulse, since: now, told: false };
                moved = true;
            }
        }
        moved
    }

    #[inline(never)]
    fn wanted(&self, pool: &Registry) -> Wanted {
        let mut waiting = self.long_since(pool);
        let is_still = waiting.len() == pool.sleep.seats_in_use();
        waiting.retain(|worker| pool.waits_in_a_job(*worker));
        let mut outside = pool.outside.as_ref().map(Outside::waiters).unwrap_or_default();
        outside.retain(|(thread, _)| thread.since >= self.after);
        Wanted { is_still, queued: is_still && self.stuck_looks >= 2, waiting, outside }
    }

    /// Returns the workers that have been inside one job for long, are wanted, and have not been
    /// reported.
    #[inline(never)]
    fn stalled(&self, pool: &Registry, wanted: &Wanted) -> Vec<usize> {
        let Wanted { is_still, queued, waiting, outside } = wanted;
        // A thread outside waits for the worker that has begun its closure. Which others it waits
        // for is not known: perhaps none that is stuck, if some worker goes on.
        let is_awaited_outside =
            |worker| outside.iter().any(|(_, begun_by)| *is_still || *begun_by == Some(worker));
        let is_wanted = |worker| {
            *queued
                || !waiting.is_empty()
                || is_awaited_outside(worker)
                || pool.has_letter(worker)
                || pool.threads[worker].trail.has_interrupted_a_wait()
        };
        let mut stalled = self.long_since(pool);
        stalled
            .retain(|&worker| !self.pages[worker].told && pool.is_inside_a_job(worker) && is_wanted(worker));
        stalled
    }

    /// The workers that have not moved for long.
    #[inline(never)]
    fn long_since(&self, pool: &Registry) -> Vec<usize> {
        let now = self.clock.elapsed();
        let mut workers = Vec::new();
        for (worker, page) in self.pages.iter().take(pool.sleep.seats_in_use()).enumerate() {
            if now - page.since >= self.after {
                workers.push(worker);
            }
        }
        workers
    }
}

impl Registry {
    /// Starts the watch, if somebody asked for it.
    pub(super) fn watch_for_stalls(self: &Arc<Self>) {
        let Some(after) = self.handlers.stall.as_ref().and_then(|plan| plan.after) else { return };
        let pool = Arc::downgrade(self);
        if let Some(watch) = StallWatch::start(pool, &self.recruiter, self.num_seats(), after) {
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

    /// Returns what the names of the threads have in common, without what counts them.
    fn common_name(&self) -> Option<String> {
        let names = self.threads.iter().take(self.num_threads()).map(|thread| thread.trail.name());
        let name = names.reduce(|one, other| Some(common_prefix(one?, other?)))??;
        let name = name.trim_end_matches(|c: char| !c.is_alphabetic());
        (!name.is_empty()).then(|| name.to_owned())
    }

    #[inline(never)]
    fn stalled(&self, worker: usize, since: Duration) -> StalledWorker {
        let (thread_state, wait_channel, system_call) = (None, None, None);
        let report = self.report_on(worker, WorkerState::Active);
        let mut stalled = StalledWorker { worker: report, since, thread_state, wait_channel, system_call };
        if let Some(task) = self.threads[worker].trail.thread().and_then(|thread| thread.task()) {
            stalled.thread_state = Some(task.state);
            stalled.wait_channel = task.wait_channel;
            stalled.system_call = task.system_call;
        }
        stalled
    }

    fn tell_of(&self, stall: &Stall) {
        match self.handlers.stall.as_ref().and_then(|plan| plan.handler.as_ref()) {
            Some(handler) => self.call_handler(&|| handler(stall)),
            None => say(format_args!("drowse: {stall}")),
        }
    }
}

/// Returns what two names begin with.
fn common_prefix<'a>(one: &'a str, other: &str) -> &'a str {
    let mut end = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(end) {
        end -= 1;
    }
    &one[..end]
}
