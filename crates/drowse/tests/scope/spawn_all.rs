//! `Scope::spawn_all`: many closures at once, that borrow.

use crate::common::ledger::Ledger;
use crate::common::{assert_works, caught, pool, watchdog};
use drowse::Scope;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

const WIDTHS: [usize; 3] = [1, 2, 8];

#[test]
fn all_have_run_when_the_scope_ends() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            for count in [0, 1, 16, 17, 1_000] {
                let mut numbers = vec![0; count];
                let fill = |n: usize| move |(i, x): (usize, &mut usize)| *x += n * i;
                pool.scope(|s| {
                    let add = fill(1);
                    s.spawn_all(
                        numbers.iter_mut().enumerate().map(|at| move |_: &Scope<'_>| add(at)),
                    );
                });
                pool.in_place_scope(|s| {
                    let add = fill(2);
                    s.spawn_all(
                        numbers.iter_mut().enumerate().map(|at| move |_: &Scope<'_>| add(at)),
                    );
                });
                assert!(
                    numbers.into_iter().eq((0..count).map(|i| 3 * i)),
                    "{count} jobs, {width} threads"
                );
            }
        }
    });
}

#[test]
fn they_may_spawn_more() {
    fn grow<'s>(s: &Scope<'s>, height: u32, count: &'s AtomicUsize) {
        count.fetch_add(1, Ordering::Relaxed);
        if height > 0 {
            s.spawn_all((0..3).map(|_| move |s: &Scope<'s>| grow(s, height - 1, count)));
        }
    }
    watchdog(|| {
        for width in WIDTHS {
            let count = AtomicUsize::new(0);
            pool(width).scope(|s| grow(s, 6, &count));
            assert_eq!(count.into_inner(), (3usize.pow(7) - 1) / 2, "{width} threads");
        }
    });
}

#[test]
fn a_panic_spares_the_others() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, count) = (pool(width), AtomicUsize::new(0));
            let payload = caught::<usize, _>(|| {
                pool.scope(|s| {
                    s.spawn_all((0..100_usize).map(|i| {
                        let count = &count;
                        move |_: &Scope<'_>| {
                            if i == 50 {
                                resume_unwind(Box::new(i));
                            }
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                    }));
                });
            });
            assert_eq!((payload, count.into_inner()), (50, 99));
            assert_works(&pool);
        }
    });
}

/// The scope waits for what the iterator gave before, and then passes the panic on.
#[test]
fn an_iterator_that_panics_loses_nothing() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, ledger) = (pool(width), Ledger::default());
            for fatal in [0, 1, 16, 17, 100] {
                let count = AtomicUsize::new(0);
                let jobs = |i| {
                    if i == fatal {
                        resume_unwind(Box::new(i));
                    }
                    let (item, count) = (ledger.item(), &count);
                    move |_: &Scope<'_>| {
                        item.touch();
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                };
                let inside = || pool.scope(|s| s.spawn_all((0..1_000).map(jobs)));
                assert_eq!(caught::<usize, _>(inside), fatal);
                let in_place = || pool.in_place_scope(|s| s.spawn_all((0..1_000).map(jobs)));
                assert_eq!(caught::<usize, _>(in_place), fatal);
                assert_eq!(count.load(Ordering::Relaxed), 2 * fatal);
            }
            ledger.assert_settled(2 * (1 + 16 + 17 + 100));
            assert_works(&pool);
        }
    });
}
