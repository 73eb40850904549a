//! Defects that were found by attacking the runtime with programs. Each test failed before the
//! defect was mended, and uses the public API only.

#[path = "../common/mod.rs"]
mod common;

#[cfg(target_os = "linux")]
mod adopted;
#[cfg(target_os = "linux")]
mod fork;
mod isolation;
mod latency;
mod names;
mod order;
mod panics;
mod places;
mod settings;
mod shutdown;
mod spares;
mod stalls;
