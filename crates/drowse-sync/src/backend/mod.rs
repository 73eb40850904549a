//! The three worlds drowse can run in: `std`, loom, or shuttle. They look alike, so one name stands
//! for them.

#[cfg(not(drowse_loom))]
pub mod cell;
mod lock;
mod thread_local;

#[cfg(drowse_loom)]
use loom as world;
#[cfg(drowse_shuttle)]
use shuttle as world;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use std as world;

pub use lock::{Condvar, Mutex};
pub use std::sync::{Arc, OnceLock, Weak};
#[cfg(drowse_loom)]
pub use world::cell;
pub use world::sync::MutexGuard;
pub use world::{hint, thread};

/// Atomics and their orderings.
pub mod atomic {
    pub use super::world::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}
