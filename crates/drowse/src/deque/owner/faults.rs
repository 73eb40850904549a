//! What the owner does wrong on purpose, for the models to notice. Not there in a normal build.

use super::{Buffer, Owner};
use drowse_sync::atomic::Ordering;
use std::ops::Range;
use std::ptr::{self, NonNull};

/// Instead of a look whether `item` is the newest: withdraws the newest, whatever it is, and puts
/// it back if it is another one.
pub(super) fn hide_then_look<T>(owner: &Owner<T>, bottom: i64, item: NonNull<T>) -> bool {
    // ORDERING: relaxed; the owner wrote the slot itself.
    let is_newest = ptr::eq(owner.slot(bottom).load(Ordering::Relaxed), item.as_ptr());
    if !is_newest {
        owner.shared.lower_bottom(bottom);
        // ORDERING: release, as every store to `bottom`, so that hiding is the only fault.
        owner.shared.private.set_bottom(bottom + 1, Ordering::Release);
    }
    is_newest
}

/// Instead of keeping an outgrown buffer: overwrites it, rather than to free it, so that a model
/// can tell. A thief that reads it takes nothing.
pub(super) fn spoil<T>(old: &Buffer<T>, items: Range<i64>) {
    for index in items {
        // ORDERING: relaxed; a freed buffer is ordered by nothing at all.
        old.slot(index).store(ptr::null_mut(), Ordering::Relaxed);
    }
}
