//! The owner's end.

use super::{Buffer, Shared};
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::{Arc, mutant, swap_fenced};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// The end that one thread pushes to and pops from. Can be sent to that thread, but not shared.
#[derive(Debug)]
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
    /// The current buffer, for whose address the owner need not ask.
    buffer: Cell<NonNull<Buffer<T>>>,
    /// While `bottom` is below this, there is room.
    limit: Cell<isize>,
}

// SAFETY: the raw pointer goes to a buffer that `shared` keeps alive; the cells go with the owner.
unsafe impl<T> Send for Owner<T> {}

impl<T> Owner<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        // ORDERING: relaxed; nobody else has the deque yet.
        let buffer = NonNull::new(shared.buffer.load(Ordering::Relaxed)).expect("a deque has a buffer");
        let owner = Self { shared, buffer: Cell::new(buffer), limit: Cell::new(0) };
        owner.limit.set(owner.buffer().capacity() as isize);
        owner
    }

    /// Adds the newest item. A full fence follows its publication.
    #[inline(always)]
    pub fn push(&self, item: NonNull<T>) {
        let bottom = self.bottom();
        if bottom >= self.limit.get() {
            self.make_room(bottom);
        }
        // ORDERING: relaxed; published by the release of `bottom`.
        self.slot(bottom).store(item.as_ptr(), Ordering::Relaxed);
        if mutant::active("deque/push-relaxed") {
            // ORDERING: a mutant's, too weak.
            self.shared.bottom.store(bottom + 1, Ordering::Relaxed);
            return;
        }
        // ORDERING: releases the item and its slot to thieves, which acquire `bottom`; the fence is for the sleep
        // protocol, whose counters the caller reads next.
        swap_fenced(&self.shared.bottom, bottom + 1);
    }

    /// Takes the newest item.
    pub fn pop(&self) -> Option<NonNull<T>> {
        // ORDERING: relaxed; `top` never falls, so what looks empty to the owner is.
        if self.bottom() <= self.shared.top.load(Ordering::Relaxed) {
            return None;
        }
        let (bottom, top) = self.lower_bottom();
        // ORDERING: relaxed; the owner wrote the slot itself.
        let item = NonNull::new(self.slot(bottom).load(Ordering::Relaxed));
        if top < bottom || self.settle(bottom, top) { item } else { None }
    }

    /// Takes `item` back if it is still here and still the newest; otherwise changes nothing.
    #[inline(always)]
    #[must_use]
    pub fn take_back(&self, item: NonNull<T>) -> bool {
        // ORDERING: relaxed; the owner wrote the slot itself. If the deque is empty the slot is stale, and
        // `top` tells.
        let newest = self.slot(self.bottom() - 1).load(Ordering::Relaxed);
        let (bottom, top) = self.lower_bottom();
        // One branch for both questions. Bitwise, so that it stays one.
        let is_it = ptr::eq(newest, item.as_ptr());
        if is_it & (top < bottom) {
            return true;
        }
        self.take_back_cold(is_it, bottom, top)
    }

    #[cold]
    #[inline(never)]
    fn take_back_cold(&self, is_it: bool, bottom: isize, top: isize) -> bool {
        if is_it && top == bottom {
            return self.settle(bottom, top);
        }
        self.raise_bottom(bottom);
        false
    }

    /// How many items there are. Thieves may have taken some of them by now.
    pub fn len(&self) -> usize {
        // ORDERING: relaxed; a number that is out of date at once.
        let top = self.shared.top.load(Ordering::Relaxed);
        usize::try_from(self.bottom() - top).unwrap_or(0)
    }

    /// Whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn bottom(&self) -> isize {
        // ORDERING: relaxed; only the owner writes it.
        self.shared.bottom.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn slot(&self, index: isize) -> &AtomicPtr<T> {
        self.buffer().slot(index)
    }

    #[inline(always)]
    fn buffer(&self) -> &Buffer<T> {
        // SAFETY: `shared` keeps every buffer until it goes, and we hold `shared`.
        unsafe { self.buffer.get().as_ref() }
    }

    /// Withdraws the newest item from the thieves' sight and looks how far they are. Returns its index, and theirs.
    #[inline(always)]
    fn lower_bottom(&self) -> (isize, isize) {
        let bottom = self.bottom() - 1;
        if mutant::active("deque/pop-unfenced") {
            // ORDERING: a mutant's, too weak.
            self.shared.bottom.store(bottom, Ordering::Release);
        } else {
            // ORDERING: the fence pairs with the one in `Stealer::steal`; see the module's notes.
            swap_fenced(&self.shared.bottom, bottom);
        }
        // ORDERING: relaxed, after the fence.
        (bottom, self.shared.top.load(Ordering::Relaxed))
    }

    /// Shows the thieves again what `lower_bottom` hid, or what they took.
    fn raise_bottom(&self, bottom: isize) {
        // ORDERING: release, as every store to `bottom`: a thief that reads this value must see the items
        // below it.
        self.shared.bottom.store(bottom + 1, Ordering::Release);
    }

    /// The end of a pop that came down to the last item, or found none. True if the last item is ours.
    fn settle(&self, bottom: isize, top: isize) -> bool {
        let won = top == bottom
            && (mutant::active("deque/pop-last-without-race")
                // ORDERING: acquire-release as for a thief; the order among the takers of one index is that
                // of the changes of `top`.
                || self
                    .shared
                    .top
                    .compare_exchange(top, top + 1, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok());
        // Taken by us or by a thief, the index is used up: back to `bottom == top`.
        self.raise_bottom(bottom);
        won
    }

    /// Called when `bottom` has reached the limit: looks how far the thieves are, and grows if that
    /// is not far enough.
    #[cold]
    #[inline(never)]
    fn make_room(&self, bottom: isize) {
        // ORDERING: acquire pairs with the release of a thief's compare-and-swap: it has read the slot
        // that we are about to use again.
        let top = self.shared.top.load(Ordering::Acquire);
        let capacity = self.buffer().capacity() as isize;
        if bottom - top >= capacity {
            self.grow(top, bottom);
        }
        self.limit.set(top + self.buffer().capacity() as isize);
    }

    fn grow(&self, top: isize, bottom: isize) {
        let bigger = Buffer::leak(self.buffer().capacity() * 2);
        for index in top..bottom {
            // ORDERING: relaxed; the owner wrote all of these.
            let item = self.slot(index).load(Ordering::Relaxed);
            // SAFETY: freshly leaked, alive.
            // ORDERING: relaxed; published by the release below.
            unsafe { bigger.as_ref() }.slot(index).store(item, Ordering::Relaxed);
        }
        let mut buffers = self.shared.buffers.lock();
        if mutant::active("deque/grow-frees-old") {
            let old = buffers.pop().expect("a deque has a buffer");
            // Poison rather than free, so that a model can tell: a thief that reads it takes nothing.
            for index in top..bottom {
                // SAFETY: still allocated (and leaked, by this mutant).
                // ORDERING: immaterial, a mutant.
                unsafe { old.as_ref() }.slot(index).store(ptr::null_mut(), Ordering::Relaxed);
            }
        }
        buffers.push(bigger);
        drop(buffers);
        self.buffer.set(bigger);
        // ORDERING: release publishes the copied slots to thieves, which acquire the pointer. The old
        // buffer stays as it is: a thief that still reads it finds the same items at the same indices.
        self.shared.buffer.store(bigger.as_ptr(), Ordering::Release);
    }
}
