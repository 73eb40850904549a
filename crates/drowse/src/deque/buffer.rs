//! A ring of slots.

use drowse_sync::atomic::AtomicPtr;
use drowse_sync::give_back_pages;
use std::iter;
use std::ptr::{self, NonNull};

/// One-word slots, a power of two of them. An ever-growing index is reduced modulo their count.
#[derive(Debug)]
pub(super) struct Buffer<T> {
    slots: Box<[AtomicPtr<T>]>,
    /// Previous, smaller buffer, kept because slow thieves may still read it.
    outgrown: Option<NonNull<Self>>,
}

impl<T> Buffer<T> {
    /// Allocates a buffer, which the caller must [free](Self::free).
    pub(super) fn leak(capacity: usize, outgrown: Option<NonNull<Self>>) -> NonNull<Self> {
        assert!(capacity.is_power_of_two(), "capacity {capacity} is no power of two");
        let slots = (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        NonNull::from(Box::leak(Box::new(Self { slots, outgrown })))
    }

    /// Frees this buffer, and all buffers that it has replaced, directly or indirectly.
    ///
    /// # Safety
    ///
    /// Each must come from [`leak`](Self::leak), and no thread may use any of them from now on.
    pub(super) unsafe fn free(newest: NonNull<Self>) {
        let mut next = Some(newest);
        while let Some(buffer) = next {
            // SAFETY: the caller's promise.
            next = unsafe { Box::from_raw(buffer.as_ptr()) }.outgrown;
        }
    }

    /// Gives the memory of all slots back to the system, including those of replaced buffers. A
    /// read of a slot before the next write to it returns null or the old value.
    pub(super) fn give_back(&self) {
        // SAFETY: older buffers live as long as this one: `free` frees them all together.
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
