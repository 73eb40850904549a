//! The mutants: what is removed, and the model that must notice.
//!
//! The code under test asks for a mutant by its name where the thing to remove stands. The name comes from the
//! environment variable `DROWSE_MUTANT` of the model's process, or for spin from the preprocessor.
//!
//! A row looks like this. Add it to the file of its backend, or to a new file that is then named in `TABLES`:
//!
//! ```text
//! Mutant {
//!     name: "sleep-no-recheck",
//!     backend: Backend::Loom,
//!     binary: "loom_sleep",
//!     model: "a_job_posted_while_falling_asleep_is_seen",
//!     removes: "the look at the queues between the announcement and the sleep",
//! },
//! ```

mod loom;
mod loom_deque;
mod loom_engine;
mod loom_sleep;
mod shuttle;
mod spin;

use crate::models::Backend;

/// One thing to remove, and the model that must then fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// The name that the code under test knows it by.
    pub(crate) name: &'static str,
    /// What the model runs under.
    pub(crate) backend: Backend,
    /// The test binary: the name of a file in `crates/drowse-models/tests` without its `.rs`. For spin, of a file in
    /// `crates/drowse-models/promela` without its `.pml`.
    pub(crate) binary: &'static str,
    /// The test function that is the model, with the modules it stands in. For spin, the configuration.
    pub(crate) model: &'static str,
    /// What is removed, as the end of the sentence "without ...".
    pub(crate) removes: &'static str,
}

impl Mutant {
    /// The model's name in reports.
    pub(crate) fn model_name(&self) -> String {
        format!("{}::{}", self.binary, self.model)
    }
}

/// Every table, in the order in which they are shown.
const TABLES: &[&[Mutant]] = &[
    loom::MUTANTS,
    loom_sleep::MUTANTS,
    loom_deque::MUTANTS,
    loom_engine::MUTANTS,
    shuttle::MUTANTS,
    spin::MUTANTS,
];

/// Every mutant.
pub(crate) fn all() -> impl Iterator<Item = &'static Mutant> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_rows_are_complete() {
        let mutants: Vec<&Mutant> = all().collect();
        for (index, mutant) in mutants.iter().enumerate() {
            assert!(!mutant.name.is_empty(), "{mutant:?}");
            assert!(!mutant.model.is_empty(), "{mutant:?}");
            assert!(!mutant.removes.is_empty(), "{mutant:?}");
            match mutant.backend {
                Backend::Loom | Backend::Shuttle => {
                    assert!(mutant.binary.starts_with(mutant.backend.name()), "{mutant:?}");
                }
                Backend::Spin => {
                    assert!(mutant.name.starts_with(&format!("{}.pml/", mutant.binary)), "{mutant:?}");
                }
            }
            assert!(
                mutants[..index].iter().all(|other| other.name != mutant.name),
                "listed twice: {}",
                mutant.name
            );
        }
    }

    /// The sources that may commit faults.
    fn sources(directory: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn every_mutant_of_the_code_is_listed() {
        let mut texts = Vec::new();
        for part in ["drowse", "drowse-sleep", "drowse-sync"] {
            let path = format!("{}/../crates/{part}/src", env!("CARGO_MANIFEST_DIR"));
            sources(path.as_ref(), &mut texts);
        }
        let is_name = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        for literal in texts.iter().flat_map(|text| text.split('"')) {
            let Some((subject, fault)) = literal.split_once('/') else { continue };
            let known = all().any(|mutant| mutant.name.split('/').next() == Some(subject));
            if known && is_name(fault) {
                assert!(all().any(|mutant| mutant.name == literal), "not listed: {literal}");
            }
        }
    }

    #[test]
    fn every_mutant_of_the_promela_models_is_listed() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/drowse-models/promela");
        for file in ["sleepy", "jec"] {
            let text = std::fs::read_to_string(format!("{directory}/{file}.pml")).unwrap();
            let mut known: Vec<String> = text
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .filter(|word| word.starts_with("MUTANT_"))
                .map(String::from)
                .collect();
            known.sort();
            known.dedup();
            let mut listed: Vec<String> = all()
                .filter(|mutant| mutant.backend == Backend::Spin && mutant.binary == file)
                .map(|mutant| crate::models::spin::mutant_define(mutant.name))
                .collect();
            listed.sort();
            assert_eq!(listed, known, "{file}.pml");
        }
    }
}
