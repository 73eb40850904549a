//! The word of the sleepy-worker protocol.

use crate::{Announcement, House};
use drowse_sync::atomic::{AtomicU64, Ordering};
use drowse_sync::mutant;

/// Some workers are asleep, or on their way.
const ASLEEP: u64 = 1;

/// Who is sleepy, and whether anybody is asleep.
///
/// | bits | what |
/// |---|---|
/// | 0 | some workers are asleep, or about to be: they have made their beds |
/// | 1..16 | the sleepy worker's index plus one; 0 if nobody is sleepy |
///
/// So `0` says that everyone is awake and nobody is sleepy, `1` that some sleep, `2` that worker 0 is sleepy, `3` both.
///
/// ```text
///                    get_sleepy(i)                       fall_asleep
///   nobody sleepy ------------------> (i + 1) << 1 | a ---------------> 1
///        ^                                  |                           |
///        +---- wake_up: keeps a, clear: 0 --+----------- clear: 0 ------+
/// ```
#[derive(Debug, Clone, Copy)]
pub(super) struct State<'a> {
    word: &'a AtomicU64,
}

impl<'a> State<'a> {
    pub(super) fn of(house: &'a House) -> Self {
        Self { word: house.word() }
    }

    /// Everyone is awake and nobody is sleepy: news can pass without a word.
    pub(super) fn is_quiet(self) -> bool {
        // ORDERING: relaxed; the caller's fence comes before it.
        self.word.load(Ordering::Relaxed) == 0
    }

    /// Makes this worker the sleepy one, unless another is.
    pub(super) fn get_sleepy(self, worker: usize) -> Option<Announcement> {
        // ORDERING: relaxed; look before you swap, and the swap checks it.
        let seen = self.word.load(Ordering::Relaxed);
        if seen & !ASLEEP != 0 {
            return None;
        }
        let sleepy = seen | (worker as u64 + 1) << 1;
        let announced = self.step(seen, sleepy, Ordering::Relaxed, "sleepy/announce-overwrites");
        announced.then(|| Announcement::remember(sleepy))
    }

    /// The sleepy worker is not sleepy any more. It does not matter if it was tickled first.
    pub(super) fn wake_up(self, announcement: Announcement) {
        let sleepy = announcement.remembered();
        // ORDERING: relaxed; nobody learns anything from it.
        let _ = self.step(sleepy, sleepy & ASLEEP, Ordering::Relaxed, "sleepy/wake-up-overwrites");
    }

    /// The sleepy worker goes to sleep. False if it was tickled.
    #[must_use]
    pub(super) fn fall_asleep(self, announcement: Announcement) -> bool {
        // ORDERING: release pairs with the acquire of `clear`: whoever tickles finds our bed made.
        let ordering = mutant::weaken("sleepy/commit-relaxed", Ordering::Release);
        self.step(announcement.remembered(), ASLEEP, ordering, "sleepy/commit-overwrites")
    }

    /// Nobody is sleepy, nobody is asleep any more. True if somebody was asleep.
    #[must_use]
    pub(super) fn clear(self) -> bool {
        // ORDERING: acquire pairs with the release of `fall_asleep`. Those that fell asleep before the last one are in its
        // release sequence: every change of the word is a read-modify-write.
        let ordering = mutant::weaken("sleepy/clear-relaxed", Ordering::Acquire);
        if mutant::active("sleepy/clear-in-two-steps") {
            let old = self.word.load(ordering);
            // ORDERING: immaterial, a mutant.
            self.word.store(0, Ordering::Relaxed);
            return old & ASLEEP != 0;
        }
        self.word.swap(0, ordering) & ASLEEP != 0
    }

    /// One transition of the sleepy worker. False if the word is another by now. The fault is not
    /// to look.
    fn step(self, from: u64, to: u64, ordering: Ordering, fault: &'static str) -> bool {
        if mutant::active(fault) {
            self.word.store(to, ordering);
            return true;
        }
        // ORDERING: the caller's. Failure: the word is not looked at.
        self.word.compare_exchange(from, to, ordering, Ordering::Relaxed).is_ok()
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_word_reads_as_the_table_says() {
        let word = AtomicU64::new(0);
        let state = State { word: &word };
        let value = || word.load(Ordering::Relaxed);
        let sleepy = state.get_sleepy(0).unwrap();
        assert_eq!(value(), 2);
        assert_eq!(state.get_sleepy(1), None, "one at a time");
        assert!(state.fall_asleep(sleepy));
        assert_eq!(value(), 1);
        let sleepy = state.get_sleepy(0).unwrap();
        assert_eq!(value(), 3);
        state.wake_up(sleepy);
        assert_eq!(value(), 1);
        let sleepy = state.get_sleepy(6).unwrap();
        assert_eq!(value(), 7 << 1 | 1);
        assert!(state.clear());
        assert!(!state.fall_asleep(sleepy), "it was tickled");
        assert_eq!(value(), 0);
        assert!(!state.clear() && state.is_quiet());
    }

    #[test]
    fn every_worker_can_be_named_within_what_a_post_looks_at() {
        let last = crate::MAX_WORKERS as u64 - 1;
        assert_eq!(((last + 1) << 1 | ASLEEP) & !crate::ATTENTION, 0);
    }
}
