//! The watchdog of these tests: it tells a test that hangs from one that is starved, and says what
//! the threads do.
#![cfg(target_os = "linux")]

use crate::common::child::{in_child, this_test};
use crate::common::{Patience, pool, tasks, until, watchdog_for};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Patience of the watchdogs that are to bark.
const SHORT: Duration = Duration::from_millis(300);

/// Waits for a message that does not come.
#[inline(never)]
fn wait_in_vain() {
    let (_sender, receiver) = mpsc::channel::<()>();
    receiver.recv().unwrap();
}

#[test]
fn it_says_what_the_threads_of_a_test_do_that_hangs() {
    let ended = in_child(this_test!(), &[], || {
        watchdog_for(Patience::of(SHORT), || {
            thread::Builder::new().name("bystander".into()).spawn(wait_in_vain).unwrap();
            pool(2).install(wait_in_vain);
        });
    });
    assert_eq!(ended.status.code(), Some(101), "{ended:#?}");
    let said = &ended.stderr;
    assert!(
        said.contains("process/watchdog.rs:") && said.contains(" hangs: not done after "),
        "{said}"
    );
    assert!(said.contains(" looks every thread slept") && !said.contains("STARVED"), "{said}");
    // The table: state, seconds, turns and place of each thread.
    let row = said.lines().find(|line| line.contains(" bystander ")).expect("a row of each thread");
    assert_eq!(row.split_whitespace().nth(2), Some("S"), "{row}");
    // The stacks.
    let stack =
        said.split("thread ").find(|stack| stack.contains(" bystander:\n")).expect("its stack");
    assert!(stack.contains("wait_in_vain") && stack.contains("recv"), "{said}");
    let workers = said.split("thread ").filter(|stack| stack.contains("drowse::engine"));
    assert!(workers.count() >= 2, "{said}");
}

/// A process that sleeps until its standard input ends.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(
            Command::new("cat")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .expect("it starts"),
        )
    }

    /// Sends it a signal, and waits until it is in this state.
    fn bring_to(&self, signal: libc::c_int, state: char) {
        // SAFETY: plain numbers. The child has not been waited for, so the number is still its own.
        unsafe { libc::kill(self.0.id() as libc::pid_t, signal) };
        until("it is in this state", || tasks::processes()[1].tasks()[0].state() == Some(state));
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that is stopped stands for one that could run, and does not get a processor.
#[test]
fn it_does_not_count_the_time_without_a_processor() {
    let ended = in_child(this_test!(), &[], || {
        let sleeper = Sleeper::start();
        sleeper.bring_to(libc::SIGSTOP, 'T');
        let (mut patience, begin) = (Patience::of(SHORT), Instant::now());
        while begin.elapsed() < SHORT * 4 {
            assert!(!patience.is_over(), "{patience}");
            thread::park_timeout(Duration::from_millis(10));
        }
        assert!(
            patience.to_string().ends_with("STARVED, on a machine that is too busy"),
            "{patience}"
        );
        // From now on all sleep, and nothing comes of it.
        sleeper.bring_to(libc::SIGCONT, 'S');
        while !patience.is_over() {
            thread::park_timeout(Duration::from_millis(10));
        }
        assert!(patience.to_string().ends_with(" looks every thread slept"), "{patience}");
    });
    ended.assert_done();
}

/// A test that neither ends nor sleeps.
#[test]
fn it_counts_the_time_on_a_processor() {
    let ended = in_child(this_test!(), &[], || {
        let before = tasks::processes()[0].cpu_time().expect("it can be seen");
        watchdog_for(Patience::of(SHORT), move || {
            let used = || tasks::processes()[0].cpu_time().expect("it can be seen") - before;
            // More than enough, although the clock looks now and then only.
            while used() < SHORT * 4 {}
        });
    });
    assert_eq!(ended.status.code(), Some(101), "{ended:#?}");
    assert!(ended.stderr.contains(" hangs: not done after "), "{ended:#?}");
}
