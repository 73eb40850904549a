//! What is removed from each sleep protocol, under loom.

use super::Mutant;
use crate::models::Backend;

pub(super) const MUTANTS: &[Mutant] = &[
    loom(
        "sleepy/no-post-fence",
        "loom_inject",
        "sleepy::one_worker_runs_an_injected_job",
        "the fence of a post from outside",
    ),
    loom(
        "sleepy/no-local-post-fence",
        "loom_local",
        "sleepy::a_sleeper_runs_a_job_that_its_poster_never_takes_back",
        "the fence of a worker's post",
    ),
    loom(
        "sleepy/no-broadcast-fence",
        "loom_broadcast",
        "sleepy::a_worker_runs_the_job_left_for_it",
        "the fence of a broadcast",
    ),
    loom(
        "sleepy/late-bed",
        "loom_inject",
        "sleepy::one_worker_runs_an_injected_job",
        "the making of the bed before the commitment: nobody holds the door, as it were",
    ),
    loom(
        "sleepy/no-recheck",
        "loom_inject",
        "sleepy_at_once::one_worker_runs_an_injected_job",
        "the look between the announcement and the sleep",
    ),
    loom(
        "sleepy/no-announce-fence",
        "loom_inject",
        "sleepy::one_worker_runs_an_injected_job",
        "the fence after the announcement",
    ),
    loom(
        "sleepy/no-latch-fence",
        "loom_latch",
        "sleepy::a_set_wakes_the_owner_and_brings_the_result",
        "the fence between setting a latch and the tickle",
    ),
    loom(
        "sleepy/keeps-sleepy",
        "loom_inject",
        "sleepy::two_workers_run_an_injected_job",
        "the end of sleepiness when work is found: nobody else can get sleepy",
    ),
    loom(
        "sleepy/tickle-leaves-sleepers",
        "loom_counter",
        "sleepy::work_posted_since_it_got_sleepy_keeps_a_worker_awake",
        "the wake-up of those who sleep",
    ),
    loom(
        "sleepy/commit-overwrites",
        "loom_inject",
        "sleepy::one_worker_runs_an_injected_job",
        "the look whether it was tickled, in the step to sleep",
    ),
    loom(
        "sleepy/commit-relaxed",
        "loom_inject",
        "sleepy::one_worker_runs_an_injected_job",
        "the release of a worker that falls asleep",
    ),
    loom(
        "counters/no-post-fence",
        "loom_inject",
        "counters::one_worker_runs_an_injected_job",
        "the fence of a post from outside",
    ),
    loom(
        "counters/no-local-post-fence",
        "loom_local",
        "counters::a_sleeper_runs_a_job_that_its_poster_never_takes_back",
        "the fence of a worker's post",
    ),
    loom(
        "counters/no-broadcast-fence",
        "loom_broadcast",
        "counters::a_worker_runs_the_job_left_for_it",
        "the fence of a broadcast",
    ),
    loom(
        "counters/late-bed",
        "loom_inject",
        "counters::one_worker_runs_an_injected_job",
        "the making of the bed before the commitment: nobody holds the door, as it were",
    ),
    loom(
        "counters/no-recheck",
        "loom_inject",
        "counters::one_worker_runs_an_injected_job",
        "the last look at the queues",
    ),
    loom(
        "counters/no-sleep-fence",
        "loom_broadcast",
        "counters::a_worker_runs_the_job_left_for_it",
        "the fence before the last look at the queues",
    ),
    loom(
        "counters/no-waker-decrement",
        "loom_inject",
        "counters::one_worker_runs_two_injected_jobs",
        "the decrement of the sleeping by the waker",
    ),
    loom(
        "counters/no-baton",
        "loom_baton",
        "counters::a_searcher_whose_latch_is_set_passes_the_baton",
        "the baton",
    ),
    loom(
        "counters/no-baton-fence",
        "loom_baton",
        "counters::a_searcher_sees_the_second_job_of_a_worker",
        "the fence before the baton is passed",
    ),
    loom(
        "counters/count-relaxed",
        "loom_baton",
        "counters::a_searcher_sees_the_second_job_from_outside",
        "the release of a worker that counts itself as sleeping",
    ),
    loom(
        "counters/inactive-relaxed",
        "loom_local",
        "counters::a_sleeper_runs_the_job_of_a_poster_that_became_inactive",
        "the release of a worker that becomes inactive",
    ),
    loom(
        "jec/no-post-fence",
        "loom_inject",
        "jec::one_worker_runs_an_injected_job",
        "the fence of a post from outside",
    ),
    loom(
        "jec/no-local-post-fence",
        "loom_local",
        "jec::a_sleeper_runs_a_job_that_its_poster_never_takes_back",
        "the fence of a worker's post",
    ),
    loom(
        "jec/no-broadcast-fence",
        "loom_broadcast",
        "jec::a_worker_runs_the_job_left_for_it",
        "the fence of a broadcast",
    ),
    loom(
        "jec/late-bed",
        "loom_inject",
        "jec::one_worker_runs_an_injected_job",
        "the making of the bed before the commitment: nobody holds the door, as it were",
    ),
    loom(
        "jec/no-recheck",
        "loom_counter",
        "a_counter_that_came_round_hides_no_job",
        "the last look at the queues",
    ),
    loom(
        "jec/no-sleep-fence",
        "loom_broadcast",
        "jec::a_worker_runs_the_job_left_for_it",
        "the fence before the last look at the queues",
    ),
    loom(
        "jec/no-waker-decrement",
        "loom_inject",
        "jec::one_worker_runs_two_injected_jobs",
        "the decrement of the sleeping by the waker",
    ),
    loom("jec/no-baton", "loom_baton", "jec::a_searcher_whose_latch_is_set_passes_the_baton", "the baton"),
    loom(
        "jec/no-baton-fence",
        "loom_baton",
        "jec::a_searcher_sees_the_second_job_of_a_worker",
        "the fence before the baton is passed",
    ),
    loom(
        "jec/count-relaxed",
        "loom_baton",
        "jec::a_searcher_sees_the_second_job_from_outside",
        "the release of a worker that counts itself as sleeping",
    ),
    loom(
        "jec/inactive-relaxed",
        "loom_local",
        "jec::a_sleeper_runs_the_job_of_a_poster_that_became_inactive",
        "the release of a worker that becomes inactive",
    ),
    loom(
        "jec/no-jec-check",
        "loom_counter",
        "jec::work_posted_since_it_got_sleepy_keeps_a_worker_awake",
        "the look at the counter in the step to sleep",
    ),
    loom(
        "jec/post-keeps-jec",
        "loom_counter",
        "jec::work_posted_since_it_got_sleepy_keeps_a_worker_awake",
        "the change of the counter by a post",
    ),
    loom(
        "jec/one-parity",
        "loom_counter",
        "jec::work_posted_since_it_got_sleepy_keeps_a_worker_awake",
        "the difference between what makes the counter even and what makes it odd",
    ),
    loom(
        "detector/claim-unlocked",
        "loom_deadlock",
        "jec::the_alarm_is_raised_once_the_other_sleeps",
        "the lock that makes the claim of a sleeper and its count one step",
    ),
];

const fn loom(
    name: &'static str,
    binary: &'static str,
    model: &'static str,
    removes: &'static str,
) -> Mutant {
    Mutant { name, backend: Backend::Loom, binary, model, removes }
}
