//! What is removed from the engine, under shuttle.

use super::Mutant;
use crate::models::Backend;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "engine/inject-no-post",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::a_job_from_outside_wakes_a_pool_that_has_fallen_asleep",
        removes: "the post after an injection",
    },
    Mutant {
        name: "engine/push-no-post",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::halves_that_wait_for_each_other",
        removes: "the post after a push",
    },
    Mutant {
        name: "engine/never-by-force",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::halves_that_wait_for_each_other",
        removes: "the theft by force: who is asked and does not push keeps its jobs for ever",
    },
    Mutant {
        name: "engine/broadcast-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::a_broadcast_reaches_every_worker",
        removes: "the wake-up of the workers that a broadcast has left jobs for",
    },
    Mutant {
        name: "engine/terminate-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::a_pool_that_is_never_used_ends",
        removes: "the wake-up of a worker that is told to end",
    },
    Mutant {
        name: "engine/spin-latch-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::a_join_sleeps_until_its_stolen_half_is_done",
        removes: "the wake-up of a worker whose join is done",
    },
    Mutant {
        name: "engine/cross-latch-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::two_pools_install_into_each_other",
        removes: "the wake-up of a worker whose job in another pool is done",
    },
    Mutant {
        name: "engine/count-latch-no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::a_scope_sleeps_until_its_jobs_are_done",
        removes: "the wake-up of a worker whose scope is done",
    },
    Mutant {
        name: "engine/baton-blind",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::a_job_waits_for_one_that_is_posted_after_it",
        removes: "the look for more work by a worker that stops searching",
    },
    Mutant {
        name: "sleepers/no-wake",
        backend: Backend::Shuttle,
        binary: "shuttle_pool",
        model: "jec::a_tree_of_joins",
        removes: "the system call that wakes a claimed sleeper",
    },
    Mutant {
        name: "detector/no-check-blocked",
        backend: Backend::Shuttle,
        binary: "shuttle_deadlock",
        model: "jec::the_alarm_rings_when_all_are_blocked",
        removes: "the look for a deadlock where a worker blocks",
    },
    Mutant {
        name: "detector/no-check-asleep",
        backend: Backend::Shuttle,
        binary: "shuttle_deadlock",
        model: "jec::the_alarm_rings_when_one_is_blocked_and_the_other_sleeps",
        removes: "the look for a deadlock where a worker falls asleep",
    },
    Mutant {
        name: "detector/wake-one-by-one",
        backend: Backend::Shuttle,
        binary: "shuttle_deadlock",
        model: "sleepy::the_alarm_is_silent_while_somebody_is_being_woken",
        removes: "the one step in which all become active that are woken together",
    },
];
