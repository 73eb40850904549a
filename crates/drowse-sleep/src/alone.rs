//! Sleep alone: a worker sleeps until one particular thing happens.
//!
//! Most workers that sleep would run any job, and are counted, so that posts find them. A worker
//! that waits in *isolation* would not: it may hold something, such as a lock, that an unrelated
//! job might want too. It sleeps until its latch is set, or until a thread that has something for
//! this worker only calls it by [`call`](Sleep::call).
//!
//! It is not counted as idle or asleep, so no post relies on it: to the protocol it is in the
//! middle of a job, which is true. But it uses no processor, so there is [room](crate::room) for
//! another worker.

use crate::fall_asleep::LastStep;
use crate::wake::News;
use crate::{Host, LatchWord, Reason, Sleep, Waker};
use drowse_sync::{full_fence, look, omittable};

impl Sleep {
    /// Puts the active worker to sleep until `latch` is set or it is [called](Self::call). It may
    /// wake without a reason.
    ///
    /// `has_news` returns `true` if there is something that the worker would be called for.
    pub fn sleep_alone(
        &self,
        worker: usize,
        latch: &LatchWord,
        has_news: &dyn Fn() -> bool,
        host: &dyn Host,
    ) {
        self.resume_deferred_wakes(|| host.work_visible());
        self.slots.prepare_alone(worker);
        // WAKE: from here on the thread that sets the latch learns from `LatchWord::set` that it
        // must wake us, whatever the protocol.
        if !latch.tell_asleep() {
            return self.slots.leave(worker);
        }
        // ORDERING: pairs with the fences in `call` and `call_all`. Either the caller sees our slot
        // prepared, or we see what it calls us for. Without a fence each could miss the other.
        full_fence("alone/no-fence");
        if look!("alone/no-last-look", has_news()) {
            self.slots.leave(worker);
        } else if self.enter_slot(worker, LastStep::ParkAlone) {
            self.park_alone(worker, host);
        }
        latch.tell_awake();
    }

    fn park_alone(&self, worker: usize, host: &dyn Host) {
        let meter = &self.seats[worker].meter;
        self.room.alone.add(1);
        self.observe(|observer| observer.asleep(worker));
        host.before_sleep();
        let since = self.now();
        meter.park(since);
        self.slots.park_alone(worker);
        meter.unpark(since, self.now(), true);
        host.after_sleep();
        self.room.alone.subtract(1);
        self.observe(|observer| observer.awake(worker));
        self.observe(|observer| observer.active(worker));
    }

    /// Wakes this worker, if it sleeps, alone or not: there is something for it and for no other
    /// worker.
    pub fn call(&self, worker: usize) {
        // ORDERING: pairs with the fence in `sleep_alone`, or that in `announce` or `commit`.
        full_fence("alone/no-call-fence");
        omittable!("alone/no-call", self.wake(Reason::Call, Waker::GoesOn, &News::For(worker)));
    }

    /// Wakes all workers that sleep alone: there may be something for any of them.
    pub fn call_all(&self) {
        // ORDERING: pairs with the fence in `sleep_alone`, as in `call`.
        full_fence("alone/no-call-fence");
        for worker in (0..self.seats_in_use()).filter(|worker| self.sleeps_alone(*worker)) {
            self.wake(Reason::Call, Waker::GoesOn, &News::For(worker));
        }
    }

    /// Returns `true` if this worker sleeps alone, as far as the caller can see.
    pub fn sleeps_alone(&self, worker: usize) -> bool {
        self.slots.is_alone(worker)
    }
}
