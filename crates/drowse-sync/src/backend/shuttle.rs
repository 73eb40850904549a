//! shuttle's world: sequential consistency, many threads, random schedules that can be replayed.

pub use shuttle::hint;
pub use shuttle::sync::MutexGuard;
pub(super) use shuttle::sync::{Condvar as RawCondvar, Mutex as RawMutex};
pub use shuttle::thread;

/// Atomics and their orderings.
pub mod atomic {
    pub use shuttle::sync::atomic::{
        AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! thread_local_impl {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr;)+) => {
        $crate::shuttle::thread_local! { $($(#[$attr])* $vis static $name: $ty = $init;)+ }
    };
}
