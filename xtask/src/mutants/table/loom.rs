//! What is removed from fences, latches and beds, under loom.

use super::Mutant;
use crate::models::Backend;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "fence/no-full-fence",
        backend: Backend::Loom,
        binary: "loom_litmus",
        model: "full_fences_let_one_side_see",
        removes: "the full fence",
    },
    Mutant {
        name: "fence/heavy-is-full",
        backend: Backend::Loom,
        binary: "loom_litmus",
        model: "a_light_and_a_heavy_fence_let_one_side_see",
        removes: "the fence that a heavy fence executes on other threads",
    },
    Mutant {
        name: "fence/light-is-full",
        backend: Backend::Loom,
        binary: "loom_litmus",
        model: "lesser_fences_let_both_sides_miss",
        removes: "the care to make a light fence no stronger for loom than it is",
    },
    Mutant {
        name: "wait-word/wake-unlocked",
        backend: Backend::Loom,
        binary: "loom_block",
        model: "a_thread_asleep_on_a_word_wakes_when_it_changes",
        removes: "the lock round a wake-up, where there is no futex",
    },
    Mutant {
        name: "latch/lock-set-relaxed",
        backend: Backend::Loom,
        binary: "loom_block",
        model: "a_lock_latch_brings_one_result_after_the_other",
        removes: "the release of a lock latch",
    },
    Mutant {
        name: "latch/set-relaxed",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "jec::a_set_wakes_the_owner_and_brings_the_result",
        removes: "the release and acquire of a latch that is set",
    },
    Mutant {
        name: "latch/set-forgets-sleeper",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "jec::a_set_wakes_the_owner_and_brings_the_result",
        removes: "the news that the owner sleeps on the latch",
    },
    Mutant {
        name: "latch/set-touches-after",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "jec::nobody_touches_a_latch_that_its_owner_has_seen_set",
        removes: "the care not to touch a latch once it is set",
    },
    Mutant {
        name: "latch/owner-overwrites",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "jec::a_set_wakes_the_owner_and_brings_the_result",
        removes: "the look at the latch in each step of its owner's",
    },
    Mutant {
        name: "latch/fall-asleep-relaxed",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "jec::a_set_wakes_the_owner_and_brings_the_result",
        removes: "the release of an owner that falls asleep",
    },
    Mutant {
        name: "sleepers/claim-ignores-committing",
        backend: Backend::Loom,
        binary: "loom_inject",
        model: "jec::two_workers_run_an_injected_job",
        removes: "the claim of a worker that is about to sleep",
    },
    Mutant {
        name: "sleepers/commit-overwrites",
        backend: Backend::Loom,
        binary: "loom_inject",
        model: "jec::the_end_of_a_pool_comes_after_its_last_job",
        removes: "the look at the bed in the last step before sleep",
    },
    Mutant {
        name: "latch/probe-relaxed",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "jec::a_set_wakes_the_owner_and_brings_the_result",
        removes: "the acquire of a latch that is found set",
    },
    Mutant {
        name: "wait-word/wait-relaxed",
        backend: Backend::Loom,
        binary: "loom_block",
        model: "a_thread_asleep_on_a_word_wakes_when_it_changes",
        removes: "the acquire of a thread that slept on a word",
    },
    Mutant {
        name: "wait-word/replace-relaxed",
        backend: Backend::Loom,
        binary: "loom_block",
        model: "a_lock_latch_brings_one_result_after_the_other",
        removes: "the acquire of a thread that finds a word changed",
    },
];
