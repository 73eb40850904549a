//! Latch that ends a worker's main loop.

use crate::engine::Registry;
use drowse_sleep::{LatchWord, Reason};
use drowse_sync::omittable;

/// Latch in the registry, set once, by the thread that ends the pool.
#[derive(Debug)]
pub(crate) struct OnceLatch {
    word: LatchWord,
}

impl OnceLatch {
    pub(crate) fn new() -> Self {
        Self { word: LatchWord::new() }
    }

    pub(crate) fn word(&self) -> &LatchWord {
        &self.word
    }

    /// Sets the latch of this worker and wakes it if it sleeps on it.
    pub(crate) fn set_and_wake(&self, registry: &Registry, worker: usize) {
        // SAFETY: the latch is borrowed, so it is alive.
        let slept = unsafe { LatchWord::set(&self.word) };
        omittable!(
            "engine/terminate-no-wake",
            registry.wake_owner(worker, slept, Reason::Terminate)
        );
    }
}
