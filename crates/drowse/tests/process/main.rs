//! What concerns the whole process: its global pool, environment, threads, sandbox and end.
//!
//! Whatever changes the process does so in a child (see `common/child.rs`), so that the tests can
//! share this binary.

#[path = "../common/mod.rs"]
mod common;

mod aborts;
mod broken_stderr;
mod build_global;
mod confined;
mod fork;
mod global_env;
mod late_fences;
mod memory;
mod no_membarrier;
mod no_threads;
mod on_demand;
mod scarcity;
mod shutdown;
mod sleep_env;
mod thread_leaks;
mod watchdog;
