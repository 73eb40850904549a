//! The word at the centre: who is inactive, who sleeps, and whether work came since somebody got sleepy.

use drowse_sync::atomic::{AtomicU64, Ordering};
use drowse_sync::mutant;

/// Bits of each of the two thread counts.
const THREAD_BITS: u32 = 16;
const THREAD_MASK: u64 = (1 << THREAD_BITS) - 1;
/// The most workers the word can count. Half of what fits: a sleeper that wakes and sleeps again before its waker has un-counted
/// it is counted twice for a moment.
pub const MAX_WORKERS: usize = THREAD_MASK as usize / 2;

const ONE_SLEEPING: u64 = 1;
const ONE_INACTIVE: u64 = 1 << THREAD_BITS;

/// Two thread counts and the jobs event counter in one word.
///
/// | bits | what | changed by |
/// |---|---|---|
/// | 0..16 | **sleeping**: workers asleep, or committed to it | the sleeper adds itself, the waker subtracts |
/// | 16..32 | **inactive**: workers idle, sleepy or asleep | the worker itself |
/// | the top `JEC_BITS` | **JEC**, even: somebody got sleepy and no work came since; odd: work came | see below |
///
/// The JEC becomes even when a worker gets sleepy and odd when work is posted; neither changes it if it
/// already is. It wraps round at the top of the word, where a carry goes nowhere. The width is a parameter so that
/// a model can make it wrap after two posts.
#[derive(Debug)]
pub(crate) struct Counters<const JEC_BITS: u32> {
    word: AtomicU64,
}

/// The counters as they were at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot<const JEC_BITS: u32>(u64);

/// A value of the jobs event counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobsEvent(u64);

impl JobsEvent {
    /// What a worker remembers that never got sleepy.
    pub(crate) const NONE: Self = Self(u64::MAX);
}

impl<const JEC_BITS: u32> Snapshot<JEC_BITS> {
    const JEC_SHIFT: u32 = 64 - JEC_BITS;
    const ONE_JEC: u64 = 1 << Self::JEC_SHIFT;

    pub(crate) fn sleeping(self) -> usize {
        (self.0 & THREAD_MASK) as usize
    }

    pub(crate) fn inactive(self) -> usize {
        ((self.0 >> THREAD_BITS) & THREAD_MASK) as usize
    }

    /// Workers that are searching, or about to. At worst too few: a sleeper that a waker has claimed may
    /// already be active while the waker has yet to un-count it.
    pub(crate) fn awake_idle(self) -> usize {
        self.inactive().saturating_sub(self.sleeping())
    }

    pub(crate) fn jobs_event(self) -> JobsEvent {
        JobsEvent(self.0 >> Self::JEC_SHIFT)
    }

    fn is_sleepy(self) -> bool {
        self.0 & Self::ONE_JEC == 0
    }

    /// Nobody sleeps and nobody got sleepy since the last post: a post has nothing to do.
    #[inline(always)]
    pub(crate) fn is_quiet(self) -> bool {
        self.0 & (THREAD_MASK | Self::ONE_JEC) == Self::ONE_JEC
    }
}

impl<const JEC_BITS: u32> Counters<JEC_BITS> {
    /// Nobody inactive, and the JEC odd: the quiet state, so that the first posts cost a look.
    pub(crate) fn new() -> Self {
        Self { word: AtomicU64::new(Snapshot::<JEC_BITS>::ONE_JEC) }
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> Snapshot<JEC_BITS> {
        // ORDERING: acquire pairs with the release of `try_add_sleeping`: whoever sees a sleeper counted
        // finds its bed made. The post's full fence comes before this load, in the caller.
        Snapshot(self.word.load(Ordering::Acquire))
    }

    /// A worker begins to search.
    pub(crate) fn add_inactive(&self) {
        // ORDERING: release pairs with the acquire of whoever finds us inactive in `try_add_sleeping` or `sub_inactive`, and
        // therefore does without a heavy fence: it sees what we pushed before.
        let ordering =
            if mutant::active("jec/inactive-relaxed") { Ordering::Relaxed } else { Ordering::Release };
        let old = Snapshot::<JEC_BITS>(self.word.fetch_add(ONE_INACTIVE, ordering));
        debug_assert!(old.inactive() < MAX_WORKERS, "{old:?}");
    }

    /// A worker stops searching. Returns the counters without it.
    pub(crate) fn sub_inactive(&self) -> Snapshot<JEC_BITS> {
        // ORDERING: acquire, as in `load`: the caller may go on to look for sleepers.
        let old = Snapshot::<JEC_BITS>(self.word.fetch_sub(ONE_INACTIVE, Ordering::Acquire));
        debug_assert!(old.inactive() > 0, "{old:?}");
        Snapshot(old.0 - ONE_INACTIVE)
    }

    /// A worker gets sleepy: makes the JEC even, and returns it.
    pub(crate) fn announce_sleepy(&self) -> JobsEvent {
        if mutant::active("jec/parity-of-002") {
            return self.flip_if(Snapshot::is_sleepy).jobs_event();
        }
        self.flip_if(|seen| !seen.is_sleepy()).jobs_event()
    }

    /// Work was posted: makes the JEC odd. Returns the counters after that.
    pub(crate) fn post(&self) -> Snapshot<JEC_BITS> {
        if mutant::active("jec/post-keeps-jec") {
            return self.load();
        }
        self.flip_if(Snapshot::is_sleepy)
    }

    /// Adds one to the JEC if `wanted` says so of the current counters. Returns them as they are then.
    fn flip_if(&self, wanted: impl Fn(Snapshot<JEC_BITS>) -> bool) -> Snapshot<JEC_BITS> {
        loop {
            let seen = self.load();
            if !wanted(seen) {
                return seen;
            }
            let flipped = seen.0.wrapping_add(Snapshot::<JEC_BITS>::ONE_JEC);
            if self.exchange(seen, flipped) {
                return Snapshot(flipped);
            }
        }
    }

    /// The sleeper counts itself, in the same step in which it checks that the JEC is still the one it
    /// remembers. `None` if it is not: work was posted since. Else the counters after that.
    #[must_use]
    pub(crate) fn try_add_sleeping(&self, remembered: JobsEvent) -> Option<Snapshot<JEC_BITS>> {
        loop {
            let seen = self.load();
            if seen.jobs_event() != remembered && !mutant::active("jec/no-jec-check") {
                return None;
            }
            let counted = seen.0 + ONE_SLEEPING;
            if self.exchange(seen, counted) {
                return Some(Snapshot(counted));
            }
        }
    }

    /// A sleeper is not one any more. Called by its waker, or by itself if it never slept.
    pub(crate) fn sub_sleeping(&self) {
        // ORDERING: relaxed; a count, which no data hangs on.
        let old = Snapshot::<JEC_BITS>(self.word.fetch_sub(ONE_SLEEPING, Ordering::Relaxed));
        debug_assert!(old.sleeping() > 0, "{old:?}");
    }

    fn exchange(&self, seen: Snapshot<JEC_BITS>, new: u64) -> bool {
        // ORDERING: release publishes the bed that the sleeper made (see `load`); acquire because a post
        // may see a sleeper counted by this very step. Failure: the loop loads again.
        let ordering = if mutant::active("jec/count-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.word.compare_exchange(seen.0, new, ordering, Ordering::Relaxed).is_ok()
    }
}
