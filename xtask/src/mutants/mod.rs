//! Mutants: a model that does not fail when what it guards is removed proves nothing.
//!
//! Each mutant runs in a process of its own, since a model that fails may abort or hang.

mod subject;
mod table;
mod verdict;

use std::time::Duration;

use crate::context::Context;
use crate::outcome::{Outcome, counted, seconds};
use crate::pool;
use subject::{Subject, Subjects};
use table::Mutant;
use verdict::Verdict;

/// A model that some mutants are tried on, and what it does without any of them.
#[derive(Debug)]
struct Baseline<'a> {
    /// One of the mutants, for the model's name.
    mutant: &'a Mutant,
    /// The model and how long it takes to pass, or why it does not.
    result: Result<(Subject, Duration), Verdict>,
}

/// What became of one mutant.
#[derive(Debug)]
struct Row<'a> {
    mutant: &'a Mutant,
    verdict: Verdict,
    took: Duration,
}

/// Tries all mutants that the user's filter lets pass.
pub(crate) fn run(context: &Context) -> Outcome {
    let mutants = match table::all() {
        Ok(mutants) => mutants,
        Err(why) => return Outcome::failed(why),
    };
    let wanted: Vec<&Mutant> = mutants.iter().filter(|mutant| context.wants(mutant.name)).collect();
    if wanted.is_empty() {
        return Outcome::wrong_call("no mutant has that in its name");
    }
    let subjects = match Subjects::build(context, &wanted) {
        Ok(subjects) => subjects,
        Err(why) => return Outcome::failed(why),
    };
    let baselines = pool::map(&one_of_each_model(&wanted), |mutant| {
        let passing = |subject: Subject| subject.passes(context).map(|takes| (subject, takes));
        Baseline { mutant, result: subjects.of(mutant).and_then(passing) }
    });
    let rows = pool::map(&wanted, |mutant| {
        let row = run_mutant(context, mutant, &baselines);
        if context.verbose() {
            println!("  {}: {}", mutant.name, row.verdict);
        }
        row
    });
    sum_up(&rows)
}

/// For each model the first of these mutants that is tried on it.
fn one_of_each_model<'a>(mutants: &[&'a Mutant]) -> Vec<&'a Mutant> {
    let mut firsts: Vec<&Mutant> = Vec::new();
    for mutant in mutants {
        if !firsts.iter().any(|first| first.model_name() == mutant.model_name()) {
            firsts.push(mutant);
        }
    }
    firsts
}

/// Tries a mutant on its model, which must have passed.
fn run_mutant<'a>(context: &Context, mutant: &'a Mutant, baselines: &[Baseline<'_>]) -> Row<'a> {
    let verdict_and_time = || {
        let base = baselines
            .iter()
            .find(|base| base.mutant.model_name() == mutant.model_name())
            .ok_or_else(|| Verdict::Error("not tried".to_string()))?;
        let (subject, takes) = base.result.as_ref().map_err(Verdict::clone)?;
        subject.try_mutant(context, mutant.name, *takes)
    };
    let (verdict, took) = verdict_and_time().unwrap_or_else(|verdict| (verdict, Duration::ZERO));
    Row { mutant, verdict, took }
}

/// The table and the count.
fn sum_up(rows: &[Row<'_>]) -> Outcome {
    let mut report = table_of(rows);
    let of_kind = |kind: fn(&Verdict) -> bool| rows.iter().filter(move |row| kind(&row.verdict));
    let survivors = of_kind(|verdict| *verdict == Verdict::Survived);
    report.extend(survivors.clone().map(|row| {
        format!(
            "{} SURVIVED: {} still passes without {}",
            row.mutant.name, row.mutant.model, row.mutant.removes
        )
    }));
    let caught = of_kind(|verdict| matches!(verdict, Verdict::Caught(_))).count();
    let errors = of_kind(|verdict| matches!(verdict, Verdict::Error(_))).count();
    let survived = survivors.count();
    let count = format!("{caught} mutants caught, {survived} survived");
    let mut detail = count.clone();
    if errors > 0 {
        let untried = format!("{} could not be tried", counted(errors, "mutant"));
        detail = format!("{detail}; {untried}");
        report.push(untried);
    }
    let skipped = of_kind(|verdict| matches!(verdict, Verdict::Skipped(_))).count();
    if skipped > 0 {
        let notice = format!("{} SKIPPED", counted(skipped, "mutant"));
        detail = format!("{detail}; {notice}");
        report.push(notice);
    }
    report.push(count);
    let outcome = if skipped == rows.len() {
        Outcome::skipped(detail)
    } else {
        Outcome::by_failures(survived + errors, detail)
    };
    outcome.with_report(report)
}

/// One aligned line a mutant.
fn table_of(rows: &[Row<'_>]) -> Vec<String> {
    /// Longer accounts of a failure are cut.
    const HOW_WIDTH: usize = 60;
    let mut cells = vec![["mutant", "model", "how", "time"].map(String::from)];
    cells.extend(rows.iter().map(|row| {
        [
            row.mutant.name.to_string(),
            row.mutant.model_name(),
            row.verdict.to_string().chars().take(HOW_WIDTH).collect(),
            seconds(row.took),
        ]
    }));
    let width = |column: usize| cells.iter().map(|c| c[column].chars().count()).max();
    let [a, b, c, d] = [0, 1, 2, 3].map(|column| width(column).unwrap_or(0));
    cells
        .iter()
        .map(|[name, model, how, time]| format!("  {name:<a$}  {model:<b$}  {how:<c$}  {time:>d$}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Backend;
    use crate::outcome::Status;

    const fn mutant(name: &'static str, model: &'static str) -> Mutant {
        Mutant { name, backend: Backend::Loom, binary: "loom_sleep", model, removes: "the fence" }
    }

    static NO_FENCE: Mutant = mutant("no-fence", "wakes");
    static NO_RECHECK: Mutant = mutant("no-recheck-at-all", "sleeps");

    fn row(mutant: &'static Mutant, verdict: Verdict) -> Row<'static> {
        Row { mutant, verdict, took: Duration::from_millis(1500) }
    }

    fn caught(how: &str) -> Verdict {
        Verdict::Caught(how.to_string())
    }

    #[test]
    fn all_caught_passes_and_ends_with_the_count() {
        let rows = [row(&NO_FENCE, caught("deadlock")), row(&NO_RECHECK, caught("panic: lost"))];
        let outcome = sum_up(&rows);
        assert_eq!(outcome.status, Status::Passed);
        assert_eq!(
            outcome.report,
            [
                "  mutant             model               how           time",
                "  no-fence           loom_sleep::wakes   deadlock     1.5 s",
                "  no-recheck-at-all  loom_sleep::sleeps  panic: lost  1.5 s",
                "2 mutants caught, 0 survived",
            ]
        );
    }

    #[test]
    fn a_survivor_fails() {
        let rows = [row(&NO_FENCE, caught("hang")), row(&NO_RECHECK, Verdict::Survived)];
        let outcome = sum_up(&rows);
        assert_eq!(outcome.status, Status::Failed);
        assert_eq!(outcome.detail, "1 mutants caught, 1 survived");
        assert!(outcome.report[3].contains("still passes without the fence"), "{outcome:?}");
    }

    #[test]
    fn a_mutant_that_could_not_be_tried_fails() {
        let outcome = sum_up(&[row(&NO_FENCE, Verdict::Error("no such model".to_string()))]);
        assert_eq!(outcome.status, Status::Failed);
    }

    #[test]
    fn skipped_mutants_are_counted_and_do_not_fail() {
        let skipped = || Verdict::Skipped("no spin".to_string());
        let outcome = sum_up(&[row(&NO_FENCE, caught("hang")), row(&NO_RECHECK, skipped())]);
        assert_eq!(outcome.status, Status::Passed);
        assert_eq!(outcome.detail, "1 mutants caught, 0 survived; 1 mutant SKIPPED");
        assert_eq!(sum_up(&[row(&NO_FENCE, skipped())]).status, Status::Skipped);
    }

    #[test]
    fn each_model_is_tried_once_without_mutants() {
        static NO_WAKE: Mutant = mutant("no-wake", "wakes");
        assert_eq!(one_of_each_model(&[&NO_FENCE, &NO_RECHECK, &NO_WAKE]), [&NO_FENCE, &NO_RECHECK]);
    }
}
