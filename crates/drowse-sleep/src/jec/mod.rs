// The same names lead to the sources where the page is read by itself.
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

/// The jobs event counter. See the [module](self) for how it works and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jec {
    name: &'static str,
    counter_bits: u32,
    /// A post counts even if the counter is odd already.
    counts_every_post: bool,
}

/// The widest counter that there is room for.
const MAX_BITS: u32 = FREE.end - FREE.start;

/// The lowest bit of the counter: set if it is even, since it is stored less one.
const SLEEPY: u64 = 1 << FREE.start;

impl Jec {
    /// The protocol, with a counter of 32 bits.
    pub fn new() -> Self {
        Self { name: "jec", counter_bits: MAX_BITS, counts_every_post: false }
    }

    /// With a counter that wraps sooner, which only models have a reason to want: of 1 to 32 bits.
    #[must_use]
    pub fn with_counter_bits(bits: u32) -> Self {
        assert!((1..=MAX_BITS).contains(&bits), "a jobs event counter has 1 to {MAX_BITS} bits, not {bits}");
        Self { counter_bits: bits, ..Self::new() }
    }

    /// With a counter that every post moves on that finds somebody sleepy or asleep, and not only
    /// the first one after a worker got sleepy. More writes to the word; nothing is gained but a
    /// count.
    #[must_use]
    pub fn of_every_post() -> Self {
        Self { name: "jec:every", counts_every_post: true, ..Self::new() }
    }

    /// The same under another name, for a variant that differs in what is not the table's.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The counter, less one, where it is in the word.
    fn counter(self, word: u64) -> u64 {
        word & self.field()
    }

    fn field(self) -> u64 {
        ((1 << self.counter_bits) - 1) << FREE.start
    }

    /// The word with the counter one further.
    fn next_event(self, word: u64) -> u64 {
        word & !self.field() | self.counter(word.wrapping_add(SLEEPY))
    }

    /// The counter is even: a worker got sleepy, and no work was posted since.
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

    /// Makes the counter odd; wakes as many as it takes beyond those who search.
    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        let word = match Self::is_sleepy(word) {
            true => self.next_event(word),
            false if self.counts_every_post => self.next_event(self.next_event(word)),
            false => word,
        };
        let heads = Heads::of(word);
        let wanted = if posted.queue_was_empty {
            // Those who search will find the jobs; wake for what is left.
            posted.jobs.saturating_sub(heads.searching())
        } else {
            // A backlog: those who search have enough to do.
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
