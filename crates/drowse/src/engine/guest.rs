//! Guests: threads outside that take the seat of a sleeping worker, and work in its place.
//!
//! Meanwhile the guest is that worker: it has its index, its deque and its slot. The worker's own
//! thread sleeps in its main loop, with nothing on its stack that another thread waits for; it
//! wakes up when the guest is gone, or later. See `drowse_sleep`'s `seat.rs` for the handover.

use super::isolate::is_isolated;
use super::registry::Registry;
use super::sites::{Site, Tried};
use super::worker::WorkerThread;
use drowse_sleep::Host;
use drowse_sync::atomic::Ordering;
use drowse_sync::{Stopwatch, heavy_fences_executed, omittable};
use std::ptr::{self, NonNull};
use std::time::Duration;

/// Guard of the seat that this thread has taken. Gives it back when dropped.
#[derive(Debug)]
pub(super) struct Guest<'r> {
    registry: &'r Registry,
    seat: NonNull<WorkerThread>,
    /// Worker that this thread was before: in a handler it is one, and looks as if it were not.
    before: *const WorkerThread,
    /// Heavy fences that the seat's threads had executed before the seat's own did.
    fences_before: u64,
}

impl Registry {
    /// Makes this thread, which is not a worker of the pool, the guest of a worker that sleeps.
    /// `None` if all seats are taken, or guests are not let in.
    pub(super) fn sit_down(&self) -> Option<Guest<'_>> {
        let index = self.sleep.take_seat(|worker| self.threads[worker].terminate.word())?;
        // ORDERING: relaxed; written before the worker first slept, and the seat was acquired.
        let seat = self.threads[index].seat.load(Ordering::Relaxed);
        let seat = NonNull::new(seat).expect("a worker that sleeps has a seat");
        // SAFETY: `be_worker` frees it when its main loop has ended, and the worker sleeps there
        // until the seat is given back. In a child that this thread forks it is never freed.
        let worker = unsafe { seat.as_ref() };
        let fences_before = worker.heavy_fences_before.get();
        let counted = worker.meter().heavy_fences.get();
        worker.heavy_fences_before.set(heavy_fences_executed().wrapping_sub(counted));
        self.probe.end_search(index);
        // SAFETY: it stays where it is until then, and `drop` un-sets it.
        let before = unsafe { WorkerThread::replace_current(seat.as_ptr()) };
        Some(Guest { registry: self, seat, before, fences_before })
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
        let tried = sleep.is_owed() && site.seems_short();
        if tried {
            sleep.owed_from_now();
        } else if sleep.is_owed() {
            sleep.no_longer_owed();
        }
        let clock = Stopwatch::start();
        work(self.worker());
        if tried {
            site.was_tried(Tried::by_guest(clock.elapsed()));
        } else {
            site.was_not_tried(clock.elapsed());
        }
    }

    /// Returns the worker that this thread is.
    pub(super) fn worker(&self) -> &WorkerThread {
        // SAFETY: alive until the seat is given back: see `sit_down`.
        unsafe { self.seat.as_ref() }
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        let worker = self.worker();
        // WAKE: `CountLatch::wait` may wait for the counts that we have in stock.
        omittable!("guest/leaves-unsettled", worker.settle());
        worker.tidy_up();
        self.registry.probe.begin_search(worker.index());
        // Count our fences as if the worker itself had executed them.
        let counted = worker.meter().heavy_fences.get();
        let before_us = heavy_fences_executed().wrapping_sub(counted);
        let ours = before_us.wrapping_sub(worker.heavy_fences_before.get());
        worker.heavy_fences_before.set(self.fences_before.wrapping_sub(ours));
        // SAFETY: what this thread was when it sat down, it is again.
        let seat = unsafe { WorkerThread::replace_current(self.before) };
        debug_assert!(ptr::eq(seat, self.seat.as_ptr()), "a guest leaves the seat that it took");
        if self.registry.is_left_behind() {
            return; // The worker is in the parent, and so is the guest.
        }
        // The worker may wake up, end and be freed as soon as the seat is given back.
        let rests_after = worker.rests_after();
        let (index, place) = (worker.index(), worker.place());
        let left = Left { registry: self.registry, index, place, rests_after };
        let home = self.registry.threads[left.index].terminate.word();
        // WAKE: the worker, if there is something left to do in its place.
        self.registry.sleep.give_seat_back(left.index, home, &left);
    }
}

/// A seat that is being given back, as the sleep protocol sees it.
struct Left<'r> {
    registry: &'r Registry,
    index: usize,
    /// Place of the worker; none if a job of the guest has blocked, and come back without.
    place: Option<usize>,
    rests_after: Option<Duration>,
}

impl Host for Left<'_> {
    fn work_visible(&self) -> bool {
        self.registry.work_visible()
            || self.registry.has_letter(self.index)
            || self.registry.must_yield_place(self.place)
    }

    fn rests_after(&self) -> Option<Duration> {
        self.rests_after
    }
}
