//! Panics in the halves of a join: the payload arrives, the other half has ended, the pool lives
//! on.

use crate::common::{assert_works, caught, pool, watchdog};
use std::panic::{self, panic_any, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

const WIDTHS: [usize; 3] = [1, 2, 8];

/// A payload that is nothing else.
#[derive(Debug, PartialEq, Eq)]
struct Oops(&'static str);

/// Panics without a word on the standard error.
fn oops(what: &'static str) {
    resume_unwind(Box::new(Oops(what)));
}

#[test]
fn of_the_first_half() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, ran) = (pool(width), AtomicBool::new(false));
            let payload = caught::<Oops, _>(|| {
                pool.join(|| panic_any(Oops("first")), || ran.store(true, Ordering::Relaxed));
            });
            assert_eq!(payload, Oops("first"));
            assert!(ran.into_inner(), "the second half runs all the same");
            assert_works(&pool);
        }
    });
}

#[test]
fn of_the_second_half() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, ran) = (pool(width), AtomicBool::new(false));
            let payload = caught::<Oops, _>(|| {
                pool.join(|| ran.store(true, Ordering::Relaxed), || panic_any(Oops("second")));
            });
            assert_eq!(payload, Oops("second"));
            assert!(ran.into_inner());
            assert_works(&pool);
        }
    });
}

#[test]
fn of_both_halves_that_of_the_first_counts() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            for _ in 0..100 {
                assert_eq!(
                    caught::<Oops, _>(|| pool.join(|| oops("first"), || oops("second"))),
                    Oops("first")
                );
            }
            assert_works(&pool);
        }
    });
}

#[test]
fn of_both_halves_at_the_same_time_that_of_the_first_counts() {
    watchdog(|| {
        for width in [2, 8] {
            let (pool, both) = (pool(width), Barrier::new(2));
            let meet_and = |what| {
                both.wait();
                oops(what);
            };
            for _ in 0..100 {
                let payload =
                    caught::<Oops, _>(|| pool.join(|| meet_and("first"), || meet_and("second")));
                assert_eq!(payload, Oops("first"));
            }
            assert_works(&pool);
        }
    });
}

#[test]
fn of_a_stolen_half() {
    watchdog(|| {
        for width in [2, 8] {
            let (pool, both) = (pool(width), Barrier::new(2));
            for _ in 0..100 {
                let payload = caught::<Oops, _>(|| {
                    let first = || both.wait();
                    let second = || {
                        both.wait();
                        oops("stolen");
                    };
                    pool.join(first, second)
                });
                assert_eq!(payload, Oops("stolen"));
            }
            assert_works(&pool);
        }
    });
}

/// Says when it is dropped.
struct Tell(mpsc::Sender<()>);

impl Drop for Tell {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

#[test]
fn a_panic_goes_on_only_when_the_stolen_half_has_ended() {
    watchdog(|| {
        for width in [2, 8] {
            let pool = pool(width);
            for _ in 0..100 {
                let (both, ended) = (Barrier::new(2), AtomicBool::new(false));
                let (sender, unwinding) = mpsc::channel();
                let (both, flag) = (&both, &ended);
                let first = move || {
                    let _tell = Tell(sender);
                    both.wait();
                    oops("first");
                };
                let second = move || {
                    both.wait();
                    // The first half is unwinding; give it every chance to get ahead of us.
                    unwinding.recv().unwrap();
                    (0..2_000).for_each(|_| std::hint::spin_loop());
                    flag.store(true, Ordering::SeqCst);
                };
                assert_eq!(caught::<Oops, _>(|| pool.join(first, second)), Oops("first"));
                assert!(
                    ended.into_inner(),
                    "the frame that the second half borrowed from was gone"
                );
            }
            assert_works(&pool);
        }
    });
}

#[test]
fn deep_in_a_tree_every_other_leaf_is_reached() {
    fn grow(height: u32, leaf: usize, leaves: &AtomicUsize) {
        if height == 0 {
            leaves.fetch_add(1, Ordering::Relaxed);
            if leaf == 0b10_0110 {
                oops("leaf");
            }
            return;
        }
        drowse::join(
            || grow(height - 1, 2 * leaf, leaves),
            || grow(height - 1, 2 * leaf + 1, leaves),
        );
    }
    watchdog(|| {
        for width in WIDTHS {
            let (pool, leaves) = (pool(width), AtomicUsize::new(0));
            assert_eq!(caught::<Oops, _>(|| pool.install(|| grow(8, 0, &leaves))), Oops("leaf"));
            assert_eq!(leaves.into_inner(), 256);
            assert_works(&pool);
        }
    });
}

#[test]
fn of_every_leaf_the_first_counts() {
    fn grow(height: u32, leaf: usize) {
        if height == 0 {
            resume_unwind(Box::new(leaf));
        }
        drowse::join(|| grow(height - 1, 2 * leaf), || grow(height - 1, 2 * leaf + 1));
    }
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            assert_eq!(caught::<usize, _>(|| pool.install(|| grow(8, 0))), 0);
            assert_works(&pool);
        }
    });
}

#[test]
fn caught_within_a_half_it_goes_no_further() {
    watchdog(|| {
        let pool = pool(2);
        let halves = pool.join(
            || caught::<Oops, _>(|| drowse::join(|| oops("inner"), || ())),
            || panic::catch_unwind(|| drowse::join(|| (), || oops("inner"))).is_err(),
        );
        assert_eq!(halves, (Oops("inner"), true));
        assert_works(&pool);
    });
}

#[test]
fn of_a_first_half_that_left_jobs_on_top_of_the_second() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, (sender, receiver)) = (pool(width), mpsc::channel());
            let second = sender.clone();
            let payload = caught::<Oops, _>(|| {
                let first = move || {
                    for _ in 0..10 {
                        let sender = sender.clone();
                        drowse::spawn(move || sender.send("spawned").unwrap());
                    }
                    drop(sender);
                    oops("first");
                };
                pool.join(first, move || second.send("second").unwrap());
            });
            assert_eq!(payload, Oops("first"));
            let ran: Vec<_> = receiver.iter().collect();
            assert_eq!((ran.len(), ran.iter().filter(|what| **what == "second").count()), (11, 1));
            assert_works(&pool);
        }
    });
}

#[test]
fn in_the_global_pool() {
    watchdog(|| {
        assert_eq!(
            caught::<Oops, _>(|| drowse::join(|| oops("first"), || oops("second"))),
            Oops("first")
        );
        assert_eq!(caught::<Oops, _>(|| drowse::join(|| (), || oops("second"))), Oops("second"));
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
    });
}

#[test]
fn payloads_of_any_type_arrive() {
    watchdog(|| {
        let pool = pool(2);
        assert_eq!(caught::<&str, _>(|| pool.join(|| (), || panic!("literal"))), "literal");
        let formatted = 7;
        let payload = caught::<String, _>(|| {
            pool.join(|| panic!("formatted {formatted}"), || ());
        });
        assert_eq!(payload, "formatted 7");
        let big = caught::<[u64; 100], _>(|| {
            pool.join(|| (), || resume_unwind(Box::new([7_u64; 100])));
        });
        assert_eq!(big, [7; 100]);
    });
}

#[test]
fn from_many_threads_each_gets_its_own() {
    watchdog(|| {
        let pool = pool(2);
        thread::scope(|threads| {
            for i in 0..8_usize {
                let pool = &pool;
                threads.spawn(move || {
                    for _ in 0..100 {
                        let payload = caught::<usize, _>(|| {
                            pool.join(|| (), || resume_unwind(Box::new(i)));
                        });
                        assert_eq!(payload, i);
                    }
                });
            }
        });
        assert_works(&pool);
    });
}
