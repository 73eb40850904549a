//! Mutants: a model that does not fail when what it guards is removed proves nothing.
//!
//! Each mutant runs in a process of its own, since a model that fails may abort or hang.

pub(crate) mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::context::Context;
use crate::models::{Backend, MUTANT_VARIABLE, ModelBinary, map};
use crate::outcome::{Outcome, Status, counted, seconds};
use crate::process::{Finished, Job};
use crate::spin::{self, Promela};
use crate::steps::Counts;
use crate::tools::say;
use table::Mutant;

/// How long a model may take to notice a mutant, unless it takes long to pass.
const MUTANT_LIMIT: Duration = Duration::from_secs(60);

/// How long the slowest model may take to pass, where that is not measured.
const SLOWEST_MODEL: Duration = Duration::from_secs(60);

/// How long a model may take to pass.
const BASELINE_LIMIT: Duration = Duration::from_secs(600);

/// What a model complains about, if anything; or why that cannot be told.
type Verdict = Result<Option<String>, String>;

/// All models there are for the backends of some mutants.
#[derive(Debug, Default)]
struct Models {
    binaries: Vec<ModelBinary>,
    promela: Vec<Promela>,
}

/// What became of one mutant.
#[derive(Debug)]
struct Row {
    mutant: Mutant,
    verdict: Verdict,
    took: Duration,
}

/// Tries all mutants that the user's filter lets pass.
pub(crate) fn run(context: &Context) -> Result<Outcome, Outcome> {
    let mut mutants = table::all()?;
    mutants.retain(|mutant| context.wants(mutant.name) || context.wants(mutant.model));
    let wanted = mutants.len();
    if wanted == 0 {
        return Err(
            Status::WrongCall.with("no mutant has that in its name, or in that of its model")
        );
    }
    if mutants.iter().any(|mutant| mutant.backend == Backend::Spin) && !spin::is_there() {
        mutants.retain(|mutant| mutant.backend != Backend::Spin);
    }
    let models = Models::build(context, &mutants)?;
    // Each model is tried once without a mutant; but for a run of all steps, in which the models
    // have had a step of their own.
    let names: Vec<&str> =
        mutants.iter().map(|mutant| mutant.model).collect::<BTreeSet<_>>().into_iter().collect();
    let baseline = |name: &&str| match models.try_one(context, name, None, BASELINE_LIMIT) {
        (Ok(None), took) => Ok(took),
        (Ok(Some(how)), _) => Err(format!("the model fails without any mutant: {how}")),
        (Err(why), _) => Err(why),
    };
    let baselines = match context.is_whole {
        true => vec![Ok(SLOWEST_MODEL); names.len()],
        false => map("models without a mutant", &names, baseline),
    };
    let baselines: BTreeMap<&str, Result<Duration, String>> =
        names.into_iter().zip(baselines).collect();
    let rows = map("mutants", &mutants, |mutant| {
        let (verdict, took) = match &baselines[mutant.model] {
            // A model that is slow to pass may be slow to fail: that is no hang yet.
            Ok(passes_in) => models.try_one(
                context,
                mutant.model,
                Some(mutant.name),
                MUTANT_LIMIT.max(*passes_in * 3),
            ),
            Err(why) => (Err(why.clone()), Duration::ZERO),
        };
        if context.verbose {
            say(format_args!("  {}: {}", mutant.name, how(&verdict)));
        }
        Row { mutant: *mutant, verdict, took }
    });
    Ok(sum_up(&rows, wanted - rows.len()))
}

impl Models {
    /// Builds what these mutants need. The error says what does not build.
    fn build(context: &Context, mutants: &[Mutant]) -> Result<Self, String> {
        let needed = |backend| mutants.iter().any(|mutant| mutant.backend == backend);
        let mut models = Self::default();
        for backend in Backend::OF_CODE.into_iter().filter(|backend| needed(*backend)) {
            models.binaries.extend(backend.build(context)?);
        }
        if needed(Backend::Spin) {
            models.promela = spin::all(context)?;
        }
        Ok(models)
    }

    /// Runs the model of this name, with a mutant if any. Returns how long it took too.
    fn try_one(
        &self,
        context: &Context,
        name: &str,
        mutant: Option<&str>,
        limit: Duration,
    ) -> (Verdict, Duration) {
        if let Some(model) = self.promela.iter().find(|model| model.name() == name) {
            return match model.search(context, mutant) {
                Ok(search) => (Ok(search.complaint), search.took),
                Err(why) => (Err(why), Duration::ZERO),
            };
        }
        let (binary, test) = name.split_once("::").unwrap_or((name, ""));
        let Some(binary) = self.binaries.iter().find(|built| built.name == binary) else {
            return (Err(format!("there is no {name}")), Duration::ZERO);
        };
        let mut command = binary.command(context);
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        command.envs(mutant.map(|name| (MUTANT_VARIABLE, name)));
        match Job::new(command, limit).run() {
            Ok(done) => (complaint(&done), done.took),
            Err(error) => {
                (Err(format!("cannot run {}: {error}", binary.path.display())), Duration::ZERO)
            }
        }
    }
}

/// What a model's process complains about that has ended.
fn complaint(done: &Finished) -> Verdict {
    match done.status {
        None => Ok(Some("hang".to_string())),
        Some(status) if status.success() => match Counts::of(&done.output).passed {
            1 => Ok(None),
            0 => Err("there is no such model".to_string()),
            many => Err(format!("the name means {many} models")),
        },
        Some(status) => Ok(Some(match panic_message(&done.output) {
            Some(message) if message.to_lowercase().starts_with("deadlock") => {
                "deadlock".to_string()
            }
            Some(message) => format!("panic: {message}"),
            None => status.to_string(),
        })),
    }
}

/// The first line of the first panic's message. It stands on the line after the place.
fn panic_message(output: &str) -> Option<&str> {
    let is_panic = |line: &&str| line.starts_with("thread ") && line.contains(" panicked at ");
    output.lines().skip_while(|line| !is_panic(line)).nth(1).map(str::trim)
}

/// How a mutant was caught, or that it was not.
fn how(verdict: &Verdict) -> String {
    match verdict {
        Ok(Some(how)) => how.clone(),
        Ok(None) => "SURVIVED".to_string(),
        Err(why) => format!("ERROR: {why}"),
    }
}

/// The table and the count.
fn sum_up(rows: &[Row], skipped: usize) -> Outcome {
    let mut report = table_of(rows);
    for Row { mutant, .. } in rows.iter().filter(|row| row.verdict == Ok(None)) {
        report.push(format!(
            "{} SURVIVED: {} still passes without {}",
            mutant.name, mutant.model, mutant.removes
        ));
    }
    let caught = rows.iter().filter(|row| matches!(row.verdict, Ok(Some(_)))).count();
    let errors = rows.iter().filter(|row| row.verdict.is_err()).count();
    let mut detail = format!("{caught} mutants caught, {} survived", rows.len() - caught - errors);
    if errors > 0 {
        detail += &format!("; {} could not be tried", counted(errors, "mutant"));
    }
    if skipped > 0 {
        detail += &format!("; {} SKIPPED", counted(skipped, "mutant"));
    }
    report.push(detail.clone());
    let status = match rows.len() {
        0 => Status::Skipped,
        all if all == caught => Status::Passed,
        _ => Status::Failed,
    };
    status.with(detail).with_report(report)
}

/// One aligned line a mutant.
fn table_of(rows: &[Row]) -> Vec<String> {
    /// Longer accounts of a failure are cut.
    const HOW_WIDTH: usize = 60;
    let mut cells = vec![["mutant", "model", "how", "time"].map(String::from)];
    cells.extend(rows.iter().map(|Row { mutant, verdict, took }| {
        let how = how(verdict).chars().take(HOW_WIDTH).collect();
        [mutant.name.to_string(), mutant.model.to_string(), how, seconds(*took)]
    }));
    let width =
        |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [a, b, c, d] = [0, 1, 2, 3].map(width);
    let line = |[name, model, how, time]: &[String; 4]| {
        format!("  {name:<a$}  {model:<b$}  {how:<c$}  {time:>d$}")
    };
    cells.iter().map(line).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::env;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn caught(how: &str) -> Verdict {
        Ok(Some(how.to_string()))
    }

    #[test]
    fn the_end_of_a_process_tells_what_became_of_the_mutant() {
        const ABORTED: i32 = 6;
        const FAILED: i32 = 101 << 8;
        let ended = |raw: i32, output: &str| {
            let status = Some(ExitStatus::from_raw(raw));
            Finished {
                status,
                output: output.to_string(),
                stdout: String::new(),
                took: Duration::ZERO,
            }
        };
        let panic = |message: &str| {
            format!("running 1 test\n\nthread 'm' (1) panicked at a.rs:3:5:\n{message}\nmore\n")
        };
        assert_eq!(
            complaint(&ended(FAILED, &panic("the job was lost"))),
            caught("panic: the job was lost")
        );
        assert_eq!(
            complaint(&ended(ABORTED, &panic("deadlock; threads = [..]"))),
            caught("deadlock")
        );
        assert_eq!(
            complaint(&ended(FAILED, &panic("deadlock! blocked tasks: []"))),
            caught("deadlock")
        );
        assert_eq!(complaint(&ended(ABORTED, "")), caught("signal: 6 (SIGABRT)"));
        assert_eq!(complaint(&Finished { status: None, ..ended(0, "") }), caught("hang"));

        let result = |n| format!("test result: ok. {n} passed; 0 failed; 0 ignored; 0 measured");
        assert_eq!(complaint(&ended(0, &result(1))), Ok(None));
        for wrong in [ended(0, &result(0)), ended(0, &result(2)), ended(0, "")] {
            assert!(complaint(&wrong).is_err(), "{wrong:?}");
        }
    }

    /// The model of the test below, which runs this very binary.
    #[test]
    fn stand_in() {
        assert!(env::var_os(MUTANT_VARIABLE).is_none(), "the mutant was noticed");
    }

    #[test]
    fn a_test_binary_passes_without_a_mutant_and_fails_with_it() {
        let context = Context::new(false, false, false, None);
        let binary = ModelBinary { name: "loom_x".to_string(), path: env::current_exe().unwrap() };
        let models = Models { binaries: vec![binary], promela: Vec::new() };
        let verdict = |name, mutant| models.try_one(&context, name, mutant, MUTANT_LIMIT).0;
        let model = "loom_x::mutants::tests::stand_in";
        assert_eq!(verdict(model, None), Ok(None));
        assert_eq!(verdict(model, Some("x")), caught("panic: the mutant was noticed"));
        assert_eq!(verdict("loom_x::absent", None), Err("there is no such model".to_string()));
        assert_eq!(
            verdict("loom_y::stand_in", None),
            Err("there is no loom_y::stand_in".to_string())
        );
    }

    #[test]
    fn survivors_and_errors_fail_and_skipped_mutants_do_not() {
        let sum = |verdicts: &[Verdict], skipped| {
            let mutant = table::all().unwrap()[0];
            let row =
                |verdict: &Verdict| Row { mutant, verdict: verdict.clone(), took: Duration::ZERO };
            sum_up(&verdicts.iter().map(row).collect::<Vec<_>>(), skipped)
        };
        let outcome = sum(&[caught("hang")], 1);
        assert_eq!(outcome.status, Status::Passed);
        assert_eq!(outcome.detail, "1 mutants caught, 0 survived; 1 mutant SKIPPED");
        let outcome = sum(&[caught("hang"), Ok(None)], 0);
        assert_eq!(
            (outcome.status, outcome.detail.as_str()),
            (Status::Failed, "1 mutants caught, 1 survived")
        );
        assert!(outcome.report[3].contains("still passes without"), "{outcome:?}");
        assert_eq!(sum(&[Err("gone".to_string())], 0).status, Status::Failed);
        assert_eq!(sum(&[], 1).status, Status::Skipped);
    }
}
