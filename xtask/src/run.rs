//! Runs steps, says so, and turns how they came out into an exit code.

use std::process::ExitCode;
use std::time::Instant;

use crate::cli::Options;
use crate::context::Context;
use crate::outcome::{Entry, Outcome, Status, seconds, summary};
use crate::step::Step;

/// Runs every step of `test`, whatever the earlier ones said, and sums up.
pub(crate) fn all(options: Options) -> ExitCode {
    let context = Context::new(options);
    let started = Instant::now();
    let steps = Step::of_test();
    let mut entries = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let label = format!("[{:>2}/{}] {}", index + 1, steps.len(), step.name());
        let (entry, outcome) = announced(*step, &label, &context);
        if context.verbose() || outcome.status == Status::Failed {
            print_report(&outcome);
        }
        entries.push(entry);
    }
    println!();
    print!("{}", summary(&entries, started.elapsed()));
    exit_code(entries.iter().map(|entry| entry.status))
}

/// Runs one step, with its report at the end.
pub(crate) fn one(step: Step, options: Options) -> ExitCode {
    let context = Context::new(options);
    let (_, outcome) = announced(step, step.name(), &context);
    print_report(&outcome);
    exit_code([outcome.status].into_iter())
}

/// Runs a step between two lines that say that it starts and how it ended.
fn announced(step: Step, label: &str, context: &Context) -> (Entry, Outcome) {
    println!("{label} ...");
    let started = Instant::now();
    let outcome = step.run(context);
    let entry = Entry {
        name: step.name(),
        status: outcome.status,
        took: started.elapsed(),
        detail: outcome.detail.clone(),
    };
    let end = format!("{label} {} in {}  {}", entry.status.word(), seconds(entry.took), entry.detail);
    println!("{}", end.trim_end());
    (entry, outcome)
}

fn print_report(outcome: &Outcome) {
    for line in &outcome.report {
        println!("{line}");
    }
}

/// 2 for a wrong call, 1 if anything failed.
fn exit_code(statuses: impl Iterator<Item = Status>) -> ExitCode {
    let code = |status| match status {
        Status::Passed | Status::Skipped => 0,
        Status::Failed => 1,
        Status::WrongCall => 2,
    };
    ExitCode::from(statuses.map(code).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_step_decides_the_exit_code() {
        use Status::{Failed, Passed, Skipped, WrongCall};
        let code = |statuses: &[Status]| exit_code(statuses.iter().copied());
        assert_eq!(code(&[Passed, Failed, Passed]), ExitCode::from(1));
        assert_eq!(code(&[Passed, Skipped]), ExitCode::SUCCESS);
        assert_eq!(code(&[WrongCall]), ExitCode::from(2));
    }
}
