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
pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "engine/inject-no-post",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "a_job_from_outside_wakes_a_pool_that_has_fallen_asleep",
        removes: "the post after an injection",
    },
    Mutant {
        name: "engine/push-no-post",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "halves_that_wait_for_each_other",
        removes: "the post after a push",
    },
    Mutant {
        name: "engine/broadcast-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "a_broadcast_reaches_every_worker",
        removes: "the wake-up of the workers that a broadcast has left jobs for",
    },
    Mutant {
        name: "engine/terminate-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "a_pool_that_is_never_used_ends",
        removes: "the wake-up of a worker that is told to end",
    },
    Mutant {
        name: "engine/spin-latch-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "a_join_sleeps_until_its_stolen_half_is_done",
        removes: "the wake-up of a worker whose join is done",
    },
    Mutant {
        name: "engine/cross-latch-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "two_pools_install_into_each_other",
        removes: "the wake-up of a worker whose job in another pool is done",
    },
    Mutant {
        name: "engine/count-latch-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "a_scope_sleeps_until_its_jobs_are_done",
        removes: "the wake-up of a worker whose scope is done",
    },
    Mutant {
        name: "sleepers/no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "a_tree_of_joins",
        removes: "the system call that wakes a claimed sleeper",
    },
];

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
