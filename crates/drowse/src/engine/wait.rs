//! What a worker does until a latch is set: it helps, searches, and sleeps.

use super::isolate::{Found, Since};
use super::trail::WaitFor;
use super::worker::WorkerThread;
use crate::job::Slabs;
use crate::unwind;
use drowse_sleep::{Host, Idle, LatchWord};
use drowse_sync::{heavy_fences_executed, look, say};
use std::process;
use std::time::Duration;

/// A worker that has slept for so long gives back the memory that many jobs have taken up. Before
/// that, the next ones may come; to have the memory anew would take longer than to spawn them.
const LONG_SLEEP: Duration = Duration::from_millis(100);

impl WorkerThread {
    /// Runs other jobs until the latch is set. Sleeps when there are none. In isolation it runs
    /// those only that descend from what it waits for, `since` then.
    #[inline]
    pub(crate) fn wait_until(&self, latch: &LatchWord, what: WaitFor, since: Since) {
        if !latch.probe() {
            self.wait_until_cold(latch, what, since);
        }
    }

    #[cold]
    fn wait_until_cold(&self, latch: &LatchWord, what: WaitFor, since: Since) {
        // Whoever waits for a latch has lent part of its stack to whoever sets it. Jobs catch their
        // panics; if one came this far, returning to the caller would free what is lent.
        unwind::or_abort(|| {
            let is_main_loop = what == WaitFor::Home;
            self.waits.set(self.waits.get() + 1);
            let before = self.trail().begin_wait(what);
            if !is_main_loop && self.is_isolated() {
                self.wait_isolated(latch, what, since);
            } else if !is_main_loop && self.is_deep() {
                self.wait_deep(latch, since);
            }
            while !latch.probe() {
                self.go_on(latch, is_main_loop);
            }
            self.waits.set(self.waits.get() - 1);
            self.trail().end_wait(before);
            self.settle();
        });
    }

    /// The main loop: runs jobs until the pool ends, or the worker is bored, which it says. It may
    /// be searching already.
    pub(super) fn work_until_end(&self, searching: Option<Idle>) -> bool {
        let end = self.end();
        self.waits.set(self.waits.get() + 1);
        let before = self.trail().begin_wait(WaitFor::Home);
        let mut is_bored = searching.is_some_and(|idle| self.search(idle, end, true))
            && self.registry.recruiter.lets_leave();
        while !end.probe() && !is_bored {
            is_bored = self.go_on(end, true) && self.registry.recruiter.lets_leave();
        }
        self.waits.set(self.waits.get() - 1);
        self.trail().end_wait(before);
        self.settle();
        is_bored && !end.probe()
    }

    /// Runs what is there, or searches. Whether the worker is bored.
    fn go_on(&self, latch: &LatchWord, is_main_loop: bool) -> bool {
        if self.place().is_none() {
            self.retake_place();
        }
        if self.must_mind_place(is_main_loop) {
            self.mind_place(latch, is_main_loop);
        } else if let Some(found) = self.take_local_job_fairly() {
            self.run_local(found);
        } else if let Some(found) = self.take_next_job(is_main_loop) {
            self.run_found(found);
        } else {
            return self.look_elsewhere(latch, is_main_loop);
        }
        false
    }

    /// Searches until there is one job, and runs it, or until the latch is set, or the worker is
    /// bored, which it says.
    pub(super) fn look_elsewhere(&self, latch: &LatchWord, is_main_loop: bool) -> bool {
        let sleep = &self.registry.sleep;
        if sleep.is_left_behind() {
            wait_for_nobody();
        }
        let idle = sleep.start_looking(self.index());
        // An adopted thread that shuts the pool down is in the middle of other code, which may wait
        // for jobs too: its seat is not for guests.
        let may_have_guests = is_main_loop && !self.is_adopted();
        self.search(if may_have_guests { idle } else { idle.in_a_job() }, latch, is_main_loop)
    }

    /// The same, for one that counts as searching.
    fn search(&self, mut idle: Idle, latch: &LatchWord, is_main_loop: bool) -> bool {
        self.trail().begin_search();
        let sleep = &self.registry.sleep;
        let (mut found, mut is_bored) = (None, false);
        // What `go_on` does about its place comes before the next job, and before sleep.
        let must_go_on = || self.must_mind_place(is_main_loop) || self.could_retake_place();
        while found.is_none() && !latch.probe() && !is_bored && !must_go_on() {
            // One more look, and it is.
            is_bored = idle.is_bored();
            self.meter().searches.add_mine(1);
            // A job from outside that is begun in the middle of another keeps whoever waits for
            // that one waiting for both. Wherever there are others to do it, they come first.
            let from_outside = is_main_loop || !sleep.has_just_begun(&idle);
            found = self.find_work(|| latch.probe(), from_outside);
            if found.is_none() && !is_bored {
                // WAKE: the latch's setter wakes us, as does whoever posts a job; the protocol
                // looks for jobs once more when it has counted us as sleeping.
                sleep.no_work_found(&mut idle, latch, self);
            }
        }
        // WAKE: a post may have counted on us as one who searches. Now that we do not, the next
        // sleeper takes over if there is more than what we found.
        sleep.stop_looking(idle, || look!("engine/baton-blind", self.registry.work_visible()));
        self.count_heavy_fences();
        self.streak_elsewhere.set(0);
        let Some(found) = found else {
            self.trail().end_search();
            return is_bored;
        };
        self.run_found(found);
        false
    }

    /// The thread will do nothing for a while, or nothing more for this worker.
    pub(super) fn tidy_up(&self) {
        self.count_heavy_fences();
        self.deque.rest();
        self.slabs().rest();
    }

    fn count_heavy_fences(&self) {
        let before = self.heavy_fences_before.get();
        self.meter().heavy_fences.set_mine(heavy_fences_executed().wrapping_sub(before));
    }

    /// Runs one job, from wherever there is one. False if there was none.
    pub(crate) fn run_one(&self) -> bool {
        if self.is_in_region() {
            return self.run_one_of_region();
        }
        let local = self.take_local_job_fairly();
        self.run_if_some(local.or_else(|| self.find_work(|| false, true)))
    }

    /// Runs one job of our own. False if there was none.
    pub(crate) fn run_one_local(&self) -> bool {
        if self.is_in_region() {
            return self.run_one_of_region();
        }
        self.run_if_some(self.take_local_job())
    }

    /// Whether it is isolated because somebody wants that for what it runs now. Where all of a pool
    /// is, whoever asks for jobs by itself can reckon with those of others.
    fn is_in_region(&self) -> bool {
        self.is_isolated() && !self.registry.isolates
    }

    pub(super) fn run_if_some(&self, found: Option<Found>) -> bool {
        let Some(found) = found else { return false };
        self.waits.set(self.waits.get() + 1);
        self.run_found(found);
        self.waits.set(self.waits.get() - 1);
        self.settle();
        true
    }
}

/// A worker that is in a forked child has come to a point where only others could help, and they
/// are in the parent.
#[cold]
pub(super) fn wait_for_nobody() -> ! {
    say(format_args!(
        "drowse: a job has called fork(), and what its child would wait for now is done by threads that are not in the \
         child; aborting it (let the child call exec or _exit inside of the job, or fork outside of thread pools)"
    ));
    process::abort();
}

/// What the sleep protocol asks and tells a worker that falls asleep.
impl Host for WorkerThread {
    fn work_visible(&self) -> bool {
        self.registry.work_visible()
            || self.has_letter()
            || self.place_is_wanted()
            || self.could_retake_place()
    }

    fn before_sleep(&self) {
        self.assert_settled();
        self.tidy_up();
        self.registry.release_thread();
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
