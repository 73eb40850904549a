//! What the four kinds of scope have in common: they run what is spawned into them, and wait for
//! it.

use crate::common::{fib, pool, watchdog};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const WIDTHS: [usize; 4] = [1, 2, 8, 64];

/// The same tests for each kind: its name, its type, and how it spawns.
macro_rules! suite {
    ($($kind:ident $Scope:ident $spawn:ident;)+) => {$(
        mod $kind {
            use super::*;
            use drowse::{$Scope, $kind};

            #[test]
            fn returns_what_its_closure_returns() {
                watchdog(|| {
                    assert_eq!($kind(|_| 42), 42);
                    let text = pool(2).$kind(|s| {
                        s.$spawn(|_| ());
                        String::from("done")
                    });
                    assert_eq!(text, "done");
                });
            }

            #[test]
            fn ends_after_everything_spawned_into_it() {
                watchdog(|| {
                    for width in WIDTHS {
                        let mut done = vec![false; 2_000];
                        pool(width).$kind(|s| {
                            for flag in &mut done {
                                s.$spawn(move |_| *flag = true);
                            }
                        });
                        assert!(done.into_iter().all(|flag| flag), "{width} threads");
                    }
                });
            }

            #[test]
            fn works_from_outside_any_pool() {
                watchdog(|| {
                    let mut places = [None; 4];
                    $kind(|s| {
                        for place in &mut places {
                            s.$spawn(move |_| *place = drowse::current_thread_index());
                        }
                    });
                    assert!(places.iter().all(Option::is_some), "jobs run on workers: {places:?}");
                    assert_eq!(drowse::current_thread_index(), None);
                });
            }

            #[test]
            fn its_jobs_may_spawn_more_into_it() {
                fn grow<'scope>(s: &$Scope<'scope>, count: &'scope AtomicUsize, height: u32) {
                    count.fetch_add(1, Ordering::Relaxed);
                    if height > 0 {
                        s.$spawn(move |s| grow(s, count, height - 1));
                        s.$spawn(move |s| grow(s, count, height - 1));
                    }
                }
                watchdog(|| {
                    for width in WIDTHS {
                        let count = AtomicUsize::new(0);
                        pool(width).$kind(|s| grow(s, &count, 10));
                        assert_eq!(count.into_inner(), 2_047, "{width} threads");
                    }
                });
            }

            #[test]
            fn a_long_chain_of_spawns_is_waited_for() {
                fn chain<'scope>(s: &$Scope<'scope>, count: &'scope AtomicUsize, links: usize) {
                    count.fetch_add(1, Ordering::Relaxed);
                    if links > 1 {
                        s.$spawn(move |s| chain(s, count, links - 1));
                    }
                }
                watchdog(|| {
                    let count = AtomicUsize::new(0);
                    pool(2).$kind(|s| chain(s, &count, 20_000));
                    assert_eq!(count.into_inner(), 20_000);
                });
            }

            #[test]
            fn another_thread_may_spawn_into_it() {
                watchdog(|| {
                    let (pool, ran_here) = (pool(2), AtomicUsize::new(0));
                    pool.$kind(|s| {
                        thread::scope(|threads| {
                            for _ in 0..4 {
                                threads.spawn(|| {
                                    for _ in 0..100 {
                                        s.$spawn(|_| {
                                            assert!(pool.current_thread_index().is_some());
                                            ran_here.fetch_add(1, Ordering::Relaxed);
                                        });
                                    }
                                });
                            }
                        });
                    });
                    assert_eq!(ran_here.into_inner(), 400);
                });
            }

            #[test]
            fn a_worker_of_another_pool_may_spawn_into_it() {
                watchdog(|| {
                    let (home, away, ran_home) = (pool(2), pool(2), AtomicUsize::new(0));
                    home.$kind(|s| {
                        away.install(|| {
                            for _ in 0..100 {
                                s.$spawn(|_| {
                                    assert!(home.current_thread_index().is_some());
                                    assert!(away.current_thread_index().is_none());
                                    ran_home.fetch_add(1, Ordering::Relaxed);
                                });
                            }
                        });
                    });
                    assert_eq!(ran_home.into_inner(), 100);
                });
            }

            #[test]
            fn an_inner_scope_ends_before_its_opener_goes_on() {
                watchdog(|| {
                    for width in WIDTHS {
                        let (pool, outer_jobs) = (pool(width), AtomicUsize::new(0));
                        pool.$kind(|outer| {
                            for _ in 0..20 {
                                outer.$spawn(|outer| {
                                    let mut inner_jobs = [0; 8];
                                    let outer_jobs = &outer_jobs;
                                    $kind(|inner| {
                                        for job in &mut inner_jobs {
                                            inner.$spawn(move |_| {
                                                *job += 1;
                                                outer.$spawn(|_| {
                                                    outer_jobs.fetch_add(1, Ordering::Relaxed);
                                                });
                                            });
                                        }
                                    });
                                    assert_eq!(inner_jobs, [1; 8], "{width} threads");
                                });
                            }
                        });
                        assert_eq!(outer_jobs.into_inner(), 160, "{width} threads");
                    }
                });
            }

            #[test]
            fn its_jobs_may_join() {
                watchdog(|| {
                    for width in WIDTHS {
                        let mut sums = [0; 20];
                        pool(width).$kind(|s| {
                            for sum in &mut sums {
                                s.$spawn(move |_| *sum = fib(10));
                            }
                        });
                        assert_eq!(sums, [55; 20], "{width} threads");
                    }
                });
            }

            #[test]
            fn outside_threads_may_open_many_at_once() {
                watchdog(|| {
                    let (pool, count) = (pool(2), AtomicUsize::new(0));
                    thread::scope(|threads| {
                        for _ in 0..8 {
                            threads.spawn(|| {
                                let mut mine = [0; 50];
                                pool.$kind(|s| {
                                    for slot in &mut mine {
                                        s.$spawn(|_| *slot = 1);
                                    }
                                });
                                count.fetch_add(mine.iter().sum(), Ordering::Relaxed);
                            });
                        }
                    });
                    assert_eq!(count.into_inner(), 400);
                });
            }

            #[test]
            fn says_what_it_is() {
                watchdog(|| {
                    let said = $kind(|s| format!("{s:?}"));
                    assert!(said.starts_with(stringify!($Scope)) && said.contains("panicked: false"), "{said}");
                });
            }
        }
    )+};
}

suite! {
    scope Scope spawn;
    scope_fifo ScopeFifo spawn_fifo;
    in_place_scope Scope spawn;
    in_place_scope_fifo ScopeFifo spawn_fifo;
}
