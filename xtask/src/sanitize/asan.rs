//! AddressSanitizer and LeakSanitizer: jobs live on stacks, and somebody else holds the pointer.

use std::env;

use super::{SELECTION, SLOW_AND_WIDE, TARGET, is_on_target, with_options};
use crate::context::{Context, shout};
use crate::outcome::Outcome;
use crate::steps::TestRun;
use crate::tools::Tool;
use crate::workspace::add_rustflags;

/// Runs the tests with a nightly's AddressSanitizer.
pub(crate) fn asan(context: &Context) -> Outcome {
    if !is_on_target() {
        shout(&format!("AddressSanitizer is skipped: it needs {TARGET}"));
        return Outcome::skipped(format!("not {TARGET}"));
    }
    if !Tool::Nightly.is_there(context, "AddressSanitizer is skipped") {
        return Outcome::skipped("no nightly toolchain");
    }
    let options = with_options(env::var("ASAN_OPTIONS").ok(), "detect_stack_use_after_return=1");
    let cargo = |subcommand: &[&str]| {
        let mut command = context.workspace().cargo_of("nightly", []);
        command
            .args(subcommand)
            .env("CARGO_TARGET_DIR", context.workspace().target_for("asan"))
            .env("ASAN_OPTIONS", &options)
            .envs(SLOW_AND_WIDE);
        add_rustflags(&mut command, &["-Zsanitizer=address"]);
        command
    };
    TestRun { cargo, selection: &SELECTION, profile: "sanitize" }.run(context)
}
