//! Who is woken, how often and why, as the metrics tell it.
//!
//! A count is exact where the pool is brought to rest first: nobody moves but those that the test
//! sets in motion. Where workers search at the same time, who finds what is a race, and there are
//! bounds.

mod common;

#[path = "wake_counts/at_once.rs"]
mod at_once;

use common::books::{assert_wakes, at_rest, since};
use common::{fib, occupy, watchdog};
use drowse::{
    Counters, Idleness, Metrics, Reason, SleepMetrics, SleepPolicy, SleepProtocol, WakeSize,
};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

const WIDTH: usize = 8;
const TICKS: u64 = 200;

const fn counters(idleness: Idleness, wake: WakeSize) -> SleepProtocol {
    SleepProtocol::Counters(Counters { idleness, wake })
}

/// The protocols that count heads, and so know how many they need.
const FRUGAL: [SleepProtocol; 3] = [
    counters(Idleness::Counted, WakeSize::Needed),
    counters(Idleness::LocalQueue, WakeSize::Needed),
    SleepProtocol::Jec,
];
const IN_BLOCKS: [SleepProtocol; 2] = [
    counters(Idleness::Counted, WakeSize::PowerOfTwo),
    counters(Idleness::LocalQueue, WakeSize::PowerOfTwo),
];

fn everything() -> impl Iterator<Item = SleepProtocol> {
    FRUGAL.into_iter().chain(IN_BLOCKS).chain([SleepProtocol::Sleepy])
}

fn builder(protocol: SleepProtocol) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().num_threads(WIDTH).sleep_protocol(protocol)
}

fn pool(protocol: SleepProtocol) -> ThreadPool {
    builder(protocol).build().unwrap()
}

/// Has a worker run an empty job that came from outside.
fn tick(pool: &ThreadPool) {
    let (sender, receiver) = mpsc::channel();
    pool.spawn(move || sender.send(()).unwrap());
    receiver.recv().unwrap();
}

/// Ticks, each into a pool in which everybody sleeps.
#[track_caller]
fn ticks(pool: &ThreadPool) -> Metrics {
    let before = at_rest(pool, WIDTH);
    for _ in 0..TICKS {
        tick(pool);
        at_rest(pool, WIDTH);
    }
    since(pool, &before)
}

/// Exact. Everybody sleeps, so nobody can be kept awake. One is woken and takes the job; nothing is
/// left then, so it does not pass the baton; nobody searched for nothing.
#[test]
fn a_tick_wakes_one() {
    watchdog(|| {
        for protocol in FRUGAL.into_iter().chain(IN_BLOCKS) {
            let work = ticks(&pool(protocol));
            assert_wakes(&work, &[(Reason::Job, TICKS)]);
            let all = work.total();
            assert_eq!((all.sleep.kept_awake, all.sleep.fruitless), (0, 0), "{work}");
            assert_eq!((all.injected, all.steals, all.sleep.sleeps), (TICKS, 0, TICKS), "{work}");
            // Always the same one, so that the others' caches and cores stay cold.
            assert_eq!(work.workers[0].sleep.wakes(Reason::Job), TICKS, "{work}");
        }
    });
}

/// Exact. Everybody is woken, one finds the job, the others go back to sleep.
#[test]
fn a_tick_wakes_everybody_where_one_is_sleepy_at_a_time() {
    watchdog(|| {
        let work = ticks(&pool(SleepProtocol::Sleepy));
        let width = WIDTH as u64;
        assert_wakes(&work, &[(Reason::Job, TICKS * width)]);
        let all = work.total().sleep;
        assert_eq!((all.kept_awake, all.fruitless), (0, TICKS * (width - 1)), "{work}");
        assert!(
            work.workers.iter().all(|worker| worker.sleep.wakes(Reason::Job) == TICKS),
            "{work}"
        );
    });
}

/// Ticks into pools in which `busy` workers are busy and the others sleep: how many are woken by
/// one.
#[track_caller]
fn woken_beside(protocol: SleepProtocol, busy: usize) -> u64 {
    let pool = pool(protocol);
    at_rest(&pool, WIDTH);
    let _busy = occupy(&pool, busy);
    let before = at_rest(&pool, WIDTH - busy);
    tick(&pool);
    let work = since(&pool, &before);
    let woken = work.total().sleep.wakes(Reason::Job);
    assert_wakes(&work, &[(Reason::Job, woken)]);
    assert_eq!(work.total().sleep.fruitless, woken - 1, "{work}");
    woken
}

/// Exact: nobody searches, so the job needs one.
#[test]
fn beside_the_busy_a_job_wakes_one_more() {
    watchdog(|| {
        for protocol in FRUGAL {
            let woken: Vec<_> = (0..WIDTH).map(|busy| woken_beside(protocol, busy)).collect();
            assert_eq!(woken, [1; WIDTH], "{protocol:?}");
        }
    });
}

/// Exact. With none awake, one; else up to 2, 4, 8 of them awake, and the one that is needed in any
/// case.
#[test]
fn blocks_go_up_to_the_next_power_of_two() {
    watchdog(|| {
        for protocol in IN_BLOCKS {
            let woken: Vec<_> = (0..WIDTH).map(|busy| woken_beside(protocol, busy)).collect();
            assert_eq!(woken, [1, 1, 2, 1, 4, 3, 2, 1], "{protocol:?}");
        }
    });
}

/// Exact: everyone who sleeps is woken.
#[test]
fn beside_the_busy_a_job_wakes_all_others_where_one_is_sleepy_at_a_time() {
    watchdog(|| {
        let woken: Vec<_> =
            (0..WIDTH).map(|busy| woken_beside(SleepProtocol::Sleepy, busy)).collect();
        assert_eq!(woken, [8, 7, 6, 5, 4, 3, 2, 1]);
    });
}

/// A joiner sleeps on its latch, the others sleep too, but for the one that will set it. Returns
/// what the set does, and the joiner's index.
#[track_caller]
fn a_latch_is_set(pool: &Arc<ThreadPool>) -> (Metrics, usize) {
    at_rest(pool, WIDTH);
    let ((go, gone), (report, reports)) = (mpsc::channel::<()>(), mpsc::channel());
    let inside = Arc::clone(pool);
    pool.spawn(move || {
        // Until the thread outside has counted those it woke for us.
        gone.recv().unwrap();
        let joiner = drowse::current_thread_index().unwrap();
        let (started, starts) = mpsc::channel();
        let ((), before) = drowse::join(
            // The second half is stolen; then there is nothing to do but wait for it.
            move || starts.recv().unwrap(),
            move || {
                started.send(()).unwrap();
                at_rest(&inside, WIDTH - 1)
            },
        );
        report.send((before, joiner)).unwrap();
    });
    go.send(()).unwrap();
    let (before, joiner) = reports.recv().unwrap();
    (at_rest(pool, WIDTH).since(&before), joiner)
}

/// Exact: one wake-up, of the one that waits.
#[test]
fn a_latch_wakes_its_owner_and_nobody_else() {
    watchdog(|| {
        for protocol in FRUGAL.into_iter().chain(IN_BLOCKS) {
            let pool = Arc::new(pool(protocol));
            for _ in 0..50 {
                let (work, joiner) = a_latch_is_set(&pool);
                assert_wakes(&work, &[(Reason::Latch, 1)]);
                assert_eq!(
                    work.workers[joiner].sleep.wakes(Reason::Latch),
                    1,
                    "worker {joiner}\n{work}"
                );
            }
        }
    });
}

/// Exact: everybody but the one that sets it.
#[test]
fn a_latch_wakes_everybody_where_one_is_sleepy_at_a_time() {
    watchdog(|| {
        let pool = Arc::new(pool(SleepProtocol::Sleepy));
        for _ in 0..50 {
            let (work, _) = a_latch_is_set(&pool);
            assert_wakes(&work, &[(Reason::Latch, WIDTH as u64 - 1)]);
        }
    });
}

/// Exact: each has a job that nobody else can run.
#[test]
fn a_broadcast_wakes_each_sleeper_once() {
    watchdog(|| {
        for protocol in everything() {
            let pool = pool(protocol);
            let before = at_rest(&pool, WIDTH);
            for _ in 0..50 {
                pool.broadcast(|_| ());
                at_rest(&pool, WIDTH);
            }
            let work = since(&pool, &before);
            assert_wakes(&work, &[(Reason::Broadcast, 50 * WIDTH as u64)]);
            let each = |worker: &SleepMetrics| worker.wakes(Reason::Broadcast);
            assert!(work.workers.iter().all(|worker| each(&worker.sleep) == 50), "{work}");
            assert_eq!(work.total().sleep.fruitless, 0, "{work}");
        }
    });
}

/// Exact: a worker that is busy is not woken, and gets its job nevertheless.
#[test]
fn a_broadcast_does_not_wake_the_busy() {
    watchdog(|| {
        for protocol in everything() {
            let pool = pool(protocol);
            at_rest(&pool, WIDTH);
            let busy = occupy(&pool, 3);
            let before = at_rest(&pool, WIDTH - 3);
            let (sender, receiver) = mpsc::channel();
            pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
            assert_eq!(receiver.iter().take(WIDTH - 3).count(), WIDTH - 3);
            assert_wakes(&since(&pool, &before), &[(Reason::Broadcast, WIDTH as u64 - 3)]);
            drop(busy);
            assert_eq!(receiver.iter().count(), 3);
        }
    });
}

/// Exact: those who search see the jobs, whatever is posted.
#[test]
fn nobody_is_woken_while_everybody_searches() {
    watchdog(|| {
        for protocol in everything() {
            let patient = SleepPolicy { rounds_until_sleepy: u32::MAX, ..SleepPolicy::default() };
            let pool = builder(protocol).sleep_policy(patient).build().unwrap();
            for _ in 0..10 {
                tick(&pool);
                assert_eq!(pool.broadcast(|_| ()).len(), WIDTH);
            }
            pool.install(|| (0..1_000).for_each(|_| assert_eq!(drowse::join(|| 1, || 2), (1, 2))));
            let all = pool.metrics().total().sleep;
            assert_eq!(all, SleepMetrics::default(), "{}", pool.metrics());
        }
    });
}

/// Exact: nobody sleeps, so nobody is woken.
#[test]
fn nobody_is_woken_by_joins_while_everybody_is_busy() {
    watchdog(|| {
        for protocol in everything() {
            let pool = pool(protocol);
            let _busy = occupy(&pool, WIDTH - 1);
            let work = pool.install(|| {
                let before = pool.metrics();
                (0..1_000).for_each(|_| assert_eq!(drowse::join(|| 1, || 2), (1, 2)));
                pool.metrics().since(&before)
            });
            let all = work.total();
            assert_eq!((all.sleep, all.steals), (SleepMetrics::default(), 0), "{work}");
        }
    });
}

/// Bounds. Each post is one job, so it wakes one at most. A latch wakes somebody only if a thief
/// sets it. A baton is passed by a worker that stops searching: because it found a job, or because
/// its latch is set, which takes a thief again.
#[test]
fn joins_wake_no_more_than_they_can_use() {
    watchdog(|| {
        for protocol in FRUGAL {
            let pool = pool(protocol);
            let before = at_rest(&pool, WIDTH);
            pool.install(|| (0..1_000).for_each(|_| assert_eq!(drowse::join(|| 1, || 2), (1, 2))));
            let work = since(&pool, &before);
            let all = work.total();
            let (posts, latches, ends) =
                (1_000 + all.injected, all.steals, 2 * all.steals + all.injected);
            let wakes = |reason| all.sleep.wakes(reason);
            assert_eq!(all.injected, 1, "{work}");
            assert!((1..=posts).contains(&wakes(Reason::Job)), "{work}");
            assert!(wakes(Reason::Latch) <= latches && wakes(Reason::Baton) <= ends, "{work}");
            // Those who were woken before they slept are in one count, whatever the reason.
            assert!(
                all.sleep.all_wakes() + all.sleep.kept_awake <= posts + latches + ends,
                "{work}"
            );
            assert_eq!(wakes(Reason::Broadcast) + wakes(Reason::Terminate), 0, "{work}");
        }
    });
}

/// The metrics end with the pool's handle, so the end is counted by those who are woken: a worker
/// that was takes a thread.
#[track_caller]
fn woken_by_the_end(protocol: SleepProtocol) -> usize {
    let ((threads, ended), (sender, alive)) =
        ((Arc::default(), Arc::default()), mpsc::channel::<()>());
    let (acquired, exited): (Arc<AtomicUsize>, Arc<AtomicUsize>) =
        (Arc::clone(&threads), Arc::clone(&ended));
    let pool = builder(protocol)
        .acquire_thread_handler(move || _ = acquired.fetch_add(1, Ordering::SeqCst))
        .exit_handler(move |_| {
            let _alive = &sender;
            exited.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    at_rest(&pool, WIDTH);
    let before = threads.load(Ordering::SeqCst);
    drop(pool);
    assert!(alive.recv().is_err(), "nothing is sent, it is dropped with the last thread");
    assert_eq!(ended.load(Ordering::SeqCst), WIDTH);
    threads.load(Ordering::SeqCst) - before
}

/// Exact where a latch wakes its owner alone. Where it wakes everybody, those whose own latch is
/// not set yet may go back to sleep, and are woken again.
#[test]
fn the_end_wakes_each_sleeper_once() {
    watchdog(|| {
        for _ in 0..20 {
            for protocol in FRUGAL.into_iter().chain(IN_BLOCKS) {
                assert_eq!(woken_by_the_end(protocol), WIDTH, "{protocol:?}");
            }
            assert!(woken_by_the_end(SleepProtocol::Sleepy) >= WIDTH);
        }
    });
}

#[test]
fn the_metrics_are_a_table_that_adds_up() {
    watchdog(|| {
        for protocol in everything() {
            let pool = pool(protocol);
            assert_eq!(pool.install(|| fib(12)), 144);
            pool.broadcast(|_| ());
            let books = at_rest(&pool, WIDTH);
            let table = books.to_string();
            let mut lines: Vec<_> = table.lines().collect();
            // Where woken workers began has a line of its own, if there is anything to tell.
            let placed = books.total().sleep.steered + books.total().sleep.unsteered > 0;
            let about_places = lines[lines.len() - 1].starts_with("woken by working ones: ");
            assert_eq!(about_places, placed, "{table}");
            lines.truncate(lines.len() - usize::from(about_places));
            // So have fences, if there were any.
            let about_fences = lines[lines.len() - 1].starts_with("heavy fences: ");
            assert_eq!(about_fences, books.total().heavy_fences > 0, "{table}");
            lines.truncate(lines.len() - usize::from(about_fences));
            assert_eq!(lines[0], format!("8 workers, sleep protocol {protocol}"));
            assert_eq!(
                lines.len(),
                1 + 1 + WIDTH + 1,
                "a title, headings, a row each, and one for all:\n{table}"
            );
            for heading in [
                "worker",
                "searches",
                "steals",
                "injected",
                "sleeps",
                "fruitless",
                "kept awake",
                "parked",
            ] {
                assert!(lines[1].contains(heading), "{heading}\n{table}");
            }
            let woken_for = |reason: &Reason| books.total().sleep.wakes(*reason) > 0;
            assert!(
                Reason::ALL.iter().filter(|r| woken_for(r)).all(|r| lines[1].contains(r.name())),
                "{table}"
            );
            assert!(lines[2..].iter().all(|line| line.len() == lines[1].len()), "{table}");
            for (row, name) in
                lines[2..].iter().zip(["0", "1", "2", "3", "4", "5", "6", "7", "all"])
            {
                assert_eq!(row.split_whitespace().next(), Some(name), "{table}");
            }

            let all = books.total();
            let sum = |count: fn(&SleepMetrics) -> u64| {
                books.workers.iter().map(|worker| count(&worker.sleep)).sum()
            };
            assert_eq!(all.searches, books.workers.iter().map(|worker| worker.searches).sum());
            assert_eq!(all.injected, 1, "{table}");
            assert_eq!(all.sleep.sleeps, sum(|sleep| sleep.sleeps));
            assert_eq!(all.sleep.all_wakes(), sum(SleepMetrics::all_wakes));
            assert_eq!(
                all.sleep.parked,
                books.workers.iter().map(|worker| worker.sleep.parked).sum()
            );
        }
    });
}

#[test]
fn what_was_done_since() {
    watchdog(|| {
        let pool = pool(SleepProtocol::Jec);
        let first = at_rest(&pool, WIDTH);
        assert_eq!(first.since(&first).total(), Default::default());
        tick(&pool);
        let second = at_rest(&pool, WIDTH);
        tick(&pool);
        tick(&pool);
        let third = at_rest(&pool, WIDTH);
        let (one, two, three) = (second.since(&first), third.since(&second), third.since(&first));
        assert_eq!((one.total().injected, two.total().injected, three.total().injected), (1, 2, 3));
        assert_eq!(one.protocol, "jec");
        let mut sum = one.total().sleep;
        sum += two.total().sleep;
        assert_eq!(sum, three.total().sleep);
        // The wrong way round: nothing, rather than nonsense.
        assert_eq!(first.since(&third).total().injected, 0);
    });
}
