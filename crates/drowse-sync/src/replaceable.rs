//! Something that many use and few replace.
//!
//! # Notes on memory ordering
//!
//! A user counts itself, then looks what there is. Whoever takes the value away does that first,
//! and then looks whether there are users:
//!
//! ```text
//!     user                       taker
//!     users += 1                 value = none
//!     fence                      fence
//!     read value                 read users, until there are none
//! ```
//!
//! With a full fence on both sides, the user finds nothing or the taker sees it. When it has seen
//! the count go, by a release and an acquire, the user is done with the value.
//!
//! There are two counts, and the taker turns new users from one to the other before it waits for
//! each: so those who come later, for the next value, do not keep it waiting. It waits for both of
//! them: a user may have looked which one it is long ago.

use crate::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::{CachePadded, full_fence, full_fence_after_rmw, mutant, omittable};
use std::fmt;
use std::ops::Deref;
use std::ptr;

/// A value, or none, that any thread can use, and that can be taken away when nobody does.
///
/// To use it costs two steps on a word that most threads have for themselves.
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
    /// Its last bit says in which of the two counts new users are counted.
    turn: AtomicUsize,
    users: Box<[CachePadded<[AtomicUsize; 2]>]>,
}

/// Threads share so many counts. (A model has few threads.)
const COUNTS: usize = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 16 };

/// Which of the counts this thread has.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
fn place() -> usize {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static PLACE: Cell<Option<usize>> = const { Cell::new(None) });
    PLACE.with(|place| {
        place.get().unwrap_or_else(|| {
            // ORDERING: relaxed; it makes no difference which.
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
    /// None yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let count = || CachePadded::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        Self {
            value: AtomicPtr::new(ptr::null_mut()),
            turn: AtomicUsize::new(0),
            users: (0..COUNTS).map(|_| count()).collect(),
        }
    }

    /// The value, if there is one: it is not taken away as long as this lives.
    pub fn get(&self) -> Option<InUse<'_, T>> {
        // ORDERING: relaxed; either will do.
        let turn = self.turn.load(Ordering::Relaxed) & 1;
        let count = &self.users[place()][turn];
        // ORDERING: relaxed; the fence orders it before the look at the value.
        count.fetch_add(1, Ordering::Relaxed);
        full_fence_after_rmw("replaceable/user-unfenced");
        // ORDERING: acquire pairs with the release in `set`.
        let value = self.value.load(Ordering::Acquire);
        let in_use = InUse { value, count };
        // If there is nothing, it is not used any more.
        (!value.is_null()).then_some(in_use)
    }

    /// Puts a value in place.
    ///
    /// # Errors
    ///
    /// If there is one: then it gives this one back.
    pub fn set(&self, value: T) -> Result<(), T> {
        let value = Box::into_raw(Box::new(value));
        // ORDERING: release pairs with the acquire in `get`.
        match self.value.compare_exchange(ptr::null_mut(), value, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            // SAFETY: leaked just now, and nobody has seen it.
            Err(_) => Err(*unsafe { Box::from_raw(value) }),
        }
    }

    /// Takes the value away, if there is one: at once for those who come later. Calls `pause` again
    /// and again until those are done who use it, so none of them may be the calling thread.
    pub fn take(&self, mut pause: impl FnMut()) -> Option<T> {
        // ORDERING: acquire pairs with the release in `set`: it is about to be read.
        let value = self.value.swap(ptr::null_mut(), Ordering::Acquire);
        if value.is_null() {
            return None;
        }
        // ORDERING: pairs with the fence of a user.
        full_fence("replaceable/taker-unfenced");
        self.wait_for_turn(&mut pause);
        omittable!("replaceable/one-turn-only", self.wait_for_turn(&mut pause));
        // SAFETY: leaked by `set`, and it was we who took it away. By the fences, whoever uses it
        // was counted, and none is left.
        Some(*unsafe { Box::from_raw(value) })
    }

    /// Turns new users to the other count, and waits until there is nobody left in this one.
    fn wait_for_turn(&self, pause: &mut impl FnMut()) {
        // ORDERING: relaxed; which one new users take does not matter to those who are there.
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) & 1;
        for count in &self.users {
            // ORDERING: acquire pairs with the release of a user that is done.
            while count[turn].load(Ordering::Acquire) > 0 {
                pause();
            }
        }
    }
}

impl<T> Drop for Replaceable<T> {
    fn drop(&mut self) {
        // Nobody else has it.
        drop(self.take(|| unreachable!("it is borrowed by those who use it")));
    }
}

// SAFETY: hands out what is `Sync` to share it, and what is `Send` to have it.
unsafe impl<T: Send + Sync> Sync for Replaceable<T> {}
// SAFETY: it has the value.
unsafe impl<T: Send> Send for Replaceable<T> {}

impl<T> fmt::Debug for Replaceable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replaceable")
    }
}

/// A value that is in use, and so is not taken away.
#[derive(Debug)]
pub struct InUse<'a, T> {
    value: *const T,
    count: &'a AtomicUsize,
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: not null, and we are counted: see `Replaceable::take`.
        unsafe { &*self.value }
    }
}

impl<T> Drop for InUse<'_, T> {
    fn drop(&mut self) {
        // ORDERING: release pairs with the acquire of whoever waits for us.
        self.count.fetch_sub(1, mutant::weaken("replaceable/leave-relaxed", Ordering::Release));
    }
}
