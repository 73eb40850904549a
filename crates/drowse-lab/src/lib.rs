//! The lab: measures drowse beside its peers, on this machine, and draws what it saw.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod chart;
pub mod child;
pub mod cli;
pub mod commands;
pub mod contender;
pub mod hangs;
pub mod host;
pub mod measure;
pub mod plan;
mod platform;
pub mod report;
pub mod runner;
pub mod say;
pub mod schema;
pub mod stats;
pub mod timeline;
pub mod workload;
