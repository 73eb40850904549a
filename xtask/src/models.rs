//! The models of `drowse-models`, under loom and shuttle.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::context::{BUILD_LIMIT, Context, add_rustflags};
use crate::outcome::{Outcome, Parts, Status, counted, seconds};
use crate::progress;
use crate::steps::{Counts, executables};

/// More than all models of one test binary should take.
const RUN_LIMIT: Duration = Duration::from_secs(30 * 60);

/// What takes longest begins first, so that it is not what all wait for at the end.
const SLOW: [&str; 4] = ["loom_engine", "loom_inject", "loom_two_sleepers", "loom_deque"];

/// The environment variable that names a mutant to the code under test.
pub(crate) const MUTANT_VARIABLE: &str = "DROWSE_MUTANT";

/// What explores a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Backend {
    /// All executions of the code under weak memory, of few threads.
    Loom,
    /// Many random executions of the code under sequential consistency, of many threads.
    Shuttle,
    /// All executions of a description in Promela, under sequential consistency.
    Spin,
}

/// A built test binary whose tests are models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelBinary {
    /// The name of its source file.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl Backend {
    /// Those that take the place of std's threads and atomics, and so run our own code.
    pub(crate) const OF_CODE: [Self; 2] = [Self::Loom, Self::Shuttle];

    /// The name of the crate, of the target directory, and of the prefix of its test binaries.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Shuttle => "shuttle",
            Self::Spin => "spin",
        }
    }

    /// A cargo that builds for this backend, one of the code, in a target directory of its own.
    pub(crate) fn cargo(self, context: &Context, args: &str) -> Command {
        let mut command = context.cargo(args);
        command.env("CARGO_TARGET_DIR", context.target_for(self.name()));
        add_rustflags(&mut command, &format!("--cfg drowse_{}", self.name()));
        command
    }

    /// Builds the models and finds their binaries.
    pub(crate) fn build(self, context: &Context) -> Result<Vec<ModelBinary>, String> {
        let build = "test --no-run --release --package drowse-models --tests \
                     --message-format=json-render-diagnostics";
        let done = context.run_stdout_apart(self.cargo(context, build), BUILD_LIMIT);
        let done = done.map_err(|failure| format!("{} build: {failure}", self.name()))?;
        let prefix = format!("{}_", self.name());
        let binaries = executables(&done.stdout, "test")
            .into_iter()
            .map(|(name, path)| ModelBinary { name, path });
        let binaries: Vec<_> = binaries.filter(|binary| binary.name.starts_with(&prefix)).collect();
        if binaries.is_empty() {
            return Err(format!(
                "there are no models: no {prefix}*.rs in crates/drowse-models/tests"
            ));
        }
        Ok(binaries)
    }
}

impl ModelBinary {
    /// A command that runs it as cargo would, without a mutant.
    pub(crate) fn command(&self, context: &Context) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(context.root.join("crates/drowse-models")).env_remove(MUTANT_VARIABLE);
        // The same random schedules each time, so that what passes here passes there.
        for (key, value) in [("LOOM_MAX_PREEMPTIONS", "3"), ("SHUTTLE_RANDOM_SEED", "4")] {
            if env::var_os(key).is_none() {
                command.env(key, value);
            }
        }
        command
    }

    /// The names of its models that the user's filter, if any, means: by the binary's name or their
    /// own.
    fn models(&self, context: &Context) -> Result<Vec<String>, String> {
        let mut command = self.command(context);
        command.arg("--list");
        let listed = context.run_stdout_apart(command, RUN_LIMIT)?.stdout;
        let all = listed.lines().filter_map(|line| line.strip_suffix(": test"));
        let wanted = |name: &&str| context.wants(&self.name) || context.wants(name);
        match all.clone().count() {
            0 => Err("it holds no model".to_string()),
            _ => Ok(all.filter(wanted).map(String::from).collect()),
        }
    }

    /// Runs one model. Returns how long it took.
    fn run(&self, context: &Context, model: &str) -> Result<Duration, String> {
        let mut command = self.command(context);
        command.args(["--exact", model, "--nocapture", "--test-threads=1"]);
        let done =
            context.run(command, RUN_LIMIT).map_err(|failure| format!("{model}: {failure}"))?;
        match Counts::of(&done.output).passed {
            1 => Ok(done.took),
            _ => Err(format!("{model}: it was not run")),
        }
    }
}

/// Runs the models under loom.
pub(crate) fn loom(context: &Context) -> Result<Outcome, Outcome> {
    run(context, Backend::Loom)
}

/// Runs the models under shuttle.
pub(crate) fn shuttle(context: &Context) -> Result<Outcome, Outcome> {
    run(context, Backend::Shuttle)
}

fn run(context: &Context, backend: Backend) -> Result<Outcome, Outcome> {
    let binaries = backend.build(context)?;
    let mut parts = Parts::default();
    // Each model in a process of its own, and two at a time across all binaries: so nobody waits
    // for the slowest model of each binary.
    let mut all = Vec::new();
    for binary in &binaries {
        match binary.models(context) {
            Ok(models) => all.extend(models.into_iter().map(|model| (binary, model))),
            Err(why) => drop(parts.note(&binary.name, Err::<(), _>(why), |()| String::new())),
        }
    }
    all.sort_by_key(|(binary, _)| !SLOW.contains(&binary.name.as_str()));
    let results = map("models", &all, |(binary, model)| binary.run(context, model));
    let width = binaries.iter().map(|binary| binary.name.len()).max().unwrap_or(0);
    let (mut models, mut files) = (0, 0);
    for binary in &binaries {
        let own = all.iter().zip(&results).filter(|((of, _), _)| of.name == binary.name);
        let own: Vec<_> = own.map(|(_, result)| result.clone()).collect();
        // Nothing in it matches the filter.
        if own.is_empty() {
            continue;
        }
        let (number, took) = (own.len(), own.into_iter().sum::<Result<Duration, String>>());
        let say = |took: &Duration| format!("{:>8}  {}", seconds(*took), counted(number, "model"));
        models += parts.note(&format!("{:<width$}", binary.name), took, say).map_or(0, |_| number);
        files += 1;
    }
    match &context.filter {
        Some(filter) if files == 0 => {
            Err(Status::WrongCall.with(format!("no model matches `{filter}`")))
        }
        _ => Ok(parts.outcome(format!(
            "{}, {}",
            counted(models, "model"),
            counted(files, "test file")
        ))),
    }
}

/// Applies `work` to all of the items, two at a time: each keeps one core busy. The results come in
/// the order of the items. The progress line counts the items as `things`.
pub(crate) fn map<T: Sync, R: Send>(
    things: &'static str,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    progress::expect(things, items.len());
    let rest = Mutex::new(items.iter().enumerate());
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let next = || rest.lock().expect("taking an item does not panic").next();
    let worker = || {
        while let Some((index, item)) = next() {
            let result = work(item);
            progress::one_done();
            results.lock().expect("pushing does not panic").push((index, result));
        }
    };
    thread::scope(|scope| {
        scope.spawn(worker);
        worker();
    });
    let mut results = results.into_inner().expect("pushing does not panic");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn two_items_are_worked_on_at_a_time_and_keep_their_order() {
        let both = Barrier::new(2);
        let doubled = map("numbers", &[1, 2, 3, 4], |n| {
            both.wait();
            n * 2
        });
        assert_eq!(doubled, [2, 4, 6, 8]);
        assert!(map("numbers", &[] as &[usize], |n| n * 2).is_empty());
    }
}
