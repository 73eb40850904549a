//! Sleep in [isolation](super::isolate): for a worker that waits there, and has nothing to run.
//!
//! The worker sleeps, and keeps its [place](super::place) as long as other workers have places and
//! do not sleep alone: they do the other work. The last one lends its place to a spare when there
//! is work, and until then sleeps like any other worker, so that posts find it.

use super::bench::NoTaker;
use super::isolation::MOST_THEFTS;
use super::lineage::Point;
use super::registry::Registry;
use super::spare::NoSpare;
use super::worker::WorkerThread;
use crate::deque::Stealer;
use crate::diagnose::WaitFor;
use drowse_sleep::{Host, LatchWord};
use drowse_sync::omittable;
use std::cell::Cell;

impl Registry {
    /// Calls the workers that sleep alone and may wait for what `worker` is in the middle of. To be
    /// called after a fence, when `worker` has pushed something, or a job with its origin was left.
    pub(super) fn call_waiters_of(&self, worker: usize) {
        let (mut of, mut thefts) = (worker, MOST_THEFTS);
        while let Some(descent) = self.threads[of].lineage.read().filter(|_| thefts > 0) {
            (of, thefts) = (descent.origin.worker, thefts - 1);
            if self.sleep.sleeps_alone(of) {
                omittable!("isolate/push-no-call", self.sleep.call(of));
            }
        }
    }
}

impl WorkerThread {
    /// Sleeps until the latch is set, or there is something for this worker.
    pub(super) fn sleep_alone(&self, latch: &LatchWord, what: WaitFor, since: Point) {
        self.assert_settled();
        let has_been_refused = Cell::new(false);
        let freed = self.registry.bench.freed();
        let has_news = || {
            self.registry.isolation.returned.have(Some(&self.since(since)))
                || self.has_letter_to_see_to(since, !has_been_refused.get())
                || self.place_is_wanted()
                || (has_been_refused.get() && self.registry.bench.freed() != freed)
                || self.descendants_are_pushed(since)
        };
        // WAKE: the latch's setter wakes us. So does a worker that runs a descendant and pushes
        // another, by `call_waiters_of`: it may wait for that job in a way that is not
        // known here.
        let sleep = || self.registry.sleep.sleep_alone(self.index(), latch, &has_news, self);
        let lend_place = || {
            let (another_works, _away) = self.lend_place(NoTaker::Keep);
            has_been_refused.set(!another_works);
            sleep();
        };
        // A letter that this worker may not run is for the thread that gets our place. If no thread
        // can take the place, the letter has to wait.
        if self.has_letter() || self.place_is_wanted() {
            return lend_place();
        }
        if self.place().is_none() {
            return sleep();
        }
        // What others have spawned, or were sent, may not have been begun by any worker.
        let is_elsewhere = matches!(what, WaitFor::Install | WaitFor::Handle | WaitFor::Future);
        let is_last = !self.registry.bench.begin_alone(self.registry.num_threads()) || is_elsewhere;
        has_been_refused.set(is_last);
        let must_lend = is_last && self.registry.bench.has_spare();
        if is_last && !must_lend {
            self.registry.report_no_spare(NoSpare::AllInUse);
        }
        let sees_work = must_lend && Host::work_visible(self);
        match must_lend {
            true if sees_work => (),
            // A job from outside, for example, finds no worker but this one.
            true => self.sleep_until_work(latch),
            false => sleep(),
        }
        self.registry.bench.end_alone();
        // What we wait for may need a worker that does other work, and there is no other.
        if sees_work {
            lend_place();
        }
    }

    /// Returns `true` if a descendant of what this worker waits for can be stolen. If not, the
    /// worker may sleep, and is called when one is pushed: by the workers that run a descendant
    /// already, and by those that begin one, with their first push.
    fn descendants_are_pushed(&self, since: Point) -> bool {
        Stealer::listen_to(|| {
            let at_it = self.descendants_at(since);
            at_it.map(|(thief, descent)| {
                (&self.registry.threads[thief].stealer, descent.since.position)
            })
        })
    }

    /// Returns `true` if there is a letter to run here, or to leave to a spare if `can_lend`.
    fn has_letter_to_see_to(&self, since: Point, can_lend: bool) -> bool {
        let Some(place) = self.place().filter(|place| self.registry.has_letter(*place)) else {
            return false;
        };
        (can_lend && self.registry.bench.has_spare())
            || self.registry.threads[place].broadcasts.have(Some(&self.since(since)))
    }
}
