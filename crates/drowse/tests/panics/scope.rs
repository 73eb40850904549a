//! Panics in scopes: the first payload arrives once everything has ended, and the pool lives on.

use crate::common::{assert_works, caught, pool, watchdog};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

const WIDTHS: [usize; 3] = [1, 2, 8];

/// A payload that is nothing else.
#[derive(Debug, PartialEq, Eq)]
struct Oops(usize);

/// The number of the scope's own closure; its jobs have others.
const CLOSURE: usize = 1_000;

/// Panics without a word on the standard error.
fn oops(number: usize) {
    resume_unwind(Box::new(Oops(number)));
}

/// The same tests for each kind of scope: its name, how it spawns, and which of a lone worker's ten
/// jobs comes first.
macro_rules! suite {
    ($($kind:ident $spawn:ident $first:literal;)+) => {$(
        mod $kind {
            use super::*;
            use drowse::$kind;

            #[test]
            fn of_the_closure_after_the_jobs_have_ended() {
                watchdog(|| {
                    for width in WIDTHS {
                        let (pool, ran) = (pool(width), AtomicUsize::new(0));
                        let payload = caught::<Oops, _>(|| {
                            pool.$kind(|s| {
                                for _ in 0..100 {
                                    s.$spawn(|_| {
                                        ran.fetch_add(1, Ordering::Relaxed);
                                    });
                                }
                                oops(CLOSURE);
                            })
                        });
                        assert_eq!((payload, ran.into_inner()), (Oops(CLOSURE), 100));
                        assert_works(&pool);
                    }
                });
            }

            #[test]
            fn of_a_job_after_the_others_have_ended() {
                watchdog(|| {
                    for width in WIDTHS {
                        let (pool, ran) = (pool(width), AtomicUsize::new(0));
                        let ran = &ran;
                        let payload = caught::<Oops, _>(|| {
                            pool.$kind(|s| {
                                for i in 0..100 {
                                    s.$spawn(move |s| {
                                        ran.fetch_add(1, Ordering::Relaxed);
                                        if i == 50 {
                                            // Also what was spawned just before the panic runs.
                                            s.$spawn(move |_| {
                                                ran.fetch_add(1, Ordering::Relaxed);
                                            });
                                            oops(i);
                                        }
                                    });
                                }
                            })
                        });
                        assert_eq!((payload, ran.load(Ordering::Relaxed)), (Oops(50), 101));
                        assert_works(&pool);
                    }
                });
            }

            #[test]
            fn of_many_jobs_the_first_counts() {
                watchdog(|| {
                    let pool = pool(1);
                    let payload = caught::<Oops, _>(|| {
                        pool.install(|| $kind(|s| (0..10).for_each(|i| s.$spawn(move |_| oops(i)))))
                    });
                    assert_eq!(payload, Oops($first));
                    assert_works(&pool);
                });
            }

            #[test]
            fn of_many_jobs_on_many_workers_one_arrives() {
                watchdog(|| {
                    let pool = pool(8);
                    for _ in 0..50 {
                        let payload =
                            caught::<Oops, _>(|| pool.$kind(|s| (0..10).for_each(|i| s.$spawn(move |_| oops(i)))));
                        assert!(payload.0 < 10);
                    }
                    assert_works(&pool);
                });
            }

            #[test]
            fn of_the_closure_before_that_of_a_job() {
                watchdog(|| {
                    // The lone worker runs the closure to its end before it gets to the job.
                    let pool = pool(1);
                    let payload = caught::<Oops, _>(|| {
                        pool.install(|| {
                            $kind(|s| {
                                s.$spawn(|_| oops(1));
                                oops(CLOSURE);
                            })
                        })
                    });
                    assert_eq!(payload, Oops(CLOSURE), "it came first");
                    assert_works(&pool);
                });
            }

            #[test]
            fn of_a_job_before_that_of_the_closure() {
                watchdog(|| {
                    let pool = pool(1);
                    let payload = caught::<Oops, _>(|| {
                        pool.install(|| {
                            $kind(|s| {
                                s.$spawn(|_| oops(1));
                                assert_eq!(drowse::yield_now(), Some(drowse::Yield::Executed));
                                assert!(format!("{s:?}").contains("panicked: true"));
                                oops(CLOSURE);
                            })
                        })
                    });
                    assert_eq!(payload, Oops(1), "it came first");
                    assert_works(&pool);
                });
            }

            #[test]
            fn of_an_inner_scope_goes_to_the_outer() {
                watchdog(|| {
                    for width in WIDTHS {
                        let (pool, ran) = (pool(width), AtomicUsize::new(0));
                        let payload = caught::<Oops, _>(|| {
                            pool.$kind(|outer| {
                                for i in 0..10 {
                                    let ran = &ran;
                                    outer.$spawn(move |_| {
                                        ran.fetch_add(1, Ordering::Relaxed);
                                        $kind(|inner| {
                                            inner.$spawn(|_| oops(7));
                                            inner.$spawn(move |_| {
                                                ran.fetch_add(1, Ordering::Relaxed);
                                            });
                                        });
                                        unreachable!("the inner scope {i} panicked");
                                    });
                                }
                            })
                        });
                        assert_eq!((payload, ran.into_inner()), (Oops(7), 20));
                        assert_works(&pool);
                    }
                });
            }

            #[test]
            fn of_an_inner_scope_may_be_caught_there() {
                watchdog(|| {
                    for width in WIDTHS {
                        let (pool, sum) = (pool(width), AtomicUsize::new(0));
                        pool.$kind(|outer| {
                            for i in 0..10 {
                                let sum = &sum;
                                outer.$spawn(move |_| {
                                    let payload =
                                        caught::<Oops, _>(|| $kind(|inner| inner.$spawn(move |_| oops(i))));
                                    sum.fetch_add(payload.0, Ordering::Relaxed);
                                });
                            }
                        });
                        assert_eq!(sum.into_inner(), 45);
                        assert_works(&pool);
                    }
                });
            }

            #[test]
            fn of_a_broadcast_on_one_worker_or_on_all() {
                watchdog(|| {
                    for width in WIDTHS {
                        let pool = pool(width);
                        let visits = AtomicUsize::new(0);
                        let payload = caught::<Oops, _>(|| {
                            pool.$kind(|s| {
                                s.spawn_broadcast(|_, context| {
                                    visits.fetch_add(1, Ordering::Relaxed);
                                    if context.index() + 1 == width {
                                        oops(context.index());
                                    }
                                });
                            })
                        });
                        assert_eq!((payload, visits.into_inner()), (Oops(width - 1), width));
                        let payload = caught::<Oops, _>(|| {
                            pool.$kind(|s| s.spawn_broadcast(|_, context| oops(context.index())))
                        });
                        assert!(payload.0 < width);
                        assert_works(&pool);
                    }
                });
            }

            #[test]
            fn of_a_join_in_a_job() {
                watchdog(|| {
                    for width in WIDTHS {
                        let pool = pool(width);
                        let payload = caught::<Oops, _>(|| {
                            pool.$kind(|s| {
                                s.$spawn(|_| {
                                    drowse::join(|| (), || oops(3));
                                });
                            })
                        });
                        assert_eq!(payload, Oops(3));
                        assert_works(&pool);
                    }
                });
            }

            #[test]
            fn outside_any_pool() {
                watchdog(|| {
                    assert_eq!(caught::<Oops, _>(|| $kind(|_| oops(CLOSURE))), Oops(CLOSURE));
                    assert_eq!(caught::<Oops, _>(|| $kind(|s| s.$spawn(|_| oops(1)))), Oops(1));
                    assert_eq!($kind(|_| 42), 42);
                });
            }
        }
    )+};
}

suite! {
    scope spawn 9;
    scope_fifo spawn_fifo 0;
    in_place_scope spawn 9;
    in_place_scope_fifo spawn_fifo 0;
}
