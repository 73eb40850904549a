//! A value that many threads use and few replace.
//!
//! # Notes on memory ordering
//!
//! A user increments a count, then reads the value. The taker removes it, then reads the counts:
//!
//! ```text
//!     user                       taker
//!     users += 1                 value = none
//!     fence                      fence
//!     read value                 read users, until there are none
//! ```
//!
//! With a full fence on both sides, the user finds no value or the taker sees the user's count. The
//! user decrements it with release, and the taker acquires that: the user is done with the value.
//!
//! There are two counts. Before the taker waits for one of them, it directs new users to the other:
//! so users that come later, for the next value, do not prolong its wait. It waits for both, one
//! after the other, since a user may have read `turn` long before it increments.

use crate::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::{CachePadded, full_fence, full_fence_after_rmw, mutant, omittable};
use std::fmt;
use std::ops::Deref;
use std::ptr;

/// A value, or none, that any thread can use, and that can be taken away while no thread uses it.
///
/// A use costs two steps on a word that most threads have for themselves.
///
/// ```
/// use drowse_sync::Replaceable;
///
/// let name = Replaceable::new();
/// assert!(name.get().is_none());
/// name.set("dozer").unwrap();
/// assert_eq!(name.get().as_deref(), Some(&"dozer"));
/// assert_eq!(name.take(std::thread::yield_now), Some("dozer"));
/// assert!(name.get().is_none());
/// ```
pub struct Replaceable<T> {
    /// Null, or leaked.
    value: AtomicPtr<T>,
    /// Turn; its last bit says which of the two counts new users increment.
    turn: AtomicUsize,
    users: Box<[CachePadded<[AtomicUsize; 2]>]>,
}

/// Number of pairs of counts that the threads share. (A model has few threads.)
const COUNTS: usize = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 16 };

/// Returns the index of this thread's pair of counts.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
fn place() -> usize {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static PLACE: Cell<Option<usize>> = const { Cell::new(None) });
    PLACE.with(|place| {
        place.get().unwrap_or_else(|| {
            // ORDERING: relaxed; any number is correct, and different ones are faster.
            let new = NEXT.fetch_add(1, Ordering::Relaxed) % COUNTS;
            place.set(Some(new));
            new
        })
    })
}

#[cfg(any(drowse_loom, drowse_shuttle))]
fn place() -> usize {
    0
}

impl<T> Replaceable<T> {
    /// Returns a place without a value.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let count = || CachePadded::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        Self {
            value: AtomicPtr::new(ptr::null_mut()),
            turn: AtomicUsize::new(0),
            users: (0..COUNTS).map(|_| count()).collect(),
        }
    }

    /// Returns the value, if there is one. It is not taken away as long as the result lives.
    pub fn get(&self) -> Option<InUse<'_, T>> {
        // ORDERING: relaxed; either count is correct, since `take` waits for both.
        let turn = self.turn.load(Ordering::Relaxed) & 1;
        let count = &self.users[place()][turn];
        // ORDERING: relaxed; the fence orders it before the load of the value, against the fence in
        // `take`. Without it `take` could miss this user, which then reads the old value.
        count.fetch_add(1, Ordering::Relaxed);
        full_fence_after_rmw("replaceable/user-unfenced");
        // ORDERING: acquire pairs with the release in `set`: the value is fully written.
        let value = self.value.load(Ordering::Acquire);
        let in_use = InUse { value, count };
        // If there is no value, dropping `in_use` decrements the count again.
        (!value.is_null()).then_some(in_use)
    }

    /// Puts a value in place.
    ///
    /// # Errors
    ///
    /// If there is a value already: then it returns the new one.
    pub fn set(&self, value: T) -> Result<(), T> {
        let value = Box::into_raw(Box::new(value));
        // ORDERING: release pairs with the acquire in `get` and in `take`.
        match self.value.compare_exchange(
            ptr::null_mut(),
            value,
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            Ok(_) => Ok(()),
            // SAFETY: leaked just now, and never published.
            Err(_) => Err(*unsafe { Box::from_raw(value) }),
        }
    }

    /// Takes the value away, if there is one; callers of `get` find none at once. Calls `pause`
    /// repeatedly until all current users are done, so none of them may be the calling thread.
    pub fn take(&self, mut pause: impl FnMut()) -> Option<T> {
        // ORDERING: acquire pairs with the release in `set`: the caller reads the value.
        let value = self.value.swap(ptr::null_mut(), Ordering::Acquire);
        if value.is_null() {
            return None;
        }
        // ORDERING: pairs with the fence in `get`: this thread sees the count, or `get` sees null.
        full_fence("replaceable/taker-unfenced");
        self.wait_for_turn(&mut pause);
        omittable!("replaceable/one-turn-only", self.wait_for_turn(&mut pause));
        // SAFETY: leaked by `set`, and the swap gave it to this call alone. By the fences, every
        // user of it was counted, and each count has been zero since the swap.
        Some(*unsafe { Box::from_raw(value) })
    }

    /// Directs new users to the other count, and waits until the current one is zero.
    fn wait_for_turn(&self, pause: &mut impl FnMut()) {
        // ORDERING: relaxed; the choice does not affect users that are already counted.
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) & 1;
        for count in &self.users {
            // ORDERING: acquire pairs with the release in `InUse::drop`: the user no longer reads.
            while count[turn].load(Ordering::Acquire) > 0 {
                pause();
            }
        }
    }
}

impl<T> Drop for Replaceable<T> {
    fn drop(&mut self) {
        // The only reference is this one, so there are no users to wait for.
        drop(self.take(|| unreachable!("its users borrow it")));
    }
}

// SAFETY: `get` shares the value (`T: Sync`), and `take` may move it to another thread (`T: Send`).
unsafe impl<T: Send + Sync> Sync for Replaceable<T> {}
// SAFETY: it owns the value.
unsafe impl<T: Send> Send for Replaceable<T> {}

impl<T> fmt::Debug for Replaceable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replaceable")
    }
}

/// Guard for a value that is in use, and so is not taken away.
#[derive(Debug)]
pub struct InUse<'a, T> {
    value: *const T,
    count: &'a AtomicUsize,
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: not null (see `get`), and `take` waits for the count of this guard.
        unsafe { &*self.value }
    }
}

impl<T> Drop for InUse<'_, T> {
    fn drop(&mut self) {
        // ORDERING: release pairs with the acquire in `Replaceable::wait_for_turn`.
        self.count.fetch_sub(1, mutant::weaken("replaceable/leave-relaxed", Ordering::Release));
    }
}
