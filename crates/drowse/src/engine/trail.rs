//! What is known of a worker by those who ask why nothing moves.
//!
//! A few words, written by the worker alone, where it waits, and where it begins a job that came
//! from elsewhere: never where a `join` takes back what nobody stole. Whoever reads them gets a
//! picture that may be blurred while the worker moves, and is sharp when it does not.

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::report::{JobFrom, JobReport, WorkerReport, WorkerState};
use drowse_sync::{Counter, OnceLock, ThreadId, thread};
use std::fmt;

/// What a worker waits for.
///
/// ```
/// assert_eq!(drowse::WaitFor::Join.to_string(), "the other half of a join");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitFor {
    /// For the end of its pool, in its main loop: that is, for work.
    Home,
    /// For the other half of a `join`.
    Join,
    /// For the jobs of a scope.
    Scope,
    /// For a closure that it sent to another pool.
    Install,
    /// For a closure on each worker.
    Broadcast,
    /// For the closure of a [`JoinHandle`](crate::JoinHandle).
    Handle,
    /// For the waker of the future of a [`block_on`](crate::block_on()).
    Future,
    /// For the end of a pool that it [shuts down](crate::ThreadPool::shutdown).
    Shutdown,
}

impl WaitFor {
    const ALL: [Self; 8] = [
        Self::Home,
        Self::Join,
        Self::Scope,
        Self::Install,
        Self::Broadcast,
        Self::Handle,
        Self::Future,
        Self::Shutdown,
    ];
}

impl WaitFor {
    /// Returns the name that reports have for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Home => "work",
            Self::Join => "the other half of a join",
            Self::Scope => "the jobs of a scope",
            Self::Install => "a closure in another pool",
            Self::Broadcast => "a broadcast",
            Self::Handle => "the closure of a handle",
            Self::Future => "a future",
            Self::Shutdown => "the end of the pool",
        }
    }
}

impl fmt::Display for WaitFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Of so many jobs, the innermost, it is known where they came from.
const LEVELS: usize = 8;

/// Of a level's word: what the worker waits for there, as its place among all plus one, or 0. Above
/// that is where the job came from.
const WAIT: u64 = 0xff;

/// Where a job came from: a queue of the worker's own, one from outside, or, from this number on,
/// that of another worker.
const OWN: u64 = 0;
const OUTSIDE: u64 = 1;
const OTHERS: u64 = 2;

/// In place of where the last job came from: the worker searches for one.
const SEARCHING: u64 = u64::MAX;

/// What one worker leaves behind as it goes. All of it is for people to read.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// The thread, as the system knows it; 0 until it has begun.
    thread: Counter,
    name: OnceLock<String>,
    /// How many jobs that came from elsewhere it is in the middle of.
    depth: Counter,
    /// Where the job came from that it is going to begin; `OWN` while it is not at that.
    found: Counter,
    /// What is known of each of those jobs, the innermost of them; and of the main loop.
    levels: [Counter; LEVELS],
}

/// What a level was before.
#[must_use]
pub(super) struct Before(u64);

impl Trail {
    /// The calling thread begins.
    pub(super) fn begin(&self) {
        self.thread.set_mine(ThreadId::current().to_bits().into());
        if let Some(name) = thread::current().name() {
            let _ = self.name.set(name.to_owned());
        }
    }

    fn level(&self, depth: u64) -> &Counter {
        &self.levels[usize::try_from(depth).unwrap_or(0) % LEVELS]
    }

    /// The worker begins to wait.
    pub(super) fn begin_wait(&self, what: WaitFor) -> Before {
        let level = self.level(self.depth.get());
        let before = level.get();
        level.set_mine(before & !WAIT | (what as u64 + 1));
        Before(before)
    }

    /// The worker has what it waited for.
    pub(super) fn end_wait(&self, before: Before) {
        self.level(self.depth.get()).set_mine(before.0);
        self.found.set_mine(OWN);
    }

    /// The worker begins to search: until it begins a job, or has what it waits for.
    pub(super) fn begin_search(&self) {
        self.found.set_mine(SEARCHING);
    }

    /// The worker does not search any more: it goes on with something of its own, or a guest takes
    /// its seat.
    pub(super) fn end_search(&self) {
        self.found.set_mine(OWN);
    }

    /// Whether it has begun, and does not search: it sleeps, or is inside a job.
    pub(super) fn is_at_something(&self) -> bool {
        self.thread().is_some() && self.found.get() != SEARCHING
    }

    /// It has found a job that came from outside.
    pub(super) fn found_outside(&self) {
        self.found.set_mine(OUTSIDE);
    }

    /// It has stolen a job.
    pub(super) fn stole_from(&self, victim: usize) {
        self.found.set_mine(OTHERS + victim as u64);
    }

    /// It begins the job that it found last.
    pub(super) fn begin_job(&self) -> Before {
        let depth = self.depth.get() + 1;
        let level = self.level(depth);
        let before = level.get();
        let found = self.found.get();
        let from = if found == SEARCHING { OWN } else { found };
        level.set_mine(from << WAIT.count_ones());
        self.depth.set_mine(depth);
        self.found.set_mine(OWN);
        Before(before)
    }

    /// That job is done.
    pub(super) fn end_job(&self, before: Before) {
        let depth = self.depth.get();
        self.level(depth).set_mine(before.0);
        self.depth.set_mine(depth.saturating_sub(1));
    }

    /// The worker's own thread.
    pub(super) fn thread(&self) -> Option<ThreadId> {
        ThreadId::from_bits(u32::try_from(self.thread.get()).unwrap_or(0))
    }

    /// The name of its thread.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.get().map(String::as_str)
    }

    /// Returns whether the worker runs a job that it took while an earlier one, below it on the
    /// stack, waited for something.
    pub(super) fn has_interrupted_a_wait(&self) -> bool {
        self.jobs().iter().any(|job| job.taken_while.is_some())
    }

    /// What changes as the worker goes on.
    pub(super) fn pulse(&self) -> [u64; 2] {
        let depth = self.depth.get();
        [depth, self.level(depth).get()]
    }

    fn wait_at(&self, depth: u64) -> Option<WaitFor> {
        let place = (self.level(depth).get() & WAIT).checked_sub(1)?;
        WaitFor::ALL.get(usize::try_from(place).ok()?).copied()
    }

    fn job_at(&self, depth: u64) -> JobReport {
        let from = match self.level(depth).get() >> WAIT.count_ones() {
            OWN => JobFrom::Own,
            OUTSIDE => JobFrom::Outside,
            other => JobFrom::Worker(usize::try_from(other - OTHERS).unwrap_or(usize::MAX)),
        };
        JobReport { from, taken_while: self.wait_at(depth - 1).filter(|what| *what != WaitFor::Home) }
    }

    fn jobs(&self) -> Vec<JobReport> {
        let depth = self.depth.get();
        // The level below the last one that is told of must be there still.
        let told = depth.min(LEVELS as u64 - 1);
        let mut jobs = Vec::new();
        for level in 0..told {
            jobs.push(self.job_at(depth - level));
        }
        jobs
    }
}

impl WorkerThread {
    /// What others are told of this worker.
    pub(super) fn trail(&self) -> &Trail {
        &self.registry.threads[self.index()].trail
    }
}

impl Registry {
    /// What is known of this worker.
    pub(super) fn report_on(&self, worker: usize, state: WorkerState) -> WorkerReport {
        let trail = &self.threads[worker].trail;
        WorkerReport {
            index: worker,
            name: trail.name.get().cloned(),
            thread: trail.thread().map(ThreadId::to_bits),
            state,
            region: None,
            waits_for: trail.wait_at(trail.depth.get()),
            jobs: trail.jobs(),
            depth: usize::try_from(trail.depth.get()).unwrap_or(usize::MAX),
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_trail_tells_what_is_nested_in_what() {
        let trail = Trail::default();
        let home = trail.begin_wait(WaitFor::Home);
        assert_eq!((trail.jobs(), trail.wait_at(0)), (vec![], Some(WaitFor::Home)));
        trail.found_outside();
        let outer = trail.begin_job();
        let join = trail.begin_wait(WaitFor::Join);
        trail.stole_from(3);
        let inner = trail.begin_job();
        let from = |from, taken_while| JobReport { from, taken_while };
        let jobs = vec![from(JobFrom::Worker(3), Some(WaitFor::Join)), from(JobFrom::Outside, None)];
        assert_eq!((trail.jobs(), trail.wait_at(2)), (jobs.clone(), None));
        // In the middle of that, a wait that is over.
        let scope = trail.begin_wait(WaitFor::Scope);
        trail.end_wait(scope);
        assert_eq!(trail.jobs(), jobs);
        trail.end_job(inner);
        assert_eq!((trail.jobs().len(), trail.wait_at(1)), (1, Some(WaitFor::Join)));
        trail.end_wait(join);
        trail.end_job(outer);
        trail.end_wait(home);
        assert_eq!((trail.jobs(), trail.depth.get()), (vec![], 0));
    }

    #[test]
    fn of_many_jobs_the_innermost_are_told_and_none_is_lost() {
        let trail = Trail::default();
        let go_down = |level: u64| {
            trail.stole_from(usize::try_from(level).unwrap());
            let job = trail.begin_job();
            (job, trail.begin_wait(WaitFor::Join))
        };
        let mut frames: Vec<_> = (1..=20).map(go_down).collect();
        for depth in (1..=20).rev() {
            let jobs = trail.jobs();
            assert_eq!(jobs.len(), (LEVELS - 1).min(depth));
            assert_eq!(jobs[0].from, JobFrom::Worker(depth));
            let last = jobs[jobs.len() - 1];
            assert_eq!(last.from, JobFrom::Worker(depth + 1 - jobs.len()));
            let (job, wait) = frames.pop().unwrap();
            trail.end_wait(wait);
            trail.end_job(job);
        }
        assert_eq!(trail.pulse(), [0, 0]);
    }
}
