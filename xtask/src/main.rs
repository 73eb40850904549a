//! Everything that is run around drowse's code: `cargo xtask <command>`.
//!
//! It assumes a stable Rust toolchain and nothing else. A tool that is missing is replaced or skipped, and one line
//! says how to get it.

mod browser;
mod cli;
mod context;
mod json;
mod models;
mod mutants;
mod outcome;
mod pool;
mod process;
mod run;
mod sanitize;
mod step;
mod steps;
mod tidy;
mod tools;
mod upstream;
mod workspace;

use std::env;
use std::process::ExitCode;

use cli::Request;

fn main() -> ExitCode {
    process::end_children_on_signal();
    match cli::parse(env::args().skip(1)) {
        Ok(Request::Help) => {
            print!("{}", cli::help());
            ExitCode::SUCCESS
        }
        Ok(Request::Test(options)) => run::all(options),
        Ok(Request::One(step, options)) => run::one(step, options),
        Err(mistake) => {
            eprintln!("xtask: {mistake}");
            ExitCode::from(2)
        }
    }
}
