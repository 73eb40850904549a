//! Where isolation, spares and deep waits meet.

use crate::common::until_all_sleep;
use crate::programs::{builder, on_every_protocol};
use drowse::{ThreadPool, Waiting};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

/// A spare has spawned something into the scope of the worker whose place it has. When that one
/// comes back, the spare leaves, and nobody else is there who would look for it.
#[test]
fn a_spare_leaves_nothing_behind_that_is_isolated() {
    on_every_protocol(|protocol| {
        for waiting in [Waiting::Help, Waiting::Isolate] {
            let pool = builder(protocol, 1).waiting(waiting).build().expect("a pool");
            let count = &AtomicUsize::new(0);
            let round = || {
                drowse::scope(|s| {
                    let (send, receive) = channel();
                    s.spawn(move |s| {
                        s.spawn(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
                        send.send(()).unwrap();
                        (0..2_000).for_each(|x| _ = black_box(x));
                    });
                    drowse::blocking(|| receive.recv().unwrap());
                });
            };
            (0..300).for_each(|_| pool.install(|| drowse::isolate(round)));
            assert_eq!(count.load(Ordering::Relaxed), 300);
        }
    });
}

/// Waits on top of each other, until half of the stack is in use, and `f` on top of them.
fn deep_down(levels: u32, f: &(dyn Fn() + Sync)) {
    let frame = black_box([levels as u8; 12_000]);
    match levels {
        0 => f(),
        _ => drowse::scope(|s| s.spawn(|_| deep_down(levels - 1, f))),
    }
    black_box(frame);
}

/// Two pools of one worker each. The one is deep down, and waits for the other, which sends a job
/// back.
#[test]
fn a_worker_deep_down_hears_of_jobs_that_come_later() {
    on_every_protocol(|protocol| {
        let deep = builder(protocol, 1).stack_size(5 << 19).build().expect("a pool");
        let other = builder(protocol, 1).build().expect("a pool");
        let there_and_back = || {
            until_all_sleep(&deep);
            assert_eq!(deep.install(|| 6 * 7), 42);
        };
        deep.install(|| deep_down(30, &|| other.install(there_and_back)));
    });
}

/// A panics, and has left more jobs on top of B than B is looked for under.
#[test]
fn a_panic_in_isolation_finds_the_other_half_under_many_jobs() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).waiting(Waiting::Isolate).build().expect("a pool");
        let (spawned, other_half) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let spawn_many = || {
            for _ in 0..200 {
                let spawned = Arc::clone(&spawned);
                drowse::spawn(move || _ = spawned.fetch_add(1, Ordering::Relaxed));
            }
            panic!("half-way");
        };
        let join = || drowse::join(spawn_many, || other_half.fetch_add(1, Ordering::Relaxed));
        assert!(catch_unwind(AssertUnwindSafe(|| pool.install(join))).is_err());
        pool.shutdown();
        assert_eq!((spawned.load(Ordering::Relaxed), other_half.into_inner()), (200, 1));
    });
}

/// A broadcast comes back from something that blocks, and a spare is in the middle of a long job.
#[test]
fn a_broadcast_knows_its_index_when_it_has_blocked() {
    on_every_protocol(|protocol| {
        let pool: ThreadPool = builder(protocol, 1).build().expect("a pool");
        let indices = pool.broadcast(|context| {
            let ((hold, held), (begin, begun)) = (channel::<()>(), channel());
            drowse::blocking(|| {
                pool.spawn(move || {
                    begin.send(()).unwrap();
                    _ = held.recv();
                });
                begun.recv().unwrap();
            });
            let index = context.index();
            drop(hold);
            index
        });
        assert_eq!(indices, [0]);
    });
}

/// A thread outside spawns into the scope of the only worker, which waits in isolation.
#[test]
fn what_a_thread_outside_spawns_into_an_isolated_scope() {
    on_every_protocol(|protocol| {
        for (waiting, width) in [(Waiting::Help, 1), (Waiting::Isolate, 1), (Waiting::Isolate, 3)] {
            let pool = builder(protocol, width).waiting(waiting).build().expect("a pool");
            let count = &AtomicUsize::new(0);
            let add = || _ = count.fetch_add(1, Ordering::Relaxed);
            let spawn_outside = || {
                drowse::scope(|s| {
                    thread::scope(|outside| {
                        outside.spawn(|| s.spawn(move |_| add()));
                        outside.spawn(|| {
                            s.spawn_all((0..3).map(|_| move |_: &drowse::Scope<'_>| add()))
                        });
                    })
                });
                drowse::scope_fifo(|s| {
                    _ = thread::scope(|outside| {
                        outside.spawn(|| s.spawn_fifo(move |_| add())).join()
                    })
                });
                // And while it sleeps.
                drowse::scope(|s| {
                    s.spawn(|s| {
                        thread::scope(|outside| _ = outside.spawn(|| s.spawn(move |_| add())))
                    });
                });
            };
            let barrier = Barrier::new(width);
            let all = || {
                drowse::isolate(|| {
                    barrier.wait();
                    spawn_outside();
                })
            };
            (0..20).for_each(|_| _ = pool.broadcast(|_| all()));
            assert_eq!(count.load(Ordering::Relaxed), 20 * 6 * width);
        }
    });
}

/// All block at the same time, each for what it has spawned, and there are fewer spares than they
/// need: one of them is the last.
#[test]
fn whoever_blocks_last_runs_what_it_has_forked() {
    fn for_each(items: usize, item: &(dyn Fn() + Sync)) {
        match items {
            1 => item(),
            _ => {
                _ = drowse::join(|| for_each(items / 2, item), || for_each(items - items / 2, item))
            }
        }
    }

    on_every_protocol(|protocol| {
        for (width, spares) in [(2, 0), (4, 0), (2, 1), (3, 2)] {
            let pool = builder(protocol, width).max_spare_threads(spares).build().expect("a pool");
            let count = AtomicUsize::new(0);
            let item = || {
                let (send, receive) = channel();
                drowse::spawn(move || send.send(1).unwrap());
                count.fetch_add(drowse::blocking(|| receive.recv().unwrap()), Ordering::Relaxed);
            };
            (0..500).for_each(|_| pool.install(|| for_each(width * 4, &item)));
            assert_eq!(count.into_inner(), 500 * width * 4);
        }
    });
}
