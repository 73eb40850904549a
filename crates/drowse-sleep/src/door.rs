//! Who keeps the door for guests.
//!
//! A guest's short piece of work is done before a worker that it woke could help; to wake one costs
//! more than the work. So it would be better to [owe](crate::owed) the wakes. But a guest works, and
//! cannot look after what it owes. Somebody else has to: where guests come and go, one worker that
//! sleeps in its main loop *keeps the door*. It naps, for a millisecond at a time, and looks whether
//! there is anything to do after each; as long as it does, what workers and guests post into a pool
//! that slept wakes nobody. When no guest has come for a while it sleeps like the others. So does it
//! cost nothing where nobody comes, and where guests come it costs less than they would by waking
//! it.

use crate::sentry::NAP;
use crate::slots::{Guard, Parking};
use crate::word::Event;
use crate::{Host, Idle, Sleep};
use std::time::Duration;

/// How long the door is kept after the last guest.
const KEPT_FOR: Duration = Duration::from_millis(20);

impl Sleep {
    /// Parks the worker, as it suits guests. Whether it got up by itself.
    pub(crate) fn park_somehow(&self, idle: &Idle, host: &dyn Host) -> bool {
        let worker = idle.worker;
        let at_home = !idle.in_a_job && self.slots.are_for_guests();
        let mut keeps_door = at_home && self.wants_a_doorkeeper() && self.owe();
        let how = match (at_home, keeps_door) {
            (false, _) => Parking::InAJob,
            (true, false) => Parking::Vacant,
            (true, true) => Parking::OnGuard,
        };
        let by_itself = self.slots.park(worker, how, || {
            if std::mem::take(&mut keeps_door) {
                self.keep_the_door(worker, host)
            } else {
                self.stand_guard(worker, host)
            }
        });
        if keeps_door {
            // A waker was quicker. Whatever was posted meanwhile, we search next.
            self.stand_down();
        }
        by_itself
    }

    /// Whether guests came lately. (Where there is a census, whoever keeps the door would be
    /// counted as asleep.)
    fn wants_a_doorkeeper(&self) -> bool {
        let last = Duration::from_nanos(self.last_guest.get());
        self.detector.is_none() && !last.is_zero() && self.clock.elapsed().saturating_sub(last) < KEPT_FOR
    }

    /// Worker, which is asleep in its main loop, and owes: looks for work now and then.
    fn keep_the_door(&self, worker: usize, host: &dyn Host) -> Guard {
        loop {
            if !self.slots.nap(worker, NAP) {
                return Guard::Claimed;
            }
            let wanted = self.wants_a_doorkeeper();
            if !wanted {
                // WAKE: posts that relied on us come before this change of the word, and we see
                // their jobs. Those that come after wake somebody.
                self.word.change(Event::Pay, |word| (self.protocol.pay(word), ()));
            }
            if host.work_visible() {
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
