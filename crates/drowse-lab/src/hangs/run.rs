//! A program in a process of its own, and what came of it.

use super::{Ended, Program, Who};
use crate::platform;
use crate::platform::interrupt::Ward;
use crate::runner::collect;
use crate::stats::figure;
use serde::{Deserialize, Serialize};
use std::env;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// One process, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Who ran the program.
    pub who: Who,
    /// What came of it.
    pub verdict: Verdict,
}

/// What came of a process.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Verdict {
    /// It came to its end.
    Finished {
        /// After so many milliseconds.
        ms: f64,
        /// What it has to say, or nothing.
        note: String,
    },
    /// It came to its end, and that is not as it should be.
    Wrong {
        /// Why.
        note: String,
    },
    /// It had to be ended.
    Hangs {
        /// Why somebody thinks so.
        note: String,
    },
    /// A panic has ended it.
    Panicked {
        /// What it said.
        note: String,
    },
    /// A signal has ended it: it has aborted, or used memory that it does not have.
    Aborted {
        /// Which, and what it said.
        note: String,
    },
    /// It was not to be had.
    Failed {
        /// Why.
        note: String,
    },
}

impl Verdict {
    /// In a word or two.
    pub fn short(&self) -> String {
        match self {
            Self::Finished { ms, .. } => figure(*ms, "ms"),
            Self::Wrong { .. } => "wrong".to_owned(),
            Self::Hangs { .. } => "hangs".to_owned(),
            Self::Panicked { .. } => "panics".to_owned(),
            Self::Aborted { .. } => "aborts".to_owned(),
            Self::Failed { .. } => "?".to_owned(),
        }
    }

    /// What else there is to say.
    pub fn note(&self) -> &str {
        match self {
            Self::Finished { note, .. }
            | Self::Wrong { note }
            | Self::Hangs { note }
            | Self::Panicked { note }
            | Self::Aborted { note }
            | Self::Failed { note } => note,
        }
    }

    /// Whether it came to its end as it should.
    pub fn is_well(&self) -> bool {
        matches!(self, Self::Finished { .. })
    }
}

/// What a process says that has come to its end.
#[derive(Debug, Serialize, Deserialize)]
pub struct Said {
    ms: f64,
    ended: Ended,
}

/// Runs the program here. `None` if there is no such cure.
pub fn here(program: &Program, who: Who) -> Option<Said> {
    let run = match who {
        Who::Rayon => program.rayon,
        Who::Drowse => program.drowse,
        Who::Cured(_) => program.cure(who)?.run,
    };
    // What is about to crash need not leave its memory behind.
    platform::leave_no_core();
    let begin = Instant::now();
    let ended = run();
    Some(Said { ms: begin.elapsed().as_secs_f64() * 1e3, ended })
}

/// Runs it in a process of its own, and waits no longer than so.
pub fn run(program: &Program, who: Who, patience: Duration) -> Run {
    let verdict = ask(program, who, patience).unwrap_or_else(|note| Verdict::Failed { note });
    Run { who, verdict }
}

fn ask(program: &Program, who: Who, patience: Duration) -> Result<Verdict, String> {
    let lab =
        env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?;
    let mut command = Command::new(lab);
    command.args(["hangs-child", "--program", program.name, "--who", &who.to_word()]);
    // What the user's shell says about threads is not for the programs.
    for (name, _) in env::vars_os() {
        let of_a_runtime = |prefix| name.to_str().is_some_and(|name| name.starts_with(prefix));
        if ["DROWSE_", "RAYON_", "RUST_"].into_iter().any(of_a_runtime) {
            command.env_remove(name);
        }
    }
    let cure = program.cure(who).map_or(&[][..], |cure| cure.variables);
    command.envs(program.variables.iter().chain(cure).copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    verdict(command, patience)
}

fn verdict(mut command: Command, patience: Duration) -> Result<Verdict, String> {
    let mut ward =
        Ward::spawn(&mut command).map_err(|error| format!("it could not be started: {error}"))?;
    let (said, complaints) =
        (collect(ward.child().stdout.take()), collect(ward.child().stderr.take()));
    let Ok(said) = said.recv_timeout(patience) else {
        return Ok(Verdict::Hangs { note: format!("not done after {} s", patience.as_secs_f64()) });
    };
    let status = ward.wait().map_err(|error| format!("it was lost: {error}"))?;
    if status.success() {
        let said: Said =
            serde_json::from_str(&said).map_err(|error| format!("it makes no sense: {error}"))?;
        return Ok(match said.ended {
            Ok(note) => Verdict::Finished { ms: said.ms, note },
            Err(note) => Verdict::Wrong { note },
        });
    }
    // Its other pipe ends with it.
    let complaints = complaints.recv_timeout(Duration::from_secs(10)).unwrap_or_default();
    died(status, &complaints)
}

fn died(status: ExitStatus, complaints: &str) -> Result<Verdict, String> {
    let lines = || complaints.lines().map(str::trim).filter(|line| !line.is_empty());
    if let Some(name) = platform::what_killed(status) {
        let last = lines().rev().find(|line| !line.starts_with("note:"));
        return Ok(Verdict::Aborted {
            note: last.map_or(name.clone(), |line| format!("{name}: {line}")),
        });
    }
    /// How a process ends whose main thread has panicked.
    const PANIC: i32 = 101;
    if status.code() == Some(PANIC) {
        let message = lines().skip_while(|line| !line.contains("panicked at")).nth(1);
        return Ok(Verdict::Panicked { note: message.unwrap_or("it did not say why").to_owned() });
    }
    Err(format!("it ended with {status}: {}", lines().next_back().unwrap_or("not a word")))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Verdict {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        verdict(command, patience).unwrap_or_else(|note| Verdict::Failed { note })
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn who_comes_to_an_end_says_how() {
        let well = shell(r#"echo '{"ms": 1.5, "ended": {"Ok": "soon"}}'"#, LONG);
        assert_eq!(well, Verdict::Finished { ms: 1.5, note: "soon".to_owned() });
        assert!(well.is_well());
        let wrong = shell(r#"echo '{"ms": 1.5, "ended": {"Err": "late"}}'"#, LONG);
        assert_eq!(wrong, Verdict::Wrong { note: "late".to_owned() });
        assert!(!wrong.is_well());
    }

    #[test]
    fn who_does_not_come_to_an_end_is_told_apart() {
        assert_eq!(
            shell("exec sleep 1000", Duration::from_millis(50)).note(),
            "not done after 0.05 s"
        );
        let panic = "echo \"thread 'main' (1) panicked at src/main.rs:1:1:\" >&2; echo bad dream >&2; exit 101";
        assert_eq!(shell(panic, LONG), Verdict::Panicked { note: "bad dream".to_owned() });
        let abort = "echo 'stack overflow' >&2; echo 'note: read more' >&2; kill -ABRT $$";
        assert_eq!(
            shell(abort, LONG),
            Verdict::Aborted { note: "SIGABRT: stack overflow".to_owned() }
        );
        assert!(
            matches!(shell("exit 3", LONG), Verdict::Failed { note } if note.contains("status: 3"))
        );
        assert!(
            matches!(shell("echo yes", LONG), Verdict::Failed { note } if note.contains("no sense"))
        );
    }
}
