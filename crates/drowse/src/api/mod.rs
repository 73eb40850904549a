//! The public API.

mod block_on;
mod blocking;
mod broadcast;
mod builder;
mod cancel;
mod context;
mod deadlock;
mod env;
mod error;
mod future;
#[cfg(feature = "futures")]
mod futures_spawn;
mod global;
mod handle;
mod home;
mod join;
mod join_error;
mod pool;
mod scope;
mod shutdown;
mod spawn;
mod spawner;
mod try_spawn;
mod waiting;
mod yielding;

pub use block_on::block_on;
pub use blocking::blocking;
pub use broadcast::{BroadcastContext, broadcast, spawn_broadcast};
pub use builder::{Start, ThreadPoolBuilder};
pub use cancel::CancelToken;
#[cfg(any(drowse_loom, drowse_shuttle))]
pub(crate) use cancel::Cancellation;
pub use context::{
    FnContext, current_num_threads, current_thread_has_pending_tasks, current_thread_index,
    max_num_threads, metrics,
};
pub use deadlock::{Blocked, mark_blocked, mark_blocked_on, mark_unblocked};
pub use error::ThreadPoolBuildError;
pub use future::spawn_future;
pub use global::shutdown_global;
pub use handle::{CancelOnDrop, JoinHandle, Task, spawn_handle, spawn_handle_fifo};
pub use join::{join, join_context};
pub use join_error::JoinError;
pub use pool::ThreadPool;
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
pub use shutdown::{BusyThread, StillBusy};
pub use spawn::{spawn, spawn_all, spawn_fifo};
pub use spawner::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};
pub use try_spawn::{TrySpawnError, try_spawn};
pub use waiting::{Waiting, isolate};
pub use yielding::{Yield, yield_local, yield_now};
