//! Workers that give their places away, and get them back.

use crate::common::child::{in_child, this_test};
use crate::common::{assert_works, pool, sleeping, until, until_all_sleep, watchdog};
use drowse::{SleepProtocol, ThreadPoolBuilder, Waiting};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

/// A worker that has run a job of a scope, and gives its place to another thread, keeps no count of
/// that scope: the other thread may be in a job that waits for the scope.
#[test]
fn a_worker_that_waits_for_a_place_holds_no_count_of_a_scope() {
    watchdog(|| {
        let pool = pool(1);
        let (first_blocks, first_is_blocked) = channel();
        let (unblock_first, first) = channel::<()>();
        let (second_blocks, second_is_blocked) = channel();
        let (unblock_second, second) = channel::<()>();
        let (second_returns, second_is_back) = channel();
        let (has_place, got_place) = channel();
        let (end_of_scope, scope_ends) = channel::<()>();
        let (second_ends, end) = channel();
        // The worker blocks, and the first spare has its place.
        pool.spawn(move || {
            drowse::blocking(|| {
                first_blocks.send(()).unwrap();
                first.recv().unwrap();
            });
        });
        first_is_blocked.recv().unwrap();
        // The spare blocks too.
        pool.spawn(move || {
            drowse::blocking(|| {
                second_blocks.send(()).unwrap();
                second.recv().unwrap();
            });
            second_returns.send(()).unwrap();
            until("the spare has its place again", || drowse::current_thread_index().is_some());
            has_place.send(()).unwrap();
            scope_ends.recv().unwrap(); // not marked
            second_ends.send(()).unwrap();
        });
        second_is_blocked.recv().unwrap();
        // The worker has its place again, and runs a job of the scope, for which the spare waits.
        unblock_first.send(()).unwrap();
        pool.in_place_scope(|s| {
            let (begun, has_begun) = channel();
            s.spawn(move |_| {
                begun.send(()).unwrap();
                second_is_back.recv().unwrap();
            });
            has_begun.recv().unwrap();
            unblock_second.send(()).unwrap();
            got_place.recv().unwrap();
        });
        end_of_scope.send(()).unwrap();
        end.recv().unwrap();
    });
}

/// The exit handler of a worker that leaves blocks, and comes back while a spare has its place. The
/// next thread of that worker does not run before the spare gives the place back.
#[test]
fn a_worker_does_not_leave_without_its_place() {
    watchdog(|| {
        let is_inside = Arc::new(AtomicBool::new(false));
        let (hold, held) = channel::<()>();
        let (spare_begins, spare_has_begun) = channel();
        let handler = Mutex::new(Some((held, spare_begins, Arc::clone(&is_inside))));
        let leave = move |index| {
            let first_time = if index == 1 { handler.lock().unwrap().take() } else { None };
            let Some((held, spare_begins, is_inside)) = first_time else { return };
            let (begin, begun) = channel();
            drowse::spawn(move || {
                assert_eq!(drowse::current_thread_index(), Some(1));
                is_inside.store(true, Ordering::SeqCst);
                begin.send(()).unwrap();
                spare_begins.send(()).unwrap();
                let _ = held.recv(); // not marked
                is_inside.store(false, Ordering::SeqCst);
            });
            drowse::blocking(|| begun.recv().unwrap());
        };
        let has_two = Arc::new(AtomicBool::new(false));
        let (note_two, is_busy) = (Arc::clone(&has_two), Arc::clone(&is_inside));
        let begin = move |_| {
            if drowse::current_thread_index() == Some(1) && is_busy.load(Ordering::SeqCst) {
                note_two.store(true, Ordering::SeqCst);
            }
        };
        let builder =
            ThreadPoolBuilder::new().num_threads(2).idle_timeout(Duration::from_millis(1));
        let pool = builder.start_handler(begin).exit_handler(leave).build().unwrap();
        // The other worker is busy until the end.
        let all = Arc::new(Barrier::new(2));
        let other = Arc::clone(&all);
        pool.spawn_broadcast(move |context| _ = (context.index() == 0).then(|| other.wait()));
        spare_has_begun.recv().unwrap();
        let (tell, told) = channel();
        pool.spawn(move || {
            let index = drowse::current_thread_index();
            tell.send((index, is_inside.load(Ordering::SeqCst))).unwrap();
        });
        let early = told.recv_timeout(Duration::from_millis(300));
        assert_eq!(early, Err(RecvTimeoutError::Timeout), "two threads run with index 1");
        drop(hold);
        let (index, spare_was_inside) = told.recv().unwrap();
        assert!(index.is_some() && !spare_was_inside);
        all.wait();
        assert_works(&pool);
        assert!(!has_two.load(Ordering::SeqCst), "a thread starts with the index of one that runs");
    });
}

/// A spare that has stood in for several workers is told the same index when it starts and when it
/// ends.
#[test]
fn the_handlers_of_a_spare_are_told_the_same_index() {
    watchdog(|| {
        let indices = Arc::new(Mutex::new(HashMap::<_, Vec<usize>>::new()));
        let handler = || {
            let indices = Arc::clone(&indices);
            move |index| {
                indices.lock().unwrap().entry(thread::current().id()).or_default().push(index)
            }
        };
        let builder = ThreadPoolBuilder::new().num_threads(2).max_spare_threads(1);
        let pool = builder.start_handler(handler()).exit_handler(handler()).build().unwrap();
        for worker in [0, 1] {
            let loans = pool.metrics().loans.made;
            until("the spare stands in for this worker", || {
                pool.broadcast(|context| {
                    if context.index() == worker {
                        drowse::blocking(|| thread::park_timeout(Duration::from_micros(50)));
                    }
                });
                pool.metrics().loans.made > loans
            });
        }
        pool.shutdown();
        let indices = indices.lock().unwrap();
        assert_eq!(indices.len(), 3, "two workers and a spare: {indices:?}");
        for told in indices.values() {
            assert!(told.len() == 2 && told[0] == told[1], "{indices:?}");
        }
    });
}

/// Joins, when its thread ends.
struct JoinsLate;

impl Drop for JoinsLate {
    fn drop(&mut self) {
        let runs = AtomicU32::new(0);
        for round in 1..=300_000 {
            let second = || _ = runs.fetch_add(1, Ordering::Relaxed);
            drowse::join(|| (), second);
            assert_eq!(runs.load(Ordering::Relaxed), round, "each half runs once");
        }
    }
}

thread_local! {
    static JOINS_LATE: JoinsLate = const { JoinsLate };
}

/// The thread-locals of a thread that was made a worker are dropped after those of the runtime, by
/// which thieves know that the worker's fences need theirs.
#[test]
fn a_thread_local_of_an_adopted_thread_joins_while_another_worker_steals() {
    let ended = in_child(this_test!(), &[], || {
        watchdog(|| {
            let adopted = thread::spawn(|| {
                JOINS_LATE.with(|_| ());
                let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
                let pool = builder.build().unwrap();
                pool.install(|| crate::common::fib(20));
                pool
            });
            until("the thread has ended", || adopted.is_finished());
            drop(adopted.join().unwrap());
        });
    });
    ended.assert_done();
}

/// A worker waits, where it may block, for a job that its only spare runs. The job blocks too, and
/// no thread has the worker's place then. The job waits for a broadcast to that place.
#[test]
fn a_worker_that_waits_where_it_may_block_takes_its_place_back() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let builder = ThreadPoolBuilder::new().num_threads(1).max_spare_threads(1);
            let pool = Arc::new(builder.sleep_protocol(protocol).build().unwrap());
            let (open, opened) = channel();
            let here = Arc::clone(&pool);
            pool.install(move || {
                let of_job = Arc::clone(&here);
                let job = drowse::spawn_handle(move || {
                    until("the worker sleeps", || sleeping(&of_job) == 1);
                    of_job.spawn_broadcast(move |_| open.send(()).unwrap());
                    drowse::blocking(|| opened.recv().unwrap());
                });
                drowse::blocking(|| job.join().unwrap());
            });
            assert_works(&pool);
        }
    });
}

/// A worker that is isolated may not run what was broadcast to it, and cannot lend its place to the
/// one spare, which is in the place of another worker. It lends it as soon as the spare is idle:
/// the spare does not end first, as it would after ten seconds.
#[test]
fn a_place_is_lent_to_a_spare_that_becomes_idle() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let builder = ThreadPoolBuilder::new().num_threads(2).max_spare_threads(1);
            let pool = builder.sleep_protocol(protocol).waiting(Waiting::Isolate).build().unwrap();
            let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let (release, released) = channel::<()>();
            let (begin, begun) = channel();
            let (tell, told) = channel();
            let (post, posted) = channel();
            let (told, posted) = (Mutex::new(told), Mutex::new(posted));
            let loans = || pool.metrics().loans;
            thread::scope(|s| {
                s.spawn(|| pool.install(move || drowse::blocking(|| released.recv().unwrap())));
                until("the spare is away", || loans().made == 1);
                s.spawn(|| {
                    let wait = || other.install(|| told.lock().unwrap().recv().unwrap());
                    // On the other worker, and not on the spare.
                    let has_waited = || {
                        let is_spare =
                            thread::current().name().is_some_and(|name| name.contains("spare"));
                        if !is_spare {
                            begin.send(drowse::current_thread_index()).unwrap();
                            posted.lock().unwrap().recv().unwrap();
                            wait();
                        }
                        !is_spare
                    };
                    while !pool.install(has_waited) {}
                });
                let isolated = begun.recv().unwrap();
                assert!(isolated.is_some());
                pool.spawn_broadcast(move |context| {
                    if Some(context.index()) == isolated {
                        tell.send(()).unwrap();
                    }
                });
                post.send(()).unwrap();
                until("there was no spare", || loans().refused >= 1);
                release.send(()).unwrap();
            });
            assert_eq!((loans().made, loans().threads_started), (2, 1), "{protocol:?}");
        }
    });
}

/// A worker sleeps in the middle of a job, without the place that it wants back. A guest sits in
/// the seat of the worker that has the place, and leaves: that worker gets up and yields the place.
#[test]
fn a_guest_that_leaves_does_not_keep_a_place_that_is_wanted() {
    watchdog(|| {
        let builder = ThreadPoolBuilder::new().num_threads(1).max_spare_threads(1);
        let pool = builder.guests(true).build().unwrap();
        let other = Arc::new(crate::common::pool(1));
        let (first_blocks, first_is_blocked) = channel();
        let (unblock_first, first) = channel::<()>();
        // The worker blocks, and the spare has its place.
        let worker_is_back = pool.spawn_handle(move || {
            drowse::blocking(|| {
                first_blocks.send(()).unwrap();
                first.recv().unwrap();
            });
        });
        first_is_blocked.recv().unwrap();
        // The spare blocks too, and gives the place up: there is no other spare.
        let (second_blocks, second_is_blocked) = channel();
        let (unblock_second, second) = channel::<()>();
        let (hold, held) = channel::<()>();
        let spare_has_place = {
            let other = Arc::clone(&other);
            pool.spawn_handle(move || {
                drowse::blocking(|| {
                    second_blocks.send(()).unwrap();
                    second.recv().unwrap();
                });
                assert_eq!(drowse::current_thread_index(), None);
                other.install(move || _ = held.recv());
                until("the spare has its place", || drowse::current_thread_index().is_some());
            })
        };
        second_is_blocked.recv().unwrap();
        // The worker has its place again, and falls asleep with it.
        unblock_first.send(()).unwrap();
        until("the worker sleeps", || worker_is_back.is_finished() && sleeping(&pool) == 1);
        let (here, unblock_second) = (thread::current().id(), Mutex::new(Some(unblock_second)));
        let is_guest = || {
            if thread::current().id() != here {
                return false;
            }
            let unblock_second = unblock_second.lock().unwrap().take().unwrap();
            unblock_second.send(()).unwrap();
            until("the spare sleeps", || sleeping(&pool) == 1);
            true
        };
        while !pool.install(is_guest) {
            until("the worker sleeps", || sleeping(&pool) == 1);
        }
        drop(hold);
        spare_has_place.join().unwrap();
        until_all_sleep(&pool);
        assert_works(&pool);
    });
}
