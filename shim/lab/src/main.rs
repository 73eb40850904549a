//! `drowse-lab` in a program whose rayon has drowse as its core: the contender `rayon-on-drowse`.
//!
//! `drowse-lab` starts it and asks for one cell at a time. What makes the difference is not in this
//! file, but in the workspace's `[patch.crates-io]`; the lab asks rayon's own threads whose they
//! are before it measures.

use std::process::ExitCode;

fn main() -> ExitCode {
    drowse_lab::commands::main()
}
