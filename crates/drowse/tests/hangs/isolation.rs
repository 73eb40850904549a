//! A worker that waits in isolation runs nothing but what it waits for.

use crate::common::{Dice, fib, mutual_wait};
use crate::programs::{builder, for_each, on_every_protocol, sum};
use drowse::{SleepProtocol, ThreadPool, Waiting, Yield};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// Pools of some widths that isolate everything.
fn isolated_pools(protocol: SleepProtocol) -> impl Iterator<Item = ThreadPool> {
    let pool =
        move |width| builder(protocol, width).waiting(Waiting::Isolate).build().expect("a pool");
    [1, 2, 3, 8].into_iter().map(pool)
}

/// Pools of some widths that help, unless they are told not to.
fn helping_pools(protocol: SleepProtocol) -> impl Iterator<Item = ThreadPool> {
    let pool =
        move |width| builder(protocol, width).waiting(Waiting::Help).build().expect("a pool");
    [1, 2, 3, 8].into_iter().map(pool)
}

/// P10: 64 items, each of which runs a parallel sum under one lock.
fn lock_across_join(pool: &ThreadPool, call: impl Fn(&dyn Fn()) + Sync) {
    let numbers: Vec<u64> = (0..32).collect();
    let total = Mutex::new(0);
    let add = || *total.lock().unwrap() += sum(&numbers);
    pool.install(|| for_each(0..64, &|_| call(&add)));
    assert_eq!(total.into_inner().unwrap(), 64 * 496);
}

/// rayon hangs here: a worker that holds the lock steals an item that wants it.
#[test]
fn p10_a_lock_held_across_a_join_in_an_isolated_pool() {
    on_every_protocol(|protocol| {
        for pool in isolated_pools(protocol) {
            (0..250).for_each(|_| lock_across_join(&pool, |add| add()));
        }
    });
}

#[test]
fn p10_a_lock_held_across_a_join_in_an_isolated_region() {
    on_every_protocol(|protocol| {
        for pool in helping_pools(protocol) {
            (0..250).for_each(|_| lock_across_join(&pool, |add| drowse::isolate(add)));
        }
    });
}

/// P11. rayon hangs here: a worker that initialises a cell steals an item that waits for the cell.
#[test]
fn p11_cells_that_are_initialised_in_parallel() {
    on_every_protocol(|protocol| {
        for pool in isolated_pools(protocol) {
            for _ in 0..40 {
                let numbers: Vec<u64> = (0..200).collect();
                let (first, second) = (OnceLock::new(), OnceLock::new());
                let item = |index: usize| {
                    let cell = if index % 2 == 0 { &first } else { &second };
                    assert_eq!(*cell.get_or_init(|| sum(&numbers)), 19_900);
                };
                pool.install(|| for_each(0..500, &item));
            }
        }
    });
}

/// P12: whoever never steals while it waits hangs here.
#[test]
fn p12_halves_that_wait_for_each_other_in_isolation() {
    on_every_protocol(|protocol| {
        for pool in isolated_pools(protocol).filter(|pool| pool.current_num_threads() > 1) {
            (0..100).for_each(|_| mutual_wait(&pool));
        }
        for pool in helping_pools(protocol).filter(|pool| pool.current_num_threads() > 1) {
            for _ in 0..100 {
                pool.install(|| drowse::isolate(|| mutual_wait(&pool)));
            }
        }
    });
}

thread_local! {
    /// The jobs that wait on this thread, the newest last: a root, and a node of its tree.
    static WAITING: RefCell<Vec<(u64, u64)>> = const { RefCell::new(Vec::new()) };
}

/// A node of a tree of jobs. Each checks that the job below it on the stack waits for it.
fn node(root: u64, node: u64, depth: u32, mut dice: Dice) -> u64 {
    WAITING.with_borrow(|waiting| {
        if let Some((its_root, its_node)) = waiting.last() {
            let generations = node.ilog2().saturating_sub(its_node.ilog2());
            assert!(
                *its_root == root && node >> generations == *its_node,
                "{root}/{node:b} runs while {its_root}/{its_node:b} waits"
            );
        }
    });
    if depth == 0 {
        return fib(dice.below(4) as u32 + 1).min(1);
    }
    let (one, other) = (dice.split(), dice.split());
    WAITING.with_borrow_mut(|waiting| waiting.push((root, node)));
    let count = match dice.below(4) {
        0 => {
            let count = AtomicUsize::new(0);
            let add = |more| count.fetch_add(more as usize, Ordering::Relaxed);
            drowse::scope(|s| {
                s.spawn(|_| _ = add(self::node(root, 2 * node, depth - 1, one)));
                s.spawn(|_| _ = add(self::node(root, 2 * node + 1, depth - 1, other)));
            });
            count.into_inner() as u64
        }
        _ => {
            let (a, b) = drowse::join(
                || self::node(root, 2 * node, depth - 1, one),
                || self::node(root, 2 * node + 1, depth - 1, other),
            );
            a + b
        }
    };
    WAITING.with_borrow_mut(Vec::pop);
    count
}

/// The assertion is in [`node`].
#[test]
fn whoever_waits_runs_descendants_only() {
    on_every_protocol(|protocol| {
        for pool in isolated_pools(protocol) {
            thread::scope(|threads| {
                for root in 0..3 {
                    let pool = &pool;
                    threads.spawn(move || {
                        for round in 0..12 {
                            let dice = Dice::new(1_000 * root + round);
                            assert_eq!(pool.install(|| node(root, 1, 8, dice)), 256);
                        }
                    });
                }
            });
        }
    });
}

#[test]
fn whoever_waits_in_a_region_runs_descendants_only() {
    on_every_protocol(|protocol| {
        for pool in helping_pools(protocol) {
            let item = |index: usize| {
                let root = index as u64;
                // What waits below this is not isolated, and may have anything on top of it.
                let below = WAITING.take();
                assert_eq!(drowse::isolate(|| node(root, 1, 5, Dice::new(root))), 32);
                WAITING.set(below);
            };
            (0..10).for_each(|_| pool.install(|| for_each(0..32, &item)));
        }
    });
}

/// What a thread outside sends in isolation is isolated, beside others that are not.
#[test]
fn what_is_sent_in_isolation_runs_in_isolation() {
    on_every_protocol(|protocol| {
        for pool in helping_pools(protocol) {
            let elsewhere = builder(protocol, 2).build().expect("a pool");
            thread::scope(|threads| {
                let (pool, elsewhere) = (&pool, &elsewhere);
                let tree = |root| assert_eq!(node(root, 1, 6, Dice::new(root)), 64);
                threads.spawn(move || {
                    (0..20).for_each(|_| drowse::isolate(|| pool.install(|| tree(1))))
                });
                threads.spawn(move || {
                    let from_pool = || drowse::isolate(|| pool.install(|| tree(2)));
                    (0..20).for_each(|_| elsewhere.install(from_pool));
                });
                threads.spawn(move || {
                    (0..20).for_each(|_| {
                        drowse::isolate(|| pool.in_place_scope(|s| s.spawn(move |_| tree(3))));
                    });
                });
                threads
                    .spawn(move || (0..20).for_each(|_| assert_eq!(pool.install(|| fib(12)), 144)));
            });
        }
    });
}

#[test]
fn to_yield_in_isolation_runs_what_the_region_has_spawned() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).waiting(Waiting::Help).build().expect("a pool");
        let order = pool.install(|| {
            let (send, ran) = channel();
            let spawn = |name: &'static str| {
                let send = send.clone();
                drowse::spawn(move || send.send(name).unwrap());
            };
            spawn("before");
            drowse::isolate(|| {
                assert_eq!(drowse::yield_now(), Some(Yield::Idle));
                spawn("inside");
                assert_eq!(drowse::yield_now(), Some(Yield::Executed));
                assert_eq!(drowse::yield_local(), Some(Yield::Idle));
            });
            assert_eq!(drowse::yield_now(), Some(Yield::Executed));
            ran.try_iter().collect::<Vec<_>>()
        });
        assert_eq!(order, ["inside", "before"]);
    });
}

#[test]
fn a_region_ends_with_a_panic_too() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 1).waiting(Waiting::Help).build().expect("a pool");
        let last = pool.install(|| {
            let bad_dream = || drowse::isolate(|| panic!("bad dream"));
            let payload = crate::common::caught::<&str, ()>(bad_dream);
            assert_eq!(payload, "bad dream");
            drowse::spawn(|| {});
            drowse::isolate(|| assert_eq!(drowse::yield_now(), Some(Yield::Idle)));
            drowse::yield_now()
        });
        assert_eq!(last, Some(Yield::Executed));
    });
}

/// What is spawned in a region nobody need wait for there. It goes on in isolation when the region
/// is over, and so does what is stolen from it.
#[test]
fn what_a_region_has_spawned_stays_isolated_when_that_is_over() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 2).waiting(Waiting::Help).build().expect("a pool");
        let ([begun, over, stolen, sent], [has_begun, is_over, is_stolen, is_sent]) = gates();
        let (tell, told) = channel();
        pool.install(move || {
            drowse::isolate(|| {
                drowse::spawn(move || {
                    begun.send(()).unwrap();
                    is_over.recv().unwrap();
                    let stolen_half = move || {
                        stolen.send(()).unwrap();
                        is_sent.recv().unwrap();
                        // There is a job for everybody, but not for us.
                        tell.send(drowse::yield_now()).unwrap();
                    };
                    let (half_begun, half_has_begun) = channel();
                    let wait = move || half_has_begun.recv().unwrap();
                    drowse::join(wait, move || {
                        half_begun.send(()).unwrap();
                        stolen_half();
                    });
                });
                has_begun.recv().unwrap();
            });
        });
        over.send(()).unwrap();
        is_stolen.recv().unwrap();
        pool.spawn(|| ());
        sent.send(()).unwrap();
        assert_eq!(told.recv(), Ok(Some(Yield::Idle)));
    });
}

/// A thief has run a job of the scope, which has spawned another one, and then blocks: whoever
/// waits for the scope would not find that one in its queue.
#[test]
fn what_a_thief_has_spawned_is_run() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 2).waiting(Waiting::Help).build().expect("a pool");
        let ([begin, stolen, all, _], [may_begin, is_stolen, is_all, _]) = gates();
        pool.spawn(move || {
            may_begin.recv().unwrap();
            while drowse::yield_now() != Some(Yield::Executed) {}
            stolen.send(()).unwrap();
            is_all.recv().unwrap();
        });
        let (runs, is_stolen) = (AtomicUsize::new(0), Mutex::new(is_stolen));
        pool.install(|| {
            drowse::isolate(|| {
                drowse::scope(|s| {
                    s.spawn(|s| s.spawn(|_| _ = runs.fetch_add(1, Ordering::Relaxed)));
                    begin.send(()).unwrap();
                    is_stolen.lock().unwrap().recv().unwrap();
                });
            });
        });
        all.send(()).unwrap();
        assert_eq!(runs.into_inner(), 1);
    });
}

/// A job that spawns itself again until somebody says so must not keep a thief from the rest.
#[test]
fn a_job_that_comes_again_and_again_lets_others_have_their_turn() {
    fn again(stop: Arc<AtomicBool>) {
        if !stop.load(Ordering::Relaxed) {
            drowse::spawn(move || again(stop));
        }
    }
    on_every_protocol(|protocol| {
        for waiting in [Waiting::Help, Waiting::Isolate] {
            let stop = Arc::new(AtomicBool::new(false));
            let pool = builder(protocol, 2).waiting(waiting).build().expect("a pool");
            pool.install(|| {
                let again = |_: &drowse::Scope<'_>| again(Arc::clone(&stop));
                drowse::isolate(|| drowse::scope(|s| (0..8).for_each(|_| s.spawn(again))));
            });
            let stops = Arc::clone(&stop);
            pool.spawn(move || stops.store(true, Ordering::Relaxed));
            pool.shutdown();
            assert!(stop.load(Ordering::Relaxed));
        }
    });
}

/// What it waits for is in the queue of one who waits for the lock.
#[test]
fn a_handle_that_another_worker_has_spawned() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 2).waiting(Waiting::Isolate).build().expect("a pool");
        let ([send, locked, _, _], [_, is_locked, _, _]) = gates();
        drop(send);
        let (give, given) = channel();
        let (lock, given) = (Mutex::new(()), Mutex::new(given));
        let is_locked = Mutex::new(is_locked);
        pool.scope(|s| {
            let (lock, given, is_locked) = (&lock, &given, &is_locked);
            s.spawn(move |_| {
                let held = lock.lock().unwrap();
                locked.send(()).unwrap();
                let handle: drowse::JoinHandle<u32> = given.lock().unwrap().recv().unwrap();
                assert_eq!(handle.join().unwrap(), 1);
                drop(held);
            });
            s.spawn(move |_| {
                is_locked.lock().unwrap().recv().unwrap();
                give.send(drowse::spawn_handle(|| 1)).unwrap();
                drop(lock.lock().unwrap());
            });
        });
    });
}

fn gates() -> ([Sender<()>; 4], [Receiver<()>; 4]) {
    let gates: [_; 4] = std::array::from_fn(|_| channel());
    let (open, pass): (Vec<_>, Vec<_>) = gates.into_iter().unzip();
    (open.try_into().unwrap(), pass.try_into().unwrap())
}
