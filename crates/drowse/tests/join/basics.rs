//! `join`: both halves run, both results come back, wherever it is called and however deep.

use crate::common::{Dice, fib, pool, watchdog};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const WIDTHS: [usize; 4] = [1, 2, 8, 64];

#[test]
fn each_result_comes_back_in_its_place() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            assert_eq!(pool.join(|| 1, || "two"), (1, "two"));
            assert_eq!(pool.install(|| drowse::join(|| vec![1], || ())), (vec![1], ()));
            assert_eq!(pool.install(|| fib(18)), 2_584);
        }
    });
}

#[test]
fn works_from_outside_any_pool() {
    watchdog(|| {
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
        assert_eq!(fib(15), 610);
        let (a, b) = drowse::join(drowse::current_thread_index, drowse::current_thread_index);
        assert!(a.is_some() && b.is_some(), "both halves run on workers");
        assert_eq!(drowse::current_thread_index(), None, "the caller does not become one");
    });
}

#[test]
fn results_of_any_size_come_back() {
    watchdog(|| {
        let pool = pool(2);
        let (nothing, much) = pool.join(|| (), || [7_u64; 1024]);
        assert_eq!((nothing, much), ((), [7; 1024]));
        let (text, boxed) = pool.join(|| "x".repeat(1_000), || Box::new(5));
        assert_eq!((text.len(), *boxed), (1_000, 5));
    });
}

#[test]
fn captured_values_may_be_moved_in_and_out_again() {
    watchdog(|| {
        let pool = pool(2);
        let (left, right) = (vec![1, 2, 3], String::from("right"));
        let (left_at, right_at) = (left.as_ptr(), right.as_ptr());
        let (left, right) = pool.join(move || left, move || right);
        assert_eq!((left.as_ptr(), right.as_ptr()), (left_at, right_at), "the very same");
        assert_eq!((left, right.as_str()), (vec![1, 2, 3], "right"));
    });
}

#[test]
fn halves_may_borrow_disjoint_parts_mutably() {
    fn fill(numbers: &mut [usize], first: usize) {
        if let [number] = numbers {
            *number = first;
        } else if !numbers.is_empty() {
            let middle = numbers.len() / 2;
            let (left, right) = numbers.split_at_mut(middle);
            drowse::join(|| fill(left, first), || fill(right, first + middle));
        }
    }
    watchdog(|| {
        for width in WIDTHS {
            let mut numbers = vec![0; 10_000];
            pool(width).install(|| fill(&mut numbers, 0));
            assert!(numbers.iter().copied().eq(0..10_000), "{width} threads");
        }
    });
}

#[test]
fn sorts() {
    fn merge_sort(items: &mut Vec<u64>) {
        if items.len() < 2 {
            return;
        }
        let mut right = items.split_off(items.len() / 2);
        drowse::join(|| merge_sort(items), || merge_sort(&mut right));
        let mut left = std::mem::take(items).into_iter().peekable();
        let mut right = right.into_iter().peekable();
        while let Some(next) = match (left.peek(), right.peek()) {
            (Some(l), Some(r)) if l <= r => left.next(),
            (_, Some(_)) => right.next(),
            (_, None) => left.next(),
        } {
            items.push(next);
        }
    }
    watchdog(|| {
        let mut dice = Dice::new(1);
        let mut numbers: Vec<u64> = (0..20_000).map(|_| dice.below(10_000)).collect();
        let mut expected = numbers.clone();
        expected.sort_unstable();
        pool(8).install(|| merge_sort(&mut numbers));
        assert_eq!(numbers, expected);
    });
}

#[test]
fn the_first_half_runs_on_the_calling_worker() {
    watchdog(|| {
        for width in WIDTHS {
            pool(width).install(|| {
                for _ in 0..100 {
                    let here = thread::current().id();
                    let (first, ()) = drowse::join(|| thread::current().id(), || ());
                    assert_eq!(first, here);
                }
            });
        }
    });
}

#[test]
fn alone_a_worker_runs_first_half_then_second() {
    watchdog(|| {
        let order = Mutex::new(Vec::new());
        let note = |what| order.lock().unwrap().push(what);
        pool(1).install(|| {
            drowse::join(
                || drowse::join(|| note(1), || note(2)),
                || drowse::join(|| note(3), || note(4)),
            );
        });
        assert_eq!(order.into_inner().unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn alone_a_worker_runs_what_the_first_half_spawned_before_the_second_half() {
    watchdog(|| {
        let pool = pool(1);
        let (sender, order) = std::sync::mpsc::channel();
        let note = |what: &'static str| {
            let sender = sender.clone();
            move || sender.send(what).unwrap()
        };
        pool.install(|| {
            let first = || {
                drowse::spawn(note("older"));
                drowse::spawn(note("newer"));
                note("first")();
            };
            drowse::join(first, note("second"));
        });
        drop(sender);
        assert_eq!(order.iter().collect::<Vec<_>>(), ["first", "newer", "older", "second"]);
    });
}

#[test]
fn pending_second_halves_may_outgrow_the_deque() {
    /// Calls itself in the first half, so that `depth` second halves are pending at once.
    fn dive(depth: usize, runs: &AtomicUsize) -> usize {
        if depth == 0 {
            return 0;
        }
        let count = || {
            runs.fetch_add(1, Ordering::Relaxed);
        };
        let (below, ()) = drowse::join(|| dive(depth - 1, runs), count);
        below + 1
    }
    watchdog(|| {
        for width in [1, 2, 8] {
            // Eight of these must fit into the addresses that there are.
            let stack = if cfg!(target_pointer_width = "32") { 64 << 20 } else { 256 << 20 };
            let builder = drowse::ThreadPoolBuilder::new().num_threads(width).stack_size(stack);
            let (pool, runs) = (builder.build().unwrap(), AtomicUsize::new(0));
            assert_eq!(pool.install(|| dive(5_000, &runs)), 5_000);
            assert_eq!(runs.into_inner(), 5_000, "each second half once, {width} threads");
        }
    });
}

#[test]
fn second_halves_may_nest_deeply() {
    fn climb(height: usize) -> usize {
        if height == 0 {
            return 0;
        }
        let ((), above) = drowse::join(|| (), || climb(height - 1));
        above + 1
    }
    watchdog(|| {
        for width in [1, 2, 8] {
            // Eight of these must fit into the addresses that there are.
            let stack = if cfg!(target_pointer_width = "32") { 64 << 20 } else { 256 << 20 };
            let builder = drowse::ThreadPoolBuilder::new().num_threads(width).stack_size(stack);
            assert_eq!(builder.build().unwrap().install(|| climb(5_000)), 5_000, "{width} threads");
        }
    });
}

#[test]
fn a_depth_of_a_thousand_fits_a_default_stack() {
    fn dive(depth: usize) -> usize {
        if depth == 0 { 0 } else { drowse::join(|| dive(depth - 1), || 1).0 + 1 }
    }
    watchdog(|| assert_eq!(pool(2).install(|| dive(1_000)), 1_000));
}

#[test]
fn works_inside_scopes_and_around_them() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, sum) = (pool(width), AtomicUsize::new(0));
            let add = |n| {
                sum.fetch_add(n, Ordering::Relaxed);
            };
            pool.scope(|s| {
                for _ in 0..10 {
                    s.spawn(|_| {
                        drowse::join(
                            || add(1),
                            || {
                                drowse::scope(|s| {
                                    s.spawn(|s| {
                                        drowse::join(|| add(10), || s.spawn(|_| add(100))).1
                                    })
                                })
                            },
                        );
                    });
                }
            });
            assert_eq!(sum.into_inner(), 1_110, "{width} threads");
        }
    });
}

#[test]
fn many_outside_threads_may_join_at_once() {
    watchdog(|| {
        let pool = pool(2);
        thread::scope(|threads| {
            let asks = (0..16).map(|n| (n, threads.spawn(|| pool.join(|| fib(10), || fib(11)))));
            for (n, answer) in asks.collect::<Vec<_>>() {
                assert_eq!(answer.join().unwrap(), (55, 89), "thread {n}");
            }
        });
    });
}
