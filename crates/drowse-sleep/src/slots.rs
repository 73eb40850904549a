//! Slots: one word per worker to park on, claimed by the waker.

mod absent;
mod alone;
mod guests;

pub(crate) use absent::Boredom;

use drowse_sync::atomic::Ordering;
use drowse_sync::{WaitWord, faulty, mutant, omittable};
use std::time::Duration;

/// Running, or not yet decided to sleep.
const AWAKE: u32 = 0;
/// About to sleep: visible to wakers, which can still stop it without a system call.
const PREPARED: u32 = 1;
/// Counts as asleep, but still runs code: the pool's, and a handler of the user's.
const DOZING: u32 = 2;
/// Blocked, or about to be, without running anything else. The thread that moves it back to AWAKE
/// must wake it.
const PARKED: u32 = 3;
/// Parked, and claimed by a waker that has something to do before it lets the worker go.
const HELD: u32 = 4;
/// Parked for a limited time: the worker is the sentry.
const GUARDING: u32 = 5;
/// Parked with nothing on the worker's stack: a guest may take its seat.
const VACANT: u32 = 6;
/// Asleep and without a thread: the waker that claims it must have one started.
const ABSENT: u32 = 7;
/// Flag: a guest has the worker's seat. The rest of the state is the guest's. The worker itself
/// blocks as before.
const GUEST: u32 = 8;
const GUEST_AWAKE: u32 = GUEST | AWAKE;
const GUEST_PREPARED: u32 = GUEST | PREPARED;
const GUEST_PARKED: u32 = GUEST | PARKED;

/// Flag: the worker, or its guest, sleeps alone. It is woken for its latch, or for something that
/// no other worker may do, but not for posts. It is not counted.
const ALONE: u32 = 16;
const ALONE_PARKED: u32 = ALONE | PARKED;
const GUEST_ALONE_PREPARED: u32 = GUEST | ALONE | PREPARED;
const GUEST_ALONE_PARKED: u32 = GUEST | ALONE | PARKED;

/// States of the bell of a seat: a parked guest blocks on it, since the worker blocks on the slot.
const QUIET: u32 = 0;
const RUNG: u32 = 1;

/// One slot per worker.
///
/// ```text
///            prepare              enter             park            claim, to hold
///   AWAKE ------------> PREPARED -------> DOZING --------> PARKED ----------------> HELD
///     ^                    |                |                |                       |
///     +--- leave, claim ---+---- claim -----+----- claim ----+-------- unpark -------+
/// ```
///
/// From PARKED a worker may be made the sentry, GUARDING. Then a claim always holds it, and it can
/// get up by itself, to AWAKE.
///
/// In a pool with guests, a worker that parks in its main loop is VACANT instead of PARKED. Then a
/// guest may take its seat, and gives it back later:
///
/// ```text
///             sit                prepare                  enter
///   VACANT ------> GUEST_AWAKE ----------> GUEST_PREPARED ------> GUEST_PARKED
///     ^                 |  ^                   |     |                 |
///     |                 |  +--- leave, claim --+     |      claim      |
///     |                 |  +---------------------------------<---------+
///     +------- vacate --|----------------------------+
///                       +--- rise, and wake the worker ---> AWAKE
/// ```
///
/// The worker itself moves right. A waker's claim moves to AWAKE, or first to HELD, with one
/// compare-and-swap. So exactly one waker wakes a sleeper, no lock is held during a wake-up, and a
/// worker that is counted as sleeping can always be found: its slot was prepared before it was
/// counted.
///
/// # Notes on memory ordering
///
/// A claim releases what the waker wrote, and the sleeper acquires it when it wakes (or fails to
/// enter). The slot is prepared before the worker is counted or its latch marked. Those two steps
/// release, and a waker that reads them acquires, so it sees the slot prepared.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Side by side: they change only when workers sleep and wake, but wakers scan all of them for
    /// sleepers, and thieves to skip sleepers.
    slots: Box<[WaitWord]>,
    /// Bells for guests to park on, one per seat. Empty without guests.
    bells: Box<[WaitWord]>,
    /// `true` if sleepers can be held.
    pub(crate) can_be_held: bool,
}

/// Result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The worker is awake and was not about to sleep.
    Awake,
    /// The worker was about to sleep and has been stopped. It uncounts itself.
    Stopped,
    /// The worker was asleep. The caller must uncount it, then unpark it.
    Asleep,
    /// As `Asleep`, and the worker is held until it is unparked.
    Held,
    /// As `Held`, and the worker was the sentry: the caller must tell the protocol before it lets
    /// the worker go.
    Relieved,
    /// As `Asleep`, but the sleeper is a guest.
    Guest,
    /// The worker slept alone and was not counted. The caller must unpark it.
    Alone,
    /// As `Alone`, but the sleeper is a guest.
    GuestAlone,
    /// As `Asleep`, but the worker has no thread: the caller must have one started.
    Absent,
}

impl Claim {
    /// Returns `true` if the worker counted as asleep and the caller must unpark it.
    pub(crate) fn slept(self) -> bool {
        self.was_counted() || matches!(self, Self::Alone | Self::GuestAlone)
    }

    /// Returns `true` if the protocol had counted the worker as asleep.
    pub(crate) fn was_counted(self) -> bool {
        matches!(self, Self::Asleep | Self::Held | Self::Relieved | Self::Guest | Self::Absent)
    }
}

/// Mode of parking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parking {
    /// In the middle of a job, or without guests: no thread can take the seat.
    InAJob,
    /// With the seat open for guests.
    Vacant,
    /// On guard from the beginning.
    OnGuard,
}

/// End of a worker's guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The worker has got up by itself.
    GotUp,
    /// A waker has claimed it.
    Claimed,
    /// The worker is not needed as a guard any more, and sleeps on.
    Ended,
}

/// Mode of a claim of a sleeping worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grip {
    /// Lets it go: it goes on when it is unparked, or when it sees the claim by itself.
    LetGo,
    /// Keeps it where it is until it is unparked, if it runs nothing else any more.
    Hold,
}

impl Slots {
    /// Returns slots for `workers` workers, all awake.
    pub(crate) fn new(workers: usize) -> Self {
        let slots = (0..workers).map(|_| WaitWord::new(AWAKE)).collect();
        Self { slots, bells: Box::new([]), can_be_held: false }
    }

    /// Returns the number of slots.
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// Returns how many are parked, at about this moment.
    pub(crate) fn parked(&self) -> usize {
        // ORDERING: relaxed; for people to read.
        let is_parked = |slot: &&WaitWord| {
            let state = slot.load(Ordering::Relaxed);
            matches!(state, PARKED | GUARDING | VACANT | ABSENT | GUEST_PARKED)
                || matches!(state, ALONE_PARKED | GUEST_ALONE_PARKED)
        };
        self.slots.iter().filter(is_parked).count()
    }

    /// Returns `true` if the worker is asleep, as far as the caller can see. `false` if it sleeps
    /// alone: then it may have jobs.
    pub(crate) fn is_asleep(&self, worker: usize) -> bool {
        // ORDERING: relaxed; a caller that must not miss a change has its own fence. A woken worker
        // has read its slot as AWAKE before it does anything else, so a thread that sees what the
        // worker does, and acquires that, sees the slot AWAKE.
        let state = self.slots[worker].load(Ordering::Relaxed);
        matches!(state, DOZING | PARKED | HELD | GUARDING | VACANT | ABSENT | GUEST_PARKED)
    }

    /// Makes the calling worker visible to wakers.
    pub(crate) fn prepare(&self, worker: usize) {
        // ORDERING: relaxed; published by the releases of `LatchWord::tell_asleep` and
        // `Sleep::commit`.
        self.slots[worker].store(self.guest_or_not(worker) | PREPARED, Ordering::Relaxed);
    }

    /// Returns the flag `GUEST` if the calling worker is a guest, else 0.
    fn guest_or_not(&self, worker: usize) -> u32 {
        if !self.are_for_guests() {
            return 0;
        }
        // ORDERING: relaxed; only the thread in this seat sets and clears the flag, and it calls
        // this.
        self.slots[worker].load(Ordering::Relaxed) & GUEST
    }

    /// Makes the calling worker awake again: it does not sleep after all. Harmless if a waker came
    /// first.
    pub(crate) fn leave(&self, worker: usize) {
        // ORDERING: relaxed; a waker that still sees PREPARED stops a worker that is awake anyway.
        self.slots[worker].store(self.guest_or_not(worker) | AWAKE, Ordering::Relaxed);
    }

    /// Enters the slot, as the worker's last step before it parks. Returns `false` if a waker
    /// claimed it first.
    #[must_use]
    pub(crate) fn enter(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        let (prepared, entered) = match self.guest_or_not(worker) {
            GUEST => (GUEST_PREPARED, GUEST_PARKED),
            _ if self.nobody_dozes() => (PREPARED, PARKED),
            _ => (PREPARED, DOZING),
        };
        // ORDERING: relaxed suffices for success, because a claim looks at the value only. A
        // failure acquires (see `WaitWord::replace`), so the next search sees what the waker
        // published.
        faulty!("slots/enter-overwrites", slot.replace(prepared, entered, Ordering::Relaxed), {
            slot.store(entered, Ordering::Relaxed);
            true
        })
    }

    /// Returns `true` if workers go straight to PARKED: no other thread does anything to them that
    /// must wait until they are parked.
    fn nobody_dozes(&self) -> bool {
        !self.can_be_held && !self.are_for_guests()
    }

    /// Calls `rest` if the worker is not claimed within `time`. The worker has entered and must
    /// [park](Self::park) next. It is DOZING meanwhile, so only a waker can change its slot.
    pub(crate) fn rest_in(&self, worker: usize, time: Duration, rest: impl FnOnce()) {
        let slot = &self.slots[worker];
        // ORDERING: relaxed; the value is our own, or a claim, which `park` acquires.
        let entered = slot.load(Ordering::Relaxed);
        if matches!(entered, DOZING | PARKED) && slot.wait_while_for(entered, time) {
            rest();
        }
    }

    /// Blocks until the worker is claimed or gets up by itself; returns `true` in the second case.
    /// Calls `guard` whenever the slot is GUARDING, until that ends. With `boredom`, the worker
    /// gets up when it is bored.
    pub(crate) fn park(
        &self,
        worker: usize,
        how: Parking,
        mut guard: impl FnMut() -> Guard,
        boredom: Option<&Boredom<'_>>,
    ) -> bool {
        let slot = &self.slots[worker];
        if self.guest_or_not(worker) == GUEST {
            self.wait_for_bell(worker);
            return false;
        }
        let parked = match how {
            Parking::InAJob => PARKED,
            Parking::Vacant => VACANT,
            Parking::OnGuard => GUARDING,
        };
        // ORDERING: release pairs with the acquires in `claim` (a waker that holds us) and `sit` (a
        // guest that takes our seat): what we did comes before what they do. A failure, by a claim,
        // acquires.
        if self.nobody_dozes() || slot.replace(DOZING, parked, Ordering::Release) {
            // WAKE: every path to here has entered. The waker that claims the slot unparks it,
            // after its last change of the word. So does a guest that leaves the seat to us
            // (`rise`).
            let mut end = Guard::Ended;
            while end == Guard::Ended {
                if self.wait_until_claimed(worker, boredom) {
                    return true;
                }
                // ORDERING: relaxed; only the value counts. The last wait acquires what a claim
                // released.
                let guards = slot.load(Ordering::Relaxed) == GUARDING;
                end = if guards { guard() } else { Guard::Claimed };
            }
            slot.wait_while(HELD);
            return end == Guard::GotUp;
        }
        false
    }

    /// Ends the guard of a worker in its main loop, which sleeps on like others. Returns `false` if
    /// it was claimed.
    #[must_use]
    pub(crate) fn end_guard(&self, worker: usize) -> bool {
        // ORDERING: release pairs with the acquire in `sit`, as in `park`.
        self.slots[worker].replace(GUARDING, VACANT, Ordering::Release)
    }

    /// Makes a parked worker the sentry. Returns `false` if it is not parked. The caller must
    /// [wake](Self::wake) it.
    #[must_use]
    pub(crate) fn set_alarm(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the sleeper's acquire in `park`: it sees the flag in the
        // word that it is going to clear.
        let release = mutant::weaken("slots/alarm-relaxed", Ordering::Release);
        // ORDERING: relaxed; a look before the swap.
        let seen = slot.load(Ordering::Relaxed);
        matches!(seen, PARKED | VACANT) && slot.replace(seen, GUARDING, release)
    }

    /// Blocks the sentry for `time`. Returns `false` if it was claimed meanwhile.
    #[must_use]
    pub(crate) fn nap(&self, worker: usize, time: Duration) -> bool {
        self.slots[worker].wait_while_for(GUARDING, time)
    }

    /// Gets the sentry up by itself. Returns `false` if it was claimed.
    #[must_use]
    pub(crate) fn get_up(&self, worker: usize) -> bool {
        // ORDERING: relaxed; no other thread acts on it. A failure, by a claim, acquires.
        let slot = &self.slots[worker];
        faulty!("slots/get-up-overwrites", slot.replace(GUARDING, AWAKE, Ordering::Relaxed), {
            slot.store(AWAKE, Ordering::Relaxed);
            true
        })
    }

    /// Takes the worker out of its slot, as a waker. If it [slept](Claim::slept), the caller must
    /// call [`unpark`](Self::unpark).
    #[must_use]
    #[inline(never)]
    pub(crate) fn claim(&self, worker: usize, grip: Grip) -> Claim {
        let slot = &self.slots[worker];
        loop {
            // ORDERING: relaxed; a look before the swap. A sleeper is visible here because the
            // caller acquired the count, the word or the latch; or, for a broadcast, because of its
            // fence.
            let (seen, claim) = match slot.load(Ordering::Relaxed) {
                GUARDING => (GUARDING, Claim::Relieved),
                seen @ (PARKED | VACANT) if grip == Grip::Hold => (seen, Claim::Held),
                seen @ (PARKED | VACANT | DOZING) => (seen, Claim::Asleep),
                GUEST_PARKED => (GUEST_PARKED, Claim::Guest),
                ABSENT => (ABSENT, Claim::Absent),
                seen @ (PREPARED | GUEST_PREPARED) => {
                    (seen, faulty!("slots/ignores-prepared", Claim::Stopped, Claim::Awake))
                }
                _ => (AWAKE, Claim::Awake),
            };
            let replaced = match claim {
                Claim::Awake => true,
                // ORDERING: acquire pairs with the release in `depart`. Starting a thread releases.
                Claim::Absent => slot.replace(ABSENT, AWAKE, Ordering::Acquire),
                // ORDERING: acquire pairs with the release in `park`. `unpark`, which lets it go,
                // releases.
                Claim::Held | Claim::Relieved => {
                    slot.replace(seen, faulty!("slots/no-hold", HELD, AWAKE), Ordering::Acquire)
                }
                // ORDERING: release pairs with the sleeper's acquire in `park` or `enter`, so its
                // next search sees the news. Not strictly needed: otherwise the look after its next
                // fence would.
                Claim::Stopped | Claim::Asleep | Claim::Guest => {
                    slot.replace(seen, seen & GUEST | AWAKE, Ordering::Release)
                }
                Claim::Alone | Claim::GuestAlone => unreachable!("claimed by name only"),
            };
            if replaced {
                return claim;
            }
        }
    }

    /// Takes the worker out of its slot, as a waker, even if it sleeps alone.
    #[must_use]
    pub(crate) fn claim_by_name(&self, worker: usize, grip: Grip) -> Claim {
        match self.claim_alone(worker) {
            None => self.claim(worker, grip),
            Some(ALONE_PARKED) => Claim::Alone,
            Some(GUEST_ALONE_PARKED) => Claim::GuestAlone,
            Some(_) => Claim::Stopped,
        }
    }

    /// Wakes a worker that the caller has claimed, and lets it go if it was held.
    pub(crate) fn unpark(&self, worker: usize, claim: Claim) {
        let slot = &self.slots[worker];
        if matches!(claim, Claim::Held | Claim::Relieved) {
            // ORDERING: release pairs with the sleeper's acquire in `park`: it sees what the waker
            // did while it held the sleeper.
            slot.store(AWAKE, mutant::weaken("slots/let-go-relaxed", Ordering::Release));
        }
        if matches!(claim, Claim::Guest | Claim::GuestAlone) {
            return self.ring(worker);
        }
        omittable!("slots/no-wake", slot.wake());
    }

    /// Lets a worker that was made the sentry look at its slot.
    pub(crate) fn wake(&self, worker: usize) {
        omittable!("slots/no-alarm", self.slots[worker].wake());
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
