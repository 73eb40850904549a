//! Core latch: an event with one waiter, in one word of three states.

use drowse_sync::atomic::{AtomicI64, Ordering};
use drowse_sync::{faulty, mutant, omittable};

/// Flag of a latch that is not set and whose owner's slot is prepared: the thread that sets the
/// latch must wake the owner. Added to the note.
const SLEEPING: i64 = i64::MIN;
/// State of a latch that is set, which is final.
const SET: i64 = -1;

/// An event that happens once. One worker, the *owner*, may wait for it.
///
/// ```text
///            tell_asleep
///   UNSET --------------> SLEEPING
///     |  <--------------     |
///     |     tell_awake       |
///     +--- set ---> SET <----+ set
/// ```
///
/// Only the owner moves between UNSET and SLEEPING; any thread may [`set`](Self::set) the latch.
/// SLEEPING means that the owner sleeps *on this latch*, so setting it wakes the owner only if that
/// helps: an owner that runs another job, or sleeps on another latch, is not disturbed.
///
/// Until the latch is set the word also holds a *note*: a non-negative number for the owner. UNSET
/// is a non-negative word, the other two states are negative, so one comparison of the word tells
/// the owner if the note is valid.
///
/// # Notes on memory ordering
///
/// - `set` releases what its thread wrote; [`probe`](Self::probe) acquires it. That carries the
///   result of a job to the owner.
/// - `tell_asleep` releases the owner's preparation of its slot; `set` acquires it. So the setter
///   finds the slot prepared; or the owner is awake already, has not yet called `tell_awake`, and
///   probes the latch after that.
/// - All changes are read-modify-writes of one word, so set and sleep are totally ordered: either
///   `tell_asleep` fails because the latch is set, or `set` sees `SLEEPING`. No fence is needed.
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
    state: AtomicI64,
}

impl LatchWord {
    /// Returns a latch that is not set.
    #[inline(always)]
    pub fn new() -> Self {
        Self::with_note(0)
    }

    /// Returns a latch that is not set, with a note between 0 and `i64::MAX / 2`.
    #[inline(always)]
    pub fn with_note(note: i64) -> Self {
        Self { state: AtomicI64::new(note) }
    }

    /// Returns the note, or a negative number if the latch is set. For the owner, while it is
    /// awake.
    #[inline(always)]
    pub fn note(&self) -> i64 {
        // ORDERING: relaxed; a caller that reads what the setter wrote calls `probe` first.
        self.state.load(Ordering::Relaxed)
    }

    /// Changes the note, unless the latch is set. For the owner, while it is awake.
    pub fn set_note(&self, note: i64) {
        let before = self.note();
        if before >= 0 && before != note {
            // A failure means that the latch is set.
            // ORDERING: relaxed; only the owner reads the note.
            _ = self.step(before, note, Ordering::Relaxed);
        }
    }

    /// Returns `true` if the latch is set. Then all that the setter wrote before is visible.
    #[inline(always)]
    pub fn probe(&self) -> bool {
        // ORDERING: acquire pairs with the release in `set`. With relaxed, the owner could read the
        // result of a job before it is visible.
        self.state.load(mutant::weaken("latch/probe-relaxed", Ordering::Acquire)) == SET
    }

    /// Marks that the owner sleeps on this latch, so that the setter must wake it. Called by the
    /// owner, whose slot is prepared. Returns `false` if the latch is set already.
    #[must_use]
    pub(crate) fn tell_asleep(&self) -> bool {
        // ORDERING: release pairs with the acquire in `set`: a setter that sees SLEEPING also sees
        // the slot prepared. With relaxed, `Slots::claim` could still see the owner awake, and the
        // setter would not wake it.
        let ordering = mutant::weaken("latch/tell-asleep-relaxed", Ordering::Release);
        // ORDERING: relaxed; only the owner writes the note. (If the latch is set there is no note,
        // and the step fails.)
        let note = self.state.load(Ordering::Relaxed) & i64::MAX;
        self.step(note, note | SLEEPING, ordering)
    }

    /// Marks that the owner is awake again, for whatever reason. Called by the owner, or by a guest
    /// in the owner's seat.
    pub(crate) fn tell_awake(&self) {
        // ORDERING: relaxed; only the owner enters and leaves SLEEPING.
        let state = self.state.load(Ordering::Relaxed);
        if is_sleeping(state) {
            // A failure means that the latch was set in between. The owner's loop probes it.
            let awake = state & i64::MAX;
            omittable!("latch/no-tell-awake", _ = self.step(state, awake, Ordering::Relaxed));
        }
    }

    /// Sets the latch. Returns `true` if the owner sleeps on it and the caller must wake it.
    ///
    /// The owner may see the latch set, return, and free it while this call still runs. Therefore
    /// `set` takes a raw pointer and makes a single access. The caller must fetch before the call
    /// whatever it needs to wake the owner.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    #[must_use]
    #[inline]
    pub unsafe fn set(this: *const Self) -> bool {
        // ORDERING: release pairs with the acquire in `probe`, acquire with the release in
        // `tell_asleep`; see the notes on the type.
        let ordering = mutant::weaken("latch/set-relaxed", Ordering::AcqRel);
        // SAFETY: the caller keeps the latch alive until this one access has happened.
        let old = unsafe { (*this).state.swap(SET, ordering) };
        faulty!("latch/set-touches-after", (), {
            // ORDERING: relaxed; the fault is that it reads the latch at all.
            // SAFETY: none for this fault, on purpose: the latch may be freed already.
            _ = unsafe { (*this).state.load(Ordering::Relaxed) };
        });
        faulty!("latch/set-forgets-sleeper", is_sleeping(old), false)
    }

    /// Tells loom that the latch is freed: loom fails the model unless every access happens before
    /// this.
    ///
    /// # Safety
    ///
    /// `this` must be alive, and the latch not be used again.
    #[cfg(drowse_loom)]
    #[doc(hidden)]
    pub unsafe fn free(this: *mut Self) {
        // SAFETY: the caller's promise; loom checks it.
        unsafe { (*this).state.with_mut(|state| *state = i64::MAX) }
    }

    /// Changes the state, as the owner. Fails only if the latch is set.
    fn step(&self, from: i64, to: i64, ordering: Ordering) -> bool {
        // ORDERING: on success the caller's choice. On failure relaxed: the owner goes on to
        // `probe`, which acquires.
        let exchange = || self.state.compare_exchange(from, to, ordering, Ordering::Relaxed);
        let result = faulty!("latch/owner-overwrites", exchange(), {
            self.state.store(to, ordering);
            Ok(from)
        });
        debug_assert!(result.is_ok() || result == Err(SET), "the owner alone leaves {from}");
        result.is_ok()
    }
}

/// Returns `true` if the owner sleeps on a latch in this state.
fn is_sleeping(state: i64) -> bool {
    state < 0 && state != SET
}

impl Default for LatchWord {
    fn default() -> Self {
        Self::new()
    }
}
