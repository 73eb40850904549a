//! The lab: measures drowse beside its peers, on this machine, and draws what it saw.

pub mod chart;
pub mod child;
pub mod cli;
pub mod commands;
pub mod contender;
pub mod host;
pub mod measure;
pub mod plan;
pub mod report;
pub mod runner;
pub mod schema;
pub mod stats;
pub mod timeline;
pub mod workload;
