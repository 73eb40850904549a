//! The life of a value that other threads use until they have told its owner, as loom sees it.

/// Nothing in a normal build. Under loom a use is a read of a cell and the end a write of it, so a
/// model fails if there is a use that does not come before the end.
#[derive(Debug)]
pub struct Lifetime {
    #[cfg(drowse_loom)]
    cell: crate::cell::UnsafeCell<Option<loom::alloc::Track<()>>>,
}

// SAFETY: loom checks who comes to the cell when.
#[cfg(drowse_loom)]
unsafe impl Sync for Lifetime {}

impl Lifetime {
    /// A life that begins.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            #[cfg(drowse_loom)]
            cell: crate::cell::UnsafeCell::new(None),
        }
    }

    /// One that must have an end before that of the model.
    #[inline(always)]
    pub fn that_must_end() -> Self {
        Self {
            #[cfg(drowse_loom)]
            cell: crate::cell::UnsafeCell::new(Some(loom::alloc::Track::new(()))),
        }
    }

    /// The value is used.
    #[inline(always)]
    pub fn used(&self) {
        #[cfg(drowse_loom)]
        self.cell.with(|_| ());
    }

    /// The value is about to go.
    #[inline(always)]
    pub fn over(&self) {
        #[cfg(drowse_loom)]
        // SAFETY: loom has seen to it that nobody else is there.
        self.cell.with_mut(|track| unsafe { (*track).take() });
    }
}
