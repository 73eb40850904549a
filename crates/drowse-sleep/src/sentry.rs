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
//! word (`defer::note_sentry`), and then looks for a sleeper to tell (`place_sentry`). From the
//! moment that a sleeper is told, the flag belongs to it. The flag is cleared before that worker
//! searches again: by the worker if it gets up, or by the waker that claims it, before letting it
//! go. A post that relied on the flag comes before that change of the word, so its job is found by
//! the look that each searcher takes before it sleeps or when it passes the baton. If no sleeper
//! could be told, the asking thread clears the flag and *then* wakes a worker after all: every
//! worker that was counted before has prepared its slot by then.

use crate::defer::Guarantor;
use crate::meter::MS;
use crate::slots::Guard;
use crate::{Host, Reason, Sleep};
use drowse_sync::{omittable, process_cpu_time};
use std::time::Duration;

/// Time that a sentry waits before it looks at what the others do. Longer than most parallel
/// regions, and shorter than people notice.
pub(crate) const NAP: Duration = Duration::from_nanos(MS);

/// Longest time that a sentry waits at once, in nanoseconds.
const LONGEST_NAP: u64 = 4 * MS;

/// CPU use of the process since a moment.
struct Processors {
    since: u64,
    cpu_time: Option<u64>,
}

impl Processors {
    fn watch(now: u64) -> Self {
        Self { since: now, cpu_time: process_cpu_time() }
    }

    /// Returns `true` if the process has used three quarters of what `room` processors had to give,
    /// or if the system does not tell.
    fn were_busy(&self, now: u64, room: usize) -> bool {
        let (Some(before), Some(after)) = (self.cpu_time, process_cpu_time()) else { return true };
        let given = now.saturating_sub(self.since).saturating_mul(room as u64);
        after.saturating_sub(before) >= given / 4 * 3
    }
}

/// Number of naps of a sentry, while others make progress, before it gets up anyway.
const MOST_NAPS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 8 };

impl Sleep {
    /// Makes a sleeper the sentry. Returns `false` if there is no sleeper that can be.
    pub(crate) fn place_sentry(&self) -> bool {
        let told = (0..self.seats_in_use()).find(|worker| self.slots.set_alarm(*worker));
        if let Some(worker) = told {
            self.seats[worker].meter.sentries.add(1);
            // WAKE: the sleeper reads its slot and sleeps on, but with a time limit. The posts that
            // rely on the flag rely on that limit.
            self.slots.wake(worker);
        }
        told.is_some()
    }

    /// Clears the flag: there is no sentry any more, or no sleeper could be made the sentry. Ends a
    /// deferral as well, since the sleeper may have been its guarantor.
    #[inline(never)]
    pub(crate) fn end_all_promises(&self) {
        omittable!("sentry/never-stands-down", self.word.end_deferral(Guarantor::Sleeper));
    }

    /// Naps until the worker is claimed or has to get up. Called by a sleeper that was made the
    /// sentry.
    pub(crate) fn stand_guard(&self, worker: usize, host: &dyn Host) -> Guard {
        let in_a_row = self.room.relieved_in_a_row();
        let mut nap = MS >> in_a_row;
        for _ in 0..MOST_NAPS {
            let (before, processors) = (self.word.finds(), Processors::watch(self.now()));
            if !self.slots.nap(worker, Duration::from_nanos(nap)) {
                break; // A waker has claimed the sentry.
            }
            self.room.report(false);
            self.recount_stuck();
            let others_get_on =
                self.word.finds() != before && processors.were_busy(self.now(), self.room.get());
            let work_left = host.work_visible();
            if work_left && others_get_on {
                nap = (nap * 2).min(LONGEST_NAP);
                continue;
            }
            if work_left {
                self.room.note_relief(in_a_row);
                self.note_stuck();
            }
            break;
        }
        self.get_up(worker)
    }

    /// Gets up, unless the worker was claimed. Called by a worker that is on guard.
    #[inline(never)]
    pub(crate) fn get_up(&self, worker: usize) -> Guard {
        if !self.slots.get_up(worker) {
            return Guard::Claimed;
        }
        self.end_all_promises();
        self.word.uncount();
        self.seats[worker].meter.count_wake(Reason::Sentry);
        self.observe(|observer| observer.wake(worker, Reason::Sentry));
        Guard::GotUp
    }

    /// Returns how many workers the baton asks for: one, or as many as there is room for if workers
    /// were stuck just now.
    pub(crate) fn baton_jobs(&self) -> usize {
        if self.room.relieved_in_a_row() > 0 { usize::MAX } else { 1 }
    }

    /// Marks all workers that are awake as stuck: none has come back from its job for a while.
    fn note_stuck(&self) {
        for worker in 0..self.seats_in_use() {
            if !self.slots.is_asleep(worker) {
                self.seats[worker].meter.stuck.set_mine(1);
            }
        }
        self.recount_stuck();
    }

    /// Counts the stuck workers. Each sentry counts anew, because workers that come back while they
    /// are marked or counted may be missed.
    #[inline(never)]
    fn recount_stuck(&self) {
        let mut stuck = 0;
        for worker in 0..self.seats_in_use() {
            stuck += self.seats[worker].meter.stuck.get();
        }
        self.room.stuck.set_mine(stuck);
    }

    /// Clears the worker's stuck mark: it has come back from its job.
    #[inline(never)]
    pub(crate) fn not_stuck(&self, worker: usize) {
        let meter = &self.seats[worker].meter;
        if meter.stuck.get() > 0 {
            meter.stuck.set_mine(0);
            self.room.stuck.subtract(1);
        }
    }
}
