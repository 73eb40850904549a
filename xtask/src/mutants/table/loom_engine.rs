//! What is removed from the engine and its latches, under loom.

use super::Mutant;
use crate::models::Backend;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "engine/release-relaxed",
        backend: Backend::Loom,
        binary: "loom_engine",
        model: "what_was_done_before_a_pool_was_dropped_comes_before_its_end",
        removes: "the release and acquire of the last reason for a pool to live",
    },
    Mutant {
        name: "engine/letter-overlooked",
        backend: Backend::Loom,
        binary: "loom_engine",
        model: "a_broadcast_reaches_a_worker_that_falls_asleep",
        removes: "the look for jobs that a broadcast left, before a worker sleeps",
    },
    Mutant {
        name: "latch/spin-fetch-late",
        backend: Backend::Loom,
        binary: "loom_engine",
        model: "a_join_brings_the_result_of_its_stolen_half",
        removes: "the care to know the owner of a latch before it is set",
    },
    Mutant {
        name: "latch/cross-fetch-late",
        backend: Backend::Loom,
        binary: "loom_engine",
        model: "a_job_in_another_pool_brings_its_result",
        removes: "the care to know the owner in another pool before its latch is set",
    },
    Mutant {
        name: "latch/count-fetch-late",
        backend: Backend::Loom,
        binary: "loom_engine",
        model: "a_scope_brings_the_panic_of_a_job",
        removes: "the care to know who waits for a count before it is set",
    },
    Mutant {
        name: "latch/count-relaxed",
        backend: Backend::Loom,
        binary: "loom_engine",
        model: "a_scope_brings_the_panic_of_a_job",
        removes: "the release and acquire of a count that goes down",
    },
    Mutant {
        name: "latch/lock-fetch-late",
        backend: Backend::Loom,
        binary: "loom_engine",
        model: "a_scope_outside_brings_the_panic_of_a_job",
        removes: "the care to have the word of a lock latch before it is set",
    },
];
