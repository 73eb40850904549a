//! The beds: one word a worker to sleep on, claimed by whoever wakes it.

use drowse_sync::atomic::Ordering;
use drowse_sync::{CachePadded, WaitWord, mutant};

/// Running, or not yet decided to sleep.
const AWAKE: u32 = 0;
/// About to sleep: visible to wakers, who can still stop it without a system call.
const COMMITTING: u32 = 1;
/// Counts as asleep, but still runs code: the pool's, and a handler of the user's.
const DOZING: u32 = 2;
/// Blocked, or about to be, without running anything else. Whoever moves it back to AWAKE must wake it.
const ASLEEP: u32 = 3;
/// As asleep, and claimed by a waker that has something to do before it lets it go.
const HELD: u32 = 4;

/// One bed a worker.
///
/// ```text
///            make_bed               commit            sleep             claim, to hold
///   AWAKE -------------> COMMITTING --------> DOZING --------> ASLEEP ----------------> HELD
///     ^                      |                  |                |                       |
///     +--- leave_bed, claim -+------ claim -----+----- claim ----+-------- wake ---------+
/// ```
///
/// The worker itself moves right; a waker's claim moves to AWAKE, from either state, with
/// one compare-and-swap. So a sleeper is woken by exactly one waker, no lock is held round a wake-up, and a
/// worker that is counted as sleeping can always be found: its bed was made before it was counted.
///
/// # Notes on memory ordering
///
/// A claim releases what the waker wrote, and the sleeper acquires it as it wakes (or as its commit fails).
/// That the bed is made before the worker is counted, or its latch says so, follows from the release of
/// those two steps and the acquire with which a waker reads them.
#[derive(Debug)]
pub(crate) struct Sleepers {
    beds: Box<[CachePadded<WaitWord>]>,
    /// Whether sleepers can be held. If not, they need not doze before they sleep.
    pub(crate) can_be_held: bool,
}

/// What a waker found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The worker is awake and was not about to sleep.
    Awake,
    /// The worker was about to sleep and has been stopped. It un-counts itself.
    Stopped,
    /// The worker was asleep and is ours: un-count it, then wake it.
    Asleep,
    /// The same, and it is held until then.
    Held,
}

impl Claim {
    /// Whether the worker counted as asleep, and is ours to wake.
    pub(crate) fn slept(self) -> bool {
        matches!(self, Self::Asleep | Self::Held)
    }
}

/// What a claim does with a worker that is asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grip {
    /// Takes it out of bed: it goes on as soon as it is woken, or finds out by itself.
    LetGo,
    /// Keeps it where it is until it is woken, if it does not run anything else any more.
    Hold,
}

impl Sleepers {
    /// Beds for `workers` workers, all awake.
    pub(crate) fn new(workers: usize) -> Self {
        let beds = (0..workers).map(|_| CachePadded::new(WaitWord::new(AWAKE))).collect();
        Self { beds, can_be_held: false }
    }

    /// The number of workers.
    pub(crate) fn count(&self) -> usize {
        self.beds.len()
    }

    /// How many sleep, at about this moment.
    pub(crate) fn asleep(&self) -> usize {
        // ORDERING: relaxed; for people to read.
        self.beds.iter().filter(|bed| bed.load(Ordering::Relaxed) == ASLEEP).count()
    }

    /// Worker: becomes visible to wakers.
    pub(crate) fn make_bed(&self, worker: usize) {
        // ORDERING: relaxed; published by the release of `LatchWord::fall_asleep` and of the count.
        self.beds[worker].store(COMMITTING, Ordering::Relaxed);
    }

    /// Worker: changed its mind. Harmless if a waker came first.
    pub(crate) fn leave_bed(&self, worker: usize) {
        // ORDERING: relaxed; a waker that still sees COMMITTING stops a worker that is awake anyway.
        if !mutant::active("sleepers/no-leave-bed") {
            self.beds[worker].store(AWAKE, Ordering::Relaxed);
        }
    }

    /// Worker: the last step before blocking. False if a waker was quicker.
    #[must_use]
    pub(crate) fn commit(&self, worker: usize) -> bool {
        if mutant::active("sleepers/commit-overwrites") {
            // ORDERING: immaterial, a mutant.
            self.beds[worker].store(self.committed(), Ordering::Relaxed);
            return true;
        }
        // ORDERING: relaxed suffices for success, the value is all a claim looks at; a failure acquires
        // (see `WaitWord::replace`), so the next search sees what the waker published.
        self.beds[worker].replace(COMMITTING, self.committed(), Ordering::Relaxed)
    }

    /// What a worker is that has committed.
    fn committed(&self) -> u32 {
        if self.can_be_held { DOZING } else { ASLEEP }
    }

    /// Worker: blocks until claimed.
    pub(crate) fn sleep(&self, worker: usize) {
        let bed = &self.beds[worker];
        // ORDERING: release pairs with the acquire of a claim that holds us: what we did when we arrived the last
        // time comes before what it does to us. A failure, by a claim, acquires.
        if !self.can_be_held || bed.replace(DOZING, ASLEEP, Ordering::Release) {
            // WAKE: every path to here has committed; whoever claims the bed calls `wake`, and does so
            // after the last change of the word.
            bed.wait_while(ASLEEP);
            bed.wait_while(HELD);
        }
    }

    /// Whether the worker is in bed, as far as can be seen without asking twice: as `claim` looks.
    pub(crate) fn is_in_bed(&self, worker: usize) -> bool {
        // ORDERING: as in `claim`.
        self.beds[worker].load(Ordering::Relaxed) != AWAKE
    }

    /// Waker: takes the worker out of bed. If it [slept](Claim::slept), the caller must call [`wake`](Self::wake).
    #[must_use]
    pub(crate) fn claim(&self, worker: usize, grip: Grip) -> Claim {
        let bed = &self.beds[worker];
        loop {
            // ORDERING: relaxed; look before you swap. What makes a sleeper visible here is the acquire with which the
            // caller read the count, the word or the latch; for a broadcast, its fence.
            let (seen, claim) = match bed.load(Ordering::Relaxed) {
                ASLEEP if grip == Grip::Hold => {
                    let held = if mutant::active("sleepers/no-hold") { AWAKE } else { HELD };
                    // ORDERING: acquire pairs with the release in `sleep`. To let it go releases.
                    if bed.replace(ASLEEP, held, Ordering::Acquire) {
                        return Claim::Held;
                    }
                    continue;
                }
                seen @ (ASLEEP | DOZING) => (seen, Claim::Asleep),
                COMMITTING if mutant::active("sleepers/claim-ignores-committing") => return Claim::Awake,
                COMMITTING => (COMMITTING, Claim::Stopped),
                _ => return Claim::Awake,
            };
            // ORDERING: release pairs with the sleeper's acquire in `sleep` or `commit`: its next
            // search sees the news. Belt and braces: if not, the look after its next fence does.
            if bed.replace(seen, AWAKE, Ordering::Release) {
                return claim;
            }
        }
    }

    /// Waker: wakes the worker it claimed, and lets it go if it held it.
    pub(crate) fn wake(&self, worker: usize, claim: Claim) {
        let bed = &self.beds[worker];
        if claim == Claim::Held {
            // ORDERING: release pairs with the sleeper's acquire in `sleep`: it sees what was done to it meanwhile.
            let relaxed = mutant::active("sleepers/let-go-relaxed");
            bed.store(AWAKE, if relaxed { Ordering::Relaxed } else { Ordering::Release });
        }
        if !mutant::active("sleepers/no-wake") {
            bed.wake();
        }
    }
}
