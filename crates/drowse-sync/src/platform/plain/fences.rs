//! For systems that have no asymmetric fences, and for shuttle: both sides execute full ones.

use crate::fence::full;

/// Leave to use [light fences](crate::light_fence), which is always given here.
#[derive(Debug)]
pub struct LightFences(());

/// Proof that light fences were [prepared](LightFences::prepare), whether or not there are any.
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// There is nothing to prepare.
    pub fn prepare() -> Prepared {
        Prepared(())
    }

    /// If they are to be had at all.
    pub fn at_any_cost() -> Option<Self> {
        Self::get()
    }

    /// If they are to be had at this moment.
    pub fn get() -> Option<Self> {
        Some(Self(()))
    }

    /// Here they are good for as long as the thread runs anything.
    pub fn at_end_of_thread(_give_back: fn()) {}

    /// How many heavy fences there were since: none that cost anything.
    pub fn cost(&self) -> u64 {
        0
    }

    /// Whether they must be given back. Never, here.
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

/// How many heavy fences this thread has had the system execute: none.
pub fn heavy_fences_executed() -> u64 {
    0
}

/// There is nothing to be had that is not there already.
pub fn want_light_fences() {}
