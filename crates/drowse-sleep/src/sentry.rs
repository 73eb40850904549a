//! The sentry: a sleeper with an alarm clock.
//!
//! Where as many workers are up as can run at once, to wake another one makes nothing faster, and
//! takes time from those who work. But they may be blocked, in the user's code, and then somebody
//! else must do what is left. Nobody can tell but by waiting for a while. So a protocol can ask for
//! a *sentry* instead of a wake: a sleeper that gets up by itself, later, if the others do not get
//! on with the work.
//!
//! # The flag and who clears it
//!
//! Posts that find a sentry rely on it. So whoever asks for one sets a flag in the protocol's word
//! first, and then looks for a sleeper to tell. From the moment at which a sleeper was told, the
//! flag is its own: it is cleared before that worker searches again, by itself if it gets up, or by
//! whoever claims it, before it is let go. A post that relied on it comes before that change of the
//! word; so its job is found by the looks that every searcher takes before it sleeps, or when it
//! passes the baton. If nobody could be told, whoever asked clears the flag, and *then* wakes
//! somebody after all: a sleeper that was counted before is in its slot by then.

use crate::word::Event;
use crate::{Host, Reason, Sleep};
use drowse_sync::omittable;
use std::time::Duration;

/// How long a sentry waits before it looks at what the others do. Longer than most parallel
/// regions, and shorter than what people notice.
const NAP: Duration = Duration::from_millis(1);

/// The longest that it waits at once.
const LONGEST_NAP: Duration = Duration::from_millis(4);

/// How often it goes on waiting because others are getting on, before it gets up all the same.
const MOST_NAPS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 8 };

impl Sleep {
    /// Makes somebody who sleeps the sentry. False if there is none who could be.
    pub(crate) fn place_sentry(&self) -> bool {
        let told = (0..self.workers()).find(|worker| self.slots.set_alarm(*worker));
        if let Some(worker) = told {
            self.meters[worker].sentries.add(1);
            // It sleeps on, but with an end.
            self.slots.wake(worker);
        }
        told.is_some()
    }

    /// There is no sentry any more, or none was to be had.
    pub(crate) fn stand_down(&self) {
        let clear = || {
            self.word.change(Event::StandDown, |word| (self.protocol.stand_down(word), ()));
        };
        omittable!("sentry/never-stands-down", clear());
    }

    /// Worker, which is asleep, and was told to be the sentry: sleeps on until it is claimed, or
    /// its time has come. Whether it got up by itself.
    pub(crate) fn stand_guard(&self, worker: usize, host: &dyn Host) -> bool {
        let finds = || self.protocol.finds(self.word.peek());
        // If the last ones had to get up, the others are blocked for good: the next ones follow
        // sooner and sooner.
        let mut nap = NAP / 2_u32.saturating_pow(u32::try_from(self.relieved.get()).unwrap_or(u32::MAX));
        for _ in 0..MOST_NAPS {
            let before = finds();
            if !self.slots.nap(worker, nap) {
                break; // Somebody has claimed it.
            }
            let others_get_on = finds() != before;
            if !others_get_on || !host.work_visible() {
                let stuck = !others_get_on && host.work_visible();
                self.relieved.set_mine(if stuck { self.relieved.get() + 1 } else { 0 });
                break;
            }
            nap = (nap * 2).min(LONGEST_NAP);
        }
        let by_itself = self.slots.get_up(worker);
        if by_itself {
            self.stand_down();
            self.uncount();
            self.meters[worker].count_wake(Reason::Sentry);
            self.observe(|observer| observer.wake(worker, Reason::Sentry));
        }
        by_itself
    }
}
