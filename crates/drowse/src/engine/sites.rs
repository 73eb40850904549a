//! Call sites that enter the pool, and how long their work takes.

use drowse_sync::Counter;
use std::time::Duration;

/// Longest run time, on one worker, of work that is done before a second worker could help.
const SHORT: Duration = Duration::from_micros(30);

/// Longest run time, on several workers, of work that may be short.
const PERHAPS_SHORT: Duration = Duration::from_micros(60);

/// Times in a row that the work must have been done within `PERHAPS_SHORT`.
const PROOFS: u64 = 2;

/// Number of entries. Sites that share an entry share what is recorded there.
const PLACES: usize = 64;

/// Most entries for which a site is not tried again after work that was not short.
const MOST: u64 = 64;

/// Times in a row without a fork after which a site is not tried for `WITHOUT_A_FORK` entries.
const FORKLESS: u64 = 8;
const WITHOUT_A_FORK: u64 = 16;

/// Time that a caller which defers wakes waits for its job before it resumes them, at a site
/// without trust.
/// Most short jobs are done by then. (In a virtual machine, a timer that is due sooner than the
/// system's own costs up to 12 us, more than a wake.)
const SOON: Duration = Duration::from_micros(250);

/// Time that the caller waits at a site with trust: later than the system's own timer, so free.
const LATER: Duration = Duration::from_millis(5);

/// Times that the work of a site must have forked and been short, when tried, for the site to have
/// trust; doubles with each surprise.
const TRUST: u64 = 8;

/// Short runs after which one surprise is forgotten.
const FORGIVEN: u64 = 1_024;

/// Entries for which a site is not tried after its first surprise; eight times as many after each
/// further one, up to the most surprises that are remembered.
const SURPRISED: u64 = 64;
const MOST_SURPRISES: u64 = 4;

/// Recorded run times of all call sites.
///
/// A site whose work all workers together have done in little time may be short, and is *tried*:
/// only one worker is woken, the caller defers the other wakes, and resumes them later if they are
/// needed. If the work was not short, the site is not tried again for a while, which doubles each
/// time.
///
/// Work that forks, and then blocks or takes long before it forks again, is a *surprise*: what it
/// has forked waits until the caller looks. So the caller looks [soon](SOON) until the site has
/// earned trust, and a surprise is remembered for long.
#[derive(Debug)]
pub(super) struct Sites {
    sites: Box<[Site]>,
}

#[derive(Debug, Default)]
pub(super) struct Site {
    /// Times in a row that all workers together did the work in little time.
    proofs: Counter,
    /// Entries left until it is tried again.
    wait: Counter,
    /// Entries that it was last not tried for after long work; halved each time that it is short.
    penalty: Counter,
    /// Times in a row that its work did not fork.
    forkless: Counter,
    /// Mean of the nanoseconds that its work takes on one worker; 0 if unknown.
    usual: Counter,
    /// Times that its work forked, and was short, since the last surprise.
    trust: Counter,
    /// Number of surprises that are remembered.
    surprises: Counter,
}

/// Result of work that was tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried {
    /// Time that it took on the worker that ran it.
    pub(super) took: Duration,
    /// `true` if it forked, and its posts woke no worker because the caller deferred the wakes.
    pub(super) forked: bool,
    /// `true` if it was not done when the caller resumed the wakes.
    pub(super) was_late: bool,
}

impl Tried {
    /// Returns the result of work that ran on the caller's own thread, which cannot
    /// resume wakes meanwhile.
    pub(super) fn by_guest(took: Duration) -> Self {
        Self { took, forked: true, was_late: took > SOON }
    }
}

/// Record of the threads outside that send jobs to a pool and wait for them.
#[derive(Debug)]
pub(super) struct Callers {
    /// Run times of the call sites that enter the pool.
    pub(super) sites: Sites,
    /// Not zero while a thread [insists](super::turns) on a job in the injector.
    pub(super) overdue: Counter,
    /// Not zero if jobs from outside have recently waited long for their turn.
    pub(super) slow_starts: Counter,
}

impl Callers {
    pub(super) fn new() -> Self {
        Self { sites: Sites::new(), overdue: Counter::new(), slow_starts: Counter::new() }
    }

    /// Returns `true` if a thread insists on a job in the injector.
    pub(super) fn insist(&self) -> bool {
        self.overdue.get() > 0
    }
}

impl Sites {
    pub(super) fn new() -> Self {
        Self { sites: (0..PLACES).map(|_| Site::default()).collect() }
    }

    /// Returns the site whose work this function does.
    pub(super) fn of(&self, function: usize) -> &Site {
        // Functions are aligned to sixteen bytes, and follow one another in memory.
        let hash = (function >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize);
        &self.sites[(hash >> (usize::BITS - PLACES.ilog2())) % PLACES]
    }
}

impl Site {
    /// Returns `true` if the site is to be tried. (A guess: threads may lose each other's updates.)
    pub(super) fn seems_short(&self) -> bool {
        // A model has no clock, and treats all work that is tried as late.
        let is_model = cfg!(any(drowse_loom, drowse_shuttle));
        is_model || (self.proofs.get() >= PROOFS && self.wait.get() == 0)
    }

    /// Returns the time that the caller waits before it resumes the wakes.
    pub(super) fn grace(&self) -> Duration {
        if self.trust.get() >= TRUST << self.surprises.get() { LATER } else { SOON }
    }

    /// Records the result of work that was tried.
    pub(super) fn record_tried(&self, tried: Tried) {
        let Tried { took, forked, was_late } = tried;
        if forked && was_late {
            let surprises = self.surprises.get();
            self.wait.set_mine(SURPRISED << (3 * surprises.min(MOST_SURPRISES - 1)));
            self.surprises.set_mine(MOST_SURPRISES.min(surprises + 1));
            self.trust.set_mine(0);
            return;
        }
        if took > SHORT {
            let penalty = (self.penalty.get() * 2).clamp(1, MOST);
            self.penalty.set_mine(penalty);
            self.wait.set_mine(penalty);
            self.note_usual(took);
        } else if forked {
            self.penalty.set_mine(self.penalty.get() / 2);
            self.note_usual(took);
            self.earn_trust();
        } else if !was_late {
            // Work without forks has no wakes to defer, so there is no point in trying it. (If it
            // was late, its forks may have come after the caller had looked.)
            self.forkless.set_mine(self.forkless.get() + 1);
            if self.forkless.get() >= FORKLESS {
                self.wait.set_mine(WITHOUT_A_FORK);
            }
        }
    }

    /// Counts a run time on one worker into the mean of the last few.
    fn note_usual(&self, took: Duration) {
        self.forkless.set_mine(0);
        let (usual, took) = (self.usual.get(), u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        self.usual.set_mine(if usual == 0 { took } else { usual - usual / 4 + took / 4 });
    }

    /// Counts a short run with a fork.
    fn earn_trust(&self) {
        let (trust, surprises) = (self.trust.get() + 1, self.surprises.get());
        if trust < FORGIVEN {
            self.trust.set_mine(trust);
        } else if surprises > 0 {
            self.surprises.set_mine(surprises - 1);
            self.trust.set_mine(TRUST << surprises);
        }
    }

    /// Returns the usual run time of its work on one worker, if that is known and short.
    pub(super) fn usual(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.usual.get()))
            .filter(|usual| !usual.is_zero() && *usual <= SHORT)
    }

    /// Records the run time, on all workers, of work that was not tried.
    pub(super) fn record_not_tried(&self, took: Duration) {
        let (proofs, wait) = (self.proofs.get(), self.wait.get());
        let may_be_short = took <= PERHAPS_SHORT;
        let proven = if may_be_short { PROOFS.min(proofs + 1) } else { 0 };
        // Many threads may enter at one site: write only values that change.
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
    use super::*;

    /// Returns a site that is tried, after enough short runs.
    fn proven(sites: &Sites) -> &Site {
        let site = sites.of(0x5555_0010);
        (0..PROOFS).for_each(|_| site.record_not_tried(PERHAPS_SHORT));
        site
    }

    /// Returns the result of work that forked, and was done before the caller resumed the wakes.
    fn after(took: Duration) -> Tried {
        Tried { took, forked: true, was_late: false }
    }

    /// Result of work that forked and then blocked until the caller resumed the wakes.
    const SURPRISE: Tried = Tried { took: SOON, forked: true, was_late: true };

    /// Enters with work that several workers do at once, and that blocks if it is tried. Returns
    /// how long the caller waited before it resumed the wakes, each time that it did.
    fn surprises(site: &Site, entries: u32) -> Vec<Duration> {
        let enter = |_| {
            let grace = site.seems_short().then(|| site.grace());
            if grace.is_some() {
                site.record_tried(SURPRISE)
            } else {
                site.record_not_tried(SHORT)
            }
            grace
        };
        (0..entries).filter_map(enter).collect()
    }

    #[test]
    fn work_that_forks_and_blocks_is_seldom_tried_and_its_wakes_are_resumed_soon() {
        let sites = Sites::new();
        let site = sites.of(0x5555_0010);
        assert_eq!(surprises(site, 400), [SOON; 2]);
        assert_eq!(surprises(site, 400), [SOON; 1]);
        assert_eq!(surprises(site, 100_000), [SOON; 3]);
    }

    #[test]
    fn a_place_with_trust_waits_for_the_timer_of_the_system_until_its_first_surprise() {
        let sites = Sites::new();
        let site = proven(&sites);
        for _ in 0..TRUST {
            assert_eq!(site.grace(), SOON);
            site.record_tried(after(SHORT));
        }
        assert_eq!(site.grace(), LATER);
        site.record_tried(after(SHORT * 2));
        assert_eq!(site.grace(), LATER, "longer than usual, and done all the same");
        assert_eq!(surprises(site, 400), [LATER, SOON]);
        let earned =
            (0..).take_while(|_| site.grace() == SOON).map(|_| site.record_tried(after(SHORT)));
        assert_eq!(earned.count() as u64, TRUST << 2);
    }

    #[test]
    fn surprises_are_forgotten_one_by_one() {
        let sites = Sites::new();
        let site = proven(&sites);
        (0..10).for_each(|_| site.record_tried(SURPRISE));
        assert_eq!(site.surprises.get(), MOST_SURPRISES);
        let until = |surprises| {
            let tries = (0..).take_while(|_| site.surprises.get() > surprises);
            tries.map(|_| site.record_tried(after(SHORT))).count() as u64
        };
        assert_eq!(until(MOST_SURPRISES - 1), FORGIVEN);
        assert_eq!(site.grace(), LATER);
        assert!((FORGIVEN..3 * FORGIVEN).contains(&until(0)));
        assert_eq!(site.grace(), LATER);
    }

    #[test]
    fn a_place_whose_work_has_become_long_is_seldom_tried_though_no_post_relied_on_its_caller() {
        let sites = Sites::new();
        let site = proven(&sites);
        let long = Tried { forked: false, ..after(SOON * 8) };
        let enter = |_| {
            let tries = site.seems_short();
            if tries {
                site.record_tried(long)
            } else {
                site.record_not_tried(long.took)
            }
            tries
        };
        assert_eq!((0..100).filter(|n| enter(*n)).count(), 1);
    }

    #[test]
    fn work_that_began_when_the_caller_had_resumed_wakes_says_nothing_of_its_forks() {
        let sites = Sites::new();
        let site = proven(&sites);
        for _ in 0..FORKLESS * 2 {
            assert!(site.seems_short());
            site.record_tried(Tried { forked: false, was_late: true, took: SHORT });
        }
    }

    #[test]
    fn a_place_is_tried_when_it_may_be_short_and_again_if_that_was_right() {
        let sites = Sites::new();
        assert!(!sites.of(0x5555_0010).seems_short(), "nobody knows");
        let site = proven(&sites);
        for _ in 0..10 {
            assert!(site.seems_short());
            site.record_tried(after(SHORT));
        }
    }

    #[test]
    fn a_place_that_was_not_short_is_tried_less_and_less() {
        let sites = Sites::new();
        let site = proven(&sites);
        let waits: Vec<u64> = (0..10)
            .map(|_| {
                site.record_tried(after(SHORT * 2));
                let waits = (0..).take_while(|_| !site.seems_short());
                waits.map(|_| site.record_not_tried(PERHAPS_SHORT)).count() as u64
            })
            .collect();
        assert_eq!(waits[..4], [1, 2, 4, 8]);
        assert_eq!(waits[9], MOST);
        site.record_tried(after(SHORT * 2));
        for _ in 0..1_000 {
            site.record_not_tried(PERHAPS_SHORT * 2);
        }
        assert!(!site.seems_short(), "its work is long");
    }

    #[test]
    fn a_place_that_does_not_fork_is_seldom_tried() {
        let sites = Sites::new();
        let site = proven(&sites);
        let enter = |forks| {
            let tries = site.seems_short();
            let tried = Tried { forked: forks, ..after(SHORT / 2) };
            if tries {
                site.record_tried(tried)
            } else {
                site.record_not_tried(tried.took)
            }
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
