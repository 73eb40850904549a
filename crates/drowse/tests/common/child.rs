//! Tests that need a process of their own: for its environment, or because it is to die.

#![allow(unused_imports, unused_macros)] // not every test binary has children

use super::watchdog::output;
use std::any;
use std::env;
use std::ffi::OsStr;
use std::process::{self, Command, ExitStatus, Output};

/// Tells a process that it is the child, and for which test.
const ROLE: &str = "DROWSE_TEST_CHILD";

/// How a child exits that has run its body to the end. Not 0, which is also how one exits that
/// found no such test.
const DONE: i32 = 42;

/// How a child ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
}

/// The name of the test that this is written in, as the test runner knows it: with its modules.
macro_rules! this_test {
    () => {{
        fn here() {}
        $crate::common::child::name_around(here)
    }};
}
pub(crate) use this_test;

/// The name of the test that a function is declared in, or a closure of the test.
pub(crate) fn name_around<F>(_here: F) -> &'static str {
    let path = any::type_name::<F>().trim_end_matches("::here").trim_end_matches("::{{closure}}");
    path.split_once("::").expect("the crate's name comes first").1
}

/// Runs `body` in a child process, this very test once more, with these environment variables and
/// none of drowse's own. `test` is [`this_test!`].
#[track_caller]
pub(crate) fn in_child(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Ended {
    if env::var_os(ROLE).as_deref() == Some(OsStr::new(test)) {
        body();
        process::exit(DONE);
    }
    let own = env::current_exe().expect("the test knows its own program");
    // Under an emulator, the child needs it too.
    let mut words = env::var_os("DROWSE_TEST_RUNNER").into_iter().chain([own.into_os_string()]);
    let mut command = Command::new(words.next().expect("at least the program"));
    command
        .args(words)
        // On the main thread, so that a test can forbid threads.
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env_remove("DROWSE_NUM_THREADS")
        .env_remove("DROWSE_SLEEP")
        .env_remove("RUST_BACKTRACE")
        .env(ROLE, test)
        .envs(variables.iter().copied());
    let Output { status, stderr, .. } = output(test, &mut command);
    Ended { status, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

impl Ended {
    /// The child ran its body to the end.
    #[track_caller]
    pub(crate) fn assert_done(&self) {
        assert_eq!(self.status.code(), Some(DONE), "the child did not get to the end: {self:#?}");
    }

    /// The child aborted.
    #[track_caller]
    pub(crate) fn assert_aborted(&self) {
        #[cfg(unix)]
        {
            const SIGABRT: i32 = 6;
            let signal = std::os::unix::process::ExitStatusExt::signal(&self.status);
            assert_eq!(signal, Some(SIGABRT), "the child did not abort: {self:#?}");
        }
        // Elsewhere: neither done nor a failed test.
        let code = self.status.code();
        assert!(code != Some(DONE) && code != Some(101), "the child did not abort: {self:#?}");
    }

    /// The lines on the standard error that drowse wrote.
    pub(crate) fn complaints(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("drowse: ")).collect()
    }
}
