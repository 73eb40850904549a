//! The three worlds that drowse can run in: `std`, loom or shuttle. They have one interface, so one
//! name stands for them.

#[cfg(not(drowse_loom))]
pub mod cell;
#[cfg_attr(any(drowse_loom, drowse_shuttle), path = "model_lock.rs")]
mod lock;
mod thread_local;

#[cfg(drowse_loom)]
use loom as world;
#[cfg(drowse_shuttle)]
use shuttle as world;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use std as world;

pub use lock::{Condvar, Mutex, MutexGuard};
pub use std::sync::{Arc, OnceLock, Weak};
#[cfg(drowse_loom)]
pub use world::cell;
pub use world::{hint, thread};

/// Atomics and their orderings.
pub mod atomic {
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    pub use super::real::{AtomicI64, AtomicU64};
    pub use super::world::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence,
    };
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub use super::world::sync::atomic::{AtomicI64, AtomicU64};
}

/// Atomics of 64 bits that are std's in models too, for state that is not modelled. On processors
/// without them, `portable_atomic` emulates them with locks.
#[allow(unused_imports, unreachable_pub, reason = "models use the one, and programs both")]
pub(crate) mod real {
    #[cfg(not(target_has_atomic = "64"))]
    pub use portable_atomic::{AtomicI64, AtomicU64};
    #[cfg(target_has_atomic = "64")]
    pub use std::sync::atomic::{AtomicI64, AtomicU64};
}
