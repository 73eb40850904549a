//! A pool that has nothing to do does nothing: no CPU time, no wake-ups, whatever its width.
#![cfg(target_os = "linux")]

use crate::common::tasks::{self, Activity, Task};
use crate::common::{self, assert_works, sleeping, until, until_all_sleep, watchdog};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for many of whatever should not happen.
const MEASURED: Duration = Duration::from_millis(300);

/// A pool whose threads can be told from others by their name.
fn named(name: &'static str, width: usize) -> (ThreadPool, Vec<Task>) {
    let builder = ThreadPoolBuilder::new()
        .num_threads(width)
        .thread_name(move |index| format!("{name}{index}"));
    let pool = builder.build().unwrap();
    // From here on all of them run, and have their names.
    assert_works(&pool);
    let tasks = tasks::named(name);
    assert_eq!(tasks.len(), width, "{tasks:?}");
    (pool, tasks)
}

/// Who does not move for so long is at rest. Somebody who keeps the door for guests does, and on a
/// busy machine takes its time.
const AT_REST: Duration = Duration::from_millis(60);

/// Waits until the system, too, sees them asleep, and no more of their going to sleep is to come.
fn until_at_rest(tasks: &[Task]) {
    until("the system sees them sleep too", || tasks.iter().all(Task::is_asleep));
    until("they have come to rest", || {
        let before = activities(tasks);
        thread::park_timeout(AT_REST);
        activities(tasks) == before
    });
}

fn activities(tasks: &[Task]) -> Vec<Activity> {
    tasks.iter().map(Task::activity).collect()
}

/// Looks on for a while, and sees nobody move. Nothing depends on how long it is.
#[track_caller]
fn assert_nobody_runs(tasks: &[Task]) {
    until_at_rest(tasks);
    let (start, before) = (Instant::now(), activities(tasks));
    while start.elapsed() < MEASURED {
        thread::park_timeout(MEASURED);
    }
    assert_eq!(activities(tasks), before, "somebody ran");
}

#[track_caller]
fn assert_idle(pool: &ThreadPool, tasks: &[Task]) {
    until_all_sleep(pool);
    assert_nobody_runs(tasks);
    assert_eq!(sleeping(pool), pool.current_num_threads());
}

#[test]
fn two_threads() {
    watchdog(|| {
        let (pool, tasks) = named("two-", 2);
        assert_idle(&pool, &tasks);
    });
}

#[test]
fn eight_threads() {
    watchdog(|| {
        let (pool, tasks) = named("eight-", 8);
        assert_idle(&pool, &tasks);
    });
}

#[test]
fn sixty_four_threads() {
    watchdog(|| {
        let (pool, tasks) = named("many-", 64);
        assert_idle(&pool, &tasks);
    });
}

/// Where guests come somebody keeps the door for them, and goes to sleep when they are gone.
#[test]
fn a_pool_that_had_guests() {
    watchdog(|| {
        let builder = ThreadPoolBuilder::new().num_threads(3).guests(true);
        let pool = builder.thread_name(|index| format!("hotel-{index}")).build().unwrap();
        until_all_sleep(&pool);
        for _ in 0..20 {
            assert_eq!(pool.join(|| 1, || 2), (1, 2));
            until_all_sleep(&pool);
        }
        let tasks = tasks::named("hotel-");
        assert_eq!(tasks.len(), 3);
        assert_idle(&pool, &tasks);
    });
}

#[test]
fn a_pool_that_was_never_used() {
    watchdog(|| {
        let builder =
            ThreadPoolBuilder::new().num_threads(8).thread_name(|index| format!("fresh-{index}"));
        let pool = builder.build().unwrap();
        until_all_sleep(&pool);
        let tasks = tasks::named("fresh-");
        assert_eq!(tasks.len(), 8);
        assert_idle(&pool, &tasks);
    });
}

#[test]
fn after_work_of_all_kinds() {
    watchdog(|| {
        let (pool, tasks) = named("tired-", 8);
        for _ in 0..3 {
            assert_eq!(pool.install(|| common::fib(16)), 987);
            pool.scope(|s| (0..1_000).for_each(|_| s.spawn(|_| ())));
            (0..1_000).for_each(|_| pool.spawn(|| ()));
            pool.spawn_broadcast(|_| ());
            assert_works(&pool);
            assert_idle(&pool, &tasks);
        }
    });
}

#[test]
fn the_others_while_one_is_busy() {
    watchdog(|| {
        let (pool, tasks) = named("busy-", 8);
        let busy = common::occupy(&pool, 1);
        // The busy one blocks in its job: it does not run either, but is not counted.
        until("seven of them sleep", || sleeping(&pool) == 7);
        assert_nobody_runs(&tasks);
        assert_eq!(sleeping(&pool), 7);
        drop(busy);
        assert_works(&pool);
    });
}

#[test]
fn a_worker_that_waits_for_another_pool() {
    watchdog(|| {
        let ((home, home_tasks), (away, away_tasks)) = (named("home-", 4), named("away-", 4));
        home.install(|| {
            away.install(|| {
                // Everyone at home sleeps, including the one that waits for this; away, everyone
                // but this one.
                until("the others sleep", || sleeping(&home) == 4 && sleeping(&away) == 3);
                let others = || home_tasks.iter().chain(&away_tasks);
                until("the system sees them sleep too", || {
                    others().filter(|task| task.is_asleep()).count() == 7
                });
                let resting: Vec<_> =
                    home_tasks.into_iter().chain(away_tasks).filter(Task::is_asleep).collect();
                assert_eq!(resting.len(), 7, "all but this one");
                assert_nobody_runs(&resting);
            });
        });
    });
}
