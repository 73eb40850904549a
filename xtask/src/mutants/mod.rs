//! Mutants: a model that does not fail when what it guards is removed proves nothing.
//!
//! Each mutant runs in a process of its own, since a model that fails may abort or hang.

mod pool;
mod table;
mod verdict;

use std::time::Duration;

use crate::context::Context;
use crate::models::{Backend, MUTANT_VARIABLE, ModelBinary};
use crate::outcome::{Outcome, counted, seconds};
use crate::process::{Finished, Job};
use table::{MUTANTS, Mutant};
use verdict::Verdict;

/// How long a model may take to notice a mutant, unless it takes long to pass.
const MUTANT_LIMIT: Duration = Duration::from_secs(60);

/// How long a model may take to pass.
const BASELINE_LIMIT: Duration = Duration::from_secs(600);

/// A model that some mutants are tried on, and what it does without any of them.
#[derive(Debug)]
struct Baseline {
    backend: Backend,
    binary: &'static str,
    model: &'static str,
    /// Where it was built to and how long it takes to pass, or why it does not.
    result: Result<(ModelBinary, Duration), String>,
}

/// What became of one mutant.
#[derive(Debug)]
struct Row {
    mutant: &'static Mutant,
    verdict: Verdict,
    took: Duration,
}

/// Tries all mutants that the user's filter lets pass.
pub(crate) fn run(context: &Context) -> Outcome {
    if MUTANTS.is_empty() {
        return Outcome::failed("no mutants listed");
    }
    let wanted: Vec<&'static Mutant> = MUTANTS.iter().filter(|mutant| context.wants(mutant.name)).collect();
    if wanted.is_empty() {
        return Outcome::failed("no mutant has that in its name");
    }
    let mut binaries = Vec::new();
    for backend in [Backend::Loom, Backend::Shuttle] {
        if wanted.iter().any(|mutant| mutant.backend == backend) {
            match backend.build(context) {
                Ok(built) => binaries.extend(built),
                Err(why) => return Outcome::failed(format!("{}: {why}", backend.name())),
            }
        }
    }

    let mut baselines = distinct_models(&wanted);
    let results = pool::map(&baselines, |base| run_baseline(context, base, &binaries));
    for (baseline, result) in baselines.iter_mut().zip(results) {
        baseline.result = result;
    }
    let rows = pool::map(&wanted, |mutant| {
        let row = run_mutant(context, mutant, &baselines);
        if context.verbose() {
            println!("  {}: {}", mutant.name, row.verdict);
        }
        row
    });
    sum_up(&rows)
}

/// The models of these mutants, each once and not yet tried.
fn distinct_models(mutants: &[&Mutant]) -> Vec<Baseline> {
    let mut models: Vec<Baseline> = Vec::new();
    for mutant in mutants {
        let known = models.iter().any(|base| (base.binary, base.model) == (mutant.binary, mutant.model));
        if !known {
            models.push(Baseline {
                backend: mutant.backend,
                binary: mutant.binary,
                model: mutant.model,
                result: Err("not tried".to_string()),
            });
        }
    }
    models
}

/// Finds the model's binary, and checks that the model is there and passes.
fn run_baseline(
    context: &Context,
    base: &Baseline,
    binaries: &[ModelBinary],
) -> Result<(ModelBinary, Duration), String> {
    let binary = binaries
        .iter()
        .find(|binary| binary.name == base.binary)
        .ok_or_else(|| format!("no test binary {} for {}", base.binary, base.backend.name()))?;
    let done = run_model(context, binary, base.model, None, BASELINE_LIMIT)?;
    verdict::on_baseline(&done)?;
    Ok((binary.clone(), done.took))
}

/// Tries a mutant on its model, which must have passed.
fn run_mutant(context: &Context, mutant: &'static Mutant, baselines: &[Baseline]) -> Row {
    let verdict_and_time = || {
        let base = baselines
            .iter()
            .find(|base| (base.binary, base.model) == (mutant.binary, mutant.model))
            .ok_or("not tried")?;
        let (binary, takes) = base.result.as_ref().map_err(String::as_str)?;
        // A model that is slow to pass may be slow to fail: that is no hang yet.
        let limit = MUTANT_LIMIT.max(*takes * 3);
        let done = run_model(context, binary, mutant.model, Some(mutant.name), limit)?;
        Ok((verdict::on_mutant(&done), done.took))
    };
    let (verdict, took) =
        verdict_and_time().unwrap_or_else(|why: String| (Verdict::Error(why), Duration::ZERO));
    Row { mutant, verdict, took }
}

/// Runs one model in a process of its own.
fn run_model(
    context: &Context,
    binary: &ModelBinary,
    model: &str,
    mutant: Option<&str>,
    limit: Duration,
) -> Result<Finished, String> {
    let mut command = binary.command(context);
    command.args(["--exact", model, "--nocapture", "--test-threads=1"]);
    if let Some(name) = mutant {
        command.env(MUTANT_VARIABLE, name);
    }
    Job::new(command, limit).run().map_err(|error| format!("cannot run {}: {error}", binary.path.display()))
}

/// The table and the count.
fn sum_up(rows: &[Row]) -> Outcome {
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
    report.push(count);
    Outcome::by_failures(survived + errors, detail).with_report(report)
}

/// One aligned line a mutant.
fn table_of(rows: &[Row]) -> Vec<String> {
    /// Longer accounts of a failure are cut.
    const HOW_WIDTH: usize = 60;
    let mut cells = vec![["mutant", "model", "how", "time"].map(String::from)];
    cells.extend(rows.iter().map(|row| {
        [
            row.mutant.name.to_string(),
            format!("{}::{}", row.mutant.binary, row.mutant.model),
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
    use crate::outcome::Status;

    const fn mutant(name: &'static str, model: &'static str) -> Mutant {
        Mutant { name, backend: Backend::Loom, binary: "loom_sleep", model, removes: "the fence" }
    }

    static NO_FENCE: Mutant = mutant("no-fence", "wakes");
    static NO_RECHECK: Mutant = mutant("no-recheck-at-all", "sleeps");

    fn row(mutant: &'static Mutant, verdict: Verdict) -> Row {
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
    fn each_model_is_tried_once_without_mutants() {
        let models = distinct_models(&[&NO_FENCE, &NO_RECHECK, &NO_FENCE]);
        let names: Vec<&str> = models.iter().map(|base| base.model).collect();
        assert_eq!(names, ["wakes", "sleeps"]);
    }
}
