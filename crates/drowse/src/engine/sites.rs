//! What is known of the places in a program that enter the pool: how long their work takes.

use drowse_sync::Counter;
use std::time::Duration;

/// Work that takes no longer than this, on one worker, is done before another one could help.
const SHORT: Duration = Duration::from_micros(30);

/// Work that several workers have done in this time may be short.
const PERHAPS_SHORT: Duration = Duration::from_micros(60);

/// How many places are told apart. More share an entry, and what is known of it.
const PLACES: usize = 64;

/// The most times that a place is not tried again which was taken to be short, and was not.
const MOST: u64 = 64;

/// How many times a place is not tried again whose work did not fork.
const WITHOUT_A_FORK: u64 = 16;

/// How long the work of each place takes, as far as that is known.
///
/// Each is taken to be short until it turns out otherwise: then a single worker is woken, and the
/// next one later. One that was not short is not tried again for a while, for longer each time.
#[derive(Debug)]
pub(super) struct Sites {
    sites: Box<[Site]>,
}

#[derive(Debug, Default)]
pub(super) struct Site {
    /// Times to go until it is tried again.
    wait: Counter,
    /// How often to wait the next time.
    penalty: Counter,
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
        self.wait.get() == 0
    }

    /// Its work was taken to be short, and has taken so long, on one worker. If it does not fork,
    /// there is no point in trying it, whatever it takes.
    pub(super) fn was_tried(&self, took: Duration, forks: bool) {
        if !forks {
            return self.wait.set_mine(WITHOUT_A_FORK);
        }
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
        if took <= PERHAPS_SHORT {
            self.wait.set_mine(self.wait.get().saturating_sub(1));
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::{MOST, PERHAPS_SHORT, SHORT, Sites};

    #[test]
    fn a_place_is_tried_at_first_and_again_if_that_was_right() {
        let sites = Sites::new();
        let site = sites.of(0x5555_0010);
        for _ in 0..10 {
            assert!(site.seems_short());
            site.was_tried(SHORT, true);
        }
    }

    #[test]
    fn a_place_that_was_not_short_is_tried_less_and_less() {
        let sites = Sites::new();
        let site = sites.of(0x5555_0010);
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
        let site = sites.of(0x5555_0010);
        let tried = (0..170).filter(|_| {
            let tries = site.seems_short();
            if tries {
                site.was_tried(SHORT / 2, false)
            } else {
                site.was_not_tried(SHORT / 2)
            }
            tries
        });
        assert_eq!(tried.count(), 10);
    }

    #[test]
    fn places_are_told_apart() {
        let sites = Sites::new();
        sites.of(0x5555_0010).was_tried(SHORT * 2, true);
        let short = (0..100).filter(|n| sites.of(0x5555_0010 + 0x40 * n).seems_short()).count();
        assert!(short > 80, "{short} of 100 are not the one");
    }
}
