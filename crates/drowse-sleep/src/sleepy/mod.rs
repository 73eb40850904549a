#![doc = include_str!("README.md")]

use crate::{Announcement, Baton, Posted, Protocol, Rules, Wake};

/// One sleepy worker at a time. See the [module](self) for the protocol, its word and its proof.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sleepy;

/// Flag: some workers are asleep, or on their way.
const ASLEEP: u64 = 1;

impl Protocol for Sleepy {
    fn rules(&self) -> Rules {
        // A latch that is set tickles all workers, as all news does.
        Rules { counts_heads: false, ..Rules::named("sleepy") }
    }

    fn start_looking(&self, word: u64) -> u64 {
        word
    }

    fn stop_looking(&self, word: u64) -> (u64, Baton) {
        (word, Baton::Keep)
    }

    /// Makes this worker the sleepy one, unless another is.
    fn announce(&self, word: u64, worker: usize) -> Option<(u64, Announcement)> {
        let sleepy = word | (worker as u64 + 1) << 1;
        (word & !ASLEEP == 0).then_some((sleepy, Announcement(sleepy)))
    }

    /// Ends the announcement. No effect if a tickle was first.
    fn cancel(&self, word: u64, announcement: Announcement) -> u64 {
        if word == announcement.0 { word & ASLEEP } else { word }
    }

    fn commit(&self, word: u64, announcement: Announcement) -> Option<u64> {
        (word == announcement.0).then_some(ASLEEP)
    }

    /// Leaves the word as it is: it does not count sleepers.
    fn uncount(&self, word: u64) -> u64 {
        word
    }

    /// Tickles, as for any news.
    fn post(&self, word: u64, _posted: &Posted) -> (u64, Wake) {
        self.alert(word)
    }

    /// Tickles: from now on no worker is sleepy, and none is asleep.
    fn alert(&self, word: u64) -> (u64, Wake) {
        (0, if word & ASLEEP == 0 { Wake::Nobody } else { Wake::All })
    }

    /// Ignores the bit for sleepers, which stays set until the next tickle.
    fn is_clear(&self, word: u64) -> bool {
        word <= ASLEEP
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::ASLEEP;

    #[test]
    fn every_worker_can_be_named_within_what_a_post_looks_at() {
        let last = crate::MAX_WORKERS as u64 - 1;
        assert_eq!(((last + 1) << 1 | ASLEEP) & !crate::ATTENTION, 0);
    }
}
