//! Guests: threads outside that take the seat of a sleeping worker, and work in its place.
//!
//! Meanwhile the guest is that worker: it has its index, its deque and its slot. The worker's own
//! thread sleeps in its main loop, with nothing on its stack that another thread waits for; it
//! wakes up when the guest is gone, or later. See `drowse_sleep`'s `seat.rs` for the handover.

use super::current::take_heavy_fences;
use super::isolate::is_isolated;
use super::registry::Registry;
use super::sites::{Site, Tried};
use super::worker::WorkerThread;
use drowse_sleep::Host;
use drowse_sync::{Stopwatch, omittable};
use std::ptr;
use std::time::Duration;

/// Guard of the seat that this thread has taken. Gives it back when dropped.
#[derive(Debug)]
pub(super) struct Guest<'r> {
    registry: &'r Registry,
    /// The worker that this thread is.
    worker: &'r WorkerThread,
    /// Worker that this thread was before: in a handler it is one, and looks as if it were not.
    before: *const WorkerThread,
}

impl Registry {
    /// Makes this thread, which is not a worker of the pool, the guest of a worker that sleeps.
    /// `None` if all seats are taken, or guests are not let in.
    pub(super) fn sit_down(&self) -> Option<Guest<'_>> {
        let index = self.sleep.take_seat(|worker| &self.threads[worker].terminate)?;
        // SAFETY: the worker sleeps in its main loop until the seat is given back, and its core is
        // at rest since `before_sleep`. `take_seat` has acquired what was done there.
        let worker = unsafe { self.core(index) };
        take_heavy_fences();
        self.probe.end_search(index);
        // SAFETY: the registry, which is borrowed, owns it, and `drop` un-sets it.
        let before = unsafe { WorkerThread::replace_current(worker) };
        Some(Guest { registry: self, worker, before })
    }

    /// Runs jobs on this thread, which is not a worker and waits for something, until `is_over`, or
    /// there are no more. Does nothing if there is no seat for it.
    pub(crate) fn help_until(&self, is_over: impl Fn() -> bool) {
        if is_over() || is_isolated() || self.is_left_behind() {
            return;
        }
        if let Some(guest) = self.sit_down() {
            while !is_over() && guest.worker().run_one() {}
        }
    }
}

impl Guest<'_> {
    /// Does work of this place in the program.
    pub(super) fn work(&self, site: &Site, work: impl FnOnce(&WorkerThread)) {
        let sleep = &self.registry.sleep;
        let tried = sleep.has_deferred_wakes() && site.seems_short();
        if tried {
            sleep.restart_deferral();
        } else if sleep.has_deferred_wakes() {
            sleep.end_deferral();
        }
        let clock = Stopwatch::start();
        work(self.worker());
        if tried {
            site.record_tried(Tried::by_guest(clock.elapsed()));
        } else {
            site.record_not_tried(clock.elapsed());
        }
    }

    /// Returns the worker that this thread is.
    pub(super) fn worker(&self) -> &WorkerThread {
        self.worker
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        let worker = self.worker;
        // WAKE: `CountLatch::wait` may wait for the counts that we have in stock.
        omittable!("guest/leaves-unsettled", worker.settle());
        worker.tidy_up();
        self.registry.probe.begin_search(worker.index());
        // SAFETY: what this thread was when it sat down, it is again.
        let seat = unsafe { WorkerThread::replace_current(self.before) };
        debug_assert!(ptr::eq(seat, worker), "a guest leaves the seat that it took");
        if self.registry.is_left_behind() {
            return; // The worker is in the parent, and so is the guest.
        }
        let home = &self.registry.threads[worker.index()].terminate;
        // WAKE: the worker, if there is something left to do in its place.
        self.registry.sleep.give_seat_back(worker.index(), home, &Leaving { worker });
    }
}

/// A worker whose thread leaves it, as the sleep protocol sees it. The thread has the core until
/// its slot is that of a sleeper.
pub(super) struct Leaving<'w> {
    pub(super) worker: &'w WorkerThread,
}

impl Host for Leaving<'_> {
    fn work_visible(&self) -> bool {
        // A job of a guest may have blocked, and come back without a place.
        self.worker.place().is_none() || self.worker.work_visible()
    }

    fn rests_after(&self) -> Option<Duration> {
        self.worker.rests_after()
    }
}
