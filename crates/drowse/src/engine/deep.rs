//! Waiting deep down: a worker that has many waits on its stack takes no more work from elsewhere.
//!
//! A worker that waits runs another job on top of the one that waits. If that one waits too, it
//! runs a third; and so on, as long as there are jobs. Nothing but the stack ends that. So once
//! half of the stack is in use, whoever waits runs its own part of what it waits for, and
//! nothing else, like one who is [isolated](super::isolate).
//!
//! But unlike there, what it waits for may depend on jobs that nobody takes then: others may be as
//! deep down as it is. So it sleeps like one who would do any job; and if it sees one, it lends its
//! place to a [spare](super::spare), who begins with an empty stack. Where there is none to be had,
//! it takes one job after all; but not if three quarters of its stack are in use: who overflows
//! that gets nothing done any more.

use super::isolate::Since;
use super::place::IfNobody;
use super::worker::WorkerThread;
use drowse_sleep::{Host, LatchWord};
use drowse_sync::stack_in_use;

/// So many waits on top of each other are no reason to look at the stack.
const FEW_WAITS: u32 = 8;

/// So many are too many, where it cannot be looked at.
const MANY_WAITS: u32 = 64;

/// And so many far too many.
const FAR_TOO_MANY_WAITS: u32 = 4 * MANY_WAITS;

impl WorkerThread {
    /// Whether another job on top of what it is in the middle of would be one too many.
    pub(super) fn is_deep(&self) -> bool {
        self.uses_more_than(1, 2, MANY_WAITS)
    }

    /// Whether it might be the last one.
    fn is_too_deep(&self) -> bool {
        self.uses_more_than(3, 4, FAR_TOO_MANY_WAITS)
    }

    /// Whether more than so many parts of its stack are in use, of so many; or so many waits, if
    /// that is not known.
    fn uses_more_than(&self, parts: usize, of: usize, most_waits: u32) -> bool {
        let waits = self.waits.get();
        let uses = |(used, size): (usize, usize)| used / parts > size / of;
        waits > FEW_WAITS && stack_in_use().map_or(waits > most_waits, uses)
    }

    /// Waits for a latch, and takes no work from elsewhere if it can help it.
    #[cold]
    pub(super) fn wait_deep(&self, latch: &LatchWord, since: Since) {
        let since = self.point_since(since);
        while !latch.probe() {
            if let Some(own) = self.take_own_since(since) {
                self.run_local(own);
                continue;
            }
            self.settle();
            if self.registry.is_left_behind() {
                return; // `wait_until` runs what else this worker has, and aborts if that is not enough.
            }
            if !Host::work_visible(self) {
                self.sleep_until_work(latch);
                continue;
            }
            let has_slept = self.while_away(IfNobody::Keep, |somebody_else_works| {
                let sleeps = somebody_else_works || self.is_too_deep();
                if sleeps {
                    self.registry.sleep.sleep_alone(self.index(), latch, &|| false, self);
                }
                sleeps
            });
            if !has_slept {
                self.look_elsewhere(latch, false);
            }
        }
    }

    /// Sleeps until the latch is set, or there is something to do, which may be for others. It
    /// counts as one who searches: there may be nobody else whom a post could wake.
    pub(super) fn sleep_until_work(&self, latch: &LatchWord) {
        self.assert_settled();
        let sleep = &self.registry.sleep;
        let mut idle = sleep.start_looking(self.index()).in_a_job();
        while !latch.probe() && !Host::work_visible(self) {
            // WAKE: the latch's setter wakes us, as does whoever posts a job, or wants our place.
            sleep.no_work_found(&mut idle, latch, self);
        }
        // WAKE: others, for what we have seen, if they sleep. If not, we lend our place.
        sleep.stop_looking(idle, || self.registry.work_visible());
    }
}
