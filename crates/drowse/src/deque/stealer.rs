//! The thieves' end.

use super::Shared;
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, full_fence, mutant};
use std::ptr::NonNull;

/// The end that everyone else takes from.
#[derive(Debug)]
pub struct Stealer<T> {
    shared: Arc<Shared<T>>,
}

/// What a thief got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steal<T> {
    /// There was nothing.
    Empty,
    /// Somebody else was quicker; there may be more.
    Retry,
    /// The oldest item.
    Success(NonNull<T>),
}

impl<T> Stealer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    /// Whether there seems to be nothing to steal. Exact for what happened before.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Takes the oldest item.
    pub fn steal(&self) -> Steal<T> {
        // Look before you leap: most victims are empty, and looking does not disturb their owner.
        if self.shared.is_empty() {
            return Steal::Empty;
        }
        // ORDERING: acquire pairs with the release of whoever moved `top` here.
        let top = self.shared.top.load(Ordering::Acquire);
        // ORDERING: pairs with the fence in `Owner::lower_bottom`; see the module's notes.
        if !mutant::active("deque/steal-unfenced") {
            full_fence();
        }
        // ORDERING: acquire pairs with the release of the push: the item, its slot and its buffer are visible.
        let bottom = self.shared.bottom.load(Ordering::Acquire);
        if bottom <= top {
            return Steal::Empty;
        }
        // ORDERING: acquire pairs with the release in `grow`: the copied slots are visible.
        let buffer = self.shared.buffer.load(Ordering::Acquire);
        // SAFETY: buffers live as long as `shared`, which we hold.
        // ORDERING: relaxed; made visible by the acquire of `bottom`. If the slot was used again since,
        // `top` has moved and the exchange below fails.
        let item = unsafe { (*buffer).slot(top).load(Ordering::Relaxed) };
        // ORDERING: release, so that the owner which acquires `top` to use this slot again does so after we read it;
        // acquire, so that what the next thief reads comes after.
        match self.shared.top.compare_exchange(top, top + 1, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => NonNull::new(item).map_or(Steal::Empty, Steal::Success),
            Err(_) => Steal::Retry,
        }
    }
}
