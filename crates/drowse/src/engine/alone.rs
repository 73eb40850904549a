//! What a worker does that waits in [isolation](super::isolate), and has nothing to run.
//!
//! It sleeps, and keeps its [place](super::place) as long as others have theirs and do not sleep
//! like this: they see to what there is. The last one lends its place to a spare when there is
//! something to do, and until then sleeps like any other, so that it is found.

use super::isolate::MOST_THEFTS;
use super::lineage::Point;
use super::place::IfNobody;
use super::registry::Registry;
use super::trail::WaitFor;
use super::worker::WorkerThread;
use crate::deque::Stealer;
use drowse_sleep::{Host, LatchWord};
use drowse_sync::omittable;
use std::cell::Cell;

impl Registry {
    /// This worker has pushed something, or something of it was left for others, before a fence:
    /// those who sleep alone may wait for what it is in the middle of.
    pub(super) fn call_those_who_wait_for(&self, worker: usize) {
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
        let freed = self.registry.spares.freed();
        let has_news = || {
            self.registry.returned.have(|origin| self.comes_from(origin, since))
                || self.has_letter_to_see_to(since, !has_been_refused.get())
                || self.place_is_wanted()
                || (has_been_refused.get() && self.registry.spares.freed() != freed)
                || self.descendants_are_pushed(since)
        };
        // WAKE: the latch's setter wakes us. So does whoever is at a descendant, and pushes one:
        // it may wait for that one in a way that we know nothing of.
        let sleep = || self.registry.sleep.sleep_alone(self.index(), latch, &has_news, self);
        let lend_place = || {
            self.while_away(IfNobody::Keep, |somebody_else_works| {
                has_been_refused.set(!somebody_else_works);
                sleep();
            });
        };
        // A letter that is none of its business is for whoever has our place. If there is nobody,
        // it has to wait.
        if self.has_letter() || self.place_is_wanted() {
            return lend_place();
        }
        if self.place().is_none() {
            return sleep();
        }
        // Nobody need be at what others have spawned, or were sent.
        let is_elsewhere = matches!(what, WaitFor::Install | WaitFor::Handle | WaitFor::Future);
        let is_last = !self.registry.places.begin_alone() || is_elsewhere;
        has_been_refused.set(is_last);
        let must_lend = is_last && self.registry.spares.can_be_had();
        if is_last && !must_lend {
            self.registry.report_shortage_of_spares();
        }
        let sees_work = must_lend && Host::work_visible(self);
        match must_lend {
            true if sees_work => (),
            // Whoever comes with something, from outside say, finds nobody but us.
            true => self.sleep_until_work(latch),
            false => sleep(),
        }
        self.registry.places.end_alone();
        // What we wait for may need somebody who does other work, and there is nobody else.
        if sees_work {
            lend_place();
        }
    }

    /// It is about to sleep: whether there is a descendant of what it waits for, to be stolen.
    /// If not, it is called when one is pushed: by those who are at some already, and by those who
    /// begin one, with their first push.
    fn descendants_are_pushed(&self, since: Point) -> bool {
        Stealer::listen_to(|| {
            let at_it = self.descendants_at(since);
            at_it.map(|(thief, descent)| (&self.registry.threads[thief].stealer, descent.since.position))
        })
    }

    /// Whether there is a letter that it may run itself, or leave to a spare, if it can.
    fn has_letter_to_see_to(&self, since: Point, can_lend: bool) -> bool {
        let may_run = |origin| self.comes_from(origin, since);
        let Some(place) = self.place().filter(|place| self.registry.has_letter(*place)) else { return false };
        (can_lend && self.registry.spares.can_be_had())
            || self.registry.threads[place].broadcasts.have(may_run)
    }
}
