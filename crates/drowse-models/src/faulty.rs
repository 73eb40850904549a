//! Protocols whose tables have a fault, if `DROWSE_MUTANT` names it. Without a fault they are the
//! real ones.

use drowse_sleep::{
    Announcement, Baton, Counters, Jec, Posted, Protocol, Relay, Rules, Sleepy, Wake,
};
use drowse_sync::mutant;

/// `counters`.
#[derive(Debug)]
pub(crate) struct FaultyCounters(pub(crate) Counters);

impl Protocol for FaultyCounters {
    fn rules(&self) -> Rules {
        self.0.rules()
    }

    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        let queue_alone = mutant::active("counters/queue-judges-alone") && posted.by_worker;
        if queue_alone && posted.queue_was_empty {
            (word, Wake::Nobody)
        } else {
            self.0.post(word, posted)
        }
    }
}

/// `jec`, with a counter of two bits.
#[derive(Debug)]
pub(crate) struct FaultyJec(Jec);

/// Where the two bits are.
const COUNTER: u64 = 0b11 << 16;

impl FaultyJec {
    /// The only one there is.
    pub(crate) fn new() -> Self {
        Self(Jec::with_counter_bits(2))
    }

    /// What is remembered of that word.
    fn remember(word: u64) -> Announcement {
        Announcement(word & COUNTER)
    }
}

impl Protocol for FaultyJec {
    fn rules(&self) -> Rules {
        self.0.rules()
    }

    fn announce(&self, word: u64, worker: usize) -> Option<(u64, Announcement)> {
        // What makes the counter odd.
        let posted =
            Posted { jobs: 0, by_worker: false, queue_was_empty: true, workers: 1, room: 1 };
        let odd = |word| self.0.post(word, &posted).0;
        if mutant::active("jec/one-parity") {
            return Some((odd(word), Self::remember(odd(word))));
        }
        let (next, announcement) = self.0.announce(word, worker)?;
        if mutant::active("jec/remembers-old") {
            return Some((next, Self::remember(word)));
        }
        if mutant::active("jec/remembers-late") {
            return Some((next, Self::remember(odd(next))));
        }
        Some((next, announcement))
    }

    fn commit(&self, word: u64, announcement: Announcement) -> Option<u64> {
        let unchecked = mutant::active("jec/no-jec-check");
        self.0.commit(word, if unchecked { Self::remember(word) } else { announcement })
    }

    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        let (next, wake) = self.0.post(word, posted);
        (if mutant::active("jec/post-keeps-jec") { word } else { next }, wake)
    }
}

/// `relay`.
#[derive(Debug)]
pub(crate) struct FaultyRelay(pub(crate) Relay);

impl Protocol for FaultyRelay {
    fn rules(&self) -> Rules {
        self.0.rules()
    }

    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        match self.0.post(word, posted) {
            (_, Wake::Sentry) if mutant::active("relay/no-sentry") => (word, Wake::Nobody),
            decision => decision,
        }
    }

    fn baton(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        match self.0.baton(word, posted) {
            (_, Wake::Sentry) if mutant::active("relay/no-sentry-for-baton") => {
                (word, Wake::Nobody)
            }
            decision => decision,
        }
    }
}

/// `sleepy`.
#[derive(Debug)]
pub(crate) struct FaultySleepy(pub(crate) Sleepy);

impl Protocol for FaultySleepy {
    fn rules(&self) -> Rules {
        self.0.rules()
    }

    fn start_looking(&self, word: u64) -> u64 {
        self.0.start_looking(word)
    }

    fn stop_looking(&self, word: u64) -> (u64, Baton) {
        self.0.stop_looking(word)
    }

    fn announce(&self, word: u64, worker: usize) -> Option<(u64, Announcement)> {
        self.0.announce(word, worker)
    }

    fn cancel(&self, word: u64, announcement: Announcement) -> u64 {
        self.0.cancel(word, announcement)
    }

    fn commit(&self, word: u64, announcement: Announcement) -> Option<u64> {
        self.0.commit(word, announcement)
    }

    fn uncount(&self, word: u64) -> u64 {
        self.0.uncount(word)
    }

    fn post(&self, word: u64, _posted: &Posted) -> (u64, Wake) {
        self.alert(word)
    }

    fn alert(&self, word: u64) -> (u64, Wake) {
        let (next, wake) = self.0.alert(word);
        (next, if mutant::active("sleepy/tickle-leaves-sleepers") { Wake::Nobody } else { wake })
    }

    fn is_clear(&self, word: u64) -> bool {
        self.0.is_clear(word)
    }
}
