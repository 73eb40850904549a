//! Stall watch: a thread that looks for workers that do not come back from their jobs while
//! something waits for them: a queued job, another worker, the worker's own job below on its stack,
//! a thread outside. It needs no marks in the user's code, and costs the workers nothing: it reads
//! what they write anyway. If there is a watch, a thread outside that waits leaves a note.

use super::outside::Outside;
use super::pool::{Pool, WhileBusy, report_on};
use super::report::{Stall, StalledWorker, WaitingThread, WorkerState};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, Stopwatch, WaitWord, say};
use std::time::Duration;

/// Looks in the time after which a stall is reported.
const LOOKS: u32 = 4;

/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(1);

/// Close looks before each report. The ends of the deque of a worker that forks and joins may have
/// been by chance where they were at the last look.
const CLOSE_LOOKS: u32 = 32;
const BETWEEN_CLOSE_LOOKS: Duration = Duration::from_micros(50);

const ON: u32 = 0;
const OVER: u32 = 1;

/// Handle of the watch, which ends when this is dropped, if the pool has not ended before.
#[derive(Debug)]
pub(super) struct StallWatch(Arc<WaitWord>);

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.end();
    }
}

impl StallWatch {
    /// Ends the watch when the pool ends, because no worker can stall any more. (The registry may
    /// live on: a thread that was adopted holds it for the rest of its life.)
    pub(super) fn end(&self) {
        // ORDERING: relaxed; the thread of `start` reads nothing but this word.
        self.0.store(OVER, Ordering::Relaxed);
        // WAKE: the watch may sleep between two looks, in `WaitWord::wait_while_for`.
        self.0.wake();
    }

    /// Starts the thread that watches a pool. Prints an error if it cannot be started.
    pub(super) fn start(pool: &Arc<dyn Pool>, seats: usize, after: Duration) -> Option<Self> {
        let word = Arc::new(WaitWord::new(ON));
        let (is_over, weak) = (Arc::clone(&word), Arc::downgrade(pool));
        let watch = move |while_busy: &WhileBusy<'_>| {
            let mut book = Book::new(seats, after);
            let pause = || _ = is_over.wait_while_for(ON, BETWEEN_CLOSE_LOOKS);
            while is_over.wait_while_for(ON, (after / LOOKS).max(SHORTEST)) {
                // Hold the pool only for the time of a look.
                let Some(pool) = weak.upgrade() else { return };
                if let Some(stall) = book.look(&*pool, &pause) {
                    while_busy(&|| tell_of(&*pool, &stall));
                }
            }
        };
        match pool.start_watch("drowse-stalls", Box::new(watch)) {
            Ok(()) => Some(Self(word)),
            Err(error) => {
                say(format_args!(
                    "drowse: the system starts no thread for the stall watch: {error}"
                ));
                None
            }
        }
    }
}

/// Observations of the watch, with a page for each worker.
struct Book {
    clock: Stopwatch,
    after: Duration,
    pages: Vec<Page>,
    /// Looks in a row at which there were jobs, and no worker had moved since the previous look.
    stuck_looks: u32,
}

#[derive(Clone, Default)]
struct Page {
    pulse: Pulse,
    /// Time at which this pulse was first seen.
    since: Duration,
    /// `true` if this stall was reported.
    told: bool,
}

/// Values that change when a worker searches, takes jobs, pushes, pops, sleeps or waits.
type Pulse = [u64; 8];

/// Things that wait for the workers, at one look.
struct Wanted {
    /// `true` if no worker has moved for `after`.
    is_still: bool,
    /// `true` if jobs are queued and no worker moves.
    queued: bool,
    /// Workers that have slept for `after` in the middle of a job.
    waiting: Vec<usize>,
    /// Threads outside that have waited for `after`, with the workers that run their closures.
    outside: Vec<(WaitingThread, Option<usize>)>,
}

impl Book {
    fn new(workers: usize, after: Duration) -> Self {
        Self {
            clock: Stopwatch::start(),
            after,
            pages: vec![Page::default(); workers],
            stuck_looks: 0,
        }
    }

    /// Looks at all workers. Reports each stall once. Calls `pause` between close looks.
    fn look(&mut self, pool: &dyn Pool, pause: &dyn Fn()) -> Option<Stall> {
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
            reports.push(stalled_worker(pool, worker, now - page.since));
        }
        let mut waiting = Vec::with_capacity(wanted.waiting.len());
        for worker in wanted.waiting {
            waiting.push(report_on(pool, worker, WorkerState::Asleep));
        }
        let mut outside = Vec::with_capacity(wanted.outside.len());
        for (thread, _) in wanted.outside {
            outside.push(thread);
        }
        Some(Stall {
            num_threads: pool.num_threads(),
            pool_name: common_name(pool),
            after: self.after,
            stalled: reports,
            queued: wanted.queued,
            waiting,
            outside,
        })
    }

    /// Notes which workers have moved since the last time. Returns `true` if there are any.
    fn note_pulses(&mut self, pool: &dyn Pool) -> bool {
        let now = self.clock.elapsed();
        let mut moved = false;
        for (worker, page) in self.pages.iter_mut().take(pool.seats_in_use()).enumerate() {
            let pulse = pulse(pool, worker);
            if page.pulse != pulse {
                *page = Page { pulse, since: now, told: false };
                moved = true;
            }
        }
        moved
    }

    fn wanted(&self, pool: &dyn Pool) -> Wanted {
        let mut waiting = self.long_since(pool);
        let is_still = waiting.len() == pool.seats_in_use();
        waiting.retain(|worker| waits_in_a_job(pool, *worker));
        let mut outside = pool.probe().outside.as_ref().map(Outside::waiters).unwrap_or_default();
        outside.retain(|(thread, _)| thread.since >= self.after);
        Wanted { is_still, queued: is_still && self.stuck_looks >= 2, waiting, outside }
    }

    /// Returns the workers that have been inside one job for `after`, are wanted, and have not been
    /// reported.
    fn stalled(&self, pool: &dyn Pool, wanted: &Wanted) -> Vec<usize> {
        let Wanted { is_still, queued, waiting, outside } = wanted;
        // A thread outside waits for the worker that has begun its closure. Which other workers it
        // waits for is not known: as long as any worker moves, perhaps none that is stuck.
        // A thread that was adopted, and is in no job, does something of its own.
        let is_awaited_outside = |worker| {
            let may_be = *is_still && !pool.probe().trail(worker).is_in_own_code();
            outside.iter().any(|(_, begun_by)| may_be || *begun_by == Some(worker))
        };
        let is_wanted = |worker| {
            *queued
                || !waiting.is_empty()
                || is_awaited_outside(worker)
                || pool.has_letter(worker)
                || pool.probe().trail(worker).has_interrupted_a_wait()
        };
        let mut stalled = self.long_since(pool);
        stalled.retain(|&worker| {
            !self.pages[worker].told && is_inside_a_job(pool, worker) && is_wanted(worker)
        });
        stalled
    }

    /// Returns the workers that have not moved for `after`.
    fn long_since(&self, pool: &dyn Pool) -> Vec<usize> {
        let now = self.clock.elapsed();
        let mut workers = Vec::new();
        for (worker, page) in self.pages.iter().take(pool.seats_in_use()).enumerate() {
            if now - page.since >= self.after {
                workers.push(worker);
            }
        }
        workers
    }
}

fn pulse(pool: &dyn Pool, worker: usize) -> Pulse {
    let [depth, level] = pool.probe().trail(worker).pulse();
    let [a, b, c, d, e, f] = pool.pulse(worker);
    [a, b, c, d, e, f, depth, level]
}

/// Returns `true` if the worker has begun, does not search, and does not sleep.
fn is_inside_a_job(pool: &dyn Pool, worker: usize) -> bool {
    let is_at_something =
        pool.thread(worker).is_some() && !pool.probe().trail(worker).is_searching();
    is_at_something && !pool.is_asleep(worker)
}

/// Returns `true` if this worker sleeps in the middle of a job.
fn waits_in_a_job(pool: &dyn Pool, worker: usize) -> bool {
    let report = report_on(pool, worker, WorkerState::Asleep);
    pool.is_asleep(worker) && !report.is_idle()
}

/// Returns the common beginning of the threads' names, without the number at its end.
fn common_name(pool: &dyn Pool) -> Option<String> {
    let names = (0..pool.num_threads()).map(|worker| pool.probe().trail(worker).name());
    let name = names.reduce(|one, other| Some(common_prefix(one?, other?)))??;
    let name = name.trim_end_matches(|c: char| !c.is_alphabetic());
    (!name.is_empty()).then(|| name.to_owned())
}

fn stalled_worker(pool: &dyn Pool, worker: usize, since: Duration) -> StalledWorker {
    let (thread_state, wait_channel, system_call) = (None, None, None);
    let report = report_on(pool, worker, WorkerState::Active);
    let mut stalled =
        StalledWorker { worker: report, since, thread_state, wait_channel, system_call };
    if let Some(task) = pool.thread(worker).and_then(|thread| thread.task()) {
        stalled.thread_state = Some(task.state);
        stalled.wait_channel = task.wait_channel;
        stalled.system_call = task.system_call;
    }
    stalled
}

fn tell_of(pool: &dyn Pool, stall: &Stall) {
    match &pool.probe().plan.stall_handler {
        Some(handler) => pool.call_handler(&|| handler(stall)),
        None => say(format_args!("drowse: {stall}")),
    }
}

/// Returns the common beginning of two names.
fn common_prefix<'a>(one: &'a str, other: &str) -> &'a str {
    let mut end = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(end) {
        end -= 1;
    }
    &one[..end]
}
