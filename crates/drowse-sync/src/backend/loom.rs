//! loom's world: weak memory, every interleaving, at most five threads.

pub use loom::cell;
pub use loom::hint;
pub use loom::sync::MutexGuard;
pub(super) use loom::sync::{Condvar as RawCondvar, Mutex as RawMutex};
pub use loom::thread;

/// Atomics and their orderings.
pub mod atomic {
    pub use loom::sync::atomic::{
        AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! thread_local_impl {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr;)+) => {
        $crate::loom::thread_local! { $($(#[$attr])* $vis static $name: $ty = $init;)+ }
    };
}
