//! The three worlds drowse can run in. Each exports the same names.

mod lock;
#[cfg(drowse_loom)]
#[path = "loom.rs"]
mod world;
#[cfg(drowse_shuttle)]
#[path = "shuttle.rs"]
mod world;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
#[path = "real.rs"]
mod world;

#[cfg(not(drowse_loom))]
pub mod cell;

pub use lock::{Condvar, Mutex};
pub use std::sync::{Arc, OnceLock};
#[cfg(drowse_loom)]
pub use world::cell;
pub use world::{MutexGuard, atomic, hint, thread};

/// Declares thread-locals that the model checkers understand. Takes what `std::thread_local!` takes, in
/// its `const` form, so that the real thing is one plain access without a lazy-initialisation branch.
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $ty:ty = const { $init:expr };)+) => {
        $crate::thread_local_impl! { $($(#[$attr])* $vis static $name: $ty = $init;)+ }
    };
}
