//! A ring of slots.

use drowse_sync::atomic::AtomicPtr;
use std::ptr::{self, NonNull};

/// A power of two of one-word slots, indexed by ever-growing numbers, modulo their count.
#[derive(Debug)]
pub(super) struct Buffer<T> {
    slots: Box<[AtomicPtr<T>]>,
}

impl<T> Buffer<T> {
    /// Allocates a buffer for its owner to free.
    pub(super) fn leak(capacity: usize) -> NonNull<Self> {
        assert!(capacity.is_power_of_two(), "capacity {capacity} is no power of two");
        let slots = (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        NonNull::from(Box::leak(Box::new(Self { slots })))
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
