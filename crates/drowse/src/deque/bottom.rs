//! Data of the owner's end that the fast path of a `join` needs, in one cache line.
//!
//! # Positions
//!
//! A `join` pushes an item, keeps its position, runs its first half, and takes the item back from
//! there. So do joins inside of the first half. If nothing else happens, the item is then the
//! newest one, and need not be compared. What else may happen:
//!
//! - An item was pushed, and stays. This raises the *cover* above the position. A join whose item
//!   is covered compares it with the newest item. If they are equal, all above is gone, and the
//!   cover is lowered to the item; items below stay covered until they are compared.
//! - The item was popped by the worker, while it waited inside of the first half. A worker runs a
//!   popped item of a join at once, on top of that join's frame. So the join finds its latch set.
//!   (A push on the slow path may move the item; the latch then holds the new position.)
//! - The item was stolen, after all older ones, and perhaps with some newer ones. The rest is gone,
//!   so `bottom` equals `top`. The split shows this.
//!
//! The position is not computed from `bottom`, because then each push and each take-back would wait
//! for the number that the previous one has stored. With its own position, a join does not depend
//! on stores of other joins, and the processor can execute several joins at once.

use super::price::Price;
use super::{ALERTED, ASKED, FENCED, Shared};
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use drowse_sync::CachePadded;
use drowse_sync::atomic::{AtomicI64, AtomicPtr, Ordering};
use drowse_sync::{faulty, full_fence, light_fence, mutant};
use std::cell::Cell;
use std::fmt;
use std::ptr::{self, NonNull};

/// Data that the owner's fast path reads and writes.
#[derive(Debug)]
pub(super) struct Private<T> {
    /// One past the newest item. Written only by the owner.
    pub(super) bottom: AtomicI64,
    /// A push can take the fast path while `bottom` is below this: there is room for one more item,
    /// no thief has asked, no worker sleeps, and the owner has light fences. Otherwise it is one of
    /// the constants of the parent module, which are below all positions, or `bottom` itself.
    pub(super) limit: AtomicI64,
    /// Slots of the current buffer; `mask` is their number minus one. Used only by the owner.
    pub(super) slots: Cell<*const AtomicPtr<T>>,
    pub(super) mask: Cell<usize>,
    /// Position from which on all items were pushed by joins. Used only by the owner.
    pub(super) cover: Cell<i64>,
    /// Limit of the fast path if no thief has asked and no worker sleeps. Used only by the owner.
    pub(super) room: Cell<i64>,
    /// Slow pushes that are due before the owner gets light fences.
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
        // ORDERING: release, for every store: `Stealer::publish` acquires this value and must see
        // the items below it.
        self.bottom.store(bottom, release);
    }

    /// Returns the slot for the item at `index`.
    ///
    /// # Safety
    ///
    /// Only the owner may call this, and it must keep the current buffer alive.
    #[inline(always)]
    pub(super) unsafe fn slot(&self, index: i64) -> &AtomicPtr<T> {
        // SAFETY: `use_buffer` keeps `slots` and `mask` those of the current buffer; masked, the
        // index is below the number of slots.
        unsafe { &*self.slots.get().add(index as usize & self.mask.get()) }
    }

    /// Pushes an item at `position`, one past the newest item. There is always room for it. Returns
    /// `true` if the owner must leave the fast path now.
    ///
    /// # Safety
    ///
    /// As for [`slot`](Self::slot).
    #[inline(always)]
    pub(super) unsafe fn push(&self, position: i64, item: NonNull<T>) -> bool {
        // ORDERING: relaxed; published by the release of `bottom`.
        // SAFETY: the caller's promise.
        unsafe { self.slot(position) }.store(item.as_ptr(), Ordering::Relaxed);
        // ORDERING: release pairs with the acquire in `Stealer::publish`; see `set_bottom`.
        self.set_bottom(position + 1, mutant::weaken("deque/push-relaxed", Ordering::Release));
        // ORDERING: pairs with the heavy fence in `Sleep::fence_against_posts`, and with that in
        // `Stealer::listen_to`: the worker that is about to sleep sees the item, or we see the
        // limit that it has lowered. Without, it could sleep while the item waits.
        light_fence("deque/push-light-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        position + 1 >= self.limit.load(Ordering::Relaxed)
    }

    /// Ends a push on the slow path by an owner without light fences. Returns `false` if a fence is
    /// not enough: then `Owner::pushed_slow` goes on.
    #[inline(always)]
    pub(super) fn pushed_fenced(&self) -> bool {
        // ORDERING: relaxed; `Stealer::ask` and `Stealer::alert` may overwrite it at any time, and
        // are noticed after the fence below.
        if self.limit.load(Ordering::Relaxed) != FENCED {
            return false;
        }
        // ORDERING: takes the place of the light fence in `push`.
        full_fence("deque/push-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        let is_left_alone = faulty!(
            "deque/fenced-push-looks-early",
            self.limit.load(Ordering::Relaxed) == FENCED,
            true
        );
        is_left_alone && self.bottom() < self.room.get() && self.price.is_still_due()
    }

    /// Notes that an item below this position stays that no join has pushed.
    pub(super) fn cover(&self, position: i64) {
        self.cover.set(self.cover.get().max(position));
    }

    /// Makes the owner's next push leave the fast path, unless it will do so anyway.
    pub(super) fn alert(&self) {
        // ORDERING: relaxed, both; fences in `Sleep::alert_posters` and
        // `Sleep::fence_against_posts` order them. Loads first: the owner writes to this cache line
        // all the time.
        if self.limit.load(Ordering::Relaxed) > ALERTED {
            self.limit.store(ALERTED, Ordering::Relaxed);
        }
    }
}

/// Deque end for a thread that owns no deque, or whose joins must not push to its deque directly.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
#[derive(Debug)]
#[repr(C)]
pub struct Nobody<T> {
    private: CachePadded<Private<T>>,
    own_slot: AtomicPtr<T>,
}

#[cfg(not(any(drowse_loom, drowse_shuttle)))]
impl<T> Nobody<T> {
    /// Creates an end that stores all pushed items to `slot`. They are never read.
    pub const fn new(slot: &'static AtomicPtr<T>) -> Self {
        Self::with_slot(slot)
    }

    /// Allocates an end for one thread, in its own cache line. To be freed by `Box::from_raw`.
    pub fn for_one() -> NonNull<Self> {
        let nobody = NonNull::from(Box::leak(Box::new(Self::with_slot(ptr::null()))));
        // SAFETY: leaked just now, so it is alive, does not move, and no `Box` owns it meanwhile.
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

// SAFETY: the cells are written before the value is shared, and not after: as the limit stays
// `ASKED`, `pushed_fenced` returns before it uses them. The rest is atomic.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
unsafe impl<T> Sync for Nobody<T> {}

/// Owner's end of a deque, to push to and to take back from without the [`Owner`](super::Owner).
pub struct Bottom<T>(*const Shared<T>);

impl<T> Bottom<T> {
    pub(super) fn of(shared: &Shared<T>) -> Self {
        Self(shared)
    }

    /// Returns the end of nobody's deque. Every push to it leaves the fast path. Besides pushing,
    /// only its number and position may be read.
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    pub const fn of_nobody(nobody: *const Nobody<T>) -> Self {
        Self(nobody.cast())
    }

    /// Returns `true` if both are ends of one deque.
    pub fn is(self, other: Self) -> bool {
        ptr::eq(self.0, other.0)
    }

    #[inline(always)]
    unsafe fn private<'a>(self) -> &'a Private<T> {
        // SAFETY: the caller's promise; `private` is the first field in both types of deque.
        unsafe { &(*self.0).private }
    }

    /// Returns the number that the deque was created with.
    ///
    /// # Safety
    ///
    /// The deque must be alive.
    pub unsafe fn number(self) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.number
    }

    /// Returns the position of the next push.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub unsafe fn position(self) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.bottom()
    }

    /// Pushes an item at its [position](Self::position), for [`take_back`](Self::take_back) with
    /// this position. Returns `true` if [`Owner::pushed_slow`](super::Owner::pushed_slow) must be
    /// called.
    ///
    /// # Safety
    ///
    /// The deque must be alive, and the calling thread its owner; or it is nobody's deque.
    #[inline(always)]
    pub unsafe fn push(self, position: i64, item: NonNull<T>) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.private().push(position, item) }
    }

    /// Ends a push that left the fast path because there are no light fences. Returns `false` if
    /// [`Owner::pushed_slow`](super::Owner::pushed_slow) must still be called.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub unsafe fn pushed_fenced(self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.pushed_fenced()
    }

    /// Returns `true` if the item that the caller has pushed at `position` is covered, or the
    /// position is negative. Then [`Owner::take_back`](super::Owner::take_back) tells whether it is
    /// the newest item.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push); not for nobody's deque.
    #[inline(always)]
    pub unsafe fn is_covered(self, position: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.private() }.cover.get() > position
    }

    /// Takes back the caller's item at `position`, if it is private. It must not be covered, nor
    /// have been popped. Returns `false` if [`Owner::pop_slow`](super::Owner::pop_slow) must be
    /// called.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push); not for nobody's deque.
    #[inline(always)]
    #[must_use]
    pub unsafe fn take_back(self, position: i64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (*self.0).lower_bottom(position) }
    }

    /// Ends a [`take_back`](Self::take_back) that failed because there are no light fences. Returns
    /// `false` if [`Owner::pop_slow`](super::Owner::pop_slow) must still be called.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push); not for nobody's deque.
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
