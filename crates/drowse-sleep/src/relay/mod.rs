// The README defines these link names too, as paths to the sources, for readers outside rustdoc.
#![doc = "[counters]: crate::counters"]
#![doc = "[counters#what-a-worker-does]: crate::counters#what-a-worker-does"]
#![doc = "[counters#why-no-wake-up-is-lost]: crate::counters#why-no-wake-up-is-lost"]
#![doc = "[counters#the-fences]: crate::counters#the-fences"]
#![doc = ""]
#![doc = include_str!("README.md")]

use crate::{Heads, Posted, Protocol, Rules, Wake};

/// Chained wakes, few searchers, and no more workers than processors. See the [module](self) for
/// the protocol and its proof.
///
/// ```
/// use drowse_sleep::{Policy, Relay, Sleep};
///
/// let sleep = Sleep::with(4, Box::new(Relay), Policy::default());
/// assert_eq!(sleep.protocol(), "relay");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Relay;

impl Protocol for Relay {
    fn rules(&self) -> Rules {
        Rules { few_search: true, defers: true, ..Rules::named("relay") }
    }

    /// Wakes one worker for each job that no searcher will take, while there is room; without room,
    /// asks for a sentry.
    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        let heads = Heads::of(word);
        let needed = posted.jobs.saturating_sub(heads.searching()).min(heads.sleeping);
        let up = posted.workers.saturating_sub(heads.sleeping);
        match posted.room.saturating_sub(up) {
            _ if needed == 0 => (word, Wake::Nobody),
            0 => (word, Wake::Sentry),
            room => (word, Wake::Any(needed.min(room))),
        }
    }

    fn baton(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        self.post(word, posted)
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use crate::heads;

    /// Eight workers, two processors.
    const POSTED: Posted =
        Posted { jobs: 1, by_worker: true, queue_was_empty: true, workers: 8, room: 2 };

    /// Word with this many workers asleep, and searching.
    fn word(sleeping: usize, searching: usize) -> u64 {
        let word = (0..sleeping + searching).fold(0, |word, _| heads::add_inactive(word));
        (0..sleeping).fold(word, |word, _| heads::add_sleeping(word))
    }

    #[test]
    fn wakes_are_for_those_who_have_a_processor() {
        let jobs = |jobs| Posted { jobs, ..POSTED };
        assert_eq!(Relay.post(word(8, 0), &jobs(1)).1, Wake::Any(1));
        assert_eq!(Relay.post(word(8, 0), &jobs(5)).1, Wake::Any(2));
        assert_eq!(Relay.post(word(7, 0), &jobs(5)).1, Wake::Any(1));
        assert_eq!(Relay.post(word(7, 1), &jobs(1)).1, Wake::Nobody, "one searches");
        assert_eq!(Relay.post(word(6, 0), &jobs(1)), (word(6, 0), Wake::Sentry));
        assert_eq!(Relay.baton(word(6, 0), &POSTED).1, Wake::Sentry);
    }
}
