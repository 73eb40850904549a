// The README defines these link names too, as paths to the sources, for readers outside rustdoc.
#![doc = "[counters]: crate::counters"]
#![doc = "[counters#what-a-worker-does]: crate::counters#what-a-worker-does"]
#![doc = "[counters#why-no-wake-up-is-lost]: crate::counters#why-no-wake-up-is-lost"]
#![doc = "[counters#the-fences]: crate::counters#the-fences"]
#![doc = ""]
#![doc = include_str!("README.md")]

use crate::heads::{self, FREE};
use crate::{Baton, Heads, Posted, Protocol, Rules, Wake};

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

/// Flag: there is a sentry, or a waker is about to post one.
const SENTRY: u64 = 1 << (FREE.end - 1);

/// Flag: a thread outside, or a worker that keeps the door, looks after what workers post.
const OWED: u64 = 1 << (FREE.end - 2);

/// Bit changed by each post that relies on `OWED`: so the post and `pay` both change the word, one
/// after the other, and the second sees what the first has done.
const TURN: u64 = 1 << (FREE.end - 3);

/// Flag: a post has relied on `OWED`.
const RELIED: u64 = 1 << (FREE.end - 4);

/// One more worker has stopped searching. (Not the lowest free bit: a post looks at that.)
const ONE_FIND: u64 = 1 << (FREE.start + 1);

/// Mask of the count of workers that have stopped searching.
const FINDS: u64 = RELIED - ONE_FIND;

impl Relay {
    /// Decides which workers to wake beside those that are up.
    fn wake(word: u64, posted: &Posted) -> (u64, Wake) {
        if posted.by_worker && word & OWED != 0 {
            return ((word ^ TURN) | RELIED, Wake::Nobody);
        }
        let heads = Heads::of(word);
        let needed = posted.jobs.saturating_sub(heads.searching()).min(heads.sleeping);
        let up = posted.workers.saturating_sub(heads.sleeping);
        match posted.room.saturating_sub(up) {
            _ if needed == 0 => (word, Wake::Nobody),
            0 if word & SENTRY != 0 => (word, Wake::Nobody),
            0 => (word | SENTRY, Wake::Sentry),
            room => (word, Wake::Any(needed.min(room))),
        }
    }
}

impl Protocol for Relay {
    fn rules(&self) -> Rules {
        Rules { few_search: true, ..Rules::named("relay") }
    }

    /// Counts that a worker has stopped searching.
    fn stop_looking(&self, word: u64) -> (u64, Baton) {
        let finds = word.wrapping_add(ONE_FIND) & FINDS;
        let word = heads::sub_inactive(word) & !FINDS | finds;
        (word, heads::baton(word))
    }

    /// Wakes one worker for each job that no searcher will take, while there is room; without room,
    /// makes sure that there is a sentry.
    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        Self::wake(word, posted)
    }

    fn baton(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        Self::wake(word, posted)
    }

    /// Accepts only if no worker works: a working one may have more to do than fits on one worker.
    fn owe(&self, word: u64, workers: usize) -> Option<u64> {
        let heads = Heads::of(word);
        (heads.sleeping > 0 && heads.inactive == workers && word & OWED == 0).then_some(word | OWED)
    }

    fn pay(&self, word: u64) -> (u64, bool) {
        (word & !(OWED | TURN | RELIED), word & RELIED != 0)
    }

    fn stand_down(&self, word: u64) -> u64 {
        self.pay(word & !SENTRY).0
    }

    fn is_owed(&self, word: u64) -> bool {
        word & OWED != 0
    }

    fn finds(&self, word: u64) -> u64 {
        word & FINDS
    }

    fn is_clear(&self, word: u64) -> bool {
        word & !FINDS == 0
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

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
        let (crowded, wake) = Relay.post(word(6, 0), &jobs(1));
        assert_eq!(wake, Wake::Sentry);
        assert_eq!(Relay.post(crowded, &jobs(1)).1, Wake::Nobody, "there is one");
        assert_eq!(Relay.baton(crowded, &POSTED).1, Wake::Nobody);
        assert_eq!(Relay.baton(Relay.stand_down(crowded), &POSTED).1, Wake::Sentry);
    }

    #[test]
    fn what_workers_post_is_owed_and_what_comes_from_outside_is_not() {
        assert_eq!(Relay.owe(word(7, 0), 8), None, "one works");
        assert_eq!(Relay.owe(word(0, 8), 8), None, "nobody could be woken");
        assert!(Relay.owe(word(7, 1), 8).is_some());
        let owed = Relay.owe(word(8, 0), 8).unwrap();
        assert_eq!(Relay.owe(owed, 8), None, "one is enough");
        let (posted, wake) = Relay.post(owed, &POSTED);
        assert_eq!(wake, Wake::Nobody);
        assert_ne!(posted, owed, "so that whoever pays comes before, or after");
        assert_eq!(Relay.post(posted, &Posted { by_worker: false, ..POSTED }).1, Wake::Any(1));
        assert_eq!((Relay.pay(posted), Relay.pay(owed)), ((word(8, 0), true), (word(8, 0), false)));
        assert_eq!(Relay.post(word(8, 0), &POSTED).1, Wake::Any(1));
    }

    #[test]
    fn finds_come_round_without_touching_their_neighbours() {
        let before = word(2, 1) | FINDS | SENTRY | OWED;
        let (after, _) = Relay.stop_looking(before);
        assert_eq!(after, word(2, 0) | SENTRY | OWED);
        assert_ne!(Relay.finds(before), Relay.finds(after));
        assert_eq!(ONE_FIND & crate::ATTENTION, 0, "posts do not look at it");
    }
}
