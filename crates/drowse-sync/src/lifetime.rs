//! Lifetimes that loom checks: of values that other threads use until they have told the owner.

/// Lifetime of a value. Empty in a normal build. Under loom a use is a read of a cell and the end
/// is a write to it, so a model fails if a use does not happen before the end.
#[derive(Debug)]
pub struct Lifetime {
    #[cfg(drowse_loom)]
    cell: crate::cell::UnsafeCell<Option<loom::alloc::Track<()>>>,
}

// SAFETY: loom checks that no access of the cell races with a write.
#[cfg(drowse_loom)]
unsafe impl Sync for Lifetime {}

impl Lifetime {
    /// Begins a lifetime.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            #[cfg(drowse_loom)]
            cell: crate::cell::UnsafeCell::new(None),
        }
    }

    /// Begins a lifetime that must end before the model does.
    #[inline(always)]
    pub fn that_must_end() -> Self {
        Self {
            #[cfg(drowse_loom)]
            cell: crate::cell::UnsafeCell::new(Some(loom::alloc::Track::new(()))),
        }
    }

    /// Records a use of the value.
    #[inline(always)]
    pub fn used(&self) {
        #[cfg(drowse_loom)]
        self.cell.with(|_| ());
    }

    /// Records the end: the value is about to be freed.
    #[inline(always)]
    pub fn over(&self) {
        #[cfg(drowse_loom)]
        // SAFETY: loom fails the model if any other access does not happen before this write.
        self.cell.with_mut(|track| unsafe { (*track).take() });
    }
}
