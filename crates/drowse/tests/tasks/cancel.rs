//! What is called off.

use crate::common::{occupy, until, watchdog};
use crate::{Event, Token, on_every_pool, yield_times};
use drowse::ThreadPoolBuilder;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;

#[test]
fn a_closure_that_has_not_begun_is_dropped_at_once() {
    on_every_pool(|pool| {
        pool.install(|| {
            let (token, drops) = Token::new();
            // Nobody steals while the others sleep or search... so it is tried until it works.
            let handle = drowse::spawn_handle(move || drop(token));
            let is_cancelled = handle.cancel();
            if is_cancelled {
                assert_eq!(drops.load(Ordering::Acquire), 1);
                assert!(handle.is_finished() && !handle.cancel());
                assert!(handle.join().unwrap_err().is_cancelled());
            } else {
                handle.join().unwrap();
            }
            assert!(is_cancelled || drowse::current_num_threads() > 1);
            assert_eq!(drops.load(Ordering::Acquire), 1);
        });
    });
}

#[test]
fn a_closure_that_has_begun_is_not_stopped() {
    on_every_pool(|pool| {
        let (begin, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        let handle = pool.spawn_handle(move || {
            begin.send(()).unwrap();
            may_go_on.recv().unwrap()
        });
        has_begun.recv().unwrap();
        assert!(!handle.cancel());
        go_on.send(42).unwrap();
        assert_eq!(handle.join().unwrap(), 42);
    });
}

#[test]
fn a_future_is_dropped_where_it_waits() {
    on_every_pool(|pool| {
        let (event, (token, drops)) = (Event::new(), Token::new());
        let task = pool.spawn_future({
            let event = event.clone();
            async move {
                event.await;
                drop(token);
                unreachable!("it goes on no more")
            }
        });
        until("it waits", || event.is_awaited());
        assert!(task.cancel() && !task.cancel());
        let result: Result<(), _> = task.join();
        assert!(result.unwrap_err().is_cancelled());
        assert_eq!(drops.load(Ordering::Acquire), 1);
        event.happen();
    });
}

#[test]
fn a_future_that_runs_stops_before_its_next_step() {
    on_every_pool(|pool| {
        let task = pool.spawn_future(yield_times(usize::MAX));
        assert!(task.cancel());
        assert!(drowse::block_on(task).unwrap_err().is_cancelled());
    });
}

#[test]
fn whoever_is_dropped_cancels_if_it_said_so() {
    on_every_pool(|pool| {
        let (event, (token, drops)) = (Event::new(), Token::new());
        let task = pool.spawn_future({
            let event = event.clone();
            async move {
                let _token = token;
                event.await;
            }
        });
        until("it waits", || event.is_awaited());
        let waits_for_it = pool.spawn_future(task.cancel_on_drop());
        assert_eq!(drops.load(Ordering::Acquire), 0);
        waits_for_it.cancel();
        until("the inner one is dropped too", || drops.load(Ordering::Acquire) == 1);
        // One that has ended is not.
        assert_eq!(drowse::block_on(pool.spawn_handle(|| 42).cancel_on_drop()).unwrap(), 42);
    });
}

/// Its reference stays in the queue, behind a job that waits. The pool must not end before somebody
/// has taken it: nobody would then.
#[test]
fn a_closure_that_is_cancelled_as_its_pool_ends_is_freed() {
    watchdog(|| {
        for is_scoped in [false, true] {
            let token = Arc::new(());
            let lives = Arc::downgrade(&token);
            let builder = ThreadPoolBuilder::new().num_threads(1);
            // The pool has the token, and so has whatever its jobs inherit.
            let pool = builder
                .context(move || Arc::clone(&token), |_: &Arc<()>, run| run())
                .build()
                .unwrap();
            let busy = occupy(&pool, 1);
            let handle = match is_scoped {
                true => pool.in_place_scope(|s| {
                    let handle = s.spawn_handle(|_| ());
                    assert!(handle.cancel());
                    handle
                }),
                false => pool.spawn_handle(|| ()),
            };
            assert!(handle.cancel() || is_scoped);
            assert!(handle.join().unwrap_err().is_cancelled());
            drop(pool);
            drop(busy);
            until("the pool is gone, and all that it had", || lives.strong_count() == 0);
        }
    });
}

/// Says that it is being dropped, and waits until it may go on.
struct Slow(mpsc::Sender<()>, mpsc::Receiver<()>);

impl Drop for Slow {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
        self.1.recv().unwrap();
    }
}

/// A worker takes the reference from the queue while the closure is being dropped. Then the thread
/// that cancels is the last, and gives up what kept the pool alive.
#[test]
fn a_closure_that_is_met_while_it_is_cancelled_is_freed() {
    watchdog(|| {
        for is_scoped in [false, true] {
            let token = Arc::new(());
            let lives = Arc::downgrade(&token);
            let builder = ThreadPoolBuilder::new().num_threads(1);
            let pool = builder
                .context(move || Arc::clone(&token), |_: &Arc<()>, run| run())
                .build()
                .unwrap();
            let busy = occupy(&pool, 1);
            let ((begin, has_begun), (go_on, may_go_on)) = (mpsc::channel(), mpsc::channel());
            let slow = Slow(begin, may_go_on);
            let here = &pool;
            let meet = move || {
                has_begun.recv().unwrap();
                drop(busy);
                // It comes after the closure.
                here.install(|| ());
                go_on.send(()).unwrap();
            };
            thread::scope(|threads| {
                let meet = threads.spawn(meet);
                let closure = move || drop(slow);
                match is_scoped {
                    true => {
                        pool.in_place_scope(|s| assert!(s.spawn_handle(|_| closure()).cancel()))
                    }
                    false => assert!(pool.spawn_handle(closure).cancel()),
                }
                meet.join().unwrap();
            });
            drop(pool);
            until("the pool is gone, and all that it had", || lives.strong_count() == 0);
        }
    });
}
