// The README defines these link names too, as paths to the sources, for readers outside rustdoc.
#![doc = "[LatchWord]: crate::LatchWord"]
#![doc = "[relay]: crate::relay"]
#![doc = "[Policy]: crate::Policy"]
#![doc = "[Policy::BLITZ]: crate::Policy::BLITZ"]
#![doc = "[counters]: crate::counters"]
#![doc = "[Pause]: crate::Pause"]
#![doc = ""]
#![doc = include_str!("README.md")]

use crate::heads::{self, FREE};
use crate::{Announcement, Heads, Posted, Protocol, Rules, Wake};

/// The jobs event counter. See the [module](self) for the protocol and its proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jec {
    name: &'static str,
    counter_bits: u32,
    /// `true` if a post counts even if the counter is odd already.
    counts_every_post: bool,
}

/// Width of the widest possible counter.
const MAX_BITS: u32 = FREE.end - FREE.start;

/// Lowest bit of the counter: set if the counter is even, since it is stored less one.
const SLEEPY: u64 = 1 << FREE.start;

impl Jec {
    /// Creates the protocol with a counter of 32 bits.
    pub fn new() -> Self {
        Self { name: "jec", counter_bits: MAX_BITS, counts_every_post: false }
    }

    /// Creates the protocol with a counter of 1 to 32 bits. Only models need it to wrap soon.
    #[must_use]
    pub fn with_counter_bits(bits: u32) -> Self {
        assert!(
            (1..=MAX_BITS).contains(&bits),
            "a jobs event counter has 1 to {MAX_BITS} bits, not {bits}"
        );
        Self { counter_bits: bits, ..Self::new() }
    }

    /// Creates the protocol with a counter of every post that finds a worker sleepy or asleep, not
    /// only of the first one after a worker got sleepy. More writes to the word, for nothing but a
    /// count.
    #[must_use]
    pub fn of_every_post() -> Self {
        Self { name: "jec:every", counts_every_post: true, ..Self::new() }
    }

    /// Returns the protocol under another name, for a variant that differs in its policy only.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Returns the counter, less one, at its position in the word.
    fn counter(self, word: u64) -> u64 {
        word & self.field()
    }

    fn field(self) -> u64 {
        ((1 << self.counter_bits) - 1) << FREE.start
    }

    /// Returns the word with the counter advanced by one.
    fn next_event(self, word: u64) -> u64 {
        word & !self.field() | self.counter(word.wrapping_add(SLEEPY))
    }

    /// Returns `true` if the counter is even: a worker got sleepy, and no work was posted since.
    fn is_sleepy(word: u64) -> bool {
        word & SLEEPY != 0
    }
}

impl Default for Jec {
    fn default() -> Self {
        Self::new()
    }
}

impl Protocol for Jec {
    fn rules(&self) -> Rules {
        Rules::named(self.name)
    }

    /// Makes the counter even, and remembers it.
    fn announce(&self, word: u64, _worker: usize) -> Option<(u64, Announcement)> {
        let word = if Self::is_sleepy(word) { word } else { self.next_event(word) };
        Some((word, Announcement(self.counter(word))))
    }

    fn commit(&self, word: u64, announcement: Announcement) -> Option<u64> {
        (announcement == Announcement(self.counter(word))).then(|| heads::add_sleeping(word))
    }

    /// Makes the counter odd; wakes one worker for each job that no searcher will take.
    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        let word = match Self::is_sleepy(word) {
            true => self.next_event(word),
            false if self.counts_every_post => self.next_event(self.next_event(word)),
            false => word,
        };
        let heads = Heads::of(word);
        let wanted = if posted.queue_was_empty {
            // The searching workers will find the jobs; wake for the rest.
            posted.jobs.saturating_sub(heads.searching())
        } else {
            // A backlog is enough for the searching workers.
            posted.jobs
        };
        (word, Wake::Any(wanted.min(heads.sleeping)))
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_counter_wraps_without_touching_its_neighbours() {
        for jec in [Jec::with_counter_bits(2), Jec::new()] {
            let heads = heads::add_sleeping(heads::add_inactive(heads::add_inactive(0)));
            let before = heads | jec.field();
            let after = jec.next_event(before);
            assert_eq!(after, heads, "it begins again");
            assert_ne!(Jec::is_sleepy(before), Jec::is_sleepy(after));
        }
    }
}
