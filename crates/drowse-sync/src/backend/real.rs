//! The real world: `std`.

pub use std::hint;
pub use std::sync::MutexGuard;
pub(super) use std::sync::{Condvar as RawCondvar, Mutex as RawMutex};
pub use std::thread;

/// Atomics and their orderings.
pub mod atomic {
    pub use std::sync::atomic::{
        AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! thread_local_impl {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr;)+) => {
        ::std::thread_local! { $($(#[$attr])* $vis static $name: $ty = const { $init };)+ }
    };
}
