//! What running, capturing and ending children must do, tried on `sh`.

use super::*;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn both_streams_are_captured_in_order() {
    let done = Job::new(sh("echo one; echo two >&2; echo three"), LONG).run().unwrap();
    assert!(done.succeeded());
    assert_eq!(done.output, "one\ntwo\nthree\n");
    assert_eq!(done.stdout, "");
}

#[test]
fn stdout_can_be_kept_apart() {
    let done = Job::new(sh("echo one; echo two >&2; echo three"), LONG).stdout_apart().run().unwrap();
    assert_eq!(done.output, "two\n");
    assert_eq!(done.stdout, "one\nthree\n");
}

#[test]
fn a_bad_exit_is_no_success() {
    let done = Job::new(sh("exit 3"), LONG).run().unwrap();
    assert!(!done.succeeded());
    assert_eq!(done.how_it_ended(), "exit status: 3");
}

#[test]
fn a_death_by_signal_is_no_success() {
    let done = Job::new(sh("kill -ABRT $$"), LONG).run().unwrap();
    assert!(!done.succeeded());
    assert!(done.how_it_ended().contains("signal: 6"), "{done:?}");
}

#[test]
fn a_missing_program_is_an_error() {
    let job = Job::new(Command::new("no-such-program-anywhere"), LONG);
    assert_eq!(job.run().unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_hang_is_ended_and_names_the_last_output() {
    let done = Job::new(sh("echo test lost_wakeup; sleep 60"), SHORT).run().unwrap();
    assert_eq!(done.ending, Ending::TimedOut(SHORT));
    assert!(!done.succeeded());
    assert!(done.took < LONG);
    assert!(done.how_it_ended().ends_with("last output: test lost_wakeup"), "{done:?}");
}

#[test]
fn a_time_out_ends_grandchildren_too() {
    // The grandchild says who it is; the child waits for it.
    let done = Job::new(sh("sh -c 'echo $$; exec sleep 60' & wait"), SHORT).run().unwrap();
    let grandchild = done.output.trim();
    assert_ne!(grandchild, "");
    assert_ended(grandchild);
}

#[test]
fn a_time_out_ends_those_who_will_not() {
    let done = Job::new(sh("trap '' TERM; echo $$; sleep 60; sleep 60"), SHORT).run().unwrap();
    assert_eq!(done.ending, Ending::TimedOut(SHORT));
    assert_ended(done.output.trim());
}

#[test]
fn a_grandchild_that_lives_on_is_not_waited_for() {
    let done = Job::new(sh("sleep 5 & echo done"), LONG).run().unwrap();
    assert!(done.succeeded());
    assert_eq!(done.output, "done\n");
    assert!(done.took < Duration::from_secs(5));
}

#[test]
fn the_last_words_prefer_the_slow_test() {
    let output = "test a ... ok\ntest b has been running for over 60 seconds\ntest c ... ok\n\n";
    assert_eq!(last_words(output), "test b has been running for over 60 seconds");
    assert_eq!(last_words("test a ... ok\ntest c ... ok\n\n"), "test c ... ok");
    assert_eq!(last_words("\n"), "(none)");
}

/// Fails unless the process ends soon. An orphan that has ended may stay in the table, as a zombie.
fn assert_ended(id: &str) {
    let is_alive = format!("kill -0 {id} && case $(ps -o stat= -p {id} || echo unknown) in Z*) false;; esac");
    for _ in 0..100 {
        if !Job::new(sh(&is_alive), LONG).run().unwrap().succeeded() {
            return;
        }
        thread::sleep(POLL);
    }
    panic!("process {id} is still alive");
}
