//! What mutants are tried on: a model in a test binary, or in Promela.

use std::time::Duration;

use super::table::Mutant;
use super::verdict::{self, Verdict};
use crate::context::Context;
use crate::models::spin::{self, Promela};
use crate::models::{Backend, MUTANT_VARIABLE, ModelBinary};
use crate::process::{Finished, Job};

/// How long a model may take to notice a mutant, unless it takes long to pass.
const MUTANT_LIMIT: Duration = Duration::from_secs(60);

/// How long a model may take to pass.
const BASELINE_LIMIT: Duration = Duration::from_secs(600);

/// All models there are for the backends of some mutants.
#[derive(Debug, Default)]
pub(crate) struct Subjects {
    binaries: Vec<ModelBinary>,
    /// None if they cannot be searched here.
    promela: Option<Vec<Promela>>,
}

/// One model.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    /// A test function of a test binary.
    Code(ModelBinary, &'static str),
    /// A configuration of a Promela model.
    Promela(Promela),
}

impl Subjects {
    /// Builds what these mutants need. The error says what does not build.
    pub(crate) fn build(context: &Context, mutants: &[&Mutant]) -> Result<Self, String> {
        let needed = |backend| mutants.iter().any(|mutant| mutant.backend == backend);
        let mut subjects = Self::default();
        for backend in Backend::OF_CODE.into_iter().filter(|backend| needed(*backend)) {
            let built = backend.build(context).map_err(|why| format!("{}: {why}", backend.name()))?;
            subjects.binaries.extend(built);
        }
        if needed(Backend::Spin) && spin::is_there(context) {
            subjects.promela = Some(spin::all(context)?);
        }
        Ok(subjects)
    }

    /// The model that must notice this mutant.
    pub(crate) fn of(&self, mutant: &Mutant) -> Result<Subject, Verdict> {
        match (mutant.backend, &self.promela) {
            (Backend::Loom | Backend::Shuttle, _) => self
                .binaries
                .iter()
                .find(|binary| binary.name == mutant.binary)
                .map(|binary| Subject::Code(binary.clone(), mutant.model))
                .ok_or_else(|| {
                    let name = mutant.backend.name();
                    Verdict::Error(format!("no test binary {} for {name}", mutant.binary))
                }),
            (Backend::Spin, None) => Err(Verdict::Skipped("no spin, or no gcc".to_string())),
            (Backend::Spin, Some(models)) => models
                .iter()
                .find(|model| model.name() == mutant.model_name())
                .map(|model| Subject::Promela(model.clone()))
                .ok_or_else(|| Verdict::Error("there is no such model".to_string())),
        }
    }
}

impl Subject {
    /// Checks that the model is there and passes. Returns how long that takes.
    pub(crate) fn passes(&self, context: &Context) -> Result<Duration, Verdict> {
        match self {
            Self::Code(binary, model) => {
                let done = run_test(context, binary, model, None, BASELINE_LIMIT)?;
                verdict::on_baseline(&done).map_err(Verdict::Error)?;
                Ok(done.took)
            }
            Self::Promela(model) => match model.search(context, None).map_err(Verdict::Error)? {
                (search, took) if search.complaint.is_none() => Ok(took),
                _ => Err(Verdict::Error("the model fails without any mutant".to_string())),
            },
        }
    }

    /// Tries a mutant on the model, which takes this long to pass without.
    pub(crate) fn try_mutant(
        &self,
        context: &Context,
        mutant: &str,
        passes_in: Duration,
    ) -> Result<(Verdict, Duration), Verdict> {
        match self {
            Self::Code(binary, model) => {
                // A model that is slow to pass may be slow to fail: that is no hang yet.
                let limit = MUTANT_LIMIT.max(passes_in * 3);
                let done = run_test(context, binary, model, Some(mutant), limit)?;
                Ok((verdict::on_mutant(&done), done.took))
            }
            Self::Promela(model) => {
                let (search, took) = model.search(context, Some(mutant)).map_err(Verdict::Error)?;
                Ok((search.complaint.map_or(Verdict::Survived, Verdict::Caught), took))
            }
        }
    }
}

/// Runs one test function in a process of its own.
fn run_test(
    context: &Context,
    binary: &ModelBinary,
    model: &str,
    mutant: Option<&str>,
    limit: Duration,
) -> Result<Finished, Verdict> {
    let mut command = binary.command(context);
    command.args(["--exact", model, "--nocapture", "--test-threads=1"]);
    if let Some(name) = mutant {
        command.env(MUTANT_VARIABLE, name);
    }
    Job::new(command, limit)
        .run()
        .map_err(|error| Verdict::Error(format!("cannot run {}: {error}", binary.path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Options;
    use std::env;

    /// The model of the test below, which runs this very binary.
    #[test]
    fn stand_in() {
        assert!(env::var_os(MUTANT_VARIABLE).is_none(), "the mutant was noticed");
    }

    #[test]
    fn a_test_binary_passes_without_a_mutant_and_fails_with_it() {
        let context = Context::new(Options::default());
        let binary = ModelBinary { name: "loom_x".to_string(), path: env::current_exe().unwrap() };
        let mutant =
            |model, binary| Mutant { name: "x", backend: Backend::Loom, binary, model, removes: "x" };
        let subjects = Subjects { binaries: vec![binary], promela: None };
        let subject =
            |model, binary| subjects.of(&mutant(model, binary)).map_err(|verdict| verdict.to_string());

        let there = subject("mutants::subject::tests::stand_in", "loom_x").unwrap();
        let took = there.passes(&context).unwrap();
        let (verdict, _) = there.try_mutant(&context, "x", took).unwrap();
        assert_eq!(verdict, Verdict::Caught("panic: the mutant was noticed".to_string()));

        let absent = subject("mutants::subject::tests::absent", "loom_x").unwrap();
        assert_eq!(absent.passes(&context), Err(Verdict::Error("there is no such model".to_string())));
        assert!(subject("stand_in", "loom_y").unwrap_err().contains("no test binary loom_y for loom"));
    }

    #[test]
    fn without_spin_its_mutants_are_skipped() {
        let backend = Backend::Spin;
        let mutant = Mutant { name: "x.pml/y", backend, binary: "x", model: "plain", removes: "y" };
        assert!(matches!(Subjects::default().of(&mutant), Err(Verdict::Skipped(_))));
    }
}
