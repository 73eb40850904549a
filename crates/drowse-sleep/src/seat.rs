//! Seats: a thread outside the pool works in place of a worker that sleeps.
//!
//! A worker is a seat, not a thread: an index, a queue, a slot to sleep in. While the worker's own
//! thread sleeps with nothing to do, another thread can take the seat, be that worker for a while,
//! and give the seat back. No two threads have the same seat, so no more of them run than there are
//! seats.
//!
//! # The view of other workers
//!
//! To other workers the seat looks as if its worker had been woken and had found something: not
//! asleep any more, and active. (It is never counted as searching, so no post relies on it.) When
//! the guest leaves, it takes the worker's steps to sleep: it announces, commits, looks again, and
//! leaves the slot as it found it. If there is work left, or a waker wakes the worker meanwhile,
//! the worker gets up and takes over.
//!
//! # The heavy fence
//!
//! A worker that falls asleep while others work executes a heavy fence, so as not to miss a job
//! that they are about to post. That takes longer than many guests stay. So if the others do not
//! run out of work within a moment, the guest wakes the worker, which searches for their jobs and
//! falls asleep by itself.

use crate::fall_asleep::{LastStep, SleepAttempt};
use crate::{Host, LatchWord, Sleep};
use drowse_sync::{faulty, hint, omittable};

/// Number of times that a leaving guest checks if the others have run out of work.
const MOMENT: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 200 };

impl Sleep {
    /// Takes the seat of a worker that sleeps in its main loop, if there is one. The calling thread
    /// *is* that worker, active, until it [gives the seat back](Self::give_seat_back).
    ///
    /// `home` returns the latch that a worker waits for there.
    pub fn take_seat<'a>(&self, home: impl Fn(usize) -> &'a LatchWord) -> Option<usize> {
        if !self.slots.are_for_guests() {
            return None;
        }
        let worker = match &self.detector {
            None => self.sit_anywhere(),
            Some(detector) => {
                let mut worker = None;
                detector.wake(&mut |awake| {
                    worker = self.sit_anywhere();
                    if let Some(worker) = worker {
                        awake(worker, crate::slots::Claim::Guest);
                    }
                });
                worker
            }
        }?;
        self.word.sit();
        if self.word.rules.counts_heads {
            home(worker).tell_awake();
        }
        self.note_guest();
        self.seats[worker].meter.sit(self.now());
        self.observe(|observer| observer.active(worker));
        Some(worker)
    }

    fn sit_anywhere(&self) -> Option<usize> {
        (0..self.workers()).find(|worker| self.slots.sit(*worker))
    }

    /// Gives the seat back when the guest leaves. The worker sleeps on, or is woken if there is
    /// work left for it.
    pub fn give_seat_back(&self, worker: usize, home: &LatchWord, host: &dyn Host) {
        self.not_stuck(worker);
        self.word.start_looking();
        self.observe(|observer| observer.idle(worker));
        self.wait_for_others();
        if self.vacate(worker, home, host) {
            return self.observe(|observer| observer.asleep(worker));
        }
        // WAKE: the worker takes over, and searches.
        omittable!("seat/nobody-takes-over", self.slots.rise(worker));
    }

    /// Waits a moment for the active workers to run out of work, if no other worker searches.
    fn wait_for_others(&self) {
        for _ in 0..MOMENT {
            if self.leaves_others_alone() != Some(true) {
                return;
            }
            hint::spin_loop();
        }
    }

    /// Returns `true` if the calling thread, which counts as searching, is the only one that
    /// searches, and other workers are active. `None` if the word does not tell.
    fn leaves_others_alone(&self) -> Option<bool> {
        let heads = self.word.heads()?;
        Some(heads.searching() == 1 && heads.inactive < self.seats_in_use())
    }

    /// Leaves the seat as the guest found it. Returns `false` if that is not possible.
    fn vacate(&self, worker: usize, home: &LatchWord, host: &dyn Host) -> bool {
        if host.rests_after().is_some() {
            return false; // The worker has something to put away.
        }
        if self.leaves_others_alone() != Some(false) {
            return false;
        }
        let Some(announcement) = self.announce(worker) else { return false };
        let attempt = self.lie_down(worker, announcement, home, host, LastStep::Vacate);
        faulty!("seat/vacates-whatever", attempt == SleepAttempt::Committed, true)
    }
}
