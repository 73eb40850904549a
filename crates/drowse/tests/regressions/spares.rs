//! Spares that run out, and spares that do not.

use crate::common::child::{in_child, this_test};
use crate::common::{assert_works, watchdog};
use drowse::{Deadlock, ThreadPool, ThreadPoolBuilder, Waiting};
use std::sync::mpsc::{self, Receiver, channel};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

/// What two pools do with each other until `left` is 0. It is called on a worker of the first one.
type Program = fn(&ThreadPool, &ThreadPool, u32);

/// Calls from pool to pool and back, each of which blocks.
fn install_blocking(here: &ThreadPool, there: &ThreadPool, left: u32) {
    if left > 0 {
        there.install_blocking(|| install_blocking(there, here, left - 1));
    }
}

/// Blocks on a thread outside that waits for the same pool.
#[expect(clippy::only_used_in_recursion, reason = "all programs are called alike")]
fn block_on_outside(here: &ThreadPool, there: &ThreadPool, left: u32) {
    if left > 0 {
        drowse::blocking(|| outside(|| here.install(|| block_on_outside(here, there, left - 1))));
    }
}

/// Waits in isolation for the other pool, in which a thread outside waits for this one.
fn install_isolated(here: &ThreadPool, there: &ThreadPool, left: u32) {
    if left > 0 {
        let back = || here.install(|| install_isolated(here, there, left - 1));
        drowse::isolate(|| there.install(|| drowse::blocking(|| outside(back))));
    }
}

/// Calls a closure on another thread, which is in no pool, and waits for it.
fn outside(f: impl FnOnce() + Send) {
    thread::scope(|scope| scope.spawn(f).join().unwrap());
}

const PROGRAMS: [Program; 3] = [install_blocking, block_on_outside, install_isolated];

#[test]
fn by_default_there_are_spares_for_many_that_block_at_once() {
    watchdog(|| {
        let [one, other] = [(); 2].map(|()| crate::common::pool(1));
        for program in PROGRAMS {
            one.install(|| program(&one, &other, 40));
            assert_works(&one);
            assert_works(&other);
        }
        let pool = crate::common::pool(1);
        let all = Barrier::new(40);
        pool.scope(|s| (0..40).for_each(|_| s.spawn(|_| _ = drowse::blocking(|| all.wait()))));
        assert_works(&pool);
    });
}

/// Installs there and back again, in isolation, and forks on the way.
fn fork_there_and_back(here: &ThreadPool, there: &ThreadPool, left: u32) -> u32 {
    if left == 0 {
        return 1;
    }
    let back = || here.install(|| fork_there_and_back(here, there, left - 1));
    let fork = || drowse::join(back, || drowse::join(back, back));
    let (first, (second, third)) =
        there.install(|| if left % 2 == 0 { (back(), (0, 0)) } else { fork() });
    first + second + third
}

/// In isolation, what comes back to a pool from another one descends from what the worker waits
/// for: it runs it, and needs no spare.
#[test]
fn what_comes_back_from_another_pool_is_run_by_the_worker_that_waits_for_it() {
    watchdog(|| {
        for (one, other) in [(1, 1), (1, 3), (3, 1), (2, 2)] {
            let pool = |width| {
                let builder = ThreadPoolBuilder::new().num_threads(width).max_spare_threads(0);
                builder.waiting(Waiting::Isolate).build().expect("a pool")
            };
            let [one, other] = [one, other].map(pool);
            for _ in 0..10 {
                assert_eq!(one.install(|| fork_there_and_back(&one, &other, 8)), 81);
            }
            assert_works(&one);
            assert_works(&other);
        }
    });
}

/// Two pools with one worker and one spare each, and where the alarms of both are heard.
fn two_pools(waiting: Waiting) -> ([&'static ThreadPool; 2], Receiver<Deadlock>) {
    let (sender, alarms) = channel();
    let pool = || {
        let sender = Mutex::new(sender.clone());
        let alarm = move |deadlock: &Deadlock| _ = sender.lock().unwrap().send(deadlock.clone());
        let builder = ThreadPoolBuilder::new().num_threads(1).max_spare_threads(1).waiting(waiting);
        builder
            .deadlock_handler(alarm)
            .deadlock_after(Duration::from_millis(20))
            .build()
            .expect("a pool")
    };
    // Not lost: leaks are looked for.
    static ALL: Mutex<Vec<&ThreadPool>> = Mutex::new(Vec::new());
    let pools = [(); 2].map(|()| &*Box::leak(Box::new(pool())));
    ALL.lock().unwrap().extend(pools);
    (pools, alarms)
}

/// The program stands still, which is reported, without marks, and said once for a pool.
#[track_caller]
fn assert_is_reported(test: &str, program: Program) {
    let ended = in_child(test, &[], || {
        watchdog(move || {
            let ([one, other], alarms) = two_pools(Waiting::Help);
            thread::spawn(move || one.install(|| program(one, other, 40)));
            let deadlock = alarms.recv().unwrap();
            assert!(deadlock.blocked.is_empty());
            assert_eq!((deadlock.num_threads, deadlock.out_of_spares), (1, Some(1)));
            assert_eq!(deadlock.workers.len(), 2, "{deadlock}");
            let text = deadlock.to_string();
            assert!(text.contains("all 1 spare threads are in use (max_spare_threads)"), "{text}");
            assert!(
                text.contains("in a blocking call") || text.contains("asleep, waits for"),
                "{text}"
            );
        });
    });
    ended.assert_done();
    let lines = ended.complaints();
    assert!((1..=2).contains(&lines.len()), "one for each pool that runs out: {lines:#?}");
    for line in lines {
        assert!(
            line.contains("all 1 spare threads") && line.contains("max_spare_threads"),
            "{line}"
        );
    }
}

#[test]
fn pools_that_install_into_each_other_run_out_of_spares_and_say_so() {
    assert_is_reported(this_test!(), install_blocking);
}

#[test]
fn a_pool_that_blocks_on_itself_runs_out_of_spares_and_says_so() {
    assert_is_reported(this_test!(), block_on_outside);
}

#[test]
fn pools_that_wait_for_each_other_in_isolation_run_out_of_spares_and_say_so() {
    assert_is_reported(this_test!(), install_isolated);
}

/// A pool of one worker, which blocks twice on one spare. Nothing is queued: no alarm. Then
/// something is.
#[test]
fn spares_that_are_all_in_use_are_no_deadlock_while_nothing_is_queued() {
    let ended = in_child(this_test!(), &[], || {
        watchdog(|| {
            let ([pool, _], alarms) = two_pools(Waiting::Help);
            let (blocks, blocked) = channel();
            let holds: Vec<_> = (0..2).map(|_| mpsc::channel::<()>()).collect();
            let (holds, held): (Vec<_>, Vec<_>) = holds.into_iter().unzip();
            for held in held {
                let blocks = blocks.clone();
                pool.spawn(move || {
                    drowse::blocking(|| {
                        blocks.send(()).unwrap();
                        let _ = held.recv();
                    });
                });
                blocked.recv().unwrap();
            }
            assert!(alarms.recv_timeout(Duration::from_millis(100)).is_err());
            let (done, is_done) = channel();
            pool.spawn(move || done.send(()).unwrap());
            assert_eq!(alarms.recv().unwrap().out_of_spares, Some(1));
            drop(holds);
            is_done.recv().unwrap();
        });
    });
    ended.assert_done();
    assert_eq!(ended.complaints().len(), 1, "{ended:#?}");
}

#[test]
fn a_pool_that_was_to_have_no_spares_says_nothing_and_neither_does_one_that_has_enough() {
    let ended = in_child(this_test!(), &[], || {
        watchdog(|| {
            for spares in [0, 4] {
                let builder = ThreadPoolBuilder::new().num_threads(2).max_spare_threads(spares);
                let pool = builder.build().expect("a pool");
                pool.join(|| drowse::blocking(|| ()), || drowse::blocking(|| ()));
                let loans = pool.metrics().loans;
                assert_eq!(loans.refused > 0, spares == 0, "{loans:?}");
                pool.shutdown();
            }
        });
    });
    ended.assert_done();
    assert!(ended.complaints().is_empty(), "{ended:#?}");
}
