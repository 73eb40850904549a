//! What is known of the places in a program that enter the pool: how long their work takes.

use drowse_sync::Counter;
use std::time::Duration;

/// Work that takes no longer than this, on one worker, is done before another one could help.
const SHORT: Duration = Duration::from_micros(30);

/// Work that several workers have done in this time may be short.
const PERHAPS_SHORT: Duration = Duration::from_micros(60);

/// It must have been like that so many times in a row.
const PROOFS: u64 = 2;

/// How many places are told apart. More share an entry, and what is known of it.
const PLACES: usize = 64;

/// The most times that a place is not tried again which was taken to be short, and was not.
const MOST: u64 = 64;

/// After so many times in a row that its work did not fork, a place is not tried for some more.
const FORKLESS: u64 = 8;
const WITHOUT_A_FORK: u64 = 16;

/// How long the work of each place takes, as far as that is known.
///
/// One that may be short, as all workers together have done its work in little time, is *tried*: a
/// single worker is woken, and the next one later, if it comes to that. One that was not short is
/// not tried again for a while, for longer each time.
#[derive(Debug)]
pub(super) struct Sites {
    sites: Box<[Site]>,
}

#[derive(Debug, Default)]
pub(super) struct Site {
    /// Times in a row that it was done in little time, by all workers.
    proofs: Counter,
    /// Times to go until it is tried again.
    wait: Counter,
    /// How often to wait the next time.
    penalty: Counter,
    /// Times in a row that its work did not fork.
    forkless: Counter,
    /// Nanoseconds that its work takes on one worker, about; 0 if that is not known.
    usual: Counter,
}

impl Sites {
    pub(super) fn new() -> Self {
        Self { sites: (0..PLACES).map(|_| Site::default()).collect() }
    }

    /// The place whose work this function does.
    pub(super) fn of(&self, function: usize) -> &Site {
        // Functions are aligned to sixteen bytes, and lie one behind the other.
        let hash = (function >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize);
        &self.sites[(hash >> (usize::BITS - PLACES.ilog2())) % PLACES]
    }
}

impl Site {
    /// Whether its work is taken to be short. (Threads may lose each other's news. It is a guess.)
    pub(super) fn seems_short(&self) -> bool {
        // A model enters once.
        let is_proven = cfg!(any(drowse_loom, drowse_shuttle)) || self.proofs.get() >= PROOFS;
        is_proven && self.wait.get() == 0
    }

    /// Its work was taken to be short, and has taken so long, on one worker. If it does not fork,
    /// there is no point in trying it, whatever it takes.
    pub(super) fn was_tried(&self, took: Duration, forks: bool) {
        if !forks {
            self.forkless.set_mine(self.forkless.get() + 1);
            if self.forkless.get() >= FORKLESS {
                self.wait.set_mine(WITHOUT_A_FORK);
            }
            return;
        }
        self.forkless.set_mine(0);
        let (usual, took_nanos) = (self.usual.get(), u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        // A mean of the last few.
        self.usual.set_mine(if usual == 0 { took_nanos } else { usual - usual / 4 + took_nanos / 4 });
        if took <= SHORT {
            self.penalty.set_mine(self.penalty.get() / 2);
        } else {
            let penalty = (self.penalty.get() * 2).clamp(1, MOST);
            self.penalty.set_mine(penalty);
            self.wait.set_mine(penalty);
        }
    }

    /// How long its work takes on one worker, if that is known, and short.
    pub(super) fn usual(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.usual.get())).filter(|usual| !usual.is_zero() && *usual <= SHORT)
    }

    /// Its work was not taken to be short, and has taken so long, on all workers.
    pub(super) fn was_not_tried(&self, took: Duration) {
        let (proofs, wait) = (self.proofs.get(), self.wait.get());
        let may_be_short = took <= PERHAPS_SHORT;
        let proven = if may_be_short { PROOFS.min(proofs + 1) } else { 0 };
        // Many threads may come from one place: nothing is written that stays the same.
        if proven != proofs {
            self.proofs.set_mine(proven);
        }
        if may_be_short && wait > 0 {
            self.wait.set_mine(wait - 1);
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{MOST, PERHAPS_SHORT, PROOFS, SHORT, Site, Sites};

    /// A place whose work was done in little time, so often that it is tried.
    fn proven(sites: &Sites) -> &Site {
        let site = sites.of(0x5555_0010);
        (0..PROOFS).for_each(|_| site.was_not_tried(PERHAPS_SHORT));
        site
    }

    #[test]
    fn a_place_is_tried_when_it_may_be_short_and_again_if_that_was_right() {
        let sites = Sites::new();
        assert!(!sites.of(0x5555_0010).seems_short(), "nobody knows");
        let site = proven(&sites);
        for _ in 0..10 {
            assert!(site.seems_short());
            site.was_tried(SHORT, true);
        }
    }

    #[test]
    fn a_place_that_was_not_short_is_tried_less_and_less() {
        let sites = Sites::new();
        let site = proven(&sites);
        let waits: Vec<u64> = (0..10)
            .map(|_| {
                site.was_tried(SHORT * 2, true);
                let waits = (0..).take_while(|_| !site.seems_short());
                waits.map(|_| site.was_not_tried(PERHAPS_SHORT)).count() as u64
            })
            .collect();
        assert_eq!(waits[..4], [1, 2, 4, 8]);
        assert_eq!(waits[9], MOST);
        site.was_tried(SHORT * 2, true);
        for _ in 0..1_000 {
            site.was_not_tried(PERHAPS_SHORT * 2);
        }
        assert!(!site.seems_short(), "its work is long");
    }

    #[test]
    fn a_place_that_does_not_fork_is_seldom_tried() {
        let sites = Sites::new();
        let site = proven(&sites);
        let enter = |forks| {
            let tries = site.seems_short();
            let tell = |took| if tries { site.was_tried(took, forks) } else { site.was_not_tried(took) };
            tell(SHORT / 2);
            tries
        };
        assert_eq!((0..8 + 170).filter(|_| enter(false)).count(), 8 + 10);
        (0..20).for_each(|_| _ = enter(true));
        assert!((0..100).all(|n| enter(n % 3 > 0)), "it does, now and then");
    }

    #[test]
    fn places_are_told_apart() {
        let sites = Sites::new();
        proven(&sites);
        let short = (0..100).filter(|n| sites.of(0x5555_0010 + 0x40 * n).seems_short()).count();
        assert!(short < 20, "{short} of 100 are taken for the one");
    }
}
