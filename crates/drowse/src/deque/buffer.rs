//! A ring of slots.

use drowse_sync::atomic::AtomicPtr;
use drowse_sync::give_back_pages;
use std::iter;
use std::ptr::{self, NonNull};

/// A power of two of one-word slots, indexed by ever-growing numbers, modulo their count.
#[derive(Debug)]
pub(super) struct Buffer<T> {
    slots: Box<[AtomicPtr<T>]>,
    /// The buffer that this one has replaced: slow thieves may still read it.
    outgrown: Option<NonNull<Self>>,
}

impl<T> Buffer<T> {
    /// Allocates a buffer, to be [freed](Self::free) by its owner.
    pub(super) fn leak(capacity: usize, outgrown: Option<NonNull<Self>>) -> NonNull<Self> {
        assert!(capacity.is_power_of_two(), "capacity {capacity} is no power of two");
        let slots = (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        NonNull::from(Box::leak(Box::new(Self { slots, outgrown })))
    }

    /// Frees this buffer, and all that it and they have outgrown.
    ///
    /// # Safety
    ///
    /// Each must have come from [`leak`](Self::leak), and nobody may use any of them any more.
    pub(super) unsafe fn free(newest: NonNull<Self>) {
        let mut next = Some(newest);
        while let Some(buffer) = next {
            // SAFETY: the caller's promise.
            next = unsafe { Box::from_raw(buffer.as_ptr()) }.outgrown;
        }
    }

    /// Gives the memory of all slots back to the system, those of outgrown buffers too. What is
    /// read of them before they are written again is null, or what was there.
    pub(super) fn give_back(&self) {
        // SAFETY: a buffer lives no longer than those that it has outgrown: `free` frees them all.
        let older = |buffer: &&Self| buffer.outgrown.map(|older| unsafe { &*older.as_ptr() });
        for buffer in iter::successors(Some(self), older) {
            give_back_pages(&buffer.slots);
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn slots(&self) -> &[AtomicPtr<T>] {
        &self.slots
    }

    pub(super) fn slot(&self, index: i64) -> &AtomicPtr<T> {
        let wrapped = index as usize & (self.slots.len() - 1);
        // SAFETY: the length is a power of two, so the masked index is below it.
        unsafe { self.slots.get_unchecked(wrapped) }
    }
}
