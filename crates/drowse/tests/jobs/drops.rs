//! Every closure, every result and every panic's payload is dropped once, on every path.

use crate::common::ledger::{Item, Ledger};
use crate::common::{caught, occupy, pool, until, watchdog};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::panic::{self, AssertUnwindSafe, resume_unwind};
use std::sync::Barrier;

const WIDTHS: [usize; 3] = [1, 2, 8];

/// A closure that captures an item, and returns another or panics with it.
fn half(ledger: &Ledger, panics: bool) -> impl FnOnce() -> Item + Send + use<> {
    let (captured, returned) = (ledger.item(), ledger.item());
    move || {
        captured.touch();
        if panics {
            resume_unwind(Box::new(returned));
        }
        returned
    }
}

/// As [`half`], but waits for the other half first.
fn half_at<'a>(
    both: &'a Barrier,
    ledger: &Ledger,
    panics: bool,
) -> impl FnOnce() -> Item + Send + use<'a> {
    let half = half(ledger, panics);
    move || {
        both.wait();
        half()
    }
}

/// Calls what may panic, and drops what comes of it.
fn settle<R>(f: impl FnOnce() -> R) -> bool {
    panic::catch_unwind(AssertUnwindSafe(f)).is_err()
}

#[test]
fn in_joins() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
                let ledger = Ledger::default();
                for _ in 0..50 {
                    assert_eq!(settle(|| pool.join(half(&ledger, a), half(&ledger, b))), a || b);
                }
                ledger.assert_settled(200);
            }
        }
    });
}

#[test]
fn in_joins_whose_second_half_is_stolen() {
    watchdog(|| {
        for width in [2, 8] {
            let (pool, both) = (pool(width), Barrier::new(2));
            for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
                let ledger = Ledger::default();
                for _ in 0..50 {
                    let panicked = settle(|| {
                        pool.join(half_at(&both, &ledger, a), half_at(&both, &ledger, b))
                    });
                    assert_eq!(panicked, a || b);
                }
                ledger.assert_settled(200);
            }
        }
    });
}

#[test]
fn in_joins_whose_second_half_is_run_early_or_late() {
    watchdog(|| {
        let pool = pool(1);
        for panics in [false, true] {
            let ledger = Ledger::default();
            let early = || drowse::join(drowse::yield_local, half(&ledger, panics));
            assert_eq!(settle(|| pool.install(early)), panics);
            let late = || drowse::join(|| drowse::spawn(|| ()), half(&ledger, panics));
            assert_eq!(settle(|| pool.install(late)), panics);
            ledger.assert_settled(4);
        }
    });
}

#[test]
fn in_installs() {
    watchdog(|| {
        let (one, other) = (pool(2), pool(2));
        for panics in [false, true] {
            let ledger = Ledger::default();
            for _ in 0..50 {
                assert_eq!(settle(|| one.install(half(&ledger, panics))), panics);
                assert_eq!(settle(|| one.install(|| other.install(half(&ledger, panics)))), panics);
                assert_eq!(settle(|| one.install(|| one.install(half(&ledger, panics)))), panics);
            }
            ledger.assert_settled(300);
        }
    });
}

#[test]
fn of_many_leaves_that_panic() {
    fn grow(ledger: &Ledger, height: u32) -> Item {
        if height == 0 {
            return half(ledger, true)();
        }
        let (left, right) = drowse::join(|| grow(ledger, height - 1), || grow(ledger, height - 1));
        left.touch();
        right
    }
    watchdog(|| {
        for width in WIDTHS {
            let ledger = Ledger::default();
            assert!(settle(|| pool(width).install(|| grow(&ledger, 6))));
            ledger.assert_settled(128);
        }
    });
}

/// The same test for each kind of scope: its name, and how it spawns.
macro_rules! scopes {
    ($($kind:ident $spawn:ident;)+) => {$(
        #[test]
        fn $kind() {
            watchdog(|| {
                for width in WIDTHS {
                    let pool = pool(width);
                    // How many of the ten jobs panic, and whether the closure and the broadcast do.
                    for (bad_jobs, closure, broadcast) in
                        [(0, false, false), (1, false, false), (10, false, false), (0, true, false),
                         (0, false, true), (10, true, true)]
                    {
                        let ledger = Ledger::default();
                        let in_closure = half(&ledger, closure);
                        let panicked = settle(|| {
                            pool.$kind(|s| {
                                for i in 0..10 {
                                    let job = half(&ledger, i < bad_jobs);
                                    s.$spawn(move |_| drop(job()));
                                }
                                let (captured, book) = (ledger.item(), ledger.clone());
                                s.spawn_broadcast(move |_, _| {
                                    captured.touch();
                                    drop(half(&book, broadcast)());
                                });
                                in_closure()
                            })
                        });
                        assert_eq!(panicked, bad_jobs > 0 || closure || broadcast);
                        ledger.assert_settled(20 + 2 + 1 + 2 * width);
                    }
                }
            });
        }
    )+};
}

mod in_the_jobs_of {
    use super::*;

    scopes! {
        scope spawn;
        scope_fifo spawn_fifo;
        in_place_scope spawn;
        in_place_scope_fifo spawn_fifo;
    }
}

#[test]
fn in_broadcasts() {
    watchdog(|| {
        for width in WIDTHS {
            let pool = pool(width);
            // From which worker on the closure panics.
            for first_bad in 0..=width {
                let ledger = Ledger::default();
                let captured = ledger.item();
                let panicked = settle(|| {
                    let book = &ledger;
                    pool.broadcast(move |context| {
                        captured.touch();
                        half(book, context.index() >= first_bad)()
                    })
                });
                assert_eq!(panicked, first_bad < width);
                ledger.assert_settled(1 + 2 * width);
            }
        }
    });
}

/// A pool whose panic handler drops what it hears.
fn deaf(width: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(width).panic_handler(drop).build().unwrap()
}

#[test]
fn in_spawned_jobs() {
    watchdog(|| {
        for width in WIDTHS {
            for panics in [false, true] {
                let (pool, ledger) = (deaf(width), Ledger::default());
                for _ in 0..20 {
                    let (job, in_order) = (half(&ledger, panics), half(&ledger, panics));
                    pool.spawn(move || drop(job()));
                    pool.spawn_fifo(move || drop(in_order()));
                    let (job, in_order) = (half(&ledger, panics), half(&ledger, panics));
                    pool.install(|| {
                        drowse::spawn(move || drop(job()));
                        drowse::spawn_fifo(move || drop(in_order()));
                    });
                }
                until("all of them have run", || ledger.dropped() >= 160);
                ledger.assert_settled(160);
            }
        }
    });
}

#[test]
fn in_spawned_broadcasts() {
    watchdog(|| {
        for width in WIDTHS {
            for panics in [false, true] {
                let (pool, ledger) = (deaf(width), Ledger::default());
                for _ in 0..20 {
                    let (captured, book) = (ledger.item(), ledger.clone());
                    pool.spawn_broadcast(move |_| {
                        captured.touch();
                        drop(half(&book, panics)());
                    });
                }
                let all = 20 * (1 + 2 * width);
                until("all of them have run", || ledger.dropped() >= all);
                ledger.assert_settled(all);
            }
        }
    });
}

#[test]
fn in_jobs_that_a_dropped_pool_still_runs() {
    watchdog(|| {
        for width in WIDTHS {
            let (pool, ledger) = (deaf(width), Ledger::default());
            let busy = occupy(&pool, width);
            for i in 0..50 {
                let job = half(&ledger, i % 2 == 0);
                pool.spawn(move || drop(job()));
            }
            drop(pool);
            assert_eq!(ledger.dropped(), 0);
            drop(busy);
            until("all of them have run", || ledger.dropped() >= 100);
            ledger.assert_settled(100);
        }
    });
}

#[test]
fn payloads_are_handed_over_whole() {
    watchdog(|| {
        let (pool, ledger) = (pool(2), Ledger::default());
        let payload = caught::<Item, _>(|| pool.join(|| (), half(&ledger, true)));
        payload.touch();
        assert_eq!(ledger.dropped(), 1, "what was captured");
        drop(payload);
        ledger.assert_settled(2);
    });
}
