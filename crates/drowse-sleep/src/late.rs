//! Pauses of steering, while workers that were steered begin late.
//!
//! Steering bars a woken worker from the waker's processor. That helps if another processor is
//! free. If other programs have taken it, the worker waits for its turn behind them, for
//! milliseconds, though the waker may block next and leave its own processor free. The system does
//! not tell cheaply which processors are taken. But a steered worker knows when it was woken and
//! when it began: if that took long, the next processor was taken.
//!
//! So a late start *pauses* steering, for 5 ms. The first wake after a pause is a trial. If it
//! starts late too, the next pause is four times as long, up to 1.3 s. Eight starts in time make
//! the next pause shorter again.

use crate::meter::{MS, US};
use drowse_sync::Counter;

/// Delay after which a steered worker must have waited behind another thread. Where a processor is
/// free it begins within 30 to 250 us.
const LATE: u64 = 500 * US;

/// First pause: about as long as another thread keeps its processor.
const FIRST: u64 = 5 * MS;

/// Number of times that a pause can grow to four times its length.
const MOST: u64 = 4;

/// Starts in time, in a row, that make the next pause a quarter as long.
const PROMPT: u64 = 8;

/// Pauses of one pool. Times are in nanoseconds by the clock of its [`Sleep`](crate::Sleep). An
/// update lost between two threads costs one pause that is too short, or one more trial.
#[derive(Debug)]
pub(crate) struct LateStarts {
    /// End of the current or the last pause, in nanoseconds.
    pause_ends: Counter,
    /// Number of times that the next pause is four times as long as the first.
    level: Counter,
    /// Starts in time since the last late one, or since the level was lowered.
    prompt: Counter,
}

impl LateStarts {
    pub(crate) fn new() -> Self {
        Self { pause_ends: Counter::new(), level: Counter::new(), prompt: Counter::new() }
    }

    /// Returns `true` if no worker is to be steered at this time.
    pub(crate) fn is_pausing(&self, now: u64) -> bool {
        now < self.pause_ends.get()
    }

    /// Records that a worker that was steered at time `sent` begins now. Returns `true` if that is
    /// late.
    pub(crate) fn record(&self, sent: u64, now: u64) -> bool {
        let is_late = now.saturating_sub(sent) > LATE;
        match self.level.get() {
            // Sent before the pause that an earlier late start began: tells nothing new.
            _ if sent < self.pause_ends.get() => {}
            level if is_late => {
                let pause = FIRST * (1 << (2 * level.min(MOST)));
                self.pause_ends.set_mine(now + pause);
                self.level.set_mine(MOST.min(level + 1));
                self.prompt.set_mine(0);
            }
            0 => {}
            level => {
                let prompt = self.prompt.get() + 1;
                self.prompt.set_mine(prompt % PROMPT);
                self.level.set_mine(level - prompt / PROMPT);
            }
        }
        is_late
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{FIRST, LATE, LateStarts, MOST, MS, PROMPT, US};

    const SLICE: u64 = 3 * MS;
    const PERIOD: u64 = 100 * US;
    const PROMPTLY: u64 = 60 * US;

    /// Wakes a worker each 100 us during `time`, beginning at `from`. A worker that is steered
    /// begins after `delay`. Returns the number of steered wakes.
    fn steered(late: &LateStarts, from: u64, time: u64, delay: u64) -> u32 {
        let (mut now, mut steered) = (from, 0);
        while now < from + time {
            if !late.is_pausing(now) {
                steered += 1;
                late.record(now, now + delay);
                now += delay;
            }
            now += PERIOD;
        }
        steered
    }

    #[test]
    fn starts_in_time_do_not_pause() {
        let late = LateStarts::new();
        let second = 1_000 * MS;
        assert_eq!(steered(&late, 0, second, PROMPTLY), 6_250);
        assert!(!late.record(second, second + LATE) && !late.is_pausing(second + LATE));
    }

    #[test]
    fn late_starts_are_tried_less_and_less() {
        let late = LateStarts::new();
        let times = [40, 360, 1_600, 10_000].map(|time| time * MS);
        let mut from = 0;
        let counts = times.map(|time| {
            let count = steered(&late, from, time, SLICE);
            from += time;
            count
        });
        // At 0, 8 and 31 ms; at 115 ms; at 439 ms and 1.7 s; then each 1.3 s.
        assert_eq!(counts[..3], [3, 1, 2]);
        assert!((7..=9).contains(&counts[3]), "{counts:?}");
    }

    #[test]
    fn steering_comes_back_by_trial() {
        let late = LateStarts::new();
        let busy = 10 * 1_000 * MS;
        steered(&late, 0, busy, SLICE);
        let longest = FIRST * (1 << (2 * MOST)) + SLICE;
        assert!(steered(&late, busy, longest + PERIOD, PROMPTLY) > 0);
        let free = busy + longest + 1_000 * MS;
        assert_eq!(steered(&late, free, PERIOD * 100, PROMPTLY), 63);
        // By then the next pause is a short one.
        (0..MOST * PROMPT).for_each(|_| _ = late.record(free, free + PROMPTLY));
        late.record(free, free + SLICE);
        assert!(late.is_pausing(free + SLICE) && !late.is_pausing(free + SLICE + FIRST));
    }

    #[test]
    fn workers_that_were_woken_together_begin_one_pause() {
        let late = LateStarts::new();
        (0..8).for_each(|_| assert!(late.record(PERIOD, PERIOD + SLICE)));
        assert!(!late.is_pausing(PERIOD + SLICE + FIRST));
    }

    #[test]
    fn a_start_in_time_now_and_then_does_not_forgive() {
        let late = LateStarts::new();
        let mut now = 0;
        for wake in 0..64 {
            now += 10 * 1_000 * MS;
            late.record(now, now + if wake % 4 == 0 { SLICE } else { PROMPTLY });
        }
        late.record(now, now + SLICE);
        assert!(late.is_pausing(now + FIRST * 64));
    }
}
