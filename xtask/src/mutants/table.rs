//! The mutants: what is removed, and the model that must notice.
//!
//! The code under test asks for a mutant by its name where the thing to remove stands. The name comes from the
//! environment variable `DROWSE_MUTANT` of the model's process.

use crate::models::Backend;

/// One thing to remove, and the model that must then fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// The name that the code under test knows it by.
    pub(crate) name: &'static str,
    /// What the model runs under.
    pub(crate) backend: Backend,
    /// The test binary: the name of a file in `crates/drowse-models/tests` without its `.rs`.
    pub(crate) binary: &'static str,
    /// The test function that is the model, with the modules it stands in.
    pub(crate) model: &'static str,
    /// What is removed, as the end of the sentence "without ...".
    pub(crate) removes: &'static str,
}

/// Every mutant. A row looks like this:
///
/// ```text
/// Mutant {
///     name: "sleep-no-recheck",
///     backend: Backend::Loom,
///     binary: "loom_sleep",
///     model: "a_job_posted_while_falling_asleep_is_seen",
///     removes: "the look at the queues between the announcement and the sleep",
/// },
/// ```
pub(crate) const MUTANTS: &[Mutant] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_rows_are_complete() {
        for (index, mutant) in MUTANTS.iter().enumerate() {
            assert!(!mutant.name.is_empty(), "{mutant:?}");
            assert!(!mutant.model.is_empty(), "{mutant:?}");
            assert!(!mutant.removes.is_empty(), "{mutant:?}");
            assert!(mutant.binary.starts_with(mutant.backend.name()), "{mutant:?}");
            assert!(
                MUTANTS[..index].iter().all(|other| other.name != mutant.name),
                "listed twice: {}",
                mutant.name
            );
        }
    }
}
