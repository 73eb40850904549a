//! Waiting deep in the stack: a worker with many waits on its stack takes no work from elsewhere.
//!
//! A worker that waits runs another job on top of the one that waits. If the second job waits too,
//! the worker runs a third; and so on, as long as there are jobs. Only the stack limits this. So
//! once half of the stack is in use, a waiting worker runs only its own part of what it waits for,
//! like an [isolated](super::isolate) worker.
//!
//! Unlike in isolation, what it waits for may depend on jobs that no worker takes any more: the
//! others may be as deep. So it sleeps like a worker that runs any job; and if it sees one, it
//! lends its place to a [spare](super::spare), which begins with an empty stack. If no spare is
//! available, it runs one job itself, unless three quarters of its stack are in use: a stack
//! overflow would end the process.

use super::bench::NoTaker;
use super::lineage::Point;
use super::worker::WorkerThread;
use drowse_sleep::{Host, LatchWord};
use drowse_sync::stack_in_use;

/// Number of waits up to which the stack is not measured.
const FEW_WAITS: u32 = 8;

/// Number of waits that is too many, where the stack cannot be measured.
const MANY_WAITS: u32 = 64;

/// Number of waits that is far too many, where the stack cannot be measured.
const FAR_TOO_MANY_WAITS: u32 = 4 * MANY_WAITS;

impl WorkerThread {
    /// Returns `true` if the worker should not run another job on top of those on its stack.
    pub(super) fn is_deep(&self) -> bool {
        self.uses_more_than(1, 2, MANY_WAITS)
    }

    /// Returns `true` if another job might overflow the stack.
    fn is_too_deep(&self) -> bool {
        self.uses_more_than(3, 4, FAR_TOO_MANY_WAITS)
    }

    /// Returns `true` if more than `parts` of `of` parts of the stack are in use, or, where that is
    /// unknown, if it holds more than `most_waits` waits.
    fn uses_more_than(&self, parts: usize, of: usize, most_waits: u32) -> bool {
        let waits = self.depth.waits.get();
        let uses = |(used, size): (usize, usize)| used / parts > size / of;
        waits > FEW_WAITS && stack_in_use().map_or(waits > most_waits, uses)
    }

    /// Waits for a latch. Takes work from elsewhere only if no spare can.
    #[cold]
    pub(super) fn wait_deep(&self, latch: &LatchWord, since: Point) {
        while !latch.probe() {
            if let Some(own) = self.take_own_since(since) {
                self.run_local(own);
                continue;
            }
            self.settle();
            if self.registry.is_left_behind() {
                return; // `wait_until` runs what this worker has left, or aborts.
            }
            if !Host::work_visible(self) {
                self.sleep_until_work(latch);
                continue;
            }
            let (another_works, away) = self.lend_place(NoTaker::Keep);
            let sleeps = another_works || self.is_too_deep();
            if sleeps {
                self.registry.sleep.sleep_alone(self.index(), latch, &|| false, self);
            }
            drop(away);
            if !sleeps {
                self.look_elsewhere(latch, false);
            }
        }
    }

    /// Sleeps until the latch is set, or there is something to do, perhaps for others. Counts as
    /// searching and asleep, unlike `sleep_alone`: posts may find no other worker to wake.
    pub(super) fn sleep_until_work(&self, latch: &LatchWord) {
        self.assert_settled();
        let sleep = &self.registry.sleep;
        let mut idle = sleep.start_looking(self.index()).in_a_job();
        while !latch.probe() && !Host::work_visible(self) {
            // WAKE: the latch's setter wakes us, and so do `Sleep::post` and `come_back`, which
            // calls the holder of the place it wants. `no_work_found` looks again after counting us
            // as asleep.
            sleep.no_work_found(&mut idle, latch, self);
        }
        // WAKE: another sleeper, for the jobs seen here. If there is none, our caller lends our
        // place.
        sleep.stop_looking(idle, || self.registry.work_visible());
    }
}
