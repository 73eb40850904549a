//! The slots: one word per worker to park on, claimed by whoever wakes it.

mod absent;
mod alone;
mod guests;

pub(crate) use absent::Boredom;

use drowse_sync::atomic::Ordering;
use drowse_sync::{WaitWord, faulty, mutant, omittable};
use std::time::Duration;

/// Running, or not yet decided to sleep.
const AWAKE: u32 = 0;
/// About to sleep: visible to wakers, who can still stop it without a system call.
const PREPARED: u32 = 1;
/// Counts as asleep, but still runs code: the pool's, and a handler of the user's.
const DOZING: u32 = 2;
/// Blocked, or about to be, without running anything else. Whoever moves it back to AWAKE must wake
/// it.
const PARKED: u32 = 3;
/// As parked, and claimed by a waker that has something to do before it lets it go.
const HELD: u32 = 4;
/// As parked, but for a while only: the worker is the sentry.
const GUARDING: u32 = 5;
/// As parked, with nothing on the worker's stack: a guest may take its seat.
const VACANT: u32 = 6;
/// As parked, but without a thread: whoever claims it must have one started.
const ABSENT: u32 = 7;
/// A guest has the worker's seat: what else is said is said of the guest. The worker itself blocks
/// as before.
const GUEST: u32 = 8;
const GUEST_AWAKE: u32 = GUEST | AWAKE;
const GUEST_PREPARED: u32 = GUEST | PREPARED;
const GUEST_PARKED: u32 = GUEST | PARKED;

/// The worker, or its guest, sleeps alone: it wants to be woken for its latch, or for something
/// that nobody else may do, and not for posts. It is not counted.
const ALONE: u32 = 16;
const ALONE_PARKED: u32 = ALONE | PARKED;
const GUEST_ALONE_PREPARED: u32 = GUEST | ALONE | PREPARED;
const GUEST_ALONE_PARKED: u32 = GUEST | ALONE | PARKED;

/// A guest that is parked blocks on the bell of its seat, since the worker blocks on the slot.
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
/// From PARKED a worker may be made the sentry, GUARDING. Then it is always held when it is
/// claimed; and it can get up by itself, to AWAKE.
///
/// A worker that parks in its main loop, where guests are let in, is VACANT instead of PARKED. Then
/// a guest may take its seat, and gives it back later:
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
/// The worker itself moves right; a waker's claim moves to AWAKE, or first to HELD, with one
/// compare-and-swap. So a sleeper is woken by exactly one waker, no lock is held round a wake-up,
/// and a worker that is counted as sleeping can always be found: its slot was prepared before it
/// was counted.
///
/// # Notes on memory ordering
///
/// A claim releases what the waker wrote, and the sleeper acquires it as it wakes (or as it fails
/// to enter). That the slot is prepared before the worker is counted, or its latch says so, follows
/// from the release of those two steps and the acquire with which a waker reads them.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Side by side: they change when workers sleep and wake, and all are looked at by wakers, who
    /// look for sleepers, and by thieves, who pass them by.
    slots: Box<[WaitWord]>,
    /// For guests to park on: one a seat, once it is known that there will be guests.
    bells: Box<[WaitWord]>,
    /// Whether sleepers can be held.
    pub(crate) can_be_held: bool,
}

/// What a waker found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The worker is awake and was not about to sleep.
    Awake,
    /// The worker was about to sleep and has been stopped. It uncounts itself.
    Stopped,
    /// The worker was asleep and is ours: uncount it, then unpark it.
    Asleep,
    /// The same, and it is held until then.
    Held,
    /// The same, and it was the sentry, which it is no more: tell the protocol before it is let go.
    Relieved,
    /// As asleep, but it is a guest.
    Guest,
    /// It slept alone, and is ours: unpark it. It was not counted.
    Alone,
    /// The same, but it is a guest.
    GuestAlone,
    /// As asleep, but it has no thread: have one started.
    Absent,
}

impl Claim {
    /// Whether the worker counted as asleep, and is ours to unpark.
    pub(crate) fn slept(self) -> bool {
        self.was_counted() || matches!(self, Self::Alone | Self::GuestAlone)
    }

    /// Whether the protocol had it counted as asleep.
    pub(crate) fn was_counted(self) -> bool {
        matches!(self, Self::Asleep | Self::Held | Self::Relieved | Self::Guest | Self::Absent)
    }
}

/// How a worker parks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parking {
    /// Nobody can take its place: it waits in the middle of a job, or there are no guests.
    InAJob,
    /// Its seat is for guests.
    Vacant,
    /// It is on guard from the beginning.
    OnGuard,
}

/// How it ends that a worker is on guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The worker has got up by itself.
    GotUp,
    /// Somebody has claimed it.
    Claimed,
    /// It is not needed any more, and sleeps on.
    Ended,
}

/// What a claim does with a worker that is asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grip {
    /// Lets it go: it goes on as soon as it is unparked, or finds out by itself.
    LetGo,
    /// Keeps it where it is until it is unparked, if it does not run anything else any more.
    Hold,
}

impl Slots {
    /// Slots for `workers` workers, all awake.
    pub(crate) fn new(workers: usize) -> Self {
        let slots = (0..workers).map(|_| WaitWord::new(AWAKE)).collect();
        Self { slots, bells: Box::new([]), can_be_held: false }
    }

    /// The number of workers.
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// How many are parked, at about this moment.
    pub(crate) fn parked(&self) -> usize {
        // ORDERING: relaxed; for people to read.
        let is_parked = |slot: &&WaitWord| {
            let state = slot.load(Ordering::Relaxed);
            matches!(state, PARKED | GUARDING | VACANT | ABSENT | GUEST_PARKED)
                || matches!(state, ALONE_PARKED | GUEST_ALONE_PARKED)
        };
        self.slots.iter().filter(is_parked).count()
    }

    /// Whether the worker is asleep, as far as the caller can see. Not if it sleeps alone: then it
    /// may have jobs.
    pub(crate) fn is_asleep(&self, worker: usize) -> bool {
        // ORDERING: relaxed; a look, whose caller brings its own fence where it needs one. One that
        // was woken has seen that it is awake before it does anything else, so whoever must see
        // what it does sees that too.
        let state = self.slots[worker].load(Ordering::Relaxed);
        matches!(state, DOZING | PARKED | HELD | GUARDING | VACANT | ABSENT | GUEST_PARKED)
    }

    /// Worker: becomes visible to wakers.
    pub(crate) fn prepare(&self, worker: usize) {
        // ORDERING: relaxed; published by the release of `LatchWord::tell_asleep` and of the count.
        self.slots[worker].store(self.guest_or_not(worker) | PREPARED, Ordering::Relaxed);
    }

    /// Worker: the flag, if it is a guest.
    fn guest_or_not(&self, worker: usize) -> u32 {
        if !self.are_for_guests() {
            return 0;
        }
        // ORDERING: relaxed; whoever sits here has put it there itself, and nobody else changes it.
        self.slots[worker].load(Ordering::Relaxed) & GUEST
    }

    /// Worker: changed its mind. Harmless if a waker came first.
    pub(crate) fn leave(&self, worker: usize) {
        // ORDERING: relaxed; a waker that still sees PREPARED stops a worker that is awake anyway.
        self.slots[worker].store(self.guest_or_not(worker) | AWAKE, Ordering::Relaxed);
    }

    /// Worker: the last step before it parks. False if a waker was quicker.
    #[must_use]
    pub(crate) fn enter(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        let (prepared, entered) = match self.guest_or_not(worker) {
            GUEST => (GUEST_PREPARED, GUEST_PARKED),
            _ if self.nobody_dozes() => (PREPARED, PARKED),
            _ => (PREPARED, DOZING),
        };
        // ORDERING: relaxed suffices for success, the value is all that a claim looks at; a failure
        // acquires (see `WaitWord::replace`), so the next search sees what the waker published.
        faulty!("slots/enter-overwrites", slot.replace(prepared, entered, Ordering::Relaxed), {
            slot.store(entered, Ordering::Relaxed);
            true
        })
    }

    /// Whether workers park at once: nobody does anything to them that must wait until they do.
    fn nobody_dozes(&self) -> bool {
        !self.can_be_held && !self.are_for_guests()
    }

    /// Worker, which has entered: if nobody has claimed it after this time, it calls `rest`. It is
    /// dozing all the while, so nobody but a waker does anything to it. It must [park](Self::park)
    /// next.
    pub(crate) fn rest_in(&self, worker: usize, time: Duration, rest: impl FnOnce()) {
        let slot = &self.slots[worker];
        // ORDERING: relaxed; what we have put there, or a claim, which `park` acquires.
        let entered = slot.load(Ordering::Relaxed);
        if matches!(entered, DOZING | PARKED) && slot.wait_while_for(entered, time) {
            rest();
        }
    }

    /// Worker: blocks until claimed, or until it gets up by itself: whether it has. Calls `guard`
    /// whenever it is on guard, for as long as that lasts. If it gets bored, so be it.
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
        // ORDERING: release pairs with the acquire of a claim that holds us, or of a guest that
        // takes our seat: what we did before comes before what they do. A failure, by a claim,
        // acquires.
        if self.nobody_dozes() || slot.replace(DOZING, parked, Ordering::Release) {
            // WAKE: every path to here has entered; whoever claims the slot unparks it, and does so
            // after the last change of the word. So does a guest that leaves it to us.
            let mut end = Guard::Ended;
            while end == Guard::Ended {
                if self.wait_until_claimed(worker, boredom) {
                    return true;
                }
                // ORDERING: relaxed; only what stands there counts. Who claimed us released more,
                // which the last wait acquires.
                let guards = slot.load(Ordering::Relaxed) == GUARDING;
                end = if guards { guard() } else { Guard::Claimed };
            }
            slot.wait_while(HELD);
            return end == Guard::GotUp;
        }
        false
    }

    /// Worker, which was on guard in its main loop, and is no more: sleeps on like others. False if
    /// it was claimed.
    #[must_use]
    pub(crate) fn end_guard(&self, worker: usize) -> bool {
        // ORDERING: release pairs with the acquire of a guest, as in `park`.
        self.slots[worker].replace(GUARDING, VACANT, Ordering::Release)
    }

    /// Waker: makes a worker the sentry that is parked. False if it is not. The caller must
    /// [wake](Self::wake) it.
    #[must_use]
    pub(crate) fn set_alarm(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        // ORDERING: release pairs with the sleeper's acquire in `park`: it sees the flag that it is
        // going to clear.
        let release = mutant::weaken("slots/alarm-relaxed", Ordering::Release);
        // ORDERING: relaxed; look before you swap.
        let seen = slot.load(Ordering::Relaxed);
        matches!(seen, PARKED | VACANT) && slot.replace(seen, GUARDING, release)
    }

    /// Worker, which is the sentry: blocks for so long. False if it was claimed meanwhile.
    #[must_use]
    pub(crate) fn nap(&self, worker: usize, time: Duration) -> bool {
        self.slots[worker].wait_while_for(GUARDING, time)
    }

    /// Worker, which was the sentry: gets up by itself. False if it was claimed.
    #[must_use]
    pub(crate) fn get_up(&self, worker: usize) -> bool {
        // ORDERING: relaxed; nobody else acts on it. A failure, by a claim, acquires.
        let slot = &self.slots[worker];
        faulty!("slots/get-up-overwrites", slot.replace(GUARDING, AWAKE, Ordering::Relaxed), {
            slot.store(AWAKE, Ordering::Relaxed);
            true
        })
    }

    /// Waker: takes the worker out of its slot. If it [slept](Claim::slept), the caller must call
    /// [`unpark`](Self::unpark).
    #[must_use]
    #[inline(never)]
    pub(crate) fn claim(&self, worker: usize, grip: Grip) -> Claim {
        let slot = &self.slots[worker];
        loop {
            // ORDERING: relaxed; look before you swap. What makes a sleeper visible here is the
            // acquire with which the caller read the count, the word or the latch; for a broadcast,
            // its fence.
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
                // ORDERING: acquire pairs with the release in `depart`. Who starts a thread
                // releases.
                Claim::Absent => slot.replace(ABSENT, AWAKE, Ordering::Acquire),
                // ORDERING: acquire pairs with the release in `park`. To let it go releases.
                Claim::Held | Claim::Relieved => {
                    slot.replace(seen, faulty!("slots/no-hold", HELD, AWAKE), Ordering::Acquire)
                }
                // ORDERING: release pairs with the sleeper's acquire in `park` or `enter`: its next
                // search sees the news. Belt and braces: if not, the look after its next fence
                // does.
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

    /// Waker: takes the worker out of its slot, if it sleeps alone too.
    #[must_use]
    pub(crate) fn claim_by_name(&self, worker: usize, grip: Grip) -> Claim {
        match self.claim_alone(worker) {
            None => self.claim(worker, grip),
            Some(ALONE_PARKED) => Claim::Alone,
            Some(GUEST_ALONE_PARKED) => Claim::GuestAlone,
            Some(_) => Claim::Stopped,
        }
    }

    /// Waker: wakes the worker it claimed, and lets it go if it held it.
    pub(crate) fn unpark(&self, worker: usize, claim: Claim) {
        let slot = &self.slots[worker];
        if matches!(claim, Claim::Held | Claim::Relieved) {
            // ORDERING: release pairs with the sleeper's acquire in `park`: it sees what was done
            // to it meanwhile.
            slot.store(AWAKE, mutant::weaken("slots/let-go-relaxed", Ordering::Release));
        }
        if matches!(claim, Claim::Guest | Claim::GuestAlone) {
            return self.ring(worker);
        }
        omittable!("slots/no-wake", slot.wake());
    }

    /// Waker: lets a worker look at its slot that it has made the sentry.
    pub(crate) fn wake(&self, worker: usize) {
        omittable!("slots/no-alarm", self.slots[worker].wake());
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
