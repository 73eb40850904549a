//! Waiting in isolation: a waiting worker runs nothing but descendants of what it waits for.
//!
//! A waiting worker usually runs any job. If it holds a lock, for example, and the job that it
//! finds wants the same lock, the worker waits for itself. In *isolation* it runs only what it
//! would have run anyway without thieves: the descendants of what it waits for. They are
//!
//! - in its own deque, at or after the position at which that began;
//! - in the deque of a thief that is in the middle of one of them, at or after the position at
//!   which the thief began it; and so on, from victim to thief ([`lineage`](super::lineage));
//! - left for it by a worker of another pool, in the middle of what it waits for
//!   ([`ancestry`](super::ancestry)).
//!
//! If there are none it [sleeps alone](drowse_sleep::Sleep::sleep_alone). A thief of an isolated
//! job runs it in isolation too. So everything from that position on in the thief's deque descends
//! from the job; and an isolated job ends without the help of workers that are in the middle of
//! other jobs: nothing that it descends from can be waiting for something else.
//!
//! All workers can steal the jobs of isolated workers, at any time, as all jobs.
//!
//! # Mistakes
//!
//! Between a look at a thief's descent and a theft from its deque, the thief may have ended the one
//! job and begun another. Then we may not run what was stolen. We return it to the pool, as a job
//! that was stolen there, and another worker runs it as if it had stolen it itself.

use super::isolation::{Isolation, MOST_OF_REST, MOST_THEFTS, let_others_in};
use super::lineage::{Descent, Found, Mark, Origin, Origins, Point};
use super::parcels::Waiter;
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::deque::Steal;
use crate::diagnose::WaitFor;
use crate::job::{JobHeader, JobRef};
use drowse_sleep::LatchWord;
use drowse_sync::{faulty, hint, omittable};
use std::cell::Cell;
use std::ptr::NonNull;

/// Rounds of looking for descendants before a worker takes some by force, and before it sleeps.
const ROUNDS_UNTIL_FORCE: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 64 };
const ROUNDS_UNTIL_SLEEP: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 128 };

drowse_sync::thread_local! {
    /// `true` while this thread, which is not a worker, is in an isolated region.
    static OUTSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns `true` if the calling code is isolated, on a worker or on another thread.
pub(crate) fn is_isolated() -> bool {
    WorkerThread::with_current(|worker| {
        worker.map_or_else(|| OUTSIDE.with(Cell::get), WorkerThread::is_isolated)
    })
}

/// Guard of an isolated region of code. To be dropped on the same thread.
#[must_use]
#[derive(Debug)]
pub(crate) enum Region {
    /// The code is isolated already: nothing to restore.
    Inner,
    /// On a thread that is not a worker.
    Outside,
    /// On a worker, which is alive as long as the thread runs the code of the region.
    Worker {
        worker: NonNull<WorkerThread>,
        /// Values to restore when the region ends.
        before: Isolation,
        floor: i64,
    },
}

impl Region {
    /// Begins a region on the calling thread. Inside of another region it excludes the jobs that
    /// the outer one has made before.
    pub(crate) fn begin() -> Self {
        WorkerThread::with_current(|worker| match worker {
            Some(worker) => worker.enter_region_here(Isolation::Region),
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
            Self::Worker { worker, before, floor } => {
                // SAFETY: the worker is alive as long as the thread runs the code of the region.
                unsafe { worker.as_ref() }.leave_region(before, floor);
            }
        }
    }
}

impl Registry {
    /// Returns `true` if the pool is isolated, or a region of a worker is.
    pub(super) fn has_isolated(&self) -> bool {
        self.isolation.everywhere || self.isolation.regions.get() > 0
    }

    /// Returns `true` if a job with this origin must run in isolation.
    pub(super) fn is_isolated(&self, origin: Origin) -> bool {
        self.isolation.everywhere || self.is_in_region(origin)
    }

    /// Returns `true` if a job with this origin was made in a region. In an isolated pool, does not
    /// see the regions of jobs that were sent without being pushed.
    fn is_in_region(&self, origin: Origin) -> bool {
        let in_region = || match origin.mark {
            Mark::Stolen(position) => self.threads[origin.worker].lineage.is_isolated(position),
            Mark::Sent(_) => !self.isolation.everywhere, // Only isolated code sends with an origin.
        };
        self.isolation.regions.get() > 0 && in_region()
    }

    /// Offers a job with these origins, for the workers that wait for it in isolation.
    ///
    /// # Safety
    ///
    /// The reference must not be in any other queue.
    pub(crate) unsafe fn leave_job(&self, job: JobRef, origins: Origins) {
        self.assert_here();
        self.give_back(job, origins);
    }

    /// Puts a job that the caller may not run where all workers find it.
    #[cold]
    #[inline(never)]
    fn give_back(&self, job: JobRef, origins: Origins) {
        let_others_in();
        self.isolation.returned.push(job, Some(origins));
        // WAKE: any worker, as for an injected job: this job is in no deque any more.
        omittable!("isolate/return-no-post", self.sleep.post_injected(1, &|| false));
        self.call_back(origins.from);
        if let Some(also) = origins.also {
            self.call_back(also);
        }
    }

    /// Calls the workers that may wait for a returned job with this origin.
    #[inline(never)]
    fn call_back(&self, origin: Origin) {
        // WAKE: the worker of the origin may sleep alone and wait for the job; so may workers that
        // wait for what that worker is in the middle of. The fence of `call` pairs with that of
        // `Sleep::sleep_alone`, after which a sleeper looks at `returned`. (No model shows what is
        // lost without `call_waiters_of`.)
        omittable!("isolate/return-no-call", self.sleep.call(origin.worker));
        self.call_waiters_of(origin.worker);
    }
}

impl WorkerThread {
    /// Returns `true` if what this worker runs now is isolated.
    pub(crate) fn is_isolated(&self) -> bool {
        self.isolated.isolation.get() != Isolation::Off
    }

    /// Returns `true` if what this worker runs now is in a region.
    pub(super) fn is_in_region(&self) -> bool {
        self.isolated.isolation.get() == Isolation::Region
    }

    /// Records that the future being polled awaits a task that was spawned at this point, for
    /// [`awaited_since`](Self::awaited_since).
    pub(crate) fn awaits(&self, spawned: Point) {
        let before = self.isolated.awaits.get().unwrap_or(spawned);
        let position = before.position.min(spawned.position);
        self.isolated
            .awaits
            .set(Some(Point { position, moment: before.moment.min(spawned.moment) }));
    }

    /// Calls `poll`. Also returns the earliest point at which a task was spawned that the future
    /// awaits, if it awaits any.
    pub(crate) fn awaited_since<R>(&self, poll: impl FnOnce() -> R) -> (R, Option<Point>) {
        /// Restores the outer value, also on a panic.
        struct PutBack<'a>(&'a Cell<Option<Point>>, Option<Point>);
        impl Drop for PutBack<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _outer = PutBack(&self.isolated.awaits, self.isolated.awaits.take());
        (poll(), self.isolated.awaits.get())
    }

    /// Begins an isolated region, unless what the worker runs is isolated already.
    pub(crate) fn enter_region(&self) -> Region {
        if self.is_isolated() { Region::Inner } else { self.enter_region_here(Isolation::Region) }
    }

    /// Isolates what the worker runs, also inside of a region. Jobs pushed before do not run in it.
    #[inline(never)]
    fn enter_region_here(&self, isolation: Isolation) -> Region {
        let position = self.position();
        let (before, floor) =
            (self.isolated.isolation.replace(isolation), self.isolated.floor.replace(position));
        if isolation == Isolation::Region && before != Isolation::Region {
            self.registry.isolation.regions.add(1);
            self.lineage().isolate_since(position);
        }
        Region::Worker { worker: NonNull::from(self), before, floor }
    }

    #[inline(never)]
    fn leave_region(&self, before: Isolation, floor: i64) {
        let isolation = self.isolated.isolation.replace(before);
        self.isolated.floor.set(floor);
        if isolation == Isolation::Region && before != Isolation::Region {
            self.lineage().isolate_since(i64::MAX);
            self.registry.isolation.regions.subtract(1);
        }
    }

    /// Returns the isolation of a job with this origin, which this worker is about to run.
    fn isolation_of(&self, origin: Origin) -> Isolation {
        if self.registry.isolation.everywhere
            && !self.is_in_region()
            && !self.registry.is_in_region(origin)
        {
            Isolation::Pool
        } else {
            Isolation::Region
        }
    }

    /// Runs a stolen job, or a letter, that must run in isolation.
    #[cold]
    pub(super) fn run_isolated(&self, job: JobRef, origin: Origin) {
        let before = self.lineage().begin(origin, self.position());
        // The first push is slow, and calls workers that wait for this and sleep alone.
        omittable!("isolate/begins-unheard", self.deque.share_next());
        let region = self.enter_region_here(self.isolation_of(origin));
        self.run_recorded(job);
        // Another worker may wait for jobs that this one has spawned and not waited for. It would
        // not find them once this worker has begun another job.
        omittable!("isolate/leaves-descendants", self.see_to_rest(origin));
        drop(region);
        self.go_back_to(before);
    }

    /// Waits for a latch, in isolation, for what its jobs since that point have spawned.
    #[cold]
    pub(super) fn wait_isolated(&self, latch: &LatchWord, what: WaitFor, since: Point) {
        let mut rounds = 0;
        while !latch.probe() {
            self.retake_place();
            let by_force = rounds >= ROUNDS_UNTIL_FORCE;
            let own = self.take_own_since(since);
            if let Some(found) = own.or_else(|| self.find_descendant(since, by_force)) {
                // A future of its own that was woken is no theft: `run_local` checks the origin.
                faulty!("isolate/woken-as-theft", self.run_local(found), self.run_found(found));
                rounds = 0;
            } else if rounds < ROUNDS_UNTIL_SLEEP {
                // WAKE: `CountLatch::wait` may wait for the counts that we have in stock.
                self.settle();
                rounds += 1;
                hint::spin_loop();
            } else {
                self.sleep_alone(latch, what, since);
                rounds = 0;
            }
        }
    }

    /// Takes a descendant of what this worker waits for since that point, from its deque or
    /// letters.
    pub(super) fn take_own_since(&self, since: Point) -> Option<Found> {
        let own = self
            .pop_in_order(faulty!("isolate/any-own", since.position, i64::MIN))
            .map(Found::from);
        own.or_else(|| self.take_letter_of(Some(&self.since(since))))
    }

    /// Restores the descent that others saw before.
    pub(super) fn go_back_to(&self, before: Option<Descent>) {
        self.lineage().go_back_to(before);
        // WAKE: a worker that sleeps alone may have a letter from what we go back to, and not have
        // seen that it is a descendant, as we showed another descent. The fence of `call_all` pairs
        // with that of `Sleep::sleep_alone`: we see that the worker is about to sleep, or it sees
        // our descent. (No model shows what is lost without this call.)
        if before.is_some() {
            self.registry.sleep.call_all();
        }
    }

    /// Runs what the job with this origin, which has just ended, has spawned. If that does not come
    /// to an end soon, gives the rest back, for workers that may run it.
    fn see_to_rest(&self, origin: Origin) {
        let mut left = MOST_OF_REST;
        while let Some(job) = self.pop_in_order(self.isolated.floor.get()) {
            if left == 0 && !self.registry.is_left_behind() {
                self.registry.give_back(job, origin.into());
            } else {
                self.run_own(job);
                left = left.saturating_sub(1);
            }
        }
    }

    /// Runs one job of its own that its region has made. Returns `false` if there is none.
    pub(super) fn run_one_of_region(&self) -> bool {
        let Some(job) = self.pop_in_order(self.isolated.floor.get()) else { return false };
        let _loop = self.begin_loop();
        // Not `run_found`: the job descends from what the worker is in the middle of.
        faulty!("isolate/own-as-found", self.run_own(job), self.run_found(job.into()));
        true
    }

    /// Takes a job that descends from what this worker waits for since that point, from a thief's
    /// deque or from the returned jobs.
    fn find_descendant(&self, since: Point, by_force: bool) -> Option<Found> {
        self.registry.abort_if_left_behind();
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
            self.registry.give_back(found.job, origin.into());
        }
        self.registry.isolation.returned.take(Some(&self.since(since)))
    }

    /// Returns the workers that are in the middle of a descendant of what this one waits for since
    /// that point, with their descents.
    pub(super) fn descendants_at(
        &self,
        since: Point,
    ) -> impl Iterator<Item = (usize, Descent)> + use<'_> {
        let others = (0..self.registry.sleep.seats_in_use()).filter(|other| *other != self.index());
        others.filter_map(move |other| Some((other, self.descent_at(other, since)?)))
    }

    /// Returns the descent of this worker, if it is in the middle of such a descendant.
    #[inline(never)]
    fn descent_at(&self, other: usize, since: Point) -> Option<Descent> {
        let descent = self.registry.threads[other].lineage.read()?;
        self.comes_from(descent.origin, since).then_some(descent)
    }

    /// Returns the worker as one that waits for descendants of what began at that point.
    pub(super) fn since(&self, since: Point) -> impl Waiter + '_ {
        WaitsSince { worker: self, since }
    }

    /// Returns `true` if the origin descends from what this worker waits for since that point.
    pub(super) fn comes_from(&self, origin: Origin, since: Point) -> bool {
        self.descends(origin, since, MOST_THEFTS)
    }

    /// Follows `origin` from thief to victim, at most `thefts` times. Returns `true` if it leads to
    /// what this worker waits for since that point.
    ///
    /// If a victim has begun another job since, its descent begins after what was stolen from it or
    /// sent by it before, so `is_since` returns `false` for that.
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

    /// Returns the job of a word that was stolen at `origin` just now.
    pub(super) fn found_at(&self, word: NonNull<JobHeader>, origin: Origin) -> Found {
        // SAFETY: `push` puts the words into a deque, and this one has left it now.
        Found { job: unsafe { JobRef::from_word(word) }, origin: Some(origin) }
    }
}

/// A worker that waits in isolation for what began at a point.
struct WaitsSince<'w> {
    worker: &'w WorkerThread,
    since: Point,
}

impl Waiter for WaitsSince<'_> {
    fn may_run(&self, origin: Origin) -> bool {
        self.worker.comes_from(origin, self.since)
    }
}
