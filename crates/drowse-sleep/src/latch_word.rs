//! The core latch: an event with one waiter, in one word of three states.

use drowse_sync::atomic::{AtomicI64, Ordering};
use drowse_sync::{faulty, mutant, omittable};

/// Added to the note of one that is not set, and whose owner's slot is prepared: whoever sets the
/// latch must wake it.
const SLEEPING: i64 = i64::MIN;
/// Set, for good.
const SET: i64 = -1;

/// An event that happens once and that one worker, the *owner*, may wait for.
///
/// ```text
///            tell_asleep
///   UNSET --------------> SLEEPING
///     |  <--------------     |
///     |     tell_awake       |
///     +--- set ---> SET <----+ set
/// ```
///
/// The owner alone moves between the first two states; anybody may [`set`](Self::set), from either.
/// Because the state says whether the owner sleeps *on this latch*, setting it wakes the owner
/// exactly when that helps: an owner that runs another job, or sleeps on another latch, is left
/// alone.
///
/// As long as it is not set the word has a *note* in it, a number that is not negative, for its
/// owner: that is UNSET. The other two states are negative, so that one compare with the owner's
/// word tells whether the note can be relied on.
///
/// # Notes on memory ordering
///
/// - `set` releases what its thread wrote; [`probe`](Self::probe) acquires it. That carries the
///   result of a job to whoever waited for it.
/// - `tell_asleep` releases the owner's preparation of its slot; `set` acquires it. That lets the
///   setter find the slot prepared, or the owner gone from it because it has noticed the set.
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
    /// A latch that is not set.
    #[inline(always)]
    pub fn new() -> Self {
        Self::with_note(0)
    }

    /// The same, with a number that is neither negative nor above `i64::MAX / 2`.
    #[inline(always)]
    pub fn with_note(note: i64) -> Self {
        Self { state: AtomicI64::new(note) }
    }

    /// For the owner, which is awake: the note; or a negative number if the latch is set.
    #[inline(always)]
    pub fn note(&self) -> i64 {
        // ORDERING: relaxed; whoever wants to know what the setter wrote probes.
        self.state.load(Ordering::Relaxed)
    }

    /// For the owner, which is awake: another note, unless the latch is set.
    pub fn set_note(&self, note: i64) {
        let before = self.note();
        if before >= 0 && before != note {
            // A failure means that it is set. ORDERING: relaxed; a note is the owner's alone.
            _ = self.step(before, note, Ordering::Relaxed);
        }
    }

    /// Whether the latch is set. Once true, what the setter wrote before is visible.
    #[inline(always)]
    pub fn probe(&self) -> bool {
        // ORDERING: acquire pairs with the release in `set`. Relaxed would let the owner read a
        // result that is not there yet.
        self.state.load(mutant::weaken("latch/probe-relaxed", Ordering::Acquire)) == SET
    }

    /// Owner: its slot is prepared, the next setter must wake it. False if the latch is set
    /// already.
    #[must_use]
    pub(crate) fn tell_asleep(&self) -> bool {
        // ORDERING: release pairs with the acquire in `set`: a setter that sees SLEEPING also sees
        // the slot prepared. Relaxed would let it find the slot of a worker that looks awake, and
        // wake nobody.
        let ordering = mutant::weaken("latch/tell-asleep-relaxed", Ordering::Release);
        // ORDERING: relaxed; the note is the owner's. (Of a latch that is set it is none, and the
        // step fails.)
        let note = self.state.load(Ordering::Relaxed) & i64::MAX;
        self.step(note, note | SLEEPING, ordering)
    }

    /// Owner: awake again, for whatever reason. (Or a guest was, in its place, and has told it.)
    pub(crate) fn tell_awake(&self) {
        // ORDERING: relaxed; only the owner enters and leaves the state.
        let state = self.state.load(Ordering::Relaxed);
        if is_sleeping(state) {
            // A failure means that the latch was set in between, which the owner's loop will see.
            let awake = state & i64::MAX;
            omittable!("latch/no-tell-awake", _ = self.step(state, awake, Ordering::Relaxed));
        }
    }

    /// Sets the latch. True if the owner sleeps on it and must be woken by the caller.
    ///
    /// The owner may see the latch set, return, and free it while the setter is still here. Hence a
    /// raw pointer, one access, and none after it: whatever the caller needs to wake the owner it
    /// must have fetched before.
    ///
    /// # Safety
    ///
    /// `this` must be alive when the call begins.
    #[must_use]
    #[inline]
    pub unsafe fn set(this: *const Self) -> bool {
        // ORDERING: release pairs with `probe`, acquire with `tell_asleep`; see the notes on the
        // type.
        let ordering = mutant::weaken("latch/set-relaxed", Ordering::AcqRel);
        // SAFETY: the caller keeps the latch alive until this one access has happened.
        let old = unsafe { (*this).state.swap(SET, ordering) };
        // SAFETY: none for the fault, that is its point: the latch may be gone.
        // ORDERING: of the fault, which is to look at all.
        faulty!("latch/set-touches-after", (), _ = unsafe { (*this).state.load(Ordering::Relaxed) });
        faulty!("latch/set-forgets-sleeper", is_sleeping(old), false)
    }

    /// What freeing the latch is to a model: loom fails it if some access does not come before this
    /// one.
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

    /// One transition of the owner. A failure can only mean SET.
    fn step(&self, from: i64, to: i64, ordering: Ordering) -> bool {
        // ORDERING: the caller's on success. On failure the owner goes on to `probe`, which
        // acquires.
        let exchange = || self.state.compare_exchange(from, to, ordering, Ordering::Relaxed);
        let result = faulty!("latch/owner-overwrites", exchange(), {
            self.state.store(to, ordering);
            Ok(from)
        });
        debug_assert!(result.is_ok() || result == Err(SET), "the owner alone leaves {from}");
        result.is_ok()
    }
}

/// Whether the owner sleeps on a latch in this state.
fn is_sleeping(state: i64) -> bool {
    state < 0 && state != SET
}

impl Default for LatchWord {
    fn default() -> Self {
        Self::new()
    }
}
