//! Sentry: a sleeper that gets up by itself after a while.
//!
//! If as many workers are awake as can run at once, waking another one makes nothing faster and
//! takes time from those that work. But they may be blocked in the user's code, and then another
//! worker must do the remaining work. Only waiting can show which is the case. So a protocol can
//! ask for a *sentry* instead of a wake: a sleeper that gets up by itself, later, if the others
//! make no progress.
//!
//! If the sentry has to get up, the workers that are awake count as *stuck* until they return from
//! their jobs, and there is room for others beside them. That room doubles with each sentry in a
//! row that has to get up, and is filled by waking all these workers at once. So a wide pool whose
//! workers block one after the other is awake within a few naps, each of them half as long as the
//! one before. This ends when workers are woken and find nothing to do.
//!
//! The others *make progress* if they find new work while the sentry naps and the process keeps the
//! processors busy. (Workers that block for a millisecond each find new work all the time, so new
//! work alone is not enough.)
//!
//! # Setting and clearing the flag
//!
//! Posts that find a sentry rely on it. So the thread that asks for one first sets a flag in the
//! protocol's word (`Relay::post`), and then looks for a sleeper to tell (`place_sentry`). From the
//! moment that a sleeper is told, the flag belongs to it. The flag is cleared before that worker
//! searches again: by the worker if it gets up, or by the waker that claims it, before letting it
//! go. A post that relied on the flag comes before that change of the word, so its job is found by
//! the look that each searcher takes before it sleeps or when it passes the baton. If no sleeper
//! could be told, the asking thread clears the flag and *then* wakes a worker after all: every
//! worker that was counted before has prepared its slot by then.

use crate::slots::Guard;
use crate::word::Event;
use crate::{Host, Reason, Sleep};
use drowse_sync::{Stopwatch, omittable, process_cpu_time};
use std::time::Duration;

/// Time that a sentry waits before it looks at what the others do. Longer than most parallel
/// regions, and shorter than people notice.
pub(crate) const NAP: Duration = Duration::from_millis(1);

/// Longest time that a sentry waits at once.
const LONGEST_NAP: Duration = Duration::from_millis(4);

/// CPU use of the process since a moment.
struct Processors {
    since: Stopwatch,
    cpu_time: Option<Duration>,
}

impl Processors {
    fn watch() -> Self {
        Self { since: Stopwatch::start(), cpu_time: process_cpu_time() }
    }

    /// Returns `true` if the process has used three quarters of what `room` processors had to give,
    /// or if the system does not tell.
    fn were_busy(&self, room: usize) -> bool {
        let (Some(before), Some(now)) = (self.cpu_time, process_cpu_time()) else { return true };
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        now.saturating_sub(before) >= self.since.elapsed().saturating_mul(room) / 4 * 3
    }
}

/// Number of sentries in a row beyond which one more changes nothing.
const MOST_IN_A_ROW: u32 = 8;

/// Number of naps of a sentry, while others make progress, before it gets up anyway.
const MOST_NAPS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 8 };

impl Sleep {
    /// Makes a sleeper the sentry. Returns `false` if there is no sleeper that can be.
    pub(crate) fn place_sentry(&self) -> bool {
        let told = (0..self.seats_in_use()).find(|worker| self.slots.set_alarm(*worker));
        if let Some(worker) = told {
            self.meters[worker].sentries.add(1);
            // WAKE: the sleeper reads its slot and sleeps on, but with a time limit. The posts that
            // rely on the flag rely on that limit.
            self.slots.wake(worker);
        }
        told.is_some()
    }

    /// Clears the flag: there is no sentry any more, or no sleeper could be made the sentry.
    pub(crate) fn stand_down(&self) {
        let clear = || {
            self.word.change(Event::StandDown, |word| (self.protocol.stand_down(word), ()));
        };
        omittable!("sentry/never-stands-down", clear());
    }

    /// Naps until the worker is claimed or has to get up. Called by a sleeper that was made the
    /// sentry.
    pub(crate) fn stand_guard(&self, worker: usize, host: &dyn Host) -> Guard {
        let finds = || self.protocol.finds(self.word.peek());
        let in_a_row = self.in_a_row();
        let mut nap = NAP / (1 << in_a_row);
        for _ in 0..MOST_NAPS {
            let (before, processors) = (finds(), Processors::watch());
            if !self.slots.nap(worker, nap) {
                break; // A waker has claimed the sentry.
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

    /// Gets up, unless the worker was claimed. Called by a worker that is on guard.
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

    /// Returns how many sentries in a row had to get up, at most `MOST_IN_A_ROW`.
    fn in_a_row(&self) -> u32 {
        u32::try_from(self.relieved.get()).unwrap_or(u32::MAX).min(MOST_IN_A_ROW)
    }

    /// Returns how many workers there is room for: as many as there are processors, doubled for
    /// each sentry in a row that had to get up, plus the workers that are stuck, sleep alone or
    /// have stepped aside.
    pub(crate) fn room_beside_the_stuck(&self) -> usize {
        let stuck = usize::try_from(self.stuck.get()).unwrap_or(0).min(self.seats_in_use());
        let aside = usize::try_from(self.aside.get()).unwrap_or(0);
        let off = stuck.saturating_add(self.sleeping_alone()).saturating_add(aside);
        self.room.get().saturating_mul(1 << self.in_a_row()).saturating_add(off)
    }

    /// Returns how many workers the baton asks for: one, or as many as there is room for if workers
    /// were stuck just now.
    pub(crate) fn baton_jobs(&self) -> usize {
        if self.relieved.get() > 0 { usize::MAX } else { 1 }
    }

    /// Marks all workers that are awake as stuck: none has come back from its job for a while.
    fn note_stuck(&self) {
        for (worker, meter) in self.meters.iter().take(self.seats_in_use()).enumerate() {
            if !self.slots.is_asleep(worker) {
                meter.stuck.set_mine(1);
            }
        }
        self.recount_stuck();
    }

    /// Counts the stuck workers. Each sentry counts anew, because workers that come back while they
    /// are marked or counted may be missed.
    fn recount_stuck(&self) {
        self.stuck.set_mine(self.meters.iter().map(|meter| meter.stuck.get()).sum());
    }

    /// Records that the worker was woken and found nothing to do: there may be room for too many.
    pub(crate) fn woken_for_nothing(&self) {
        if self.relieved.get() > 0 {
            self.relieved.subtract(1);
        }
    }

    /// Clears the worker's stuck mark: it has come back from its job.
    pub(crate) fn not_stuck(&self, worker: usize) {
        let meter = &self.meters[worker];
        if meter.stuck.get() > 0 {
            meter.stuck.set_mine(0);
            self.stuck.subtract(1);
        }
    }
}
