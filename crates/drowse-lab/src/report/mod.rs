//! From results to something to read: a table for the terminal, findings in a sentence each, and a
//! page with pictures.
//!
//! The page is one file. It fetches nothing, needs no fonts but those of the reader's machine, and
//! keeps its charts and its table when scripts are off; only zooming and tooltips need the small
//! script within.

mod date;
mod figures;
mod findings;
mod html;
mod matrix;
mod read;
mod table;
mod timelines;
mod view;
mod workloads;

pub use findings::findings;
pub use html::html;
pub use read::{ReadError, parse, read};
pub use table::table;
