//! The sentry: a sleeper with an alarm clock.
//!
//! Where as many workers are up as can run at once, to wake another one makes nothing faster, and
//! takes time from those who work. But they may be blocked, in the user's code, and then somebody
//! else must do what is left. Nobody can tell but by waiting for a while. So a protocol can ask for
//! a *sentry* instead of a wake: a sleeper that gets up by itself, later, if the others do not get
//! on with the work.
//!
//! If it has to, those who are up are taken for stuck until they come back from their jobs, and
//! there is room for others beside them. If the next sentry has to get up as well, for twice as
//! many, who are woken all at once: so a wide pool whose workers block one after the other is up
//! within a few naps, and each nap is half as long as the one before. This ends when workers are
//! woken and find nothing to do.
//!
//! Others *get on* if they find new work while the sentry naps, and if the process keeps the
//! processors busy: workers that block for a millisecond each find new work all the time.
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

use crate::slots::Guard;
use crate::word::Event;
use crate::{Host, Reason, Sleep};
use drowse_sync::{Stopwatch, omittable, process_cpu_time};
use std::time::Duration;

/// How long a sentry waits before it looks at what the others do. Longer than most parallel
/// regions, and shorter than what people notice.
pub(crate) const NAP: Duration = Duration::from_millis(1);

/// The longest that it waits at once.
const LONGEST_NAP: Duration = Duration::from_millis(4);

/// How busy the process keeps the processors.
struct Processors {
    since: Stopwatch,
    cpu_time: Option<Duration>,
}

impl Processors {
    fn watch() -> Self {
        Self { since: Stopwatch::start(), cpu_time: process_cpu_time() }
    }

    /// Whether the process has used most of what so many of them had to give. Yes if nobody knows.
    fn were_busy(&self, room: usize) -> bool {
        let (Some(before), Some(now)) = (self.cpu_time, process_cpu_time()) else { return true };
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        now.saturating_sub(before) >= self.since.elapsed().saturating_mul(room) / 4 * 3
    }
}

/// So many sentries in a row make a difference.
const MOST_IN_A_ROW: u32 = 8;

/// How often it goes on waiting because others are getting on, before it gets up all the same.
const MOST_NAPS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 8 };

impl Sleep {
    /// Makes somebody who sleeps the sentry. False if there is none who could be.
    pub(crate) fn place_sentry(&self) -> bool {
        let told = (0..self.seats_in_use()).find(|worker| self.slots.set_alarm(*worker));
        if let Some(worker) = told {
            self.meters[worker].sentries.add(1);
            // WAKE: it sleeps on, but with an end: posts that rely on the flag rely on that.
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
    pub(crate) fn stand_guard(&self, worker: usize, host: &dyn Host) -> Guard {
        let finds = || self.protocol.finds(self.word.peek());
        let in_a_row = self.in_a_row();
        let mut nap = NAP / (1 << in_a_row);
        for _ in 0..MOST_NAPS {
            let (before, processors) = (finds(), Processors::watch());
            if !self.slots.nap(worker, nap) {
                break; // Somebody has claimed it.
            }
            self.room.report_again();
            self.recount_stuck();
            let others_get_on = finds() != before && processors.were_busy(self.room.get());
            let work_left = host.work_visible();
            if work_left && others_get_on {
                nap = (nap * 2).min(LONGEST_NAP);
                continue;
            }
            if work_left {
                self.relieved.set_mine(u64::from(in_a_row) + 1);
                self.note_stuck();
            }
            break;
        }
        self.get_up(worker)
    }

    /// Worker, which is on guard: gets up, unless it was claimed.
    pub(crate) fn get_up(&self, worker: usize) -> Guard {
        if !self.slots.get_up(worker) {
            return Guard::Claimed;
        }
        self.stand_down();
        self.uncount();
        self.meters[worker].count_wake(Reason::Sentry);
        self.observe(|observer| observer.wake(worker, Reason::Sentry));
        Guard::GotUp
    }

    /// How many sentries in a row had to get up, as far as that matters.
    fn in_a_row(&self) -> u32 {
        u32::try_from(self.relieved.get()).unwrap_or(u32::MAX).min(MOST_IN_A_ROW)
    }

    /// There is room for as many workers as there are processors, beside those who are stuck, who
    /// sleep alone or have stepped aside; and for twice as many with each sentry in a row that had
    /// to get up.
    pub(crate) fn room_beside_the_stuck(&self) -> usize {
        let stuck = usize::try_from(self.stuck.get()).unwrap_or(0).min(self.seats_in_use());
        let aside = usize::try_from(self.aside.get()).unwrap_or(0);
        let off = stuck.saturating_add(self.sleeping_alone()).saturating_add(aside);
        self.room.get().saturating_mul(1 << self.in_a_row()).saturating_add(off)
    }

    /// How many to wake where the baton is passed: one, unless those who are up were stuck just
    /// now; then all that there is room for.
    pub(crate) fn baton_jobs(&self) -> usize {
        if self.relieved.get() > 0 { usize::MAX } else { 1 }
    }

    /// Nobody who is up has come back from its job for a while.
    fn note_stuck(&self) {
        for (worker, meter) in self.meters.iter().take(self.seats_in_use()).enumerate() {
            if !self.slots.is_asleep(worker) {
                meter.stuck.set_mine(1);
            }
        }
        self.recount_stuck();
    }

    /// Those who come back while they are noted, or counted, may be missed: so each sentry counts
    /// anew.
    fn recount_stuck(&self) {
        self.stuck.set_mine(self.meters.iter().map(|meter| meter.stuck.get()).sum());
    }

    /// Worker: it was woken, and found nothing to do. Perhaps there is room for too many.
    pub(crate) fn woken_for_nothing(&self) {
        if self.relieved.get() > 0 {
            self.relieved.subtract(1);
        }
    }

    /// Worker: it has come back.
    pub(crate) fn not_stuck(&self, worker: usize) {
        let meter = &self.meters[worker];
        if meter.stuck.get() > 0 {
            meter.stuck.set_mine(0);
            self.stuck.subtract(1);
        }
    }
}
