//! What every sleep protocol owes its pool: one suite, stamped for each of them.
//!
//! No wake-up is lost, no matter who has the news and who sleeps; pools end from every state;
//! panics and deadlocks reach those who should hear of them. A new protocol is one more line at the
//! end of this file.

mod common;

#[path = "conformance/alarms.rs"]
mod alarms;
#[path = "conformance/bounds.rs"]
mod bounds;
#[path = "conformance/cancels.rs"]
mod cancels;
#[path = "conformance/everyone.rs"]
mod everyone;
#[path = "conformance/inside.rs"]
mod inside;
#[path = "conformance/latches.rs"]
mod latches;
#[path = "conformance/outside.rs"]
mod outside;
#[path = "conformance/p23.rs"]
mod p23;
#[path = "conformance/panics.rs"]
mod panics;
#[path = "conformance/subject.rs"]
mod subject;
#[path = "conformance/the_end.rs"]
mod the_end;

use common::watchdog;
use drowse::{Counters, Idleness, SleepPolicy, SleepProtocol, WakeSize};
use subject::Subject;

/// Every test of the suite, for one subject.
macro_rules! suite {
    ($subject:expr) => {
        suite! { $subject;
            outside: no_wake_up_is_lost_from_outside, no_install_is_lost_in_a_pool_that_sleeps,
                no_spawn_is_lost_in_a_pool_that_sleeps, no_burst_is_lost, nothing_is_lost_from_several_threads_at_once,
                a_scope_from_outside_ends;
            latches: a_joiner_that_sleeps_is_woken, a_joiner_is_woken_at_any_moment, a_chain_of_joiners_that_sleep_is_woken,
                a_scope_that_sleeps_is_woken, a_worker_that_sleeps_for_another_pool_is_woken, pools_that_call_each_other;
            inside: halves_that_wait_for_each_other, halves_that_wait_for_each_other_in_a_pool_that_sleeps,
                all_workers_meet_in_joins, all_workers_meet_in_a_scope, all_workers_meet_in_spawned_jobs,
                jobs_of_a_lone_worker_find_help;
            everyone: a_broadcast_wakes_everyone, a_broadcast_finds_everyone_at_any_moment,
                a_broadcast_reaches_the_busy_and_the_sleeping, with_everyone_asleep_every_call_is_served;
            the_end: of_pools_that_have_just_begun, of_pools_that_have_worked, of_pools_that_sleep,
                of_pools_that_search, of_pools_that_are_eager_to_sleep, of_pools_with_jobs_left;
            panics: a_panic_arrives_while_the_others_sleep, a_panic_of_a_stolen_half_wakes_the_joiner,
                a_panic_of_a_spawned_job_is_handed_over, a_panic_on_every_worker;
            p23: p23_in_the_halves_of_a_join, p23_in_scopes, p23_in_the_drops_of_what_jobs_captured,
                p23_in_spawned_jobs, p23_in_spawned_jobs_with_a_handle, p23_in_broadcasts, p23_in_installs,
                p23_in_handlers;
            cancels: jobs_that_have_not_begun_are_dropped, a_job_calls_the_others_off, running_jobs_can_ask,
                an_inner_scope_is_not_called_off_with_the_outer, a_panic_of_a_scope_that_is_called_off,
                a_broadcast_is_called_off, at_any_moment_each_job_runs_or_is_dropped;
            bounds: what_is_too_much_comes_back_whole, what_is_too_much_for_a_scope_comes_back_whole,
                nothing_is_lost_and_no_more_than_so_many_run, however_a_job_ends_its_place_is_free;
            alarms: a_deadlock_is_reported, a_deadlock_is_reported_when_the_last_one_sleeps, there_are_no_false_alarms;
        }
    };
    ($subject:expr; $($file:ident: $($test:ident),*;)*) => {
        $($(
            #[test]
            fn $test() {
                $crate::watchdog(|| $crate::$file::$test($subject));
            }
        )*)*
    };
}

/// The suite for each of these subjects, in a module of that name.
macro_rules! conform {
    ($($name:ident: $subject:expr;)*) => {
        $(
            mod $name {
                use super::*;

                suite! { $subject }
            }
        )*
    };
}

const fn counters(idleness: Idleness, wake: WakeSize) -> SleepProtocol {
    SleepProtocol::Counters(Counters { idleness, wake })
}

conform! {
    sleepy: Subject::new(SleepProtocol::Sleepy);
    counters_default: Subject::new(counters(Idleness::Counted, WakeSize::Needed));
    counters_in_blocks: Subject::new(counters(Idleness::Counted, WakeSize::PowerOfTwo));
    counters_by_queue: Subject::new(counters(Idleness::LocalQueue, WakeSize::Needed));
    counters_by_queue_in_blocks: Subject::new(counters(Idleness::LocalQueue, WakeSize::PowerOfTwo));
    counters_with_one_more: Subject::new(counters(Idleness::KeepOneMore, WakeSize::Needed));
    counters_with_one_more_in_blocks:
        Subject::new(counters(Idleness::KeepOneMore, WakeSize::PowerOfTwo));
    relay: Subject::new(SleepProtocol::Relay);
    jec: Subject::new(SleepProtocol::Jec);
    jec_as_blitz: Subject::new(SleepProtocol::JecAsBlitz).with(SleepPolicy::BLITZ);
    jec_of_every_post: Subject::new(SleepProtocol::JecOfEveryPost);
    guests_with_sleepy: Subject::new(SleepProtocol::Sleepy).with_guests();
    guests_with_counters:
        Subject::new(counters(Idleness::Counted, WakeSize::Needed)).with_guests();
    guests_with_jec: Subject::new(SleepProtocol::Jec).with_guests();
    guests_with_relay: Subject::new(SleepProtocol::Relay).with_guests();
    isolated_with_sleepy: Subject::new(SleepProtocol::Sleepy).isolated();
    isolated_with_counters: Subject::new(counters(Idleness::Counted, WakeSize::Needed)).isolated();
    isolated_with_jec: Subject::new(SleepProtocol::Jec).isolated();
    isolated_with_relay: Subject::new(SleepProtocol::Relay).isolated();
}
