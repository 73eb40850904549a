//! One cell in a process of its own.

use super::external;
use super::noise::Ticks;
use crate::child;
use crate::plan::Place;
use crate::platform::interrupt::{self, Ward};
use crate::schema::{Figures, Outcome};
use std::env;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long to wait for a program that has nothing to measure.
const SHORT: Duration = Duration::from_secs(5);

/// What came of a process.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// Figures, and whether the machine was busy with something else during that time.
    Figures(Figures, bool),
    /// The contender cannot do this. Asking again would not help.
    Cannot(String),
    /// It should have answered, and did not; or its result was wrong.
    Failed(String),
}

/// Why there is no use in running it, as far as that is known before.
pub(super) fn cannot(place: &Place) -> Option<String> {
    if let Some(reason) = child::cannot(&place.workload, &place.contender) {
        return Some(reason);
    }
    external::find(&place.contender)?;
    // A program of other sources says so whatever the workload; one of ours only that there is none
    // of this name.
    let nothing = Place { workload: "none".to_owned(), ..place.clone() };
    match ask(&nothing, Duration::ZERO, SHORT) {
        Answer::Cannot(reason) => Some(reason),
        Answer::Figures(..) | Answer::Failed(_) => None,
    }
}

/// Runs it, and waits no longer than so.
pub(super) fn ask(place: &Place, time: Duration, patience: Duration) -> Answer {
    let program = match program(place) {
        Ok(program) => program,
        Err(reason) => return Answer::Cannot(reason),
    };
    let mut command = Command::new(program);
    command
        .arg("child")
        .args(["--workload", &place.workload])
        .args(["--contender", &place.contender]);
    command
        .args(["--threads", &place.threads.to_string()])
        .args(["--time-us", &time.as_micros().to_string()]);
    if external::find(&place.contender).is_some() {
        command.args(["--sources", external::SOURCES]);
    }
    // What the user's shell says about threads and protocols is not for the contenders.
    for name in ["DROWSE_SLEEP", "DROWSE_NUM_THREADS", "RAYON_NUM_THREADS", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    let before = Ticks::now();
    let said = said(command, patience);
    let noisy = Ticks::noisy(before, Ticks::now());
    match said {
        Err(reason) => Answer::Failed(reason),
        Ok(text) => match serde_json::from_str(&text) {
            Ok(Outcome::Figures(figures)) => Answer::Figures(figures, noisy),
            // What `child` says of a panic; all else is a contender's own word.
            Ok(Outcome::None { reason }) if reason.starts_with("it panicked") => {
                Answer::Failed(reason)
            }
            Ok(Outcome::None { reason }) => Answer::Cannot(reason),
            Err(error) => Answer::Failed(format!("its answer makes no sense: {error}")),
        },
    }
}

fn program(place: &Place) -> Result<PathBuf, String> {
    match external::find(&place.contender) {
        Some(external) => external.program(),
        None => {
            env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))
        }
    }
}

/// What it wrote to its standard output, if it ended well and in time.
fn said(mut command: Command, patience: Duration) -> Result<String, String> {
    if interrupt::stopped().is_some() {
        return Err("the run was stopped".to_owned());
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut ward =
        Ward::spawn(&mut command).map_err(|error| format!("it could not be started: {error}"))?;
    let output = collect(ward.child().stdout.take());
    let complaints = collect(ward.child().stderr.take());
    let text = match output.recv_timeout(patience) {
        Ok(text) => text,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            drop(ward);
            return Err(format!("no answer within {} s", patience.as_secs_f64()));
        }
    };
    let status = ward.wait().map_err(|error| format!("it was lost: {error}"))?;
    if status.success() {
        return Ok(text);
    }
    // Its other pipe ends with it.
    let complaints = complaints.recv_timeout(Duration::from_secs(10)).unwrap_or_default();
    Err(died(status, &complaints))
}

fn died(status: ExitStatus, complaints: &str) -> String {
    let lines = complaints.lines().map(str::trim).filter(|line| !line.is_empty());
    match lines.rev().find(|line| !line.starts_with("note:")) {
        Some(line) => format!("its process died ({status}): {line}"),
        None => format!("its process died ({status})"),
    }
}

/// Reads to the end on a thread of its own, so that neither pipe can fill up while we wait for the
/// other.
pub(crate) fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (done, text) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = done.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    text
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        said(command, patience)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_it_says_is_heard() {
        assert_eq!(shell("echo yes", LONG), Ok("yes\n".to_owned()));
    }

    #[test]
    fn a_death_is_told_with_its_last_words() {
        let told = shell("echo first >&2; echo last >&2; echo 'note: read more' >&2; exit 3", LONG)
            .unwrap_err();
        assert!(told.contains("exit status: 3") && told.ends_with(": last"), "{told}");
        let told = shell("kill -9 $$", LONG).unwrap_err();
        assert!(told.contains("signal: 9"), "{told}");
    }

    #[test]
    fn who_does_not_answer_is_ended() {
        let told = shell("exec sleep 1000", Duration::from_millis(50)).unwrap_err();
        assert_eq!(told, "no answer within 0.05 s");
    }

    #[test]
    fn a_program_that_is_not_there() {
        let told = said(Command::new("no/such/program"), LONG).unwrap_err();
        assert!(told.starts_with("it could not be started"), "{told}");
    }
}
