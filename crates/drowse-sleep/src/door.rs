//! Doorkeeper: a sleeper that looks after the posts of guests.
//!
//! A guest's short piece of work is done before a worker that it woke could help, and waking one
//! costs more than the work. So it would be better to [defer](crate::defer) the wakes. But a guest
//! is busy and cannot look after them. So where guests come and go, one worker that sleeps in
//! its main loop *keeps the door*: it naps, for a millisecond at a time, and looks for work after
//! each nap. Meanwhile the posts of workers and guests into a pool that slept wake no worker. When
//! no guest has come for a while, the doorkeeper sleeps like the others. So this costs nothing
//! without guests, and with guests less than waking a worker for each.

use crate::sentry::NAP;
use crate::slots::{Guard, Parking};
use crate::{Host, Idle, Sleep};
use drowse_sync::{look, omittable};
use std::cell::Cell;

/// Number of naps without a guest after which the doorkeeper sleeps without a time limit.
const MOST_NAPS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 20 };

impl Sleep {
    /// Records that a guest has come.
    #[doc(hidden)]
    pub fn note_guest(&self) {
        self.deferral.guests.add(1);
    }

    /// Parks the worker in the mode that its situation calls for. Returns `true` if it got up by
    /// itself.
    pub(crate) fn park_in_mode(&self, idle: &mut Idle, host: &dyn Host) -> bool {
        let worker = idle.worker;
        let is_bored = Cell::new(false);
        let get_up = || {
            is_bored.set(self.get_up_bored(worker));
            is_bored.get()
        };
        let boredom = self.boredom(idle, &get_up);
        // Before `defer_wakes`: while it rests, the worker looks after nothing.
        if let Some(after) = host.rests_after() {
            self.slots.rest_in(worker, after, || host.rest());
        }
        // A thread in a spare seat stands in for another worker.
        let at_home = !idle.in_a_job && worker < self.workers() && self.slots.are_for_guests();
        let mut keeps_door = at_home && self.wants_a_doorkeeper() && self.defer_wakes();
        let how = match (at_home, keeps_door) {
            (false, _) => Parking::InAJob,
            (true, false) => Parking::Vacant,
            (true, true) => Parking::OnGuard,
        };
        if keeps_door {
            self.seats[worker].meter.sentries.add(1);
        }
        let guard = || {
            if std::mem::take(&mut keeps_door) {
                self.keep_the_door(worker, host)
            } else {
                self.stand_guard(worker, host)
            }
        };
        let by_itself = self.slots.park(worker, how, guard, boredom.as_ref());
        idle.bored = is_bored.get();
        if keeps_door {
            // A waker was quicker. We search next, for whatever was posted meanwhile.
            self.end_all_promises();
        }
        by_itself
    }

    /// Returns `true` if guests have come since a worker last stopped keeping the door, and there
    /// is a seat for others. (`false` with deadlock detection: the census would count the
    /// doorkeeper as asleep.)
    fn wants_a_doorkeeper(&self) -> bool {
        let has_news = self.deferral.guests.get() != self.deferral.guests_when_closed.get();
        has_news && self.workers() > 1 && self.detector.is_none()
    }

    /// Naps, and looks for work after each nap. Called by a worker that is asleep in its main loop,
    /// and looks after the posts of others.
    fn keep_the_door(&self, worker: usize, host: &dyn Host) -> Guard {
        let (mut guests, mut naps) = (self.deferral.guests.get(), 0);
        loop {
            if !self.slots.nap(worker, NAP) {
                return Guard::Claimed;
            }
            let before = std::mem::replace(&mut guests, self.deferral.guests.get());
            naps = if guests == before { naps + 1 } else { 0 };
            let wanted = naps < MOST_NAPS;
            if !wanted {
                self.deferral.guests_when_closed.set_mine(guests);
                // WAKE: posts that relied on us come before this change of the word, and we see
                // their jobs. Later posts wake workers themselves.
                omittable!("door/still-defers", self.end_deferral());
            }
            if look!("door/never-looks", host.work_visible()) {
                return self.get_up(worker);
            }
            if !wanted {
                return if self.slots.end_guard(worker) { Guard::Ended } else { Guard::Claimed };
            }
            // If another thread has ended the deferral meanwhile, no post relies on us, so this
            // begins a new one. It does no harm if it is refused.
            let _ = self.defer_wakes();
        }
    }
}
