//! Waiting in isolation: a worker that waits runs nothing but descendants of what it waits for.
//!
//! A worker that waits usually runs whatever there is. If it holds something, a lock say, and the
//! job that it finds wants the same, it waits for itself. In *isolation* it runs what it would have
//! run anyway, had nobody stolen it: the descendants of what it waits for. They are
//!
//! - in its own deque, behind the position at which it began;
//! - in the deque of a thief that is in the middle of one of them, behind the position at which
//!   that one began; and so on, from victim to thief ([`lineage`](super::lineage));
//! - left for it by a worker of another pool, in the middle of what it waits for
//!   ([`ancestry`](super::ancestry)).
//!
//! If there are none it [sleeps alone](drowse_sleep::Sleep::sleep_alone). Whoever steals a job that
//! is isolated runs it in isolation too. So all that is behind that position in the thief's deque
//! descends from the job; and what is isolated needs nobody but those who are at it to get done: it
//! descends from nothing that could be waiting for something else.
//!
//! Jobs of isolated workers can be stolen by everybody, at any time, as all jobs can.
//!
//! # Mistakes
//!
//! Between a look at a thief's descent and a theft from its deque, the thief may have come to the
//! end of the one job and begun another. Then what was stolen is not ours to run: we return it to
//! the pool, as a job that was stolen there, and somebody else runs it as if that one had stolen
//! it.

use super::lineage::{Descent, Mark, Origin, Origins, Point};
use super::registry::Registry;
use super::trail::WaitFor;
use super::wait::wait_for_nobody;
use super::worker::WorkerThread;
use crate::TraceEvent;
use crate::deque::Steal;
use crate::job::{JobHeader, JobRef};
use drowse_sleep::LatchWord;
use drowse_sync::{faulty, hint, look, omittable};
use std::cell::Cell;
use std::ptr::NonNull;

/// How often a worker looks for descendants before it takes some by force, and how often before it
/// sleeps.
const ROUNDS_UNTIL_FORCE: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 64 };
const ROUNDS_UNTIL_SLEEP: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 128 };

/// How many jobs that a stolen one has spawned its thief runs before it looks at anything else.
pub(super) const MOST_OF_REST: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 64 };

/// How many thefts are followed, from thief to victim.
pub(super) const MOST_THEFTS: u32 = 16;

drowse_sync::thread_local! {
    /// Whether this thread, which is not a worker, is in an isolated region.
    static OUTSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Since when what a worker waits for has descendants in its deque.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Since {
    /// Since then.
    Then(Point),
    /// Since a job was pushed there, and all of them descend from the job.
    Position(i64),
    /// There are none.
    Now,
}

/// A job that was found, and where it comes from, if that is another worker.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) job: JobRef,
    pub(super) origin: Option<Origin>,
}

impl From<JobRef> for Found {
    fn from(job: JobRef) -> Self {
        Self { job, origin: None }
    }
}

/// Whether the code that calls this is isolated, on whatever thread it runs.
pub(crate) fn is_isolated() -> bool {
    WorkerThread::with_current(|worker| {
        worker.map_or_else(|| OUTSIDE.with(Cell::get), WorkerThread::is_isolated)
    })
}

/// A region of code that is isolated. It ends when this is dropped, on the same thread.
#[must_use]
#[derive(Debug)]
pub(crate) enum Region {
    /// Inside of another region: nothing to restore.
    Inner,
    /// On a thread that is not a worker.
    Outside,
    /// On a worker, which is alive as long as the thread runs the code of the region.
    Worker {
        worker: NonNull<WorkerThread>,
        /// Values to restore when the region ends.
        was_isolated: bool,
        floor: i64,
    },
}

impl Region {
    /// Begins one on the calling thread.
    pub(crate) fn begin() -> Self {
        WorkerThread::with_current(|worker| match worker {
            Some(worker) => worker.enter_region(),
            None if OUTSIDE.with(|isolated| isolated.replace(true)) => Self::Inner,
            None => Self::Outside,
        })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match *self {
            Self::Inner => (),
            Self::Outside => OUTSIDE.with(|isolated| isolated.set(false)),
            Self::Worker { worker, was_isolated, floor } => {
                // SAFETY: see the variant.
                unsafe { worker.as_ref() }.leave_region(was_isolated, floor);
            }
        }
    }
}

/// Where a thief may come to another job, or its victim fall asleep: random schedules seldom come
/// upon it by themselves.
pub(super) fn let_others_in() {
    if cfg!(drowse_shuttle) {
        hint::spin_loop();
    }
}

impl Registry {
    /// Whether anything is isolated now.
    pub(super) fn has_isolated(&self) -> bool {
        self.isolates || self.isolated_regions.get() > 0
    }

    /// Whether a job that comes from there must be run in isolation.
    pub(super) fn is_isolated(&self, origin: Origin) -> bool {
        let in_region = || match origin.mark {
            Mark::Stolen(position) => self.threads[origin.worker].lineage.is_isolated(position),
            Mark::Sent(_) => true, // Nobody else gives anything back.
        };
        self.isolates || (self.isolated_regions.get() > 0 && in_region())
    }

    /// Offers a job that comes from there, where those find it who wait for it in isolation.
    ///
    /// # Safety
    ///
    /// The reference must not be in any other queue.
    pub(crate) unsafe fn leave_job(&self, job: JobRef, origins: Origins) {
        self.assert_here();
        self.give_back(job, origins);
    }

    /// Gives back a job that the caller may not run.
    fn give_back(&self, job: JobRef, origins: impl Into<Origins>) {
        let_others_in();
        let origins = origins.into();
        self.returned.push(job, Some(origins));
        // WAKE: for the job, as if it had been injected: nobody has it any more.
        omittable!("isolate/return-no-post", self.sleep.post_injected(1, &|| false));
        // WAKE: whom it comes from may wait for it, alone; and so may those who wait for what that
        // one is in the middle of. (No model shows what is lost without the latter.)
        for origin in origins.all() {
            omittable!("isolate/return-no-call", self.sleep.call(origin.worker));
            self.call_those_who_wait_for(origin.worker);
        }
    }
}

impl WorkerThread {
    /// Whether what it runs now is isolated.
    pub(crate) fn is_isolated(&self) -> bool {
        self.isolated.get()
    }

    /// Begins an isolated region, unless it is in one.
    pub(crate) fn enter_region(&self) -> Region {
        if self.is_isolated() { Region::Inner } else { self.enter_region_here() }
    }

    /// Begins an isolated region here, in which nothing is run that was pushed before.
    fn enter_region_here(&self) -> Region {
        let position = self.position();
        let (was_isolated, floor) = (self.isolated.replace(true), self.floor.replace(position));
        if !was_isolated {
            self.registry.isolated_regions.add(1);
            self.lineage().isolate_since(position);
        }
        Region::Worker { worker: NonNull::from(self), was_isolated, floor }
    }

    fn leave_region(&self, was_isolated: bool, floor: i64) {
        self.isolated.set(was_isolated);
        self.floor.set(floor);
        if !was_isolated {
            self.lineage().isolate_since(i64::MAX);
            self.registry.isolated_regions.subtract(1);
        }
    }

    /// Runs a job that was found elsewhere, as it must be run.
    pub(super) fn run_found(&self, found: Found) {
        // Tested here too, so that the usual case does not look for the origin's ancestors.
        if self.registry.has_ancestors() {
            self.with_ancestors_of(found.origin, || self.run_found_with_ancestors(found));
        } else {
            self.run_found_with_ancestors(found);
        }
    }

    fn run_found_with_ancestors(&self, found: Found) {
        match found.origin {
            Some(origin) if look!("isolate/not-inherited", self.registry.is_isolated(origin)) => {
                let before = self.lineage().begin(origin, self.position());
                // Those who wait for it, and sleep alone, are called with the first push.
                omittable!("isolate/begins-unheard", self.deque.share_next());
                let region = self.enter_region_here();
                self.run_job_found(found.job);
                // Another worker may wait for what it has spawned and not waited for, and would not
                // know where to look once this one has begun another job.
                omittable!("isolate/leaves-descendants", self.see_to_rest(origin));
                drop(region);
                self.go_back_to(before);
            }
            _ => {
                let floor = self.floor.replace(self.position());
                // It may be in the middle of a job that somebody waits for in isolation, and have
                // asked for any other, by `yield_now`.
                let before = faulty!("isolate/shows-descent", self.lineage().begin_other(), None);
                self.run_job_found(found.job);
                if before.is_some() {
                    self.go_back_to(before);
                }
                self.floor.set(floor);
            }
        }
    }

    /// Waits for a latch, in isolation.
    #[cold]
    pub(super) fn wait_isolated(&self, latch: &LatchWord, what: WaitFor, since: Since) {
        let since = self.point_since(since);
        let mut rounds = 0;
        while !latch.probe() {
            self.retake_place();
            if let Some(own) = self.take_own_since(since) {
                self.run_local(own);
                rounds = 0;
            } else if self.registry.is_left_behind() {
                wait_for_nobody();
            } else if let Some(found) = self.find_descendant(since, rounds >= ROUNDS_UNTIL_FORCE) {
                // A future of its own, that was woken, is no theft.
                faulty!("isolate/woken-as-theft", self.run_local(found), self.run_found(found));
                rounds = 0;
            } else if rounds < ROUNDS_UNTIL_SLEEP {
                // WAKE: somebody may wait for what we hold.
                self.settle();
                rounds += 1;
                hint::spin_loop();
            } else {
                self.sleep_alone(latch, what, since);
                rounds = 0;
            }
        }
        self.settle();
    }

    pub(super) fn point_since(&self, since: Since) -> Point {
        match since {
            Since::Then(point) => point,
            Since::Position(position) => Point { position, ..self.point() },
            Since::Now => self.point(),
        }
    }

    /// A job of its own that it may run while it waits for something, since that point.
    pub(super) fn take_own_since(&self, since: Point) -> Option<Found> {
        let own = self.pop_in_order(faulty!("isolate/any-own", since.position, i64::MIN)).map(Found::from);
        own.or_else(|| self.take_letter_if(|origin| self.comes_from(origin, since)))
    }

    /// Goes on with what it was in the middle of before, as far as others are concerned.
    fn go_back_to(&self, before: Option<Descent>) {
        self.lineage().go_back_to(before);
        // WAKE: those who wait for that, and have not seen, meanwhile, that a letter comes from it.
        // By the fence of the call, we see that one is about to sleep, or it sees where we are. (No
        // model shows what is lost without.)
        if before.is_some() {
            self.registry.sleep.call_all();
        }
    }

    /// At the end of a job that comes from there: runs what it has spawned. If that does not come
    /// to an end soon, gives the rest back, to whoever may run it.
    fn see_to_rest(&self, origin: Origin) {
        let mut left = MOST_OF_REST;
        while let Some(job) = self.pop_in_order(self.floor.get()) {
            if left == 0 && !self.registry.is_left_behind() {
                self.registry.give_back(job, origin);
            } else {
                self.run_own(job);
                left = left.saturating_sub(1);
            }
        }
        self.settle();
    }

    /// Runs one job of its own that the region it is in has made. False if there was none.
    pub(super) fn run_one_of_region(&self) -> bool {
        self.run_if_some(self.pop_in_order(self.floor.get()).map(Found::from))
    }

    /// A job that descends from what this worker waits for since that point, from wherever it is.
    fn find_descendant(&self, since: Point, by_force: bool) -> Option<Found> {
        for (thief, descent) in self.descendants_at(since) {
            let info = &self.registry.threads[thief];
            let_others_in();
            let outcome = if by_force {
                info.stealer.steal_by_force_since(descent.since.position)
            } else {
                info.stealer.steal_since(descent.since.position)
            };
            let Steal::Success((word, position)) = outcome else { continue };
            let origin = Origin::stolen(thief, position);
            let found = self.found_at(word, origin);
            if info.lineage.is_still(descent) {
                self.stole(thief);
                return Some(found);
            }
            self.registry.give_back(found.job, origin);
        }
        self.registry.returned.take_if(|origin| self.comes_from(origin, since))
    }

    /// The workers that are in the middle of something which descends from what this one waits for
    /// since that point.
    pub(super) fn descendants_at(&self, since: Point) -> impl Iterator<Item = (usize, Descent)> + use<'_> {
        let others = (0..self.registry.sleep.seats_in_use()).filter(|other| *other != self.index());
        others.filter_map(move |other| {
            let descent = self.registry.threads[other].lineage.read()?;
            self.descends(descent.origin, since, MOST_THEFTS).then_some((other, descent))
        })
    }

    /// Whether a job that comes from there descends from what this worker waits for since that
    /// point.
    pub(super) fn comes_from(&self, origin: Option<Origin>, since: Point) -> bool {
        origin.is_some_and(|origin| self.descends(origin, since, MOST_THEFTS))
    }

    /// Whether what comes from there descends from what this worker waits for since that point.
    ///
    /// Each step is from a thief to its victim. If the victim has come to another job since, all
    /// that is stolen from it now has a higher position than what was stolen before, and all that
    /// it sends a later moment.
    fn descends(&self, origin: Origin, since: Point, thefts: u32) -> bool {
        if origin.worker == self.index() {
            return faulty!("isolate/any-theft", origin.is_since(since), true);
        }
        let of_victim = || self.registry.threads[origin.worker].lineage.read_whole();
        thefts > 0
            && of_victim().is_some_and(|victim| {
                origin.is_since(victim.since) && self.descends(victim.origin, since, thefts - 1)
            })
    }

    /// A word that was stolen there just now.
    pub(super) fn found_at(&self, word: NonNull<JobHeader>, origin: Origin) -> Found {
        // SAFETY: what is in a deque was put there by `push`, and has left it now.
        Found { job: unsafe { JobRef::from_word(word) }, origin: Some(origin) }
    }

    /// Runs a job of its own, a letter, or one that was returned, which it has taken just now.
    pub(super) fn run_local(&self, found: Found) {
        let is_from_elsewhere = found.origin.is_some_and(|origin| origin.worker != self.index());
        if is_from_elsewhere { self.run_found(found) } else { self.run_own(found.job) }
    }

    /// Runs a job of its own that was taken from its queue just now.
    pub(super) fn run_own(&self, job: JobRef) {
        let floor = self.floor.replace(self.position());
        // SAFETY: taken from a queue just now.
        unsafe { self.execute(job) };
        self.floor.set(floor);
    }

    fn run_job_found(&self, job: JobRef) {
        self.registry.record(TraceEvent::Begin);
        let before = self.trail().begin_job();
        // SAFETY: our callers have taken it from a queue just now.
        unsafe { self.execute(job) };
        self.trail().end_job(before);
        self.registry.record(TraceEvent::End);
    }
}
