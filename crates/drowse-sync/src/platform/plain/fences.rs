//! Fences for systems without asymmetric fences, and for shuttle: both sides execute full fences.

use crate::fence::full;

/// Permission to use [light fences](crate::light_fence), which is always given here.
#[derive(Debug)]
pub struct LightFences(());

/// Proof that light fences were [prepared](LightFences::prepare), even if none are available.
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// Does nothing: there is nothing to prepare.
    pub fn prepare() -> Prepared {
        Prepared(())
    }

    /// Returns the permission.
    pub fn at_any_cost() -> Option<Self> {
        Self::get()
    }

    /// Returns the permission.
    pub fn get() -> Option<Self> {
        Some(Self(()))
    }

    /// Does nothing: here light fences work until the end of the thread.
    pub fn at_end_of_thread(_give_back: fn()) {}

    /// Returns how many heavy fences there were since `get` that cost anything: none.
    pub fn cost(&self) -> u64 {
        0
    }

    /// Returns `true` if the permission must be given back: never here.
    pub fn are_due_back(&self) -> bool {
        false
    }
}

#[inline(always)]
pub(crate) fn light_fence() {
    full();
}

pub(crate) fn heavy_fence() {
    full();
}

/// Returns how many heavy fences this thread has had the system execute: none.
pub fn heavy_fences_executed() -> u64 {
    0
}

/// Does nothing: light fences are always available.
pub fn want_light_fences() {}
