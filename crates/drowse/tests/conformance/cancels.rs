//! Scopes that are called off: what has not begun is dropped, once; what runs can ask; and the
//! scope waits for all of it.

use crate::common::ledger::Ledger;
use crate::common::{assert_works, caught, occupy, until, until_all_sleep};
use crate::panics::{Bomb, Oops, oops};
use crate::subject::{Subject, WIDTHS, rounds};
use drowse::CancelToken;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

const JOBS: usize = 40;

/// The body of a job that captures this, and must not run.
fn never_run<T>(_captured: T) {
    unreachable!("the scope was cancelled before this began");
}

/// Calls the macro with each kind of scope, and how it spawns.
macro_rules! for_each_kind {
    ($test:ident!($($more:tt)*)) => {
        $test!(scope spawn $($more)*);
        $test!(scope_fifo spawn_fifo $($more)*);
        $test!(in_place_scope spawn $($more)*);
        $test!(in_place_scope_fifo spawn_fifo $($more)*);
    };
}

/// The closure itself calls the scope off: none of the jobs begins that nobody can have begun.
pub(crate) fn jobs_that_have_not_begun_are_dropped(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $spawn:ident $pool:ident $width:ident $size:literal) => {
            let (ledger, runs) = (Ledger::default(), AtomicUsize::new(0));
            // A scope in place is on this thread, any other on the worker that is left.
            let busy =
                occupy(&$pool, $width - usize::from(!stringify!($kind).contains("in_place")));
            let mut busy = Some(busy);
            let result = $pool.$kind(|s| {
                for _ in 0..JOBS {
                    let (item, rest, runs) = (ledger.item(), [0_usize; $size], &runs);
                    s.$spawn(move |_| {
                        item.touch();
                        runs.fetch_add(1 + rest.len(), Ordering::SeqCst);
                    });
                }
                s.cancel();
                assert!(s.is_cancelled());
                // What comes too late shares the fate of the others.
                let item = ledger.item();
                s.$spawn(move |_| item.touch());
                assert_eq!(ledger.dropped(), 0, "not here and now");
                drop(busy.take());
                "the result"
            });
            assert_eq!((result, runs.into_inner()), ("the result", 0));
            ledger.assert_settled(JOBS + 1);
        };
    }
    for width in WIDTHS {
        let pool = subject.pool(width);
        // Small ones, which have room in a slab, and large ones.
        for_each_kind!(kind!(pool width 0));
        for_each_kind!(kind!(pool width 9));
        assert_works(&pool);
    }
}

/// One job calls the others off.
pub(crate) fn a_job_calls_the_others_off(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $spawn:ident $pool:ident) => {
            let (ledger, runs) = (Ledger::default(), AtomicUsize::new(0));
            $pool.$kind(|s| {
                // Whichever is first.
                for _ in 0..JOBS {
                    let (item, runs) = (ledger.item(), &runs);
                    s.$spawn(move |s| {
                        item.touch();
                        runs.fetch_add(1, Ordering::SeqCst);
                        s.cancel();
                    });
                }
            });
            // Nobody begins another one after the one in which it has called them off.
            let most = $pool.current_num_threads();
            assert!((1..=most).contains(&runs.into_inner()));
            ledger.assert_settled(JOBS);
        };
    }
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 40) {
            if round % 2 == 0 {
                until_all_sleep(&pool);
            }
            for_each_kind!(kind!(pool));
        }
        assert_works(&pool);
    }
}

/// Those that run go on until they ask, whoever calls them off: the closure, or a thread that has
/// nothing but the token, while the pool sleeps for the rest.
pub(crate) fn running_jobs_can_ask(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $spawn:ident $pool:ident) => {
            let (started, starts) = mpsc::channel();
            let (ends, token) = (AtomicUsize::new(0), CancelToken::new());
            let job_ends = &ends;
            $pool.$kind(move |s| {
                s.$spawn(move |s| {
                    started.send(()).unwrap();
                    until("the scope is cancelled", || s.is_cancelled());
                    job_ends.fetch_add(1, Ordering::SeqCst);
                });
                starts.recv().unwrap();
                s.cancel();
            });
            assert_eq!(ends.into_inner(), 1);

            let (started, starts) = mpsc::channel();
            let other = token.clone();
            let canceller = thread::spawn(move || {
                starts.recv().unwrap();
                other.cancel();
            });
            $pool.$kind(|s| {
                s.cancel_on(&token);
                let started = started.clone();
                s.$spawn(move |s| {
                    started.send(()).unwrap();
                    until("the token is cancelled", || s.is_cancelled());
                });
            });
            canceller.join().unwrap();
            // It is too late for all who listen.
            $pool.$kind(|s| {
                s.cancel_on(&token);
                s.$spawn(|_| unreachable!("the token was cancelled"));
            });
        };
    }
    for width in [2, 8, 64] {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 20) {
            until_all_sleep(&pool);
            for_each_kind!(kind!(pool));
        }
        assert_works(&pool);
    }
}

/// An inner scope is its owner's, unless it listens to the token of the outer one.
pub(crate) fn an_inner_scope_is_not_called_off_with_the_outer(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 60) {
            let (ledger, runs, token) =
                (Ledger::default(), AtomicUsize::new(0), CancelToken::new());
            pool.scope(|outer| {
                outer.cancel_on(&token);
                let (ledger, runs, token) = (&ledger, &runs, &token);
                outer.spawn(move |outer| {
                    outer.cancel();
                    drowse::scope_fifo(|inner| {
                        assert!(outer.is_cancelled() && !inner.is_cancelled());
                        for _ in 0..JOBS {
                            let item = ledger.item();
                            inner.spawn_fifo(move |_| {
                                item.touch();
                                runs.fetch_add(1, Ordering::SeqCst);
                            });
                        }
                    });
                    assert_eq!(runs.load(Ordering::SeqCst), JOBS);
                    let (a, b) = drowse::join(|| 1, || 2);
                    assert_eq!(a + b, 3, "a join is nobody's");
                    token.cancel();
                    drowse::scope(|inner| {
                        inner.cancel_on(token);
                        let item = ledger.item();
                        inner.spawn(move |_| never_run(&item));
                    });
                });
            });
            ledger.assert_settled(JOBS + 1);
        }
        assert_works(&pool);
    }
}

/// A panic arrives whether it comes before the end of a scope or after: of a job that runs, and of
/// what one captured that does not. All others are dropped.
pub(crate) fn a_panic_of_a_scope_that_is_called_off(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $spawn:ident $pool:ident) => {
            let ledger = Ledger::default();
            let job = || {
                $pool.$kind(|s| {
                    s.$spawn(|s| {
                        s.cancel();
                        oops(1);
                    });
                    let item = ledger.item();
                    s.$spawn(move |_| item.touch());
                })
            };
            assert_eq!(caught::<Oops, _>(job), Oops(1));
            let capture = || {
                $pool.$kind(|s| {
                    s.cancel();
                    for number in 0..JOBS {
                        let (item, bomb) = (ledger.item(), Bomb(number));
                        s.$spawn(move |_| never_run((&item, &bomb)));
                    }
                })
            };
            assert!(caught::<Oops, _>(capture).0 < JOBS);
            let closure = || {
                $pool.$kind(|s| {
                    let item = ledger.item();
                    s.cancel();
                    s.$spawn(move |_| never_run(&item));
                    panic::resume_unwind(Box::new(Oops(2)));
                })
            };
            assert_eq!(caught::<Oops, ()>(closure), Oops(2));
            ledger.assert_settled(1 + JOBS + 1);
        };
    }
    for width in WIDTHS {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 20) {
            for_each_kind!(kind!(pool));
        }
        assert_works(&pool);
    }
}

/// A broadcast is one job a worker: those that have not got to it never will.
pub(crate) fn a_broadcast_is_called_off(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $pool:ident) => {
            let (ledger, runs) = (Ledger::default(), AtomicUsize::new(0));
            let busy = occupy(&$pool, $pool.current_num_threads());
            $pool.$kind(|s| {
                let (item, runs) = (ledger.item(), &runs);
                s.spawn_broadcast(move |_, _| {
                    item.touch();
                    runs.fetch_add(1, Ordering::SeqCst);
                });
                s.cancel();
                drop(busy);
            });
            assert_eq!(runs.into_inner(), 0);
            ledger.assert_settled(1);
        };
    }
    for width in WIDTHS {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 40) {
            kind!(in_place_scope pool);
            kind!(in_place_scope_fifo pool);
        }
        assert_works(&pool);
    }
}

/// At any moment: each job runs or is dropped, and the scope waits for it.
pub(crate) fn at_any_moment_each_job_runs_or_is_dropped(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $spawn:ident $pool:ident $moment:ident) => {
            let (ledger, runs) = (Ledger::default(), AtomicUsize::new(0));
            $pool.$kind(|s| {
                for number in 0..JOBS {
                    let (ledger, runs) = (&ledger, &runs);
                    let (first, second) = (ledger.item(), ledger.item());
                    s.$spawn(move |s| {
                        first.touch();
                        if runs.fetch_add(1, Ordering::SeqCst) == $moment {
                            s.cancel();
                        }
                        s.$spawn(move |_| second.touch());
                    });
                    if number == $moment {
                        let item = ledger.item();
                        s.spawn_broadcast(move |_, _| item.touch());
                    }
                }
            });
            assert!(runs.into_inner() <= JOBS);
            ledger.assert_settled(2 * JOBS + 1);
        };
    }
    for width in WIDTHS {
        let pool = subject.pool(width);
        for moment in 0..rounds(width, JOBS) {
            for_each_kind!(kind!(pool moment));
        }
        assert_works(&pool);
    }
}
