//! The real pool in isolation, under random schedules: whoever waits runs descendants of what it
//! waits for, and nothing else, and everyone who waits is woken.
#![cfg(drowse_shuttle)]

use drowse::{ThreadPool, ThreadPoolBuilder, Waiting};
use drowse_models::{Choose, Gate, for_each_protocol, mutual_wait, random_schedules, with_pool_of};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Mutex, hint};
use std::cell::RefCell;
use std::task::{Context, Poll, Waker};

/// A pool in which everything is isolated.
fn with_pool(choose: Choose, workers: usize, f: impl FnOnce(&ThreadPool)) {
    with_waiting(choose, workers, Waiting::Isolate, f);
}

fn with_waiting(choose: Choose, workers: usize, waiting: Waiting, f: impl FnOnce(&ThreadPool)) {
    let builder = ThreadPoolBuilder::new().num_threads(workers).sleep_protocol(choose());
    with_pool_of(builder.waiting(waiting), f);
}

drowse_sync::thread_local! {
    /// The jobs that wait on this thread, the newest last: a root, and a node of its tree.
    static WAITS: RefCell<Vec<(u32, u32)>> = const { RefCell::new(Vec::new()) };
}

/// A node of a tree of jobs. Each checks that the job below it on the stack waits for it. Some of
/// them join, the others open scopes.
fn node(root: u32, node: u32, depth: u32) {
    let below = WAITS.with(|waits| waits.borrow().last().copied());
    if let Some((its_root, its_node)) = below {
        let generations = node.ilog2().saturating_sub(its_node.ilog2());
        let waits_for_it = its_root == root && node >> generations == its_node;
        assert!(waits_for_it, "{root}/{node:b} runs while {its_root}/{its_node:b} waits");
    }
    if depth == 0 {
        return;
    }
    WAITS.with(|waits| waits.borrow_mut().push((root, node)));
    let (one, other) =
        (|| self::node(root, 2 * node, depth - 1), || self::node(root, 2 * node + 1, depth - 1));
    match node % 3 {
        0 => _ = drowse::join(one, other),
        1 => drowse::scope(|s| {
            s.spawn(|_| one());
            s.spawn(|_| other());
        }),
        _ => drowse::scope_fifo(|s| {
            s.spawn_fifo(|_| one());
            s.spawn_fifo(|_| other());
        }),
    }
    WAITS.with(|waits| waits.borrow_mut().pop());
}

/// The assertion is in [`node`].
fn whoever_waits_runs_descendants_only(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 3, |pool| {
            let pool = &pool;
            shuttle::thread::scope(|s| {
                (0..2).for_each(|root| _ = s.spawn(move || pool.install(|| node(root, 1, 3))));
            });
        });
    });
}

/// The same in regions of a pool that helps.
fn whoever_waits_in_a_region_runs_descendants_only(choose: Choose) {
    random_schedules(600, move || {
        with_waiting(choose, 3, Waiting::Help, |pool| {
            let pool = &pool;
            shuttle::thread::scope(|s| {
                for root in 0..2 {
                    s.spawn(move || pool.install(|| drowse::isolate(|| node(root, 1, 3))));
                }
            });
        });
    });
}

/// Whoever holds the lock and waits must not run one who wants it.
fn a_lock_held_across_a_join(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 2, |pool| {
            let count = Mutex::new(0);
            let add = || {
                let mut count = count.lock();
                let (one, two) = drowse::join(|| 1, || 2);
                *count += one + two;
            };
            pool.join(add, || pool.scope(|s| (0..2).for_each(|_| s.spawn(|_| add()))));
            assert_eq!(*count.lock(), 9);
        });
    });
}

/// Jobs that are isolated are there for everybody.
fn halves_that_wait_for_each_other(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 2, |pool| {
            mutual_wait(pool);
            pool.join(|| (), || mutual_wait(pool));
        });
    });
}

/// A job that `yield_now` runs in a stolen half descends from it: the worker that waits for the
/// half finds what the job forks.
fn what_a_yield_runs_descends_from_the_region(choose: Choose) {
    random_schedules(600, move || {
        with_waiting(choose, 2, Waiting::Help, |pool| {
            let yields = || {
                drowse::scope(|s| {
                    s.spawn(|_| mutual_wait(pool));
                    drowse::yield_now();
                });
            };
            pool.install(|| drowse::isolate(|| drowse::join(|| (), yields)));
        });
    });
}

/// Takes longer than a waiter takes to fall asleep.
fn take_long() {
    for _ in 0..40 {
        hint::spin_loop();
    }
}

/// Whoever sleeps alone is called for what is pushed by the one that it waits for.
fn halves_that_wait_while_others_sleep(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 2, |pool| {
            let wait = || {
                take_long();
                mutual_wait(pool);
            };
            pool.join(|| (), wait);
        });
    });
}

/// The same for what is pushed by one that was sent a letter.
fn a_letter_whose_halves_wait(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 2, |pool| {
            // One comes to its letter late, and has pushed before: its next push would be short.
            pool.spawn(|| {
                drowse::join(|| (), || ());
                drowse::join(|| (), || ());
                take_long();
            });
            let wait = |context: drowse::BroadcastContext<'_>| {
                if context.index() == 1 {
                    mutual_wait(pool);
                }
            };
            pool.install(|| pool.broadcast(wait));
        });
    });
}

/// Those who wait alone get their letters, from whoever they wait for.
fn a_broadcast_reaches_those_who_wait(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 2, |pool| {
            let count = AtomicUsize::new(0);
            let broadcast = || {
                take_long();
                pool.broadcast(|_| count.fetch_add(1, Ordering::Relaxed)).len()
            };
            assert_eq!(pool.join(|| (), broadcast), ((), 2));
            assert_eq!(count.load(Ordering::Relaxed), 2);
        });
    });
}

fn nobody_waits_here() {
    assert!(WAITS.with(|waits| waits.borrow().is_empty()), "it runs while another job waits");
}

/// Whoever waits for the answers to a broadcast has older jobs in its deque, or others have them.
fn whoever_waits_for_letters_runs_nothing_older(choose: Choose) {
    random_schedules(1_000, move || {
        with_pool(choose, 3, |pool| {
            let wait = || {
                WAITS.with(|waits| waits.borrow_mut().push((0, 0)));
                pool.broadcast(|_| take_long());
                WAITS.with(|waits| waits.borrow_mut().pop());
            };
            let older = || {
                nobody_waits_here();
                drowse::join(take_long, nobody_waits_here);
            };
            pool.join(wait, older);
        });
    });
}

/// Nobody waits for these letters.
fn letters_that_are_older_than_a_wait_stay_where_they_are(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 2, |pool| {
            pool.install(|| {
                drowse::spawn_broadcast(|_| nobody_waits_here());
                WAITS.with(|waits| waits.borrow_mut().push((0, 0)));
                drowse::join(take_long, take_long);
                WAITS.with(|waits| waits.borrow_mut().pop());
            });
        });
    });
}

/// A thief comes to the end of what it stole, which has spawned something, and then blocks.
fn what_a_thief_has_spawned_is_found(choose: Choose) {
    random_schedules(600, move || {
        with_waiting(choose, 2, Waiting::Help, |pool| {
            let gates: Arc<[Gate; 3]> = Arc::new(std::array::from_fn(|_| Gate::new()));
            let [begun, stolen, all] = &*gates;
            pool.spawn({
                let gates = Arc::clone(&gates);
                move || {
                    let [begun, stolen, all] = &*gates;
                    begun.pass();
                    drowse::yield_now();
                    stolen.open();
                    all.pass();
                }
            });
            pool.install(|| {
                drowse::isolate(|| {
                    drowse::scope(|s| {
                        s.spawn(|s| s.spawn(|_| take_long()));
                        begun.open();
                        stolen.pass();
                    });
                });
            });
            all.open();
        });
    });
}

/// One worker waits for a half that another one runs, and may rob it of what that one pushes next,
/// in another job: it gives that back, and then it blocks.
fn give_back(choose: Choose, workers: usize, other_job: fn()) {
    random_schedules(2_000, move || {
        with_pool(choose, workers, |pool| {
            let gates: Arc<[Gate; 6]> = Arc::new(std::array::from_fn(|_| Gate::new()));
            pool.spawn({
                let gates = Arc::clone(&gates);
                move || {
                    let [begun, called, there, may_end, end, all] = &*gates;
                    let first = || {
                        begun.pass();
                        called.open();
                        there.pass();
                        may_end.open();
                    };
                    let second = || {
                        begun.open();
                        may_end.pass();
                    };
                    drowse::join(first, second);
                    end.pass();
                    all.open();
                }
            });
            let [_, called, there, _, _, all] = &*gates;
            called.pass();
            pool.spawn({
                let gates = Arc::clone(&gates);
                move || {
                    other_job();
                    let [.., end, _all] = &*gates;
                    end.open();
                }
            });
            there.open();
            all.pass();
        });
    });
}

/// Somebody else runs it, since its owner waits for that.
fn what_is_given_back_is_run(choose: Choose) {
    give_back(choose, 3, || {
        let (here, there) = (Gate::new(), Gate::new());
        let first = || {
            here.open();
            there.pass();
        };
        let second = || {
            here.pass();
            there.open();
        };
        drowse::join(first, second);
    });
}

/// A thief runs another job on top of the one that it has stolen, because that has asked for any.
/// The worker that waits for the stolen job does not take part in the other one.
fn what_is_run_on_top_of_a_stolen_job_does_not_descend_from_it(choose: Choose) {
    random_schedules(600, move || {
        with_pool(choose, 2, |pool| {
            let gates: [Gate; 3] = std::array::from_fn(|_| Gate::new());
            let [stolen, begun, there] = &gates;
            let second = || {
                stolen.open();
                begun.open();
                there.pass();
                drowse::yield_now();
            };
            shuttle::thread::scope(|s| {
                s.spawn(|| {
                    begun.pass();
                    pool.spawn(|| _ = drowse::join(take_long, nobody_waits_here));
                    there.open();
                });
                s.spawn(|| {
                    pool.install(|| {
                        WAITS.with(|waits| waits.borrow_mut().push((0, 0)));
                        drowse::join(|| stolen.pass(), second);
                        WAITS.with(|waits| waits.borrow_mut().pop());
                    });
                });
            });
        });
    });
}

/// A future that waits until it was woken once, and whoever wakes it.
fn woken_once() -> (impl Future<Output = ()> + Send + 'static, impl FnOnce() + Send) {
    let waker = Arc::new(Mutex::new(None));
    let future = std::future::poll_fn({
        let (waker, mut polls) = (Arc::clone(&waker), 0);
        move |context: &mut Context<'_>| {
            polls += 1;
            if polls > 1 {
                return Poll::Ready(());
            }
            *waker.lock() = Some(context.waker().clone());
            Poll::Pending
        }
    });
    let wake = move || {
        loop {
            let waker = waker.lock().take();
            if let Some(waker) = waker {
                return Waker::wake(waker);
            }
            hint::spin_loop();
        }
    };
    (future, wake)
}

/// A job in an isolated pool without spares, beside a thread.
fn beside(choose: Choose, workers: usize, thread: impl FnOnce() + Send, job: impl FnOnce() + Send) {
    let builder = ThreadPoolBuilder::new().num_threads(workers).sleep_protocol(choose());
    with_pool_of(builder.waiting(Waiting::Isolate).max_spare_threads(0), |pool| {
        shuttle::thread::scope(|s| {
            s.spawn(thread);
            s.spawn(|| pool.install(job));
        });
    });
}

/// The only worker waits for it, asleep perhaps.
fn a_future_that_was_woken_is_found(choose: Choose) {
    random_schedules(600, move || {
        let (future, wake) = woken_once();
        beside(choose, 1, wake, || drowse::spawn_future(future).join().unwrap());
    });
}

/// Its child is found by the one who waits for the job that waits for the future, asleep perhaps.
/// Nobody else can run it.
fn what_a_woken_future_spawns_is_found(choose: Choose) {
    random_schedules(600, move || {
        let (future, wake) = woken_once();
        let (stolen, child) = (Gate::new(), Arc::new(Gate::new()));
        let parent = {
            let child = Arc::clone(&child);
            async move {
                future.await;
                let its_child = Arc::clone(&child);
                drop(drowse::spawn_handle(move || its_child.open()));
                child.pass();
            }
        };
        let second_half = || {
            stolen.open();
            drowse::spawn_future(parent).join().unwrap();
        };
        beside(choose, 2, wake, || _ = drowse::join(|| stolen.pass(), second_half));
    });
}

for_each_protocol!(
    whoever_waits_runs_descendants_only,
    whoever_waits_in_a_region_runs_descendants_only,
    a_lock_held_across_a_join,
    halves_that_wait_for_each_other,
    halves_that_wait_while_others_sleep,
    what_a_yield_runs_descends_from_the_region,
    a_letter_whose_halves_wait,
    a_broadcast_reaches_those_who_wait,
    whoever_waits_for_letters_runs_nothing_older,
    what_is_given_back_is_run,
    letters_that_are_older_than_a_wait_stay_where_they_are,
    what_a_thief_has_spawned_is_found,
    a_future_that_was_woken_is_found,
    what_a_woken_future_spawns_is_found,
    what_is_run_on_top_of_a_stolen_job_does_not_descend_from_it,
);
