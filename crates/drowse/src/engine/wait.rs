//! Wait loop of a worker: until a latch is set, it runs other jobs, searches for jobs, and sleeps.

use super::current::take_heavy_fences;
use super::lineage::{Found, Point};
use super::place::Stand;
use super::worker::WorkerThread;
use crate::diagnose::WaitFor;
use crate::job::Slabs;
use crate::unwind;
use drowse_sleep::{Host, Idle, LatchWord};
use drowse_sync::{look, omittable};
use std::time::Duration;

/// Sleep after which a worker gives back the memory that a flood of jobs has taken up. Not earlier:
/// more jobs may follow soon, and allocating again takes longer than spawning them.
const LONG_SLEEP: Duration = Duration::from_millis(100);

impl WorkerThread {
    /// Runs other jobs until the latch is set; sleeps when there are none.
    ///
    /// In isolation it runs only descendants of what it waits for: the jobs of its own deque from
    /// `since` on, and those that `find_descendant` and `take_own_since` find elsewhere. With more
    /// than half of its stack in use, it runs jobs from elsewhere only if no spare can run them:
    /// see `wait_deep`.
    #[inline]
    pub(crate) fn wait_until(&self, latch: &LatchWord, what: WaitFor, since: Point) {
        if !latch.probe() {
            self.wait_until_cold(latch, what, since);
        }
    }

    #[cold]
    fn wait_until_cold(&self, latch: &LatchWord, what: WaitFor, since: Point) {
        // The thread that sets the latch uses memory in the caller's stack frame. Jobs catch their
        // panics; if one got here, unwinding would free that memory while it is in use.
        let _loop = self.begin_loop();
        unwind::or_abort(|| {
            let is_main_loop = what == WaitFor::Home;
            let before = self.registry.probe.begin_wait(self.index(), what);
            // `wait_isolated` returns when the latch is set; `wait_deep` also in a forked child.
            if !is_main_loop && self.is_isolated() {
                self.wait_isolated(latch, what, since);
            } else if !is_main_loop && self.is_deep() {
                self.wait_deep(latch, since);
            }
            while !latch.probe() {
                self.go_on(latch, is_main_loop);
            }
            self.registry.probe.end_wait(self.index(), before);
        });
    }

    /// Main loop of a thread of the pool. Runs jobs until the pool ends, and returns `false`; or
    /// until the worker is bored, that is, has slept for the idle timeout, and its thread may
    /// leave: then returns `true`. `searching` is given if the worker already counts as searching.
    #[inline(never)]
    pub(super) fn work_until_end(&self, searching: Option<Idle>) -> bool {
        let (end, _loop) = (self.end(), self.begin_loop());
        let before = self.registry.probe.begin_wait(self.index(), WaitFor::Home);
        let mut is_bored = searching.is_some_and(|idle| self.search(idle, end, true))
            && self.registry.recruiter.lets_leave();
        // A spare ends when it has left its place.
        while !end.probe() && !is_bored && self.stand.get() != Stand::Nowhere {
            is_bored = self.go_on(end, true) && self.registry.recruiter.lets_leave();
        }
        self.registry.probe.end_wait(self.index(), before);
        is_bored && !end.probe()
    }

    /// Takes one step of a wait. If another worker waits for this worker's place (its index and
    /// the right to run), or this one has none between two jobs, it sees to that; otherwise it runs
    /// one job; otherwise it searches. Returns `true` if the search has ended because the worker is
    /// bored.
    fn go_on(&self, latch: &LatchWord, is_main_loop: bool) -> bool {
        if self.place().is_none() {
            self.retake_place();
        }
        if self.must_mind_place(is_main_loop) {
            self.mind_place(latch, is_main_loop);
        } else if let Some(found) = self.take_local_job_fairly() {
            // (`run_local` does that too, but out of line.)
            match found.origin {
                None => self.run_own(found.job),
                Some(_) => self.run_local(found),
            }
        } else if let Some(found) = self.take_next_job(is_main_loop) {
            self.run_found(found);
        } else {
            return self.look_elsewhere(latch, is_main_loop);
        }
        false
    }

    /// Searches for a job and runs it. Stops without one if the latch is set, if the worker has to
    /// see to its place, or if it is bored: then returns `true`.
    pub(super) fn look_elsewhere(&self, latch: &LatchWord, is_main_loop: bool) -> bool {
        let sleep = &self.registry.sleep;
        self.registry.abort_if_left_behind();
        let idle = sleep.start_looking(self.index());
        // A guest may take the seat of a worker that sleeps in its main loop. An adopted thread
        // counts as in the middle of a job: its main loop runs inside of the user's call that shuts
        // the pool down.
        let may_have_guests = is_main_loop && !self.is_adopted();
        self.search(if may_have_guests { idle } else { idle.in_a_job() }, latch, is_main_loop)
    }

    /// Does the work of `look_elsewhere`, for a worker that already counts as searching.
    fn search(&self, mut idle: Idle, latch: &LatchWord, is_main_loop: bool) -> bool {
        self.registry.probe.begin_search(self.index());
        // WAKE: the thread that has opened a scope may sleep in `CountLatch::wait` until `settle`
        // gives back the counts of that scope which this worker holds. The search may take long.
        omittable!("engine/search-unsettled", self.settle());
        let sleep = &self.registry.sleep;
        let (mut found, mut is_bored) = (None, false);
        // `go_on` sees to the place before the worker takes a job or sleeps.
        let must_go_on = || self.must_mind_place(is_main_loop) || self.could_retake_place();
        while found.is_none() && !latch.probe() && !is_bored && !must_go_on() {
            // A bored worker searches once more, and then stops.
            is_bored = idle.is_bored();
            self.meter().searches.add_mine(1);
            // In the middle of a job, a search leaves jobs from outside alone until the worker has
            // searched for about as long as a wake-up takes: the thread that waits for the first
            // job would have to wait for the second one too. (Exceptions: a worker that has never
            // slept, which skips these searches, and `take_local_job_fairly`.)
            let from_outside = is_main_loop || !sleep.has_just_begun(&idle);
            found = self.find_work(Some(latch), from_outside);
            if found.is_none() && !is_bored {
                // WAKE: this may sleep. The setter of the latch wakes this worker
                // (`Registry::wake_owner`). A poster wakes a worker (`Sleep::post`,
                // `post_injected`, `post_broadcast`) if it sees a sleeper. If it does not,
                // `Sleep` calls our `work_visible` after it has announced or counted this worker,
                // and sees the job; `Sleep::must_fence_posters` names the exception.
                sleep.no_work_found(&mut idle, latch, self);
            }
        }
        // WAKE: a post wakes no worker if enough workers search, and until here this one counts as
        // searching. If it was the last one, `stop_looking` looks for jobs, and `Protocol::baton`
        // decides which sleeper to wake for them. The look leaves out what `Host::work_visible`
        // adds, letters and places: no other worker could be woken for those.
        sleep.stop_looking(idle, || look!("engine/baton-blind", self.registry.work_visible()));
        self.count_heavy_fences();
        self.fairness.record_search();
        let Some(found) = found else {
            self.registry.probe.end_search(self.index());
            return is_bored;
        };
        self.run_found(found);
        false
    }

    /// Gives back the light fences and the slab, before the thread sleeps or leaves this worker.
    pub(super) fn tidy_up(&self) {
        self.count_heavy_fences();
        self.deque.rest();
        self.slabs().rest();
    }

    fn count_heavy_fences(&self) {
        self.meter().heavy_fences.add_mine(take_heavy_fences());
    }

    /// Runs a job from any queue; in an isolated region, only one that was pushed in it. Returns
    /// `false` if there is none.
    pub(crate) fn run_one(&self) -> bool {
        self.run_one_made_here().unwrap_or_else(|| {
            let local = self.take_local_job_fairly();
            self.run_if_some(local.or_else(|| self.find_work(None, true)))
        })
    }

    /// Runs one job of the worker's own. Returns `false` if there is none.
    pub(crate) fn run_one_local(&self) -> bool {
        self.run_one_made_here().unwrap_or_else(|| self.run_if_some(self.take_local_job()))
    }

    /// In isolation, runs a job that descends from what the worker is in the middle of. Returns
    /// `None` if the caller may run any job instead: not in a region.
    fn run_one_made_here(&self) -> Option<bool> {
        let must = self.is_in_region();
        let may = must || (self.is_isolated() && self.fairness.try_count_deque_job());
        let has_run = may && self.run_one_of_region();
        (must || has_run).then_some(has_run)
    }

    fn run_if_some(&self, found: Option<Found>) -> bool {
        let Some(found) = found else { return false };
        let _loop = self.begin_loop();
        self.run_found(found);
        true
    }
}

/// Callbacks of `Sleep` to a worker that falls asleep.
impl Host for WorkerThread {
    fn work_visible(&self) -> bool {
        self.registry.work_visible()
            || self.has_letter()
            // WAKE: `come_back` asks for the place, then calls the holder; the fence of
            // `Sleep::call` pairs with the one that was executed since we were counted as asleep.
            || look!("place/leaves-wanted", self.place_is_wanted())
            || self.could_retake_place()
    }

    fn before_sleep(&self) {
        self.assert_settled();
        self.tidy_up();
        self.registry.release_own_thread();
    }

    fn rests_after(&self) -> Option<Duration> {
        let has_much = self.deque.has_memory_to_give_back() || Slabs::have_memory_to_give_back();
        has_much.then_some(LONG_SLEEP)
    }

    fn rest(&self) {
        self.deque.give_memory_back();
        Slabs::give_memory_back();
    }

    fn after_sleep(&self) {
        self.registry.acquire_thread();
    }
}
