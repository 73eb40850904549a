//! What the owner does wrong on purpose, for the models to notice. Not there in a normal build.

use super::{Buffer, Owner};
use drowse_sync::atomic::Ordering;
use std::ops::Range;
use std::ptr::{self, NonNull};

/// Instead of `Shared::set_split`: shares items that the owner can still take without looking.
pub(super) fn split_without_claim<T>(owner: &Owner<T>, split: i64) {
    // ORDERING: release, as in `set_split`, so that the missing claim is the only fault.
    owner.shared.public.split.store(split, Ordering::Release);
}

/// Instead of a look whether `item` is the newest: withdraws the newest, whatever it is, and puts
/// it back if it is another one.
pub(super) fn hide_then_look<T>(owner: &Owner<T>, bottom: i64, item: NonNull<T>) -> bool {
    // ORDERING: relaxed; the owner wrote the slot itself.
    let is_newest = ptr::eq(owner.slot(bottom).load(Ordering::Relaxed), item.as_ptr());
    if !is_newest {
        owner.lower_bottom(bottom);
        // ORDERING: release, as every store to `bottom`, so that hiding is the only fault.
        owner.set_bottom(bottom + 1, Ordering::Release);
    }
    is_newest
}

/// Instead of adding the bigger buffer to the list: gives up the one before. It is overwritten
/// rather than freed, so that a model can tell: a thief that reads it takes nothing.
pub(super) fn replace_newest<T>(
    buffers: &mut Vec<NonNull<Buffer<T>>>,
    bigger: NonNull<Buffer<T>>,
    items: Range<i64>,
) {
    let old = buffers.pop().expect("a deque has a buffer");
    for index in items {
        // SAFETY: still allocated: this fault leaks it.
        // ORDERING: relaxed; a freed buffer is ordered by nothing at all.
        unsafe { old.as_ref() }.slot(index).store(ptr::null_mut(), Ordering::Relaxed);
    }
    buffers.push(bigger);
}
