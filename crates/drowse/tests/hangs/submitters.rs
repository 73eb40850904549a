//! Two threads that share a pool.

use crate::programs::{builder, for_each, on_every_protocol};
use drowse::Waiting;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

/// P14: one thread folds until the other one was served. On rayon the second one waits for the end
/// of the fold, and so would wait for ever here.
#[test]
fn p14_a_second_submitter_is_served_in_the_middle_of_a_fold() {
    on_every_protocol(|protocol| {
        for waiting in [Waiting::Help, Waiting::Isolate] {
            let pool = builder(protocol, 2).waiting(waiting).build().expect("a pool");
            let (served, items) = (AtomicBool::new(false), AtomicUsize::new(0));
            let (started, starts) = channel();
            thread::scope(|threads| {
                let (pool, served) = (&pool, &served);
                threads.spawn(move || {
                    pool.install(|| {
                        started.send(()).unwrap();
                        fold_until(served);
                    });
                });
                starts.recv().unwrap();
                let item = |_| {
                    items.fetch_add(1, Ordering::Relaxed);
                };
                pool.install(|| for_each(0..10, &item));
                served.store(true, Ordering::Relaxed);
            });
            assert_eq!(items.into_inner(), 10);
        }
    });
}

/// In the middle of a `join`, just after it has offered its second half, its worker runs a job from
/// outside. That one takes what is further down in the worker's queue, so that the half lies
/// elsewhere afterwards.
#[test]
fn what_is_offered_again_after_a_turn_runs_once() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 2).waiting(Waiting::Help).build().expect("a pool");
        // Turns are for pools of several threads. One of them is busy.
        let (end_other, may_end) = channel::<()>();
        let (begin, has_begun) = channel();
        pool.spawn(move || {
            begin.send(()).unwrap();
            may_end.recv().unwrap_err();
        });
        has_begun.recv().unwrap();
        for leaves in [0, 2] {
            let (served, older, halves) =
                (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
            let (started, starts) = channel();
            let count = |counter: &AtomicUsize| counter.fetch_add(1, Ordering::Relaxed);
            thread::scope(|threads| {
                let (pool, served, older, halves) = (&pool, &served, &older, &halves);
                threads.spawn(move || {
                    let joins = pool.install(|| {
                        let first = || {
                            started.send(()).unwrap();
                            let mut joins = 0;
                            while !served.load(Ordering::Relaxed) {
                                drowse::join(
                                    || drowse::join(|| (), || count(halves)),
                                    || count(halves),
                                );
                                joins += 2;
                            }
                            joins
                        };
                        drowse::join(first, || count(older)).0
                    });
                    assert_eq!(halves.load(Ordering::Relaxed), joins);
                });
                starts.recv().unwrap();
                pool.install(|| {
                    (0..leaves).for_each(|_| drowse::spawn(|| ()));
                    while drowse::yield_local() == Some(drowse::Yield::Executed) {}
                    (0..leaves).for_each(|_| drowse::spawn(|| ()));
                    served.store(true, Ordering::Relaxed);
                });
            });
            assert_eq!(older.into_inner(), 1);
        }
        drop(end_other);
    });
}

/// A recursion that goes on, down one side and then the other, until somebody says so.
fn fold_until(over: &AtomicBool) {
    fn node(depth: u32, over: &AtomicBool) {
        if depth > 0 && !over.load(Ordering::Relaxed) {
            drowse::join(|| node(depth - 1, over), || node(depth - 1, over));
        }
    }
    while !over.load(Ordering::Relaxed) {
        node(20, over);
    }
}

/// A job from outside waits for one that it has spawned, by a channel, as people do who do not know
/// better. Whoever is free takes that one, and not the next from outside, which would wait too. On
/// rayon it is so.
#[test]
fn what_workers_have_spawned_comes_before_what_comes_from_outside() {
    on_every_protocol(|protocol| {
        let pool = builder(protocol, 2).waiting(Waiting::Help).build().expect("a pool");
        let (end_first, may_end) = channel();
        let (begin, has_begun) = channel();
        let (answer, answers) = channel();
        pool.spawn(move || may_end.recv().unwrap());
        pool.spawn({
            let (begin, answer) = (begin, answer.clone());
            move || {
                let (child, from_child) = channel();
                drowse::spawn(move || child.send(1).unwrap());
                begin.send(()).unwrap();
                answer.send(from_child.recv().unwrap()).unwrap();
            }
        });
        has_begun.recv().unwrap();
        let (tell, told) = channel();
        pool.spawn(move || answer.send(told.recv().unwrap()).unwrap());
        // Now one worker waits for its child, and there is one more job from outside.
        end_first.send(()).unwrap();
        assert_eq!(answers.recv(), Ok(1));
        tell.send(2).unwrap();
        assert_eq!(answers.recv(), Ok(2));
    });
}
