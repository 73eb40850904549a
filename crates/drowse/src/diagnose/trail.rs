//! Breadcrumbs of a worker for the deadlock and stall reports.
//!
//! A few words that only the worker writes: where it waits, and where it begins a job that came
//! from elsewhere; never where a `join` takes back its own half. A reader may see a mixture of
//! states while the worker moves, and sees the exact state when it does not.

use super::WaitFor;
use super::report::{JobFrom, JobReport};
use drowse_sync::{Counter, OnceLock, thread};

/// Number of innermost jobs whose origin is kept.
const LEVELS: usize = 8;

/// Bits of a level's word for what the worker waits for there: its index in `WAITS` plus one, or 0.
/// The bits above hold where the job came from.
const WAIT: u64 = 0xff;

/// All values, in the order of their numbers.
const WAITS: [WaitFor; 8] = [
    WaitFor::Home,
    WaitFor::Join,
    WaitFor::Scope,
    WaitFor::Install,
    WaitFor::Broadcast,
    WaitFor::Handle,
    WaitFor::Future,
    WaitFor::Shutdown,
];

/// Codes for where a job came from: a queue of the worker's own, one from outside, or, from
/// `OTHERS` on, that of another worker.
const OWN: u64 = 0;
const OUTSIDE: u64 = 1;
const OTHERS: u64 = 2;

/// Code in `Trail::found` of a worker that searches for a job.
const SEARCHING: u64 = u64::MAX;

/// Breadcrumbs of one worker, to be read by people.
#[derive(Debug, Default)]
pub(super) struct Trail {
    name: OnceLock<String>,
    /// Number of jobs from elsewhere that the worker is in the middle of.
    depth: Counter,
    /// Code for where the job came from that it begins next; `OWN` at other times.
    found: Counter,
    /// Words for the main loop and the innermost of those jobs.
    levels: [Counter; LEVELS],
}

/// Previous word of a level.
#[must_use]
pub(crate) struct Before(u64);

impl Trail {
    /// Records that the calling thread begins.
    pub(super) fn begin(&self) {
        if let Some(name) = thread::current().name() {
            let _ = self.name.set(name.to_owned());
        }
    }

    fn level(&self, depth: u64) -> &Counter {
        &self.levels[usize::try_from(depth).unwrap_or(0) % LEVELS]
    }

    /// Records that the worker begins to wait.
    pub(super) fn begin_wait(&self, what: WaitFor) -> Before {
        let level = self.level(self.depth.get());
        let before = level.get();
        level.set_mine(before & !WAIT | (what as u64 + 1));
        Before(before)
    }

    /// Records that the worker has what it waited for.
    pub(super) fn end_wait(&self, before: Before) {
        self.level(self.depth.get()).set_mine(before.0);
        self.found.set_mine(OWN);
    }

    /// Records that the worker searches, until it begins a job or has what it waits for.
    pub(super) fn begin_search(&self) {
        self.found.set_mine(SEARCHING);
    }

    /// Records that the worker does not search any more: it goes on with something of its own, or a
    /// guest takes its seat.
    pub(super) fn end_search(&self) {
        self.found.set_mine(OWN);
    }

    pub(super) fn is_searching(&self) -> bool {
        self.found.get() == SEARCHING
    }

    /// Returns `true` if the worker is neither in its main loop nor in a job: its thread was
    /// adopted, and runs the code that has adopted it.
    pub(super) fn is_in_own_code(&self) -> bool {
        self.depth.get() == 0 && self.wait_at(0).is_none()
    }

    /// Records that the worker has found a job from outside.
    pub(super) fn found_outside(&self) {
        self.found.set_mine(OUTSIDE);
    }

    /// Records that the worker has stolen a job.
    pub(super) fn stole_from(&self, victim: usize) {
        self.found.set_mine(OTHERS + victim as u64);
    }

    /// Records that the worker begins the job that it found last.
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

    /// Records that the innermost job has ended.
    pub(super) fn end_job(&self, before: Before) {
        let depth = self.depth.get();
        self.level(depth).set_mine(before.0);
        self.depth.set_mine(depth.saturating_sub(1));
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.get().map(String::as_str)
    }

    /// Returns `true` if the worker runs a job that it took while an earlier one, below it on the
    /// stack, waited for something.
    pub(super) fn has_interrupted_a_wait(&self) -> bool {
        self.jobs().iter().any(|job| job.taken_while.is_some())
    }

    /// Returns values that change as the worker goes on.
    pub(super) fn pulse(&self) -> [u64; 2] {
        let depth = self.depth.get();
        [depth, self.level(depth).get()]
    }

    /// Returns what the worker waits for in its innermost job, if it waits.
    pub(super) fn waits_for(&self) -> Option<WaitFor> {
        self.wait_at(self.depth())
    }

    pub(super) fn depth(&self) -> u64 {
        self.depth.get()
    }

    fn wait_at(&self, depth: u64) -> Option<WaitFor> {
        let place = (self.level(depth).get() & WAIT).checked_sub(1)?;
        WAITS.get(usize::try_from(place).ok()?).copied()
    }

    fn job_at(&self, depth: u64) -> JobReport {
        let from = match self.level(depth).get() >> WAIT.count_ones() {
            OWN => JobFrom::Own,
            OUTSIDE => JobFrom::Outside,
            other => JobFrom::Worker(usize::try_from(other - OTHERS).unwrap_or(usize::MAX)),
        };
        JobReport {
            from,
            taken_while: self.wait_at(depth - 1).filter(|what| *what != WaitFor::Home),
        }
    }

    pub(super) fn jobs(&self) -> Vec<JobReport> {
        let depth = self.depth.get();
        // The level below the last reported job must not have been overwritten.
        let told = depth.min(LEVELS as u64 - 1);
        let mut jobs = Vec::new();
        for level in 0..told {
            jobs.push(self.job_at(depth - level));
        }
        jobs
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
        let jobs =
            vec![from(JobFrom::Worker(3), Some(WaitFor::Join)), from(JobFrom::Outside, None)];
        assert_eq!((trail.jobs(), trail.wait_at(2)), (jobs.clone(), None));
        // A wait inside of that, which is over.
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
