//! ThreadSanitizer: data races anywhere in the runtime.
//!
//! It does not understand fences. Code that publishes through one must use stronger accesses where a build script
//! sees `thread` in `CARGO_CFG_SANITIZE`; the fences themselves are loom's to check.

use std::env;

use super::kit::{NoKit, Toolchain, unpack_debian};
use super::{SELECTION, SLOW_AND_WIDE, TARGET, is_on_target, with_options};
use crate::context::{Context, shout};
use crate::outcome::Outcome;
use crate::steps::TestRun;
use crate::workspace::add_rustflags;

/// Runs the tests with a std that ThreadSanitizer can see into.
pub(crate) fn tsan(context: &Context) -> Outcome {
    if !is_on_target() {
        shout(&format!("ThreadSanitizer is skipped: it needs {TARGET}"));
        return Outcome::skipped(format!("not {TARGET}"));
    }
    let mut toolchain = Toolchain::find(context);
    if toolchain.is_none() && context.may_install() {
        toolchain = match unpack_debian(context) {
            Ok(()) => Toolchain::find(context),
            Err(NoKit::Unavailable) => None,
            Err(NoKit::Failed(why)) => return Outcome::failed(why),
        };
    }
    let Some(toolchain) = toolchain else {
        shout(
            "no toolchain has the sources of its std: ThreadSanitizer is skipped. \
             Get one with: rustup component add rust-src --toolchain nightly; \
             or, on Debian: cargo xtask tsan --install (unpacks rustc-web and rust-web-src under target/)",
        );
        return Outcome::skipped("no toolchain with the sources of std");
    };

    let suppressions = context.workspace().root().join("xtask/src/sanitize/tsan.supp");
    // Workers of a global pool are alive at exit: waiting for them there would cost every test a second.
    let ours = format!("suppressions=\"{}\":history_size=4:atexit_sleep_ms=0", suppressions.display());
    let options = with_options(env::var("TSAN_OPTIONS").ok(), &ours);
    let cargo = |subcommand: &[&str]| {
        let mut command = toolchain.cargo(context);
        command
            .args(subcommand)
            .arg("-Zbuild-std")
            .env("CARGO_TARGET_DIR", context.workspace().target_for("tsan"))
            .env("TSAN_OPTIONS", &options)
            // Symbolizing the backtrace of an expected panic takes half a second here.
            .env("RUST_BACKTRACE", "0")
            .envs(SLOW_AND_WIDE);
        add_rustflags(&mut command, &["-Zsanitizer=thread"]);
        command
    };
    TestRun { cargo, selection: &SELECTION, profile: "sanitize" }.run(context)
}
