//! Defects that were found by attacking the runtime with programs, and lines of code that no other
//! test would miss. Each test failed before the defect was mended, or fails if the line is left
//! out, and uses the public API only.

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
