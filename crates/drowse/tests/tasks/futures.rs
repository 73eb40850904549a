//! Futures that run on a pool.

use crate::common::{until, until_all_sleep, watchdog};
use crate::{Event, Token, on_every_pool, yield_times};
use drowse::{JoinHandle, SleepProtocol, Task, ThreadPoolBuilder};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

#[test]
fn the_result_arrives_however_it_is_waited_for() {
    on_every_pool(|pool| {
        for _ in 0..20 {
            until_all_sleep(pool);
            assert_eq!(pool.spawn_future(async { 42 }).join().unwrap(), 42);
            assert_eq!(drowse::block_on(pool.spawn_future(async { 42 })).unwrap(), 42);
            assert_eq!(drowse::block_on(pool.spawn_handle(|| 42)).unwrap(), 42);
            let inside = || drowse::block_on(drowse::spawn_future(async { 42 })).unwrap();
            assert_eq!(pool.install(inside), 42);
            assert_eq!(pool.install(|| drowse::spawn_future(async { 42 }).join().unwrap()), 42);
        }
    });
}

#[test]
fn it_runs_on_the_pool_and_is_dropped_there() {
    struct Where(Arc<Mutex<Option<usize>>>);
    impl Drop for Where {
        fn drop(&mut self) {
            *self.0.lock().unwrap() =
                drowse::current_thread_index().map(|_| drowse::current_num_threads());
        }
    }
    on_every_pool(|pool| {
        let (place, event) = (Arc::new(Mutex::new(None)), Event::new());
        let task = pool.spawn_future({
            let (place, event) = (Where(Arc::clone(&place)), event.clone());
            async move {
                event.await;
                drop(place);
                drowse::current_num_threads()
            }
        });
        until("it waits", || event.is_awaited());
        event.happen();
        assert_eq!(task.join().unwrap(), pool.current_num_threads());
        assert_eq!(*place.lock().unwrap(), Some(pool.current_num_threads()));
        // Also if it never ends.
        let task = pool.spawn_future({
            let place = Where(Arc::clone(&place));
            async move {
                let _place = place;
                std::future::pending::<()>().await;
            }
        });
        *place.lock().unwrap() = None;
        assert!(task.cancel());
        assert!(task.join().unwrap_err().is_cancelled());
        assert_eq!(*place.lock().unwrap(), Some(pool.current_num_threads()));
    });
}

#[test]
fn a_panic_arrives_in_the_handle() {
    on_every_pool(|pool| {
        let task: Task<()> = pool.spawn_future(async {
            yield_times(3).await;
            panic!("bad dream")
        });
        assert_eq!(*task.join().unwrap_err().into_panic().downcast::<&str>().unwrap(), "bad dream");
        let task: Task<()> = pool.spawn_future(async { panic!("bad dream") });
        assert_eq!(
            *drowse::block_on(task).unwrap_err().into_panic().downcast::<&str>().unwrap(),
            "bad dream"
        );
        assert_eq!(pool.spawn_future(async { 42 }).join().unwrap(), 42);
    });
}

/// Woken while it runs, it runs again; and never on two threads at once.
#[test]
fn it_is_polled_by_one_at_a_time_and_as_often_as_it_is_woken() {
    on_every_pool(|pool| {
        let (busy, polls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
        let task = pool.spawn_future({
            let (busy, polls, kept) = (Arc::clone(&busy), Arc::clone(&polls), Arc::clone(&kept));
            poll_fn(move |context| {
                assert!(!busy.swap(true, Ordering::Acquire), "two poll at once");
                *kept.lock().unwrap() = Some(context.waker().clone());
                let another = context.waker().clone();
                context.waker().wake_by_ref();
                another.wake();
                let count = polls.fetch_add(1, Ordering::Relaxed);
                busy.store(false, Ordering::Release);
                if count < 1000 { Poll::Pending } else { Poll::Ready(count) }
            })
        });
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !task.is_finished() {
                        kept.lock().unwrap().iter().for_each(Waker::wake_by_ref);
                    }
                });
            }
        });
        assert_eq!(task.join().unwrap(), 1000);
        assert_eq!(polls.load(Ordering::Relaxed), 1001, "not after its end");
        // Whoever wakes it now does nothing.
        kept.lock().unwrap().take().into_iter().for_each(Waker::wake);
        assert_eq!(polls.load(Ordering::Relaxed), 1001);
    });
}

/// Wakes that come from other pools, other tasks, and threads.
#[test]
fn a_chain_of_tasks_wakes_one_another() {
    on_every_pool(|pool| {
        let other = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let first = Event::new();
        let mut last: Task<u32> = pool.spawn_future({
            let first = first.clone();
            async move {
                first.await;
                0
            }
        });
        for i in 0..100 {
            let before = last;
            let next = async move { before.await.unwrap() + 1 };
            last = if i % 3 == 0 { other.spawn_future(next) } else { pool.spawn_future(next) };
        }
        until("somebody waits", || first.is_awaited());
        first.happen();
        assert_eq!(last.join().unwrap(), 100);
    });
}

/// A waker that counts.
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

#[test]
fn whoever_awaits_a_handle_is_woken_once_and_the_last_one_only() {
    on_every_pool(|pool| {
        let (event, bells) = (Event::new(), [0, 1].map(|_| Arc::new(Bell(AtomicUsize::new(0)))));
        let mut task = pin!(pool.spawn_future(event.clone()));
        for bell in [&bells[0], &bells[0], &bells[1], &bells[1]] {
            let waker = Waker::from(Arc::clone(bell));
            assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        until("it waits", || event.is_awaited());
        event.happen();
        until("somebody is told", || bells[1].0.load(Ordering::Acquire) > 0);
        assert!(task.is_finished());
        let waker = Waker::from(Arc::clone(&bells[0]));
        assert!(matches!(
            task.as_mut().poll(&mut Context::from_waker(&waker)),
            Poll::Ready(Ok(()))
        ));
        assert_eq!(bells.map(|bell| bell.0.load(Ordering::Acquire)), [0, 1]);
    });
}

/// Whoever does not want to know any more is not told, nor kept.
#[test]
fn a_handle_that_is_dropped_lets_go_of_the_waker() {
    on_every_pool(|pool| {
        let (event, bell) = (Event::new(), Arc::new(Bell(AtomicUsize::new(0))));
        let mut task = Box::pin(pool.spawn_future(event.clone()));
        let waker = Waker::from(Arc::clone(&bell));
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop((task, waker));
        assert_eq!(Arc::strong_count(&bell), 1);
        until("it waits", || event.is_awaited());
        event.happen();
        until_all_sleep(pool);
        assert_eq!(bell.0.load(Ordering::Acquire), 0);
    });
}

#[test]
#[should_panic(expected = "this handle has given its result already")]
fn a_handle_is_not_polled_again() {
    let mut handle = drowse::spawn_handle(|| 42);
    assert_eq!(drowse::block_on(&mut handle).unwrap(), 42);
    let _ = drowse::block_on(&mut handle);
}

/// A waker that panics is its owner's affair: the worker goes on.
#[test]
fn a_waker_may_panic() {
    struct Bad;
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            panic!("bad waker");
        }
    }
    on_every_pool(|pool| {
        let event = Event::new();
        let mut task = pin!(pool.spawn_future(event.clone()));
        let waker = Waker::from(Arc::new(Bad));
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        until("it waits", || event.is_awaited());
        event.happen();
        until("it has ended", || task.is_finished());
        assert_eq!(pool.spawn_handle(|| 42).join().unwrap(), 42);
    });
}

#[test]
fn a_pool_that_is_dropped_goes_on_until_its_futures_have_ended() {
    on_every_pool(|pool| {
        let inner =
            ThreadPoolBuilder::new().num_threads(pool.current_num_threads()).build().unwrap();
        let event = Event::new();
        let task: JoinHandle<usize> = inner.spawn_future({
            let event = event.clone();
            async move {
                event.await;
                drowse::current_num_threads()
            }
        });
        drop(inner);
        until("it waits", || event.is_awaited());
        event.happen();
        assert_eq!(task.join().unwrap(), pool.current_num_threads());
    });
}

/// Nobody can wake it any more, nor would anybody know.
#[test]
fn a_future_that_is_forgotten_is_dropped() {
    on_every_pool(|pool| {
        let (event, (token, drops)) = (Event::new(), Token::new());
        drop(pool.spawn_future({
            let event = event.clone();
            async move {
                event.await;
                drop(token);
            }
        }));
        until("it waits", || event.is_awaited());
        event.forget_waker();
        until("it is dropped", || drops.load(Ordering::Acquire) == 1);
    });
}

/// A future that yields all the time does not keep others from their turn.
#[test]
fn one_that_yields_lets_others_run() {
    on_every_pool(|pool| {
        let over = Arc::new(AtomicBool::new(false));
        let tasks: Vec<_> = (0..pool.current_num_threads() * 2)
            .map(|_| {
                let over = Arc::clone(&over);
                pool.spawn_future(async move {
                    while !over.load(Ordering::Relaxed) {
                        yield_times(1).await;
                    }
                })
            })
            .collect();
        assert_eq!(pool.spawn_handle(|| 42).join().unwrap(), 42);
        assert_eq!(pool.install(|| drowse::join(|| 1, || 2)), (1, 2));
        over.store(true, Ordering::Relaxed);
        tasks.into_iter().for_each(|task| task.join().unwrap());
    });
}

/// The only worker has another job, which is older than the future that wakes itself.
#[test]
fn one_that_yields_comes_after_those_that_wait() {
    for protocol in SleepProtocol::ALL {
        watchdog(move || {
            let pool =
                ThreadPoolBuilder::new().num_threads(1).sleep_protocol(protocol).build().unwrap();
            let (says, said) = mpsc::channel();
            let task = pool.install(|| {
                let other = says.clone();
                drowse::spawn(move || other.send("another").unwrap());
                drowse::spawn_future(async move {
                    says.send("before").unwrap();
                    yield_times(1).await;
                    says.send("after").unwrap();
                })
            });
            task.join().unwrap();
            assert_eq!(said.iter().collect::<Vec<_>>(), ["before", "another", "after"]);
        });
    }
}

/// Both pools have workers of the same numbers.
#[test]
fn one_that_a_worker_of_another_pool_wakes_goes_on_where_it_is_at_home() {
    on_every_pool(|pool| {
        let other = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for _ in 0..20 {
            let event = Event::new();
            let task = pool.spawn_future({
                let event = event.clone();
                async move {
                    event.await;
                    thread::current().id()
                }
            });
            until("it waits", || event.is_awaited());
            other.install(|| event.happen());
            let home = pool.broadcast(|_| thread::current().id());
            assert!(home.contains(&task.join().unwrap()));
        }
    });
}
