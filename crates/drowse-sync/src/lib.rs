//! The only crate of drowse that reaches the threads and the atomics of the outside world.
//!
//! Every atomic, lock, park, thread start, random seed and core count of drowse comes from here, so
//! one switch replaces them all:
//!
//! | built with | what stands behind the names | used for |
//! |---|---|---|
//! | nothing special | `std`, and what the platform has | normal programs |
//! | `--cfg drowse_loom` | [loom](https://docs.rs/loom) | weak memory, every interleaving |
//! | `--cfg drowse_shuttle` | [shuttle](https://docs.rs/shuttle) | whole pools, random schedules |
//!
//! No other crate of drowse names `std::sync`, `loom` or `shuttle`; `cargo xtask tidy` checks that.
//!
//! ```
//! use drowse_sync::WaitWord;
//! use drowse_sync::atomic::Ordering;
//!
//! let word = WaitWord::new(0);
//! word.store(1, Ordering::Release);
//! word.wait_while(0); // returns at once: the word is no longer 0
//! ```

mod backend;
mod cores;
mod fence;
mod fork;
mod lifetime;
mod meter;
pub mod mutant;
mod outlined;
mod padded;
mod platform;
mod queue;
mod replaceable;
mod say;
mod seed;
mod spawn;
mod stack;
mod table;
mod task;
mod wait_word;
mod yielding;

use backend::real;
pub use backend::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak, atomic, cell, hint, thread};
/// std's `Arc`, in models too: [`Wake`](std::task::Wake) requires it.
pub use std::sync::Arc as StdArc;

pub use cores::core_count;
pub use fence::{full_fence, full_fence_after_rmw, heavy_fence, light_fence};
pub use fork::{PerProcess, Process};
pub use lifetime::Lifetime;
pub use meter::{Counter, Stopwatch};
pub use outlined::Outlined;
pub use padded::CachePadded;
pub use platform::{
    CpuMask, HEAVY_FENCES_ARE_DEAR, LightFences, Prepared, ThreadId, current_cpu, give_back_pages,
    has_several_cores, heavy_fences_executed, process_cpu_time, stacks_command, want_light_fences,
};
pub use queue::Queue;
pub use replaceable::{InUse, Replaceable};
pub use say::say;
pub use seed::{random_seed, serial_number};
pub use spawn::spawn_thread;
pub use stack::stack_in_use;
pub use table::Table;
pub use task::{Motion, Task};
pub use wait_word::WaitWord;
pub use yielding::yield_to_others;

#[cfg(drowse_loom)]
#[doc(hidden)]
pub use loom;
#[cfg(drowse_loom)]
#[doc(hidden)]
pub use platform::{change_light_fences, changing_light_fences, without_light_fences};
#[cfg(drowse_shuttle)]
#[doc(hidden)]
pub use shuttle;
