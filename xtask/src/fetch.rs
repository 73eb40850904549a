//! Says before anything starts what `test` would fetch and store, and asks if a person is there.

use std::io::{self, IsTerminal as _};
use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::process::Job;
use crate::tools::say;

/// The minimum Rust, of which *msrv* needs a compiler.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// How much a run leaves in the target directory.
const STORED: &str = "some 10 GB";

/// Tells what is about to be fetched and stored. Returns `false` if the person at the terminal does
/// not want to fetch it. Without a terminal there is no person to ask, and it is fetched.
pub(crate) fn is_agreed_to(context: &Context) -> bool {
    say(format_args!("builds and reports go to {}: {STORED} in all", context.target.display()));
    if context.offline || has_oldest_compiler(context) {
        return true;
    }
    say(format_args!(
        "the step msrv needs the compiler of Rust {OLDEST}, which is not here: on Debian it fetches 110 MB \
         and unpacks 434 MB there; `--offline`, or `rustup toolchain install {OLDEST}`, avoids that"
    ));
    if !io::stdin().is_terminal() {
        return true;
    }
    say("fetch it? [Y/n]");
    let mut answer = String::new();
    // Without an answer there is no agreement.
    io::stdin().read_line(&mut answer).is_ok_and(|_| !answer.trim().to_lowercase().starts_with('n'))
}

/// Returns `true` if *msrv* would find its compiler: rustup's, or one that it has fetched before.
fn has_oldest_compiler(context: &Context) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args([&format!("+{OLDEST}"), "--version"]);
    let by_rustup =
        Job::new(rustc, Duration::from_secs(60)).run().is_ok_and(|done| done.succeeded());
    by_rustup || context.target_for(&format!("rust-{OLDEST}")).join("complete").exists()
}
