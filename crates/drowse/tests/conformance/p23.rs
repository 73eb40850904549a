//! P23: wherever a user's code panics, the payload arrives where it should, and the pool lives on.
//! (In rayon, too, but for `spawn` without a panic handler: that aborts the process, there as here.
//! [`drowse::spawn_handle`] does not.)

use crate::common::ledger::Ledger;
use crate::common::{assert_works, caught, pool, until};
use crate::panics::{Bomb, Oops, oops};
use crate::subject::{Subject, WIDTHS, rounds};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};

/// A pool that sends the panics that nobody waits for.
fn listening(builder: ThreadPoolBuilder) -> (ThreadPool, Receiver<Oops>) {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let handler = move |payload: Box<dyn std::any::Any + Send>| {
        sender.lock().unwrap().send(*payload.downcast().unwrap()).unwrap();
    };
    (builder.panic_handler(handler).build().unwrap(), receiver)
}

pub(crate) fn p23_in_the_halves_of_a_join(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 60) {
            let ledger = Ledger::default();
            let half = |number: usize, panics: bool| {
                let item = ledger.item();
                move || {
                    item.touch();
                    if panics {
                        oops(number);
                    }
                }
            };
            for (first, second, expected) in [(true, false, 1), (false, true, 2), (true, true, 1)] {
                let outside = || pool.join(half(1, first), half(2, second));
                assert_eq!(caught::<Oops, _>(outside), Oops(expected));
                let inside = || pool.install(|| drowse::join(half(1, first), half(2, second)));
                assert_eq!(caught::<Oops, _>(inside), Oops(expected));
                let deep = || {
                    pool.join(
                        || (),
                        || drowse::join(|| (), || drowse::join(half(1, first), half(2, second))),
                    )
                };
                assert_eq!(caught::<Oops, _>(deep), Oops(expected));
            }
            ledger.assert_settled(3 * 3 * 2);
        }
        assert_works(&pool);
    }
}

pub(crate) fn p23_in_scopes(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $spawn:ident $try_spawn:ident $pool:ident) => {
            let ledger = Ledger::default();
            let item = || ledger.item();
            assert_eq!(caught::<Oops, _>(|| $pool.$kind(|_| oops(1))), Oops(1));
            let job = || {
                $pool.$kind(|s| {
                    let (first, second) = (item(), item());
                    s.$spawn(move |s| {
                        first.touch();
                        s.$spawn(move |_| {
                            second.touch();
                            oops(2);
                        });
                    });
                })
            };
            assert_eq!(caught::<Oops, _>(job), Oops(2));
            let bounded = || {
                $pool.$kind(|s| {
                    let item = item();
                    let job = move |_: &_| {
                        item.touch();
                        oops(3);
                    };
                    s.$try_spawn(1, job).unwrap();
                })
            };
            assert_eq!(caught::<Oops, _>(bounded), Oops(3));
            let broadcast = || {
                $pool.$kind(|s| {
                    let item = item();
                    s.spawn_broadcast(move |_, _| {
                        item.touch();
                        oops(4);
                    });
                })
            };
            assert_eq!(caught::<Oops, _>(broadcast), Oops(4));
            let inner = || $pool.$kind(|s| s.$spawn(|_| drowse::$kind(|s| s.$spawn(|_| oops(5)))));
            assert_eq!(caught::<Oops, _>(inner), Oops(5));
            ledger.assert_settled(4);
        };
    }
    for width in WIDTHS {
        let pool = subject.pool(width);
        for _ in 0..rounds(width, 20) {
            kind!(scope spawn try_spawn pool);
            kind!(scope_fifo spawn_fifo try_spawn_fifo pool);
            kind!(in_place_scope spawn try_spawn pool);
            kind!(in_place_scope_fifo spawn_fifo try_spawn_fifo pool);
        }
        assert_works(&pool);
    }
}

pub(crate) fn p23_in_the_drops_of_what_jobs_captured(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 60) {
            let touch = |bomb: &Bomb| assert_eq!(bomb.0, round);
            let of_a_job = || {
                pool.scope(|s| {
                    let bomb = Bomb(round);
                    s.spawn(move |_| touch(&bomb));
                })
            };
            assert_eq!(caught::<Oops, _>(of_a_job), Oops(round));
            let of_one_that_never_began = || {
                pool.scope(|s| {
                    let bomb = Bomb(round);
                    s.cancel();
                    s.spawn(move |_| unreachable!("{bomb:?}"));
                })
            };
            assert_eq!(caught::<Oops, _>(of_one_that_never_began), Oops(round));
            let of_a_half = || {
                let bomb = Bomb(round);
                pool.join(|| (), move || touch(&bomb));
            };
            assert_eq!(caught::<Oops, _>(of_a_half), Oops(round));
        }
        assert_works(&pool);
    }
}

pub(crate) fn p23_in_spawned_jobs(subject: Subject) {
    for width in WIDTHS {
        let (pool, panics) = listening(subject.builder(width));
        for _ in 0..rounds(width, 40) {
            let mut expected = Vec::new();
            pool.spawn(|| oops(0));
            pool.spawn_fifo(|| oops(1));
            pool.spawn_all((2..5).map(|number| move || oops(number)));
            until("there is room", || pool.try_spawn(1, || oops(5)).is_ok());
            expected.extend(0..6);
            pool.install(|| {
                drowse::spawn(|| oops(6));
                drowse::spawn_fifo(|| oops(7));
                drowse::spawn_all((8..10).map(|number| move || oops(number)));
                until("there is room", || {
                    drowse::yield_now();
                    drowse::try_spawn(1, || oops(10)).is_ok()
                });
            });
            expected.extend(6..11);
            pool.spawn(|| _ = drowse::join(|| oops(11), || ()));
            pool.spawn_broadcast(|context| oops(12 + context.index()));
            expected.extend(11..12 + width);
            let mut heard: Vec<_> = expected.iter().map(|_| panics.recv().unwrap().0).collect();
            heard.sort_unstable();
            assert_eq!(heard, expected);
        }
        assert_works(&pool);
        assert!(panics.try_recv().is_err(), "and no other");
    }
}

pub(crate) fn p23_in_spawned_jobs_with_a_handle(subject: Subject) {
    for width in WIDTHS {
        let (pool, panics) = listening(subject.builder(width));
        for round in 0..rounds(width, 60) {
            let outside = pool.spawn_handle(move || oops(round));
            assert_eq!(
                *outside.join().unwrap_err().into_panic().downcast::<Oops>().unwrap(),
                Oops(round)
            );
            let inside = pool.install(|| drowse::spawn_handle(move || oops(round)).join());
            assert_eq!(*inside.unwrap_err().into_panic().downcast::<Oops>().unwrap(), Oops(round));
        }
        assert_works(&pool);
        drop(pool.spawn_handle(|| oops(1)));
        assert_works(&pool);
        assert!(panics.try_recv().is_err(), "they are in the handles, and nowhere else");
    }
}

pub(crate) fn p23_in_broadcasts(subject: Subject) {
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 60) {
            assert_eq!(caught::<Oops, _>(|| pool.broadcast(|_| oops(round))), Oops(round));
            let guilty = round % width;
            let one = || {
                pool.install(|| {
                    drowse::broadcast(|context| {
                        if context.index() == guilty {
                            oops(guilty);
                        }
                    })
                })
            };
            assert_eq!(caught::<Oops, _>(one), Oops(guilty));
        }
        assert_works(&pool);
    }
}

pub(crate) fn p23_in_installs(subject: Subject) {
    let other = pool(2);
    for width in WIDTHS {
        let pool = subject.pool(width);
        for round in 0..rounds(width, 60) {
            assert_eq!(caught::<Oops, _>(|| pool.install(|| oops(round))), Oops(round));
            assert_eq!(caught::<Oops, _>(|| pool.install_blocking(|| oops(round))), Oops(round));
            let across = || pool.install(|| other.install(|| pool.install(|| oops(round))));
            assert_eq!(caught::<Oops, _>(across), Oops(round));
            let blocking = || pool.install(|| other.install_blocking(|| oops(round)));
            assert_eq!(caught::<Oops, _>(blocking), Oops(round));
        }
        assert_works(&pool);
        assert_works(&other);
    }
}

/// Handlers run on the workers, too: the panic handler hears of their panics.
pub(crate) fn p23_in_handlers(subject: Subject) {
    for width in WIDTHS {
        let builder =
            subject.builder(width).start_handler(oops).exit_handler(|index| oops(100 + index));
        let (pool, panics) = listening(builder);
        assert_works(&pool);
        drop(pool);
        // The handler, and the sender in it, goes with the last worker.
        let mut heard: Vec<_> = panics.iter().map(|Oops(number)| number).collect();
        heard.sort_unstable();
        // A spare has the handlers of the worker whose place it has.
        heard.dedup();
        assert!(heard.into_iter().eq((0..width).chain(100..100 + width)));
    }
}
