//! What the tests share: a watchdog, and processes with an environment of their own.

#![allow(dead_code)] // each test binary uses a part of it

use std::env;
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// After so long a test hangs. Less than the test runner's own limit, so that we are the ones to
/// say which.
const LIMIT: Duration = Duration::from_secs(25);

/// Tells a process that it is the child, and for which test.
const ROLE: &str = "SHIM_TEST_CHILD";

/// How a child exits that has run its body to the end. Not 0, which is also how one exits that
/// found no such test.
const DONE: i32 = 42;

/// The variables that the cores look at.
const VARIABLES: [&str; 5] =
    ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS", "DROWSE_NUM_THREADS", "DROWSE_SLEEP", "DROWSE_LOG"];

/// Runs the body of a test on a thread of its own, and panics if it does not come back.
#[track_caller]
pub(crate) fn watchdog<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, result) = mpsc::channel();
    let runner = thread::spawn(move || done.send(body()));
    match result.recv_timeout(LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("it hangs: not done after {LIMIT:?}"),
        Err(RecvTimeoutError::Disconnected) => match runner.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("the runner sends before it ends"),
        },
    }
}

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
    command
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().expect("the child starts");
    // It says less than a pipe holds, so that it can be heard when it is done.
    let output = finished(test, child).wait_with_output().expect("the child's words can be read");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        output.status.code(),
        Some(DONE),
        "with {variables:?} the child did not get to the end: {said}"
    );
    said
}

/// Waits for the child, but not forever.
#[track_caller]
fn finished(test: &str, mut child: process::Child) -> process::Child {
    let start = Instant::now();
    while child.try_wait().expect("the child can be asked").is_none() {
        if start.elapsed() > LIMIT {
            child.kill().expect("the child can be killed");
            panic!("the child of {test} hangs: not done after {LIMIT:?}");
        }
        thread::park_timeout(Duration::from_millis(1));
    }
    child
}
