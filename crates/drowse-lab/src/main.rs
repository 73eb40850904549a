//! `drowse-lab`: see `drowse-lab --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    drowse_lab::commands::main()
}
