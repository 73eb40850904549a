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
        model: "a_set_wakes_the_owner_and_brings_the_result",
        removes: "the release and acquire of a latch that is set",
    },
    Mutant {
        name: "latch/set-forgets-sleeper",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "a_set_wakes_the_owner_and_brings_the_result",
        removes: "the news that the owner sleeps on the latch",
    },
    Mutant {
        name: "latch/set-touches-after",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "nobody_touches_a_latch_that_its_owner_has_seen_set",
        removes: "the care not to touch a latch once it is set",
    },
    Mutant {
        name: "latch/owner-overwrites",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "a_set_wakes_the_owner_and_brings_the_result",
        removes: "the look at the latch in each step of its owner's",
    },
    Mutant {
        name: "latch/fall-asleep-relaxed",
        backend: Backend::Loom,
        binary: "loom_latch",
        model: "a_set_wakes_the_owner_and_brings_the_result",
        removes: "the release of an owner that falls asleep",
    },
    Mutant {
        name: "sleepers/claim-ignores-committing",
        backend: Backend::Loom,
        binary: "loom_inject",
        model: "two_workers_run_an_injected_job",
        removes: "the claim of a worker that is about to sleep",
    },
    Mutant {
        name: "sleepers/commit-overwrites",
        backend: Backend::Loom,
        binary: "loom_inject",
        model: "the_end_of_a_pool_comes_after_its_last_job",
        removes: "the look at the bed in the last step before sleep",
    },
    Mutant {
        name: "jec/no-post-fence",
        backend: Backend::Loom,
        binary: "loom_inject",
        model: "one_worker_runs_an_injected_job",
        removes: "the fence of a post from outside",
    },
    Mutant {
        name: "jec/no-waker-decrement",
        backend: Backend::Loom,
        binary: "loom_inject",
        model: "one_worker_runs_two_injected_jobs",
        removes: "the decrement of the sleeping by the waker",
    },
    Mutant {
        name: "jec/no-local-post-fence",
        backend: Backend::Loom,
        binary: "loom_local",
        model: "a_sleeper_runs_a_job_that_its_poster_never_takes_back",
        removes: "the fence of a worker's post",
    },
    Mutant {
        name: "jec/no-sleep-fence",
        backend: Backend::Loom,
        binary: "loom_broadcast",
        model: "a_worker_runs_the_job_left_for_it",
        removes: "the fence before the last look at the queues",
    },
    Mutant {
        name: "jec/no-final-check",
        backend: Backend::Loom,
        binary: "loom_counter",
        model: "a_counter_that_came_round_hides_no_job",
        removes: "the last look at the queues",
    },
    Mutant {
        name: "jec/no-jec-check",
        backend: Backend::Loom,
        binary: "loom_counter",
        model: "work_posted_since_it_got_sleepy_keeps_a_worker_awake",
        removes: "the look at the counter in the step to sleep",
    },
    Mutant {
        name: "jec/post-keeps-jec",
        backend: Backend::Loom,
        binary: "loom_counter",
        model: "work_posted_since_it_got_sleepy_keeps_a_worker_awake",
        removes: "the change of the counter by a post",
    },
    Mutant {
        name: "jec/parity-of-002",
        backend: Backend::Loom,
        binary: "loom_counter",
        model: "work_posted_since_it_got_sleepy_keeps_a_worker_awake",
        removes: "the difference between what makes the counter even and what makes it odd",
    },
    Mutant {
        name: "jec/no-baton",
        backend: Backend::Loom,
        binary: "loom_baton",
        model: "a_searcher_whose_latch_is_set_passes_the_baton",
        removes: "the baton",
    },
    Mutant {
        name: "jec/no-baton-fence",
        backend: Backend::Loom,
        binary: "loom_baton",
        model: "a_searcher_sees_the_second_job_of_a_worker",
        removes: "the fence before the baton is passed",
    },
    Mutant {
        name: "jec/count-relaxed",
        backend: Backend::Loom,
        binary: "loom_baton",
        model: "a_searcher_sees_the_second_job_from_outside",
        removes: "the release of a worker that counts itself as sleeping",
    },
    Mutant {
        name: "jec/inactive-relaxed",
        backend: Backend::Loom,
        binary: "loom_local",
        model: "a_sleeper_runs_the_job_of_a_poster_that_became_inactive",
        removes: "the release of a worker that becomes inactive",
    },
    Mutant {
        name: "deque/push-relaxed",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "the_last_item_goes_to_one",
        removes: "the release of a push",
    },
    Mutant {
        name: "deque/push-unfenced",
        backend: Backend::Loom,
        binary: "loom_local",
        model: "a_sleeper_runs_the_job_without_lopsided_fences",
        removes: "the full fence of a push where light ones are worth nothing",
    },
    Mutant {
        name: "deque/pop-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "take_back_gets_the_item_or_a_thief_does",
        removes: "the light fence of a pop",
    },
    Mutant {
        name: "deque/pop-last-without-race",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "owner_and_thief_share_two_items",
        removes: "the race for the last public item",
    },
    Mutant {
        name: "deque/pop-public-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "owner_and_thief_share_two_public_items",
        removes: "the fence of a pop of a public item",
    },
    Mutant {
        name: "deque/steal-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "owner_and_thief_share_two_public_items_without_lopsided_fences",
        removes: "the fence of a steal",
    },
    Mutant {
        name: "deque/steal-gives-up",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_thief_that_finds_nothing_has_overlooked_nothing",
        removes: "the second try of a thief when others took what it published",
    },
    Mutant {
        name: "deque/publish-unfenced",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "two_thieves_and_the_owner",
        removes: "the heavy fence of a publication",
    },
    Mutant {
        name: "deque/publish-ignores-owner",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_thief_that_comes_twice_takes_no_item_twice",
        removes: "the look at the owner's end in a publication",
    },
    Mutant {
        name: "deque/take-back-hides-others",
        backend: Backend::Loom,
        binary: "loom_local",
        model: "a_job_that_a_failed_take_back_uncovers_is_not_lost",
        removes: "the look before an item is taken back",
    },
    Mutant {
        name: "deque/share-unclaimed",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_thief_asks_an_owner_that_goes_on_pushing",
        removes: "the claim on what the owner publishes: it goes on to take it as if it were private",
    },
    Mutant {
        name: "deque/grow-frees-old",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_deque_that_grows_loses_nothing",
        removes: "the life of outgrown buffers",
    },
    Mutant {
        name: "deque/grow-relaxed",
        backend: Backend::Loom,
        binary: "loom_deque",
        model: "a_deque_that_grows_loses_nothing",
        removes: "the release of a bigger buffer",
    },
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
