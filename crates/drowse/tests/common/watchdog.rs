//! Watchdogs: they end a test that hangs, and say first what its threads do.

use super::patience::Patience;
#[cfg(target_os = "linux")]
use super::{stacks, tasks};
use std::io::{ErrorKind, Read};
use std::panic::{self, AssertUnwindSafe, Location};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Runs the body of a test on a thread of its own, and panics if it does not come back.
#[track_caller]
pub(crate) fn watchdog<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    watch(body, Patience::begin(), || {})
}

/// As [`watchdog`], for a body that makes its thread a worker: the thread stays until the process
/// ends, and with it what the pool has left on it for as long as it lives.
#[track_caller]
pub(crate) fn watchdog_for_life<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    watch(body, Patience::begin(), || {
        loop {
            thread::park();
        }
    })
}

/// As [`watchdog`], with patience of another length.
#[track_caller]
pub(crate) fn watchdog_for<R: Send + 'static>(
    patience: Patience,
    body: impl FnOnce() -> R + Send + 'static,
) -> R {
    watch(body, patience, || {})
}

#[track_caller]
fn watch<R: Send + 'static>(
    body: impl FnOnce() -> R + Send + 'static,
    mut patience: Patience,
    afterwards: impl FnOnce() + Send + 'static,
) -> R {
    let place = Location::caller();
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let (done, outcome) = mpsc::channel();
    let runner = move || {
        let result = panic::catch_unwind(AssertUnwindSafe(body));
        // The receiver is gone if the watchdog has barked.
        let _ = done.send(result);
        afterwards();
    };
    thread::Builder::new().name(test.clone()).spawn(runner).expect("a thread to run the test on");
    match patience.receive(&outcome) {
        Ok(Ok(result)) => result,
        Ok(Err(payload)) => panic::resume_unwind(payload),
        Err(RecvTimeoutError::Timeout) => bark(&format!("{test} at {place} hangs"), &patience),
        Err(RecvTimeoutError::Disconnected) => unreachable!("the runner sends before it ends"),
    }
}

/// Waits for a state by looking again and again. Panics if it does not come.
#[track_caller]
pub(crate) fn until(what: &str, state: impl Fn() -> bool) {
    let mut patience = Patience::begin();
    while !state() {
        if patience.is_over() {
            bark(&format!("waited in vain until {what}"), &patience);
        }
        thread::park_timeout(Duration::from_micros(200));
    }
}

/// Runs a command to its end as [`Command::output`] does, and panics if it does not come to one.
#[track_caller]
pub(crate) fn output(name: &str, command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the child starts");
    let stdout = Heard::from(child.stdout.take().expect("piped"));
    let stderr = Heard::from(child.stderr.take().expect("piped"));
    let mut patience = Patience::begin();
    for pipe in [&stdout, &stderr] {
        if patience.receive(&pipe.end) == Err(RecvTimeoutError::Timeout) {
            let said = format!("{:?}, {:?}", stdout.so_far(), stderr.so_far());
            let what = format!("the child of {name} said {said}, and hangs");
            report(&what, &patience);
            // It may have ended by now, and that is as good.
            let _ = child.kill();
            panic!("{what}: {patience}");
        }
    }
    let status = child.wait().expect("the child has ended");
    Output { status, stdout: stdout.bytes(), stderr: stderr.bytes() }
}

/// Bytes that have come through a pipe.
struct Heard {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when nothing more comes.
    end: Receiver<()>,
}

impl Heard {
    fn from(mut pipe: impl Read + Send + 'static) -> Self {
        let (end, bytes) = (mpsc::channel(), Arc::new(Mutex::new(Vec::new())));
        let heard = Self { bytes: Arc::clone(&bytes), end: end.1 };
        thread::spawn(move || {
            let _end = end.0;
            let mut piece = [0; 4096];
            loop {
                match pipe.read(&mut piece) {
                    Ok(length @ 1..) => bytes.lock().unwrap().extend_from_slice(&piece[..length]),
                    // By the signal that asks for stacks.
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    _ => return,
                }
            }
        });
        heard
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

/// Reports what the threads do, and panics.
#[track_caller]
fn bark(what: &str, patience: &Patience) -> ! {
    report(what, patience);
    panic!("{what}: {patience}");
}

/// Writes to the standard error what the threads of this process do, and those of the processes
/// that it has started. What takes longest comes last, as the test runner may not wait for it.
pub(crate) fn report(what: &str, patience: &Patience) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!("{what}: {patience}");
    #[cfg(target_os = "linux")]
    {
        eprintln!("{}", tasks::table());
        // A thread that is starved would take long to write its stack, which says nothing.
        if !patience.is_starved() {
            stacks::print_all();
        }
    }
}
