//! Faults of the owner, committed on purpose for the models to notice. Absent from normal builds.

use super::{Buffer, Owner};
use drowse_sync::atomic::Ordering;
use std::ops::Range;
use std::ptr::{self, NonNull};

/// Withdraws the newest item, and puts it back if it is not `item`. The fault: the correct code
/// compares before it withdraws.
pub(super) fn hide_then_look<T>(owner: &Owner<T>, bottom: i64, item: NonNull<T>) -> bool {
    // ORDERING: relaxed; the owner wrote the slot itself.
    let is_newest = ptr::eq(owner.slot(bottom).load(Ordering::Relaxed), item.as_ptr());
    if !is_newest {
        owner.shared.lower_bottom(bottom);
        // ORDERING: release, like every store to `bottom`, so that hiding is the only fault.
        owner.shared.private.set_bottom(bottom + 1, Ordering::Release);
    }
    is_newest
}

/// Overwrites the items of an outgrown buffer. Stands for the fault to free it, in a way that a
/// model notices: a thief that reads such a slot takes nothing.
pub(super) fn spoil<T>(old: &Buffer<T>, items: Range<i64>) {
    for index in items {
        // ORDERING: relaxed; a free would not be ordered either.
        old.slot(index).store(ptr::null_mut(), Ordering::Relaxed);
    }
}
