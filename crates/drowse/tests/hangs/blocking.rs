//! Spares that stand in for workers that block.

use crate::common::{assert_works, fib, until, until_all_sleep, watchdog};
use crate::programs::{builder, for_each, on_every_protocol};
use drowse::{ThreadPool, ThreadPoolBuilder, Waiting};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, channel};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

/// P13: tasks that each spawn a child into the same pool, and block until it has answered.
fn children_by_channel(pool: &ThreadPool, tasks: usize) {
    let answers = AtomicUsize::new(0);
    pool.scope(|s| {
        for task in 0..tasks {
            let answers = &answers;
            s.spawn(move |s| {
                let (send, receive) = channel();
                s.spawn(move |_| send.send(task).unwrap());
                let answer = drowse::blocking(|| receive.recv().unwrap());
                answers.fetch_add(answer + 1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(answers.into_inner(), tasks * (tasks + 1) / 2);
}

/// rayon hangs here: all workers block, and the children are in their queues.
#[test]
fn p13_children_that_answer_by_channel() {
    on_every_protocol(|protocol| {
        for (width, tasks) in [(1, 1), (1, 4), (4, 5), (2, 6), (8, 20)] {
            for waiting in [Waiting::Help, Waiting::Isolate] {
                let pool = builder(protocol, width)
                    .max_spare_threads(20)
                    .waiting(waiting)
                    .build()
                    .expect("a pool");
                (0..20).for_each(|_| children_by_channel(&pool, tasks));
                let loans = pool.metrics().loans;
                // One that was refused may be made all the same, when a spare has become idle.
                assert!(loans.made >= 1 && loans.made <= 20 * tasks as u64, "{loans:?}");
                assert!(loans.threads_started >= 1 && loans.threads_started <= 20, "{loans:?}");
                assert_works(&pool);
            }
        }
    });
}

/// As many as are in there at once; panics if two of them have the same index.
struct Census {
    here: Mutex<HashSet<usize>>,
    most: AtomicUsize,
}

impl Census {
    fn new() -> Self {
        Self { here: Mutex::new(HashSet::new()), most: AtomicUsize::new(0) }
    }

    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        // Where the machine is busy, one may have lost patience.
        let Some(index) = drowse::current_thread_index() else { return f() };
        assert!(index < drowse::current_num_threads());
        let count = {
            let mut here = self.here.lock().unwrap();
            assert!(here.insert(index), "two threads with index {index} run at once");
            here.len()
        };
        self.most.fetch_max(count, Ordering::Relaxed);
        let result = f();
        assert_eq!(
            drowse::current_thread_index(),
            Some(index),
            "an index changes in the middle of a job"
        );
        self.here.lock().unwrap().remove(&index);
        result
    }
}

#[test]
fn no_two_that_run_have_the_same_index_and_no_more_run_than_there_are() {
    on_every_protocol(|protocol| {
        for width in [1, 2, 5] {
            let pool = builder(protocol, width).build().expect("a pool");
            let census = Census::new();
            let item = |_| {
                census.run(|| fib_without_pool(10));
                let (send, receive) = channel();
                drowse::spawn(move || send.send(()).unwrap());
                drowse::blocking(|| receive.recv().unwrap());
                census.run(|| fib_without_pool(10));
            };
            pool.install(|| for_each(0..200, &item));
            assert!(census.most.into_inner() <= width);
            assert_works(&pool);
        }
    });
}

fn fib_without_pool(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { fib_without_pool(n - 1) + fib_without_pool(n - 2) }
}

/// The spare's job wants what the worker that comes back holds.
#[test]
fn a_worker_whose_spare_is_stuck_goes_on_without_an_index() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).build().expect("a pool");
        let lock = Mutex::new(0);
        let indices = pool.in_place_scope(|s| {
            let (started, starts) = channel();
            let (send, receive) = mpsc::sync_channel(1);
            let lock = &lock;
            s.spawn(move |s| {
                let guard = lock.lock().unwrap();
                s.spawn(move |_| {
                    started.send(()).unwrap();
                    *lock.lock().unwrap() += 1; // not marked
                });
                drowse::blocking(|| starts.recv().unwrap());
                send.send(drowse::current_thread_index()).unwrap();
                drop(guard);
                until("the spare has ended its job", || drowse::current_thread_index().is_some());
                send.send(drowse::current_thread_index()).unwrap();
            });
            [receive.recv().unwrap(), receive.recv().unwrap()]
        });
        assert_eq!(indices, [None, Some(0)]);
        assert_eq!(lock.into_inner().unwrap(), 1);
        assert_works(&pool);
    });
}

#[test]
fn in_a_pool_without_spares_the_last_to_block_runs_what_it_has_forked() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).max_spare_threads(0).build().expect("a pool");
        let (send, receive) = channel();
        pool.install(move || {
            drowse::spawn(move || send.send(()).unwrap());
            // Nobody else is there: it has run the job itself.
            drowse::blocking(|| receive.recv().unwrap());
        });
        let loans = pool.metrics().loans;
        assert_eq!((loans.made, loans.refused, loans.threads_started), (0, 1, 0));
    });
}

#[test]
fn to_block_while_one_blocks_changes_nothing() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).build().expect("a pool");
        let indices = pool.install(|| {
            let inside = drowse::blocking(|| {
                drowse::blocking(|| ());
                drowse::current_thread_index()
            });
            until("it is back", || drowse::current_thread_index().is_some());
            (inside, drowse::current_thread_index())
        });
        assert_eq!(indices, (None, Some(0)));
        assert_eq!(pool.metrics().loans.made, 1);
    });
}

#[test]
fn to_block_outside_is_a_plain_call() {
    assert_eq!(drowse::blocking(|| 42), 42);
}

#[test]
fn a_panic_while_blocked_gives_the_place_back() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 2).build().expect("a pool");
        for _ in 0..10 {
            let message = crate::common::caught::<&str, ()>(|| {
                pool.install(|| drowse::blocking(|| panic!("bad dream")));
            });
            assert_eq!(message, "bad dream");
            assert_works(&pool);
        }
    });
}

/// Spares serve posts, and sleep like workers meanwhile.
#[test]
fn a_spare_that_sleeps_is_woken_for_jobs() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).build().expect("a pool");
        let (release, held) = channel::<()>();
        let (started, starts) = channel();
        pool.spawn(move || {
            drowse::blocking(|| {
                started.send(()).unwrap();
                held.recv().unwrap();
            });
        });
        starts.recv().unwrap();
        for _ in 0..20 {
            until_spare_sleeps(&pool);
            assert_eq!(pool.install(|| (drowse::current_thread_index(), fib(5))), (Some(0), 5));
            assert_eq!(
                pool.broadcast(|context| context.index()),
                [0],
                "it has the worker's letters"
            );
        }
        release.send(()).unwrap();
        until_all_sleep(&pool);
        assert_works(&pool);
    });
}

fn until_spare_sleeps(pool: &ThreadPool) {
    until("the spare sleeps", || crate::common::sleeping(pool) == 1);
}

#[test]
fn a_pool_may_end_while_its_spares_are_busy() {
    on_every_protocol(|protocol| {
        for _ in 0..20 {
            let pool = builder(protocol, 2).build().expect("a pool");
            let (send, receive) = channel();
            for _ in 0..6 {
                let send = send.clone();
                pool.spawn(move || {
                    let (inner, answer) = channel();
                    drowse::spawn(move || inner.send(1).unwrap());
                    send.send(drowse::blocking(|| answer.recv().unwrap())).unwrap();
                });
            }
            drop((pool, send));
            assert_eq!(receive.iter().sum::<i32>(), 6);
        }
    });
}

/// P16: what is borrowed across an install that blocks, nobody else borrows; and a pool whose
/// worker blocks there goes on with a spare.
#[test]
fn p16_pools_that_call_each_other_and_block() {
    on_every_protocol(|protocol| {
        let one = builder(protocol, 1).build().expect("a pool");
        let other = builder(protocol, 1).build().expect("a pool");
        for _ in 0..20 {
            let answer = one.install(|| other.install_blocking(|| one.install(|| fib(10))));
            assert_eq!(answer, 55);
        }
    });
}

#[test]
fn pools_that_call_each_other_in_isolation() {
    on_every_protocol(|protocol| {
        let pool = || builder(protocol, 1).waiting(Waiting::Isolate).build().expect("a pool");
        let (one, other) = (pool(), pool());
        for _ in 0..20 {
            let answer =
                one.install(|| other.install(|| one.install(|| other.install(|| fib(10)))));
            assert_eq!(answer, 55);
        }
    });
}

#[test]
fn a_handle_of_a_job_from_outside_in_isolation() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).waiting(Waiting::Isolate).build().expect("a pool");
        for _ in 0..20 {
            let (send, receive) = channel();
            thread::scope(|threads| {
                let answer = threads.spawn(|| {
                    pool.install(move || {
                        let handle: drowse::JoinHandle<u32> = receive.recv().unwrap();
                        let own = drowse::spawn_handle(|| 2);
                        handle.join().unwrap() + own.join().unwrap()
                    })
                });
                send.send(pool.spawn_handle(|| 40)).unwrap();
                assert_eq!(answer.join().unwrap(), 42);
            });
        }
    });
}

/// All but one wait, in isolation, for a job that makes the broadcast.
#[test]
fn a_broadcast_reaches_those_who_wait_in_isolation() {
    on_every_protocol(|protocol| {
        for spares in [0, 8] {
            let pool = builder(protocol, 2).max_spare_threads(spares).waiting(Waiting::Isolate);
            let pool = pool.build().expect("a pool");
            for _ in 0..20 {
                let barrier = Barrier::new(2);
                let (_, indices) = pool.join(
                    || {
                        barrier.wait();
                    },
                    || {
                        barrier.wait();
                        drowse::broadcast(|context| context.index())
                    },
                );
                assert_eq!(indices, [0, 1]);
            }
        }
    });
}

/// Once the spares have nothing to do they are of no consequence: a pool that sleeps uses no CPU
/// time, and each worker is back in its place.
#[test]
fn after_many_loans_the_pool_is_as_before() {
    watchdog(|| {
        let pool =
            ThreadPoolBuilder::new().num_threads(4).max_spare_threads(8).build().expect("a pool");
        pool.install(|| {
            for_each(0..400, &|_| {
                drowse::blocking(|| thread::park_timeout(Duration::from_micros(100)));
            });
        });
        until_all_sleep(&pool);
        assert_works(&pool);
        until_all_sleep(&pool);
        let loans = pool.metrics().loans;
        assert!(loans.made + loans.refused <= 500, "{loans:?}");
        assert!(loans.threads_started <= 8);
    });
}

/// Workers of this pool leave soon when there is nothing to do. A spare that has nothing to do
/// waits until it is needed.
#[test]
fn a_spare_is_not_bored() {
    on_every_protocol(|protocol| {
        let pool =
            builder(protocol, 1).idle_timeout(Duration::from_millis(1)).build().expect("a pool");
        let (_send, nothing) = channel::<()>();
        let pool = &pool;
        pool.install(move || {
            drowse::blocking(|| {
                until("a spare sleeps", || {
                    pool.metrics().spares.iter().any(|spare| spare.sleep.sleeps > 0)
                });
                assert!(nothing.recv_timeout(Duration::from_millis(30)).is_err());
            });
        });
        let sleeps: u64 = pool.metrics().spares.iter().map(|spare| spare.sleep.sleeps).sum();
        assert!(sleeps < 10, "it slept {sleeps} times");
    });
}

/// The half of a `join` that a spare has begun is gone from the deque, and its place there used
/// again before the other half ends.
#[test]
fn what_a_spare_has_begun_is_not_run_again() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).build().expect("a pool");
        for _ in 0..20 {
            let (begin, has_begun) = channel();
            let (go_on, may_go_on) = channel();
            let count = AtomicUsize::new(0);
            let runs = &count;
            let first = move || {
                drowse::blocking(|| has_begun.recv().unwrap());
                let inner = drowse::join(|| 1, || 2);
                go_on.send(inner).unwrap();
            };
            let second = move || {
                runs.fetch_add(1, Ordering::Relaxed);
                begin.send(()).unwrap();
                drowse::blocking(|| may_go_on.recv().unwrap())
            };
            // Two are queued, since the last one that there is would be taken by other means.
            let ((_, inner), last) =
                pool.install(|| drowse::join(|| drowse::join(first, second), || 3));
            assert_eq!((inner, last, count.into_inner()), ((1, 2), 3, 1));
        }
    });
}
