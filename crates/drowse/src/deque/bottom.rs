//! The owner's end without the owner: all that the fast path of a `join` needs, in one cache line.
//!
//! # Positions
//!
//! A `join` pushes an item, keeps its position, runs its first half, and takes the item back from
//! there. Whatever joins inside of the first half, does the same. So if nothing else happens, the
//! item is the newest one then, and need not be looked at. What else may happen?
//!
//! - An item was pushed in between, and stays. That raises the *cover* above the position. A join
//!   that finds its own covered looks at the newest item. If it is its own, all that was above is
//!   gone, and the cover comes down to it; what is below the cover stays below until somebody has
//!   looked.
//! - The item was popped, by somebody who waited in the first half, say. Whoever pops an item that
//!   a join has pushed runs it at once, on top of that join's frame. So the join sees that it is
//!   done, by its latch. (A push that takes the slow way may pop the item and push it again, and
//!   elsewhere. The join looks where it is, then.)
//! - It was stolen, as were all that are older, and perhaps some that came after it. All others
//!   are gone, and so `bottom` is where `top` is. The split tells.
//!
//! Why keep the position, if it could be had from `bottom`? Each push, and each way back, would
//! have to wait for the number that the one before has stored. This way it does not depend on what
//! joins further up have stored, and the processor can do several joins at once.

use super::price::Price;
use super::{ALERTED, ASKED, FENCED, Shared};
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use drowse_sync::CachePadded;
use drowse_sync::atomic::{AtomicI64, AtomicPtr, Ordering};
use drowse_sync::{faulty, full_fence, light_fence, mutant};
use std::cell::Cell;
use std::fmt;
use std::ptr::{self, NonNull};

/// What the owner's fast path reads and writes.
#[derive(Debug)]
pub(super) struct Private<T> {
    /// One past the newest item. Written by the owner alone.
    pub(super) bottom: AtomicI64,
    /// While `bottom` is below this a push can take the fast path: there is room for one more,
    /// nobody has asked for anything, nobody sleeps, and there are light fences. Otherwise it is
    /// one of the constants of the parent module, which are below all positions, or `bottom`
    /// itself.
    pub(super) limit: AtomicI64,
    /// The slots of the current buffer, and their number less one. The owner's.
    pub(super) slots: Cell<*const AtomicPtr<T>>,
    pub(super) mask: Cell<usize>,
    /// Above it there is nothing but what joins have pushed. The owner's.
    pub(super) cover: Cell<i64>,
    /// How far pushes can take the fast path if nobody has asked for anything. The owner's.
    pub(super) room: Cell<i64>,
    /// What it pays for light fences.
    pub(super) price: Price,
    number: usize,
}

impl<T> Private<T> {
    pub(super) fn new(number: usize) -> Self {
        Self {
            bottom: AtomicI64::new(0),
            limit: AtomicI64::new(ASKED),
            slots: Cell::new(ptr::null()),
            mask: Cell::new(0),
            cover: Cell::new(0),
            room: Cell::new(0),
            price: Price::new(),
            number,
        }
    }

    #[inline(always)]
    pub(super) fn bottom(&self) -> i64 {
        // ORDERING: relaxed; only the owner writes it.
        self.bottom.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn set_bottom(&self, bottom: i64, release: Ordering) {
        // ORDERING: release, every time: a thief that acquires this value must see the items below
        // it.
        self.bottom.store(bottom, release);
    }

    /// # Safety
    ///
    /// For the owner, which keeps the current buffer alive.
    #[inline(always)]
    pub(super) unsafe fn slot(&self, index: i64) -> &AtomicPtr<T> {
        // SAFETY: `use_buffer` keeps `slots` and `mask` those of the current buffer; masked, the
        // index is below the number of slots.
        unsafe { &*self.slots.get().add(index as usize & self.mask.get()) }
    }

    /// Pushes an item to the position behind the newest one. There is always room for it. Whether
    /// the owner must leave the fast path now.
    ///
    /// # Safety
    ///
    /// For the owner, as [`slot`](Self::slot).
    #[inline(always)]
    pub(super) unsafe fn push(&self, position: i64, item: NonNull<T>) -> bool {
        // ORDERING: relaxed; published by the release of `bottom`.
        // SAFETY: the caller's promise.
        unsafe { self.slot(position) }.store(item.as_ptr(), Ordering::Relaxed);
        // ORDERING: release pairs with the acquire in `Stealer::publish`; see `set_bottom`.
        self.set_bottom(position + 1, mutant::weaken("deque/push-relaxed", Ordering::Release));
        // ORDERING: pairs with the heavy fence of a worker that falls asleep, or passes the baton:
        // it sees the item, or we see the limit that it has lowered.
        light_fence("deque/push-light-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        position + 1 >= self.limit.load(Ordering::Relaxed)
    }

    /// The rest of a push by an owner that has no light fences. False if there is more to it than a
    /// fence.
    #[inline(always)]
    pub(super) fn pushed_fenced(&self) -> bool {
        // ORDERING: relaxed; the owner's own, or what others may write to it at any time.
        if self.limit.load(Ordering::Relaxed) != FENCED {
            return false;
        }
        // ORDERING: in the place of the light fence that pairs with a sleeper's heavy one.
        full_fence("deque/push-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        let is_left_alone =
            faulty!("deque/fenced-push-looks-early", self.limit.load(Ordering::Relaxed) == FENCED, true);
        is_left_alone && self.bottom() < self.room.get() && self.price.is_still_due()
    }

    /// Something stays below this position that is not a join's.
    pub(super) fn cover(&self, position: i64) {
        self.cover.set(self.cover.get().max(position));
    }

    /// Makes the owner leave the fast path with its next push, unless it will do so anyway.
    pub(super) fn alert(&self) {
        // ORDERING: relaxed, both; fences of whoever alerts order them. Look first: the owner
        // writes to that line all the time.
        if self.limit.load(Ordering::Relaxed) > ALERTED {
            self.limit.store(ALERTED, Ordering::Relaxed);
        }
    }
}

/// What threads have that own no deque, or should not get to it by themselves: a [`Bottom`] all the
/// same.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
#[derive(Debug)]
#[repr(C)]
pub struct Nobody<T> {
    private: CachePadded<Private<T>>,
    own_slot: AtomicPtr<T>,
}

#[cfg(not(any(drowse_loom, drowse_shuttle)))]
impl<T> Nobody<T> {
    /// With a slot for all that is pushed there. Nobody looks at it.
    pub const fn new(slot: &'static AtomicPtr<T>) -> Self {
        Self::with_slot(slot)
    }

    /// For one thread, which does not share the line with others. To be had back as a box.
    pub fn for_one() -> NonNull<Self> {
        let nobody = NonNull::from(Box::leak(Box::new(Self::with_slot(ptr::null()))));
        // SAFETY: it is there, and stays where it is: nobody has it as a box meanwhile.
        unsafe { nobody.as_ref().private.slots.set(&raw const (*nobody.as_ptr()).own_slot) };
        nobody
    }

    const fn with_slot(slot: *const AtomicPtr<T>) -> Self {
        Self {
            private: CachePadded::new(Private {
                bottom: AtomicI64::new(0),
                limit: AtomicI64::new(ASKED),
                slots: Cell::new(slot),
                mask: Cell::new(0),
                cover: Cell::new(0),
                room: Cell::new(0),
                price: Price::new(),
                number: usize::MAX,
            }),
            own_slot: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

// SAFETY: nobody changes the cells once it is shared, and the rest is atomic.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
unsafe impl<T> Sync for Nobody<T> {}

/// The owner's end, to push to and to take back from, for those who know that it is theirs.
pub struct Bottom<T>(*const Shared<T>);

impl<T> Bottom<T> {
    pub(super) fn of(shared: &Shared<T>) -> Self {
        Self(shared)
    }

    /// The end of nobody's deque. Every push to it leaves the fast path. Besides, only its number
    /// may be read.
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    pub const fn of_nobody(nobody: *const Nobody<T>) -> Self {
        Self(nobody.cast())
    }

    /// Whether both are of the same deque.
    pub fn is(self, other: Self) -> bool {
        ptr::eq(self.0, other.0)
    }

    #[inline(always)]
    unsafe fn private<'a>(self) -> &'a Private<T> {
        // SAFETY: the caller's promise; it comes first, also in `Nobody`.
        unsafe { &(*self.0).private }
    }

    /// The number that the deque was made with.
    ///
    /// # Safety
    ///
    /// The deque must be there.
    pub unsafe fn number(self) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.number
    }

    /// Where the next item is pushed to.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub unsafe fn position(self) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.bottom()
    }

    /// Adds the newest item, at the [position](Self::position) where it belongs, to be [taken
    /// back](Self::take_back) from there. Whether
    /// [`Owner::pushed_slow`](super::Owner::pushed_slow) must be called.
    ///
    /// # Safety
    ///
    /// The deque must be there, and the calling thread be its owner; or it must be nobody's.
    #[inline(always)]
    pub unsafe fn push(self, position: i64, item: NonNull<T>) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.private().push(position, item) }
    }

    /// The rest of a push that left the fast path because there are no light fences. False if
    /// [`Owner::pushed_slow`](super::Owner::pushed_slow) must be called all the same.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub unsafe fn pushed_fenced(self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.pushed_fenced()
    }

    /// Whether what the caller has pushed there is covered, or the position is negative. If so,
    /// [`Owner::take_back`](super::Owner::take_back) tells whether it is the newest item.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push), and the deque must not be nobody's.
    #[inline(always)]
    pub unsafe fn is_covered(self, position: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.cover.get() > position
    }

    /// Takes back what the caller has pushed there, which is not covered, nor has it been popped,
    /// if it is private. If not, [`Owner::pop_slow`](super::Owner::pop_slow) must be called.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push), and the deque must not be nobody's.
    #[inline(always)]
    #[must_use]
    pub unsafe fn take_back(self, position: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (*self.0).lower_bottom(position) }
    }

    /// The rest of that for an owner that has no light fences. False if
    /// [`Owner::pop_slow`](super::Owner::pop_slow) must be called all the same.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push), and the deque must not be nobody's.
    #[inline(always)]
    #[must_use]
    pub unsafe fn taken_back_fenced(self, position: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (*self.0).is_private_fenced(position) }
    }
}

impl<T> Clone for Bottom<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Bottom<T> {}

impl<T> fmt::Debug for Bottom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bottom({:p})", self.0)
    }
}
