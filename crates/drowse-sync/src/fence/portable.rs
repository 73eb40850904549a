//! For systems that have no asymmetric fences, and for shuttle: both sides execute full ones.

use super::full_fence;

/// Leave to use [`light_fence`], which is always given here.
#[derive(Debug)]
pub struct LightFences(());

impl LightFences {
    /// There is nothing to prepare.
    pub fn prepare() {}

    /// If they are to be had at all.
    pub fn at_any_cost() -> Option<Self> {
        Self::get()
    }

    /// If they are to be had at this moment.
    pub fn get() -> Option<Self> {
        Some(Self(()))
    }

    /// Whether they must be given back. Never, here.
    pub fn are_due_back(&self) -> bool {
        false
    }
}

/// Pairs with a [`heavy_fence`].
#[inline(always)]
pub fn light_fence() {
    full_fence();
}

/// Pairs with a [`light_fence`] and with a [`full_fence`].
pub fn heavy_fence() {
    full_fence();
}

/// There is nothing to be had that is not there already.
pub fn want_light_fences() {}
