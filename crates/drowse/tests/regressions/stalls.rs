//! The stall watch reports where a thread waits for a pool in which nothing moves.

use crate::common::child::{in_child, this_test};
use crate::common::{assert_works, fib, occupy, patience, until, watchdog, watchdog_for_life};
use drowse::{Stall, ThreadPool, ThreadPoolBuilder, WaitFor, Waiting};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than a worker that works is kept from its processor, by whatever else runs there.
fn long() -> Duration {
    Duration::from_millis(20) * patience()
}

/// Builds a pool, and a channel for what its stall watch finds.
fn watched(builder: ThreadPoolBuilder, width: usize) -> (ThreadPool, Receiver<Stall>) {
    watched_for(builder, width, long())
}

fn watched_for(
    builder: ThreadPoolBuilder,
    width: usize,
    after: Duration,
) -> (ThreadPool, Receiver<Stall>) {
    let (sender, stalls) = mpsc::channel();
    let sender = Mutex::new(sender);
    let builder = builder.num_threads(width).thread_name(|index| format!("dozer-{index}"));
    let builder = builder.stall_watch(after).stall_handler(move |stall| {
        // The receiver is gone if the test has failed.
        let _ = sender.lock().unwrap().send(stall.clone());
    });
    (builder.build().unwrap(), stalls)
}

fn plain() -> ThreadPoolBuilder {
    ThreadPoolBuilder::new()
}

/// Returns a job that blocks until the sender is dropped.
fn endless() -> (Sender<()>, impl FnOnce() + Send + 'static) {
    let (hold, held) = mpsc::channel::<()>();
    (hold, move || assert!(held.recv().is_err()))
}

/// Calls `wait` on a thread with the name `waiter`, with a job that does not end. Demands a report
/// that names that thread, and a worker that is inside the job.
#[track_caller]
fn assert_reported(
    pool: &ThreadPool,
    stalls: &Receiver<Stall>,
    wait: impl FnOnce(Box<dyn FnOnce() + Send>) + Send,
) -> Stall {
    let (hold, job) = endless();
    let stall = thread::scope(|threads| {
        let waiter = thread::Builder::new().name("waiter".to_owned());
        waiter.spawn_scoped(threads, move || wait(Box::new(job))).unwrap();
        let stall = stalls.recv().unwrap();
        drop(hold);
        stall
    });
    assert!(!stall.queued, "{stall}");
    let said = stall.to_string();
    assert!(said.contains("thread waiter, outside: has waited for "), "{said}");
    assert!(stall.stalled.iter().any(|stalled| stalled.since >= stall.after), "{stall}");
    assert_works(pool);
    stall
}

#[test]
fn a_job_that_does_not_end_while_a_thread_waits_for_it() {
    watchdog(|| {
        for width in [1, 2, 4] {
            for guests in [false, true] {
                let (pool, stalls) = watched(plain().guests(guests), width);
                let stall = assert_reported(&pool, &stalls, |job| pool.install(job));
                assert_eq!((stall.num_threads, stall.stalled.len()), (width, 1), "{stall}");
                drop(pool);
                assert_eq!(stalls.iter().count(), 0, "once");
            }
        }
    });
}

#[test]
fn a_job_that_does_not_end_in_a_scope_a_broadcast_or_behind_a_handle() {
    watchdog(|| {
        let (pool, stalls) = watched(plain(), 2);
        assert_reported(&pool, &stalls, |job| pool.scope(|s| s.spawn(|_| job())));
        assert_reported(&pool, &stalls, |job| pool.in_place_scope(|s| s.spawn(|_| job())));
        assert_reported(&pool, &stalls, |job| pool.spawn_handle(job).join().unwrap());
        assert_reported(&pool, &stalls, |job| drowse::block_on(pool.spawn_handle(job)).unwrap());
        assert_reported(&pool, &stalls, |job| {
            let job = Mutex::new(Some(job));
            pool.broadcast(|_| job.lock().unwrap().take().into_iter().for_each(|job| job()));
        });
        drop(pool);
        assert_eq!(stalls.iter().count(), 0, "once for each");
    });
}

/// A worker of another pool is a thread outside, too: whether it runs other jobs meanwhile or not.
#[test]
fn a_job_that_does_not_end_while_a_worker_of_another_pool_waits_for_it() {
    watchdog(|| {
        for blocking in [false, true] {
            let (pool, stalls) = watched(plain(), 2);
            let other =
                plain().num_threads(1).thread_name(|_| "waiter".to_owned()).build().unwrap();
            let (hold, job) = endless();
            thread::scope(|threads| {
                threads.spawn(|| {
                    other.install(|| {
                        if blocking { pool.install_blocking(job) } else { pool.install(job) }
                    })
                });
                let said = stalls.recv().unwrap().to_string();
                assert!(said.contains("thread waiter, outside: has waited for "), "{said}");
                drop(hold);
            });
            assert_works(&pool);
        }
    });
}

/// All workers block, unmarked; what they wait for is with the thread that waits for them.
#[test]
fn all_workers_are_stuck_while_a_thread_waits_for_them() {
    watchdog(|| {
        let (pool, stalls) = watched(plain(), 2);
        let (holds, jobs): (Vec<_>, Vec<_>) = (0..2).map(|_| endless()).unzip();
        thread::scope(|threads| {
            let pool = &pool;
            threads
                .spawn(move || pool.scope(|s| jobs.into_iter().for_each(|job| s.spawn(|_| job()))));
            let mut told = 0;
            while told < 2 {
                let stall = stalls.recv().unwrap();
                assert!(stall.to_string().contains(", outside: has waited for "), "{stall}");
                told += stall.stalled.len();
            }
            drop(holds);
        });
        drop(pool);
    });
}

/// A job blocks on what the job below it on the same stack has: nothing is queued, and no other
/// thread waits.
#[test]
fn a_worker_waits_for_a_lock_that_it_holds_itself() {
    watchdog(|| {
        let (pool, stalls) = watched(plain(), 2);
        let (hold, stolen) = endless();
        let (hold_above, above) = endless();
        let (begun, begins) = mpsc::channel();
        let (shared, is_shared) = mpsc::channel();
        let (above_begun, above_begins) = mpsc::channel();
        let (ended, ends) = mpsc::channel::<()>();
        pool.spawn(move || {
            let _ended = ended;
            drowse::in_place_scope(|s| {
                s.spawn(move |_| {
                    begun.send(()).unwrap();
                    stolen();
                });
                // The other worker is in it. This one waits.
                begins.recv().unwrap();
                shared.send(()).unwrap();
            });
        });
        // Spawned earlier, the second job would be taken by the other worker.
        is_shared.recv().unwrap();
        pool.spawn(move || {
            above_begun.send(()).unwrap();
            above();
        });
        above_begins.recv().unwrap();
        drop(hold);
        // On a busy machine the other worker may be in the report, too.
        let taken_while = stalls.iter().find_map(|stall| {
            let above = stall.stalled.iter().find(|stalled| stalled.worker.depth == 2)?;
            Some(above.worker.jobs[0].taken_while)
        });
        assert_eq!(taken_while, Some(Some(WaitFor::Scope)));
        drop(hold_above);
        assert!(ends.recv().is_err());
    });
}

/// The worker lends its place while it blocks, and the thread that works there does not come back.
#[test]
fn a_spare_does_not_come_back_from_its_job() {
    watchdog(|| {
        let (pool, stalls) = watched(plain(), 1);
        let (hold, job) = endless();
        let (lent, lends) = mpsc::channel();
        pool.spawn(move || {
            drowse::blocking(|| {
                lent.send(()).unwrap();
                job();
            });
        });
        lends.recv().unwrap();
        let stall = assert_reported(&pool, &stalls, |job| pool.install(job));
        assert!(
            stall.to_string().contains("(drowse-spare-0): active, in a job from outside"),
            "{stall}"
        );
        drop(hold);
    });
}

/// Two isolated workers, each of which waits for what the other has to do: all sleep.
#[test]
fn all_workers_sleep_in_the_middle_of_jobs() {
    let ended = in_child(this_test!(), &[], || {
        let builder = plain().waiting(Waiting::Isolate).max_spare_threads(0);
        let (pool, stalls) = watched(builder, 2);
        let pool = Arc::new(pool);
        let entered = Arc::clone(&pool);
        // It does not come back.
        let outside = thread::Builder::new().name("waiter".to_owned());
        let body = move || {
            let both = Barrier::new(2);
            entered.broadcast(|_| {
                both.wait();
                drowse::broadcast(|_| ());
            });
        };
        outside.spawn(body).unwrap();
        let stall = stalls.recv().unwrap();
        assert!(
            stall
                .stalled
                .iter()
                .all(|stalled| stalled.worker.waits_for == Some(WaitFor::Broadcast))
        );
        assert!(stall.to_string().contains("thread waiter, outside: has waited for "), "{stall}");
    });
    ended.assert_done();
}

/// The first program of docs/guide/hangs.md. Not every round hangs; the one that does is reported.
#[test]
fn the_program_that_holds_a_lock_across_a_join() {
    const ROUNDS: usize = 20_000;
    let ended = in_child(this_test!(), &[], || {
        let (pool, stalls) = watched_for(plain(), 4, Duration::from_millis(200));
        let (over, end) = mpsc::channel();
        thread::spawn(move || {
            for _ in 0..ROUNDS {
                let total = Mutex::new(0);
                pool.scope(|s| {
                    for _ in 0..64 {
                        s.spawn(|_| {
                            let mut total = total.lock().unwrap();
                            let (a, b) = drowse::join(|| 1, || 2);
                            *total += a + b;
                        });
                    }
                });
                assert_eq!(total.into_inner().unwrap(), 192);
            }
            over.send(()).unwrap();
        });
        until("it has ended, or is reported", || {
            end.try_recv().is_ok() || stalls.try_recv().is_ok()
        });
    });
    ended.assert_done();
}

/// A report ends with what shows the stacks, and has the names to find in them.
#[test]
fn a_report_names_the_pool_and_its_threads_and_the_way_to_their_stacks() {
    watchdog(|| {
        let (pool, stalls) = watched(plain(), 2);
        let said = assert_reported(&pool, &stalls, |job| pool.install(job)).to_string();
        let (first, last) = (said.lines().next().unwrap(), said.lines().last().unwrap());
        assert!(
            first.starts_with("a worker of 2 (pool dozer) has been inside one job for "),
            "{said}"
        );
        assert!(first.ends_with(", and a thread outside waits"), "{said}");
        if cfg!(target_os = "linux") {
            let process = std::process::id();
            assert!(last.starts_with(&format!("  stacks: gdb -p {process} -batch ")), "{said}");
            assert!(last.ends_with(" -ex 'thread apply all bt'"), "{said}");
            // The numbers of the two threads.
            for line in
                said.lines().filter(|line| line.contains("dozer-") || line.contains("waiter"))
            {
                let number = line
                    .split("thread ")
                    .find_map(|rest| rest.split([' ', ')']).next()?.parse::<u32>().ok());
                assert!(last.contains(&format!("'thread find LWP {}'", number.unwrap())), "{said}");
            }
        }
    });
}

/// Longer than the system keeps a thread from a processor on a busy machine.
fn very_long() -> Duration {
    Duration::from_millis(400) * patience()
}

/// A job may take as long as it likes if no thread waits for it, nor for the pool.
#[test]
fn there_is_nothing_to_tell_of_a_job_that_no_thread_waits_for() {
    watchdog(|| {
        let (pool, stalls) = watched(plain(), 2);
        let busy = occupy(&pool, 1);
        assert!(stalls.recv_timeout(long() * 10).is_err(), "no thread waits");
        drop(busy);
        drop(pool);
        assert_eq!(stalls.iter().map(|stall| stall.to_string()).collect::<Vec<_>>(), [""; 0]);
    });
}

/// Nor beside work that goes on, which other threads wait for.
#[test]
fn there_is_nothing_to_tell_of_such_a_job_beside_work_that_goes_on() {
    watchdog(|| {
        let (pool, stalls) = watched_for(plain(), 2, very_long());
        let busy = occupy(&pool, 1);
        let since = Instant::now();
        pool.install(|| {
            while since.elapsed() < very_long() * 3 {
                assert_eq!(fib(10), 55);
            }
        });
        drop(busy);
        drop(pool);
        assert_eq!(stalls.iter().map(|stall| stall.to_string()).collect::<Vec<_>>(), [""; 0]);
    });
}

/// A thread that shuts a pool down waits for it like every other one.
#[test]
fn a_job_that_does_not_end_while_a_thread_shuts_the_pool_down() {
    watchdog(|| {
        for guests in [false, true] {
            let (pool, stalls) = watched(plain().guests(guests), 2);
            let (hold, job) = endless();
            pool.spawn(job);
            let waiter = thread::Builder::new().name("waiter".to_owned());
            let waiter = waiter.spawn(|| pool.shutdown()).unwrap();
            let said = stalls.recv().unwrap().to_string();
            assert!(
                said.contains("thread waiter, outside: has waited for the end of the pool"),
                "{said}"
            );
            drop(hold);
            waiter.join().unwrap();
        }
    });
}

/// It does something of its own, and no thread waits for that.
#[test]
fn a_thread_that_was_adopted_and_is_in_no_job_is_not_reported() {
    watchdog_for_life(|| {
        let (pool, stalls) = watched(plain().use_current_thread(), 2);
        let stall = assert_reported(&pool, &stalls, |job| pool.install(job));
        let indices: Vec<_> = stall.stalled.iter().map(|stalled| stalled.worker.index).collect();
        assert_eq!(indices, [1], "{stall}");
        assert!(stall.to_string().starts_with("a worker of 2 "), "{stall}");
    });
}
