//! What the tests share: a watchdog, and processes with an environment of their own.

#![allow(dead_code)] // each test binary uses a part of it

#[path = "../../../../crates/drowse/tests/common/patience.rs"]
mod patience;
#[cfg(target_os = "linux")]
#[path = "../../../../crates/drowse/tests/common/tasks.rs"]
mod tasks;
#[path = "../../../../crates/drowse/tests/common/watchdog.rs"]
mod watchdog;

/// Stacks take signals, hence libc, which the shim does without.
#[cfg(target_os = "linux")]
mod stacks {
    pub(super) fn print_all() {}
}

use std::env;
use std::process::{self, Command};
#[allow(unused_imports)] // each test binary uses a part of it
pub(crate) use watchdog::{output, watchdog};

/// Tells a process that it is the child, and for which test.
const ROLE: &str = "SHIM_TEST_CHILD";

/// How a child exits that has run its body to the end. Not 0, which is also how one exits that
/// found no such test.
const DONE: i32 = 42;

/// The variables that the cores look at.
const VARIABLES: [&str; 5] =
    ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS", "DROWSE_NUM_THREADS", "DROWSE_SLEEP", "DROWSE_LOG"];

/// Runs `body` in a child process, this very test once more, with these environment variables and
/// no others of either core. Panics unless the body gets to its end. Returns what the child wrote
/// to its standard error.
#[track_caller]
pub(crate) fn in_child(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> String {
    if env::var(ROLE).is_ok_and(|role| role == test) {
        body();
        process::exit(DONE);
    }
    let mut command = Command::new(env::current_exe().expect("the test knows its own program"));
    command.args([test, "--exact", "--nocapture"]).env(ROLE, test);
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    let output = output(test, command.envs(variables.iter().copied()));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        output.status.code(),
        Some(DONE),
        "with {variables:?} the child did not get to the end: {said}"
    );
    said
}
