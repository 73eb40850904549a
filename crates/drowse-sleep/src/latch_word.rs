//! The core latch: an event with one waiter, in one word of four states.

use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::mutant;

/// Not set; the owner is running or searching.
const UNSET: u32 = 0;
/// Not set; the owner is about to fall asleep on this latch, but can still be stopped without a wake-up.
const SLEEPY: u32 = 1;
/// Not set; the owner's bed is made: whoever sets the latch must wake it.
const SLEEPING: u32 = 2;
/// Set, for ever.
const SET: u32 = 3;

/// An event that happens once and that one worker, the *owner*, may wait for.
///
/// ```text
///   UNSET --get_sleepy--> SLEEPY --fall_asleep--> SLEEPING
///     ^ \                   / \                    /  |
///     |  +------ set ------+   +------ set -------+   |
///     |              \            /                   |
///     |               +-> SET <--+                    |
///     +----------------- wake_up ---------------------+
/// ```
///
/// The owner alone moves between the first three states; anybody may [`set`](Self::set), from any state.
/// Because the state says whether the owner sleeps *on this latch*, setting it wakes the owner exactly
/// when that helps: an owner that runs another job, or sleeps on another latch, is left alone.
///
/// # Notes on memory ordering
///
/// - `set` releases what its thread wrote; [`probe`](Self::probe) acquires it. That carries the result of
///   a job to whoever waited for it.
/// - `fall_asleep` releases the owner's making of its bed; `set` acquires it. That lets the setter find
///   the bed made, or the owner gone from it because it has noticed the set.
/// - All changes are read-modify-writes of one word, so set and sleep are totally ordered: either
///   `fall_asleep` fails because the latch is set, or `set` sees `SLEEPING`. No fence is needed.
///
/// ```
/// use drowse_sleep::LatchWord;
///
/// let latch = LatchWord::new();
/// assert!(!latch.probe());
/// // SAFETY: the latch is alive.
/// let must_wake = unsafe { LatchWord::set(&latch) };
/// assert!(latch.probe() && !must_wake);
/// ```
#[derive(Debug)]
pub struct LatchWord {
    state: AtomicU32,
}

impl LatchWord {
    /// A latch that is not set.
    #[inline(always)]
    pub fn new() -> Self {
        Self { state: AtomicU32::new(UNSET) }
    }

    /// Whether the latch is set. Once true, what the setter wrote before is visible.
    #[inline(always)]
    pub fn probe(&self) -> bool {
        // ORDERING: acquire pairs with the release in `set`. Relaxed would let the owner read a result
        // that is not there yet.
        self.state.load(mutant::weaken("latch/probe-relaxed", Ordering::Acquire)) == SET
    }

    /// Owner: about to sleep on this latch. False if it is set already.
    #[must_use]
    pub(crate) fn get_sleepy(&self) -> bool {
        self.step(UNSET, SLEEPY, Ordering::Relaxed)
    }

    /// Owner: the bed is made, the next setter must wake us. False if the latch was set meanwhile.
    #[must_use]
    pub(crate) fn fall_asleep(&self) -> bool {
        // ORDERING: release pairs with the acquire in `set`: a setter that sees SLEEPING also sees the bed
        // made. Relaxed would let it find the bed of a worker that looks awake, and wake nobody.
        self.step(SLEEPY, SLEEPING, mutant::weaken("latch/fall-asleep-relaxed", Ordering::Release))
    }

    /// Owner: awake again, for whatever reason.
    pub(crate) fn wake_up(&self) {
        if !self.probe() && !mutant::active("latch/no-wake-up") {
            // A failure means that the latch was set in between, which the owner's loop will see.
            let _ = self.step(SLEEPING, UNSET, Ordering::Relaxed);
        }
    }

    /// Sets the latch. True if the owner sleeps on it and must be woken by the caller.
    ///
    /// The owner may see the latch set, return, and free it while the setter is still here. Hence a raw
    /// pointer, one access, and none after it: whatever the caller needs to wake the owner it must have
    /// fetched before.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    #[must_use]
    #[inline]
    pub unsafe fn set(this: *const Self) -> bool {
        // ORDERING: release pairs with `probe`, acquire with `fall_asleep`; see the notes on the type.
        let ordering = mutant::weaken("latch/set-relaxed", Ordering::AcqRel);
        // SAFETY: the caller keeps the latch alive until this one access has happened.
        let old = unsafe { (*this).state.swap(SET, ordering) };
        if mutant::active("latch/set-touches-after") {
            // SAFETY: none, that is the point of the mutant: the latch may be gone.
            // ORDERING: immaterial.
            return unsafe { (*this).state.load(Ordering::Relaxed) } == SLEEPING || old == SLEEPING;
        }
        if mutant::active("latch/set-forgets-sleeper") {
            return false;
        }
        old == SLEEPING
    }

    /// What freeing the latch is to a model: loom fails it if some access does not come before this one.
    ///
    /// # Safety
    ///
    /// `this` must be alive, and the latch not be used again.
    #[cfg(drowse_loom)]
    #[doc(hidden)]
    pub unsafe fn free(this: *mut Self) {
        // SAFETY: the caller's promise; loom checks it.
        unsafe { (*this).state.with_mut(|state| *state = u32::MAX) }
    }

    /// One transition of the owner. A failure can only mean SET.
    fn step(&self, from: u32, to: u32, ordering: Ordering) -> bool {
        if mutant::active("latch/owner-overwrites") {
            // ORDERING: immaterial, a mutant.
            self.state.store(to, ordering);
            return true;
        }
        // ORDERING: the caller's on success. On failure the owner goes on to `probe`, which acquires.
        let result = self.state.compare_exchange(from, to, ordering, Ordering::Relaxed);
        debug_assert!(result.is_ok() || result == Err(SET), "the owner alone leaves {from}");
        result.is_ok()
    }
}

impl Default for LatchWord {
    fn default() -> Self {
        Self::new()
    }
}
