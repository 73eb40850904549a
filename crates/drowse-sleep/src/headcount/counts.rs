//! The word of the protocols that count heads.

use drowse_sync::atomic::{AtomicU64, Ordering};
use drowse_sync::mutant;

/// Bits of each of the two thread counts.
const THREAD_BITS: u32 = 16;
const THREAD_MASK: u64 = (1 << THREAD_BITS) - 1;
/// The most workers that a pool can have. Half of what can be counted: a sleeper that wakes and sleeps again before its waker
/// has un-counted it is counted once more for a moment, once for each such waker.
pub const MAX_WORKERS: usize = THREAD_MASK as usize / 2;

const JEC_SHIFT: u32 = 16;
const INACTIVE_SHIFT: u32 = 48;
const ONE_SLEEPING: u64 = 1;
const ONE_JEC: u64 = 1 << JEC_SHIFT;
const ONE_INACTIVE: u64 = 1 << INACTIVE_SHIFT;

/// The widest jobs event counter there is room for.
pub(crate) const JEC_BITS: u32 = INACTIVE_SHIFT - JEC_SHIFT;
const JEC_FIELD: u64 = ((1 << JEC_BITS) - 1) << JEC_SHIFT;

/// Two thread counts, and for one of the protocols the jobs event counter, in one word.
///
/// | bits | what | changed by |
/// |---|---|---|
/// | 0..16 | **sleeping**: workers asleep, or committed to it | the sleeper adds itself, the waker subtracts |
/// | 16..48 | **JEC**, less one | see below |
/// | 48..64 | **inactive**: workers idle, sleepy or asleep | the worker itself |
///
/// The JEC becomes even when a worker gets sleepy and odd when work is posted; neither changes it if it already is. It begins
/// at 1, and is stored less one, so that the bits that a post looks at, the low seventeen, are zero when there is nothing to do: nobody
/// sleeps, and nobody got sleepy since the last post. Its width is a parameter so that a model can make it wrap after two posts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts<'a> {
    pub(super) word: &'a AtomicU64,
    pub(super) protocol: &'static str,
}

/// The counts as they were at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot(u64);

/// A value of the jobs event counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobsEvent(u64);

impl JobsEvent {
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl Snapshot {
    pub(crate) fn of(word: u64) -> Self {
        Self(word)
    }

    pub(crate) fn sleeping(self) -> usize {
        (self.0 & THREAD_MASK) as usize
    }

    pub(crate) fn inactive(self) -> usize {
        (self.0 >> INACTIVE_SHIFT) as usize
    }

    /// Workers that are searching, or about to. At worst too few: a sleeper that a waker has claimed may
    /// already be active while the waker has yet to un-count it.
    pub(crate) fn awake_idle(self) -> usize {
        self.inactive().saturating_sub(self.sleeping())
    }

    pub(crate) fn jobs_event(self) -> JobsEvent {
        JobsEvent(((self.0 & JEC_FIELD) >> JEC_SHIFT) + 1)
    }

    /// The JEC is even: a worker got sleepy, and no work was posted since.
    pub(crate) fn is_sleepy(self) -> bool {
        self.0 & ONE_JEC != 0
    }

    /// The same with the JEC one further, of so many bits.
    fn next_event(self, jec_bits: u32) -> Self {
        let field = ((1 << jec_bits) - 1) << JEC_SHIFT;
        Self(self.0 & !JEC_FIELD | self.0.wrapping_add(ONE_JEC) & field)
    }
}

impl Counts<'_> {
    pub(crate) fn load(&self) -> Snapshot {
        // ORDERING: acquire pairs with the release of `try_add_sleeping`: whoever sees a sleeper
        // counted finds its bed made. Belt and braces: a post that sees the count and not the bed
        // has executed its fence before the sleeper did, and the sleeper's last look shows it the
        // job.
        Snapshot(self.word.load(Ordering::Acquire))
    }

    /// A worker begins to search.
    pub(crate) fn add_inactive(&self) {
        // ORDERING: release pairs with the acquire of whoever finds us inactive in `try_add_sleeping` or `sub_inactive`, and
        // therefore does without a heavy fence: it sees what we pushed before.
        let ordering = mutant::weaken_in(self.protocol, "inactive-relaxed", Ordering::Release);
        let old = Snapshot(self.word.fetch_add(ONE_INACTIVE, ordering));
        debug_assert!(old.inactive() < MAX_WORKERS, "{old:?}");
    }

    /// A worker stops searching. Returns the counts without it.
    pub(crate) fn sub_inactive(&self) -> Snapshot {
        // ORDERING: acquire pairs with the release of `add_inactive`, as in `try_add_sleeping`; and with that of the sleepers, whose
        // beds the caller may go on to look for.
        let ordering = mutant::weaken_in(self.protocol, "stop-relaxed", Ordering::Acquire);
        let old = Snapshot(self.word.fetch_sub(ONE_INACTIVE, ordering));
        debug_assert!(old.inactive() > 0, "{old:?}");
        Snapshot(old.0 - ONE_INACTIVE)
    }

    /// Moves the JEC on by one if `wanted` says so of the current counts. Returns them as they are then.
    pub(crate) fn next_event_if(&self, jec_bits: u32, wanted: impl Fn(Snapshot) -> bool) -> Snapshot {
        loop {
            let seen = self.load();
            if !wanted(seen) {
                return seen;
            }
            let next = seen.next_event(jec_bits);
            if self.exchange(seen, next) {
                return if mutant::active("jec/remembers-old") { seen } else { next };
            }
        }
    }

    /// The sleeper counts itself, in the same step in which it checks with `allowed` that nothing has happened since it got sleepy.
    /// `None` if something has. Else the counts after that.
    #[must_use]
    pub(crate) fn try_add_sleeping(&self, allowed: impl Fn(Snapshot) -> bool) -> Option<Snapshot> {
        loop {
            let seen = self.load();
            if !allowed(seen) {
                return None;
            }
            let counted = Snapshot(seen.0 + ONE_SLEEPING);
            if self.exchange(seen, counted) {
                return Some(counted);
            }
        }
    }

    /// A sleeper is not one any more. Called by its waker, or by itself if it never slept.
    pub(crate) fn sub_sleeping(&self) {
        // ORDERING: relaxed; a count, which no data hangs on.
        let old = Snapshot(self.word.fetch_sub(ONE_SLEEPING, Ordering::Relaxed));
        debug_assert!(old.sleeping() > 0, "{old:?}");
    }

    fn exchange(&self, seen: Snapshot, new: Snapshot) -> bool {
        // ORDERING: release publishes the bed that the sleeper made (see `load`); acquire because a post
        // may see a sleeper counted by this very step. Failure: the loop loads again.
        let ordering = mutant::weaken_in(self.protocol, "count-relaxed", Ordering::AcqRel);
        self.word.compare_exchange(seen.0, new.0, ordering, Ordering::Relaxed).is_ok()
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use crate::ATTENTION;

    #[test]
    fn a_quiet_word_asks_for_no_attention() {
        let word = AtomicU64::new(0);
        let counts = Counts { word: &word, protocol: "test" };
        counts.add_inactive();
        // A worker that searches is no concern of a post.
        assert_eq!(counts.load().0 & ATTENTION, 0);
        assert_eq!(counts.load().jobs_event(), JobsEvent(1));

        counts.next_event_if(JEC_BITS, |seen| !seen.is_sleepy());
        assert_ne!(counts.load().0 & ATTENTION, 0, "somebody is sleepy");
        counts.next_event_if(JEC_BITS, Snapshot::is_sleepy);
        assert_eq!(counts.load().0 & ATTENTION, 0, "work was posted");

        assert!(counts.try_add_sleeping(|_| true).is_some());
        assert_ne!(counts.load().0 & ATTENTION, 0, "somebody sleeps");
        counts.sub_sleeping();
        counts.sub_inactive();
        assert_eq!(counts.load().0 & ATTENTION, 0);
    }

    #[test]
    fn the_jec_wraps_without_touching_its_neighbours() {
        for jec_bits in [2, JEC_BITS] {
            let full = ((1_u64 << jec_bits) - 1) << JEC_SHIFT;
            let before = Snapshot((3 * ONE_INACTIVE) | full | 2);
            let after = before.next_event(jec_bits);
            assert_eq!((after.inactive(), after.sleeping(), after.jobs_event()), (3, 2, JobsEvent(1)));
            assert_ne!(before.is_sleepy(), after.is_sleepy());
        }
    }
}
