//! API of [rayon-core](https://docs.rs/rayon-core/1.13), on [`drowse`].
//!
//! With two lines in a program's `Cargo.toml`, rayon and everything built on it runs on drowse,
//! unchanged:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "../drowse/shim/rayon-core" }
//! ```
//!
//! Most items here are re-exports of drowse's functions, scopes and contexts. Only what exists for
//! compatibility is defined here: [`ThreadPool`] and [`ThreadPoolBuilder`], which have deprecated
//! methods besides; `Configuration` and `initialize`.
//!
//! # The environment
//!
//! `RAYON_NUM_THREADS`, and the older `RAYON_RS_NUM_CPUS`, set the default number of threads of a
//! pool, as for rayon-core: a value that is not a number is ignored, and 0 stands for as many as
//! the process may run at once. `DROWSE_NUM_THREADS` takes precedence. [`drowse`] has the table of
//! all variables.
//!
//! # The feature `diagnose`
//!
//! Turns on drowse's feature of this name: deadlock and stall reports, and traces. Without it,
//! `DROWSE_DEADLOCK` and `DROWSE_STALL` have no effect, and a program in which one of them is set
//! says so.
//!
//! # The feature `web_spin_lock`
//!
//! rayon has a feature of this name for WebAssembly in browsers, and forwards it to its core.
//! drowse blocks threads in ways that a browser's main thread does not allow, so on WebAssembly the
//! feature is an error. Elsewhere it has no effect, as with the original.
//!
//! # Using drowse directly
//!
//! [`drowse`] itself is re-exported, for what rayon-core does not have. Both use one global pool:
//! building it with [`drowse::ThreadPoolBuilder`] configures the pool that rayon uses. `as_ref` of
//! a [`ThreadPool`] returns its [`drowse::ThreadPool`].
//!
//! ```
//! let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
//! assert_eq!(pool.install(|| 6 * 7), 42);
//! println!("{}", pool.as_ref().metrics());
//! ```

#[cfg(all(feature = "web_spin_lock", target_family = "wasm"))]
compile_error!(
    "drowse does not run in a browser's main thread: without rayon-core's web_spin_lock there is nothing it could do; \
     use the original rayon-core for this target"
);

mod builder;
mod configuration;
mod pool;

pub use builder::ThreadPoolBuilder;
#[allow(deprecated)]
pub use configuration::{Configuration, initialize};
pub use drowse;
pub use drowse::{
    BroadcastContext, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPoolBuildError, Yield,
    broadcast, current_num_threads, current_thread_has_pending_tasks, current_thread_index,
    in_place_scope, in_place_scope_fifo, join, join_context, max_num_threads, scope, scope_fifo,
    spawn, spawn_broadcast, spawn_fifo, yield_local, yield_now,
};
pub use pool::ThreadPool;
