//! Sleep alone: a worker that waits for one thing, and for nothing else.
//!
//! Most workers that sleep would do any job, and are counted, so that posts find them. A worker
//! that waits in *isolation* would not: it holds something, a lock say, that a job which has
//! nothing to do with what it waits for might want. It sleeps until its latch is set, or somebody
//! who has something for it, and for it only, calls it by [`call`](Sleep::call).
//!
//! It is not counted as idle or asleep, so no post relies on it: to the protocol it is in the
//! middle of a job, and so it is. But it takes up no processor, and there is [room](crate::room)
//! for another worker.

use crate::{Host, LatchWord, Reason, Sleep, Wake, Waker};
use drowse_sync::{full_fence, look, omittable};

impl Sleep {
    /// The worker, which is active, sleeps until `latch` is set, or it is [called](Self::call). It
    /// may wake for no reason.
    ///
    /// `has_news` tells whether there is something that it would be called for.
    pub fn sleep_alone(
        &self,
        worker: usize,
        latch: &LatchWord,
        has_news: &dyn Fn() -> bool,
        host: &dyn Host,
    ) {
        self.pay_if_owed(|| host.work_visible());
        self.slots.prepare_alone(worker);
        // WAKE: from here on a setter of the latch wakes us: whatever the protocol, it is told.
        if !latch.tell_asleep() {
            return self.slots.leave(worker);
        }
        // ORDERING: pairs with the fence of a call. Either the caller sees our slot prepared, or we
        // see what it calls us for.
        full_fence("alone/no-fence");
        if look!("alone/no-last-look", has_news()) {
            self.slots.leave(worker);
        } else if self.enter_slot(worker, true, &|| self.slots.enter_alone(worker)) {
            self.park_alone(worker, host);
        }
        latch.tell_awake();
    }

    fn park_alone(&self, worker: usize, host: &dyn Host) {
        let meter = &self.meters[worker];
        self.alone.add(1);
        self.observe(|observer| observer.asleep(worker));
        host.before_sleep();
        let since = self.clock.elapsed();
        meter.park(since);
        self.slots.park_alone(worker);
        meter.unpark(since, self.clock.elapsed(), true);
        host.after_sleep();
        self.alone.subtract(1);
        self.observe(|observer| observer.awake(worker));
        self.observe(|observer| observer.active(worker));
    }

    /// There is something for this worker, and for no other. Wakes it if it sleeps, alone or not.
    pub fn call(&self, worker: usize) {
        // ORDERING: pairs with the fence of `sleep_alone`, or that of a worker that falls asleep.
        full_fence("alone/no-call-fence");
        omittable!("alone/no-call", self.wake(Reason::Call, Waker::GoesOn, &|| Wake::Only(worker)));
    }

    /// There may be something for all who sleep alone.
    pub fn call_all(&self) {
        // ORDERING: as for `call`.
        full_fence("alone/no-call-fence");
        for worker in (0..self.seats_in_use()).filter(|worker| self.sleeps_alone(*worker)) {
            self.wake(Reason::Call, Waker::GoesOn, &|| Wake::Only(worker));
        }
    }

    /// Whether this worker sleeps alone, as far as can be seen.
    pub fn sleeps_alone(&self, worker: usize) -> bool {
        self.slots.is_alone(worker)
    }

    /// How many sleep alone.
    pub fn sleeping_alone(&self) -> usize {
        usize::try_from(self.alone.get()).unwrap_or(0)
    }
}
