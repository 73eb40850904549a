//! Who keeps the door for guests.
//!
//! A guest's short piece of work is done before a worker that it woke could help; to wake one costs
//! more than the work. So it would be better to [owe](crate::owed) the wakes. But a guest works,
//! and cannot look after what it owes. Somebody else has to: where guests come and go, one worker
//! that sleeps in its main loop *keeps the door*. It naps, for a millisecond at a time, and looks
//! whether there is anything to do after each; as long as it does, what workers and guests post
//! into a pool that slept wakes nobody. When no guest has come for a while it sleeps like the
//! others. So does it cost nothing where nobody comes, and where guests come it costs less than
//! they would by waking it.

use crate::sentry::NAP;
use crate::slots::{Guard, Parking};
use crate::{Host, Idle, Sleep};
use drowse_sync::{look, omittable};
use std::cell::Cell;

/// After so many naps without a guest, whoever keeps the door sleeps on without an end.
const MOST_NAPS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 20 };

impl Sleep {
    /// A guest has come.
    #[doc(hidden)]
    pub fn note_guest(&self) {
        self.guests.add(1);
    }

    /// Parks the worker, as it suits guests. Whether it got up by itself.
    pub(crate) fn park_somehow(&self, idle: &mut Idle, host: &dyn Host) -> bool {
        let worker = idle.worker;
        let is_bored = Cell::new(false);
        let get_up = || {
            is_bored.set(self.get_up_bored(worker));
            is_bored.get()
        };
        let boredom = self.boredom(idle, &get_up);
        // Before it looks after anything.
        if let Some(after) = host.rests_after() {
            self.slots.rest_in(worker, after, || host.rest());
        }
        // Whoever sits in a spare seat has somebody else's place.
        let at_home = !idle.in_a_job && worker < self.workers() && self.slots.are_for_guests();
        let mut keeps_door = at_home && self.wants_a_doorkeeper() && self.owe();
        let how = match (at_home, keeps_door) {
            (false, _) => Parking::InAJob,
            (true, false) => Parking::Vacant,
            (true, true) => Parking::OnGuard,
        };
        if keeps_door {
            self.meters[worker].sentries.add(1);
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
            // A waker was quicker. Whatever was posted meanwhile, we search next.
            self.stand_down();
        }
        by_itself
    }

    /// Whether guests have come since the door was left alone, and there is a seat for others.
    /// (Where there is a census, whoever keeps the door would be counted as asleep.)
    fn wants_a_doorkeeper(&self) -> bool {
        let has_news = self.guests.get() != self.guests_when_closed.get();
        has_news && self.workers() > 1 && self.detector.is_none()
    }

    /// Worker, which is asleep in its main loop, and owes: looks for work now and then.
    fn keep_the_door(&self, worker: usize, host: &dyn Host) -> Guard {
        let (mut guests, mut naps) = (self.guests.get(), 0);
        loop {
            if !self.slots.nap(worker, NAP) {
                return Guard::Claimed;
            }
            let before = std::mem::replace(&mut guests, self.guests.get());
            naps = if guests == before { naps + 1 } else { 0 };
            let wanted = naps < MOST_NAPS;
            if !wanted {
                self.guests_when_closed.set_mine(guests);
                // WAKE: posts that relied on us come before this change of the word, and we see
                // their jobs. Those that come after wake somebody.
                omittable!("door/still-owes", _ = self.stop_owing());
            }
            if look!("door/never-looks", host.work_visible()) {
                return self.get_up(worker);
            }
            if !wanted {
                return if self.slots.end_guard(worker) { Guard::Ended } else { Guard::Claimed };
            }
            // If somebody has paid meanwhile, there is nobody who relies on us. It does not matter
            // if it is too early for that.
            let _ = self.owe();
        }
    }
}
