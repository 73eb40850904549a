//! Tasks: who has the body, the result and the waiter, and when.
#![cfg(drowse_loom)]

use drowse::model::task::{TaskHandle, TaskQueue, is_cancelled};
use drowse_models::{Parcel, every_interleaving, with_preemptions};
use drowse_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drowse_sync::{Arc, Mutex, thread};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Wake, Waker};

/// A waker that counts.
struct Bell(AtomicUsize);

impl Bell {
    fn new() -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self(AtomicUsize::new(0)))
    }

    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// An event that one future waits for.
struct Event {
    waker: Mutex<Option<Waker>>,
    has_happened: AtomicBool,
    parcel: Parcel,
}

impl Event {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            waker: Mutex::new(None),
            has_happened: AtomicBool::new(false),
            parcel: Parcel::empty(),
        })
    }

    fn happen(&self) {
        self.parcel.put(42);
        self.has_happened.store(true, Ordering::Release);
        let waker = self.waker.lock().take();
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Waits for an event. Polled by two threads at once, or after its end, it panics.
struct Wait {
    event: Arc<Event>,
    is_over: bool,
}

impl Future for Wait {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        assert!(!self.is_over, "polled after its end");
        *self.event.waker.lock() = Some(context.waker().clone());
        if !self.event.has_happened.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        self.is_over = true;
        drop(self.event.waker.lock().take());
        Poll::Ready(self.event.parcel.take())
    }
}

fn wait_for(event: &Arc<Event>) -> Wait {
    Wait { event: Arc::clone(event), is_over: false }
}

/// Runs what there is to run.
fn run_all(queue: &TaskQueue) {
    while queue.run_one() {}
}

/// The future is woken before, while or after it is polled for the first time.
#[test]
fn a_wake_up_is_not_lost() {
    with_preemptions(3, || {
        let (queue, event) = (TaskQueue::new(), Event::new());
        let handle = queue.spawn_future(wait_for(&event));
        let waker = thread::spawn(move || event.happen());
        run_all(&queue);
        waker.join().unwrap();
        run_all(&queue);
        assert!(queue.is_empty() && queue.bodies() == 0);
        assert_eq!(handle.join().unwrap(), 42);
    });
}

/// Two threads wake it, each for a reason of its own. The step to come sees both reasons, also if
/// the second wake-up finds the task queued.
#[test]
fn each_step_sees_why() {
    with_preemptions(2, || {
        let queue = TaskQueue::new();
        let reasons = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let wakers = Arc::new(Mutex::new(Vec::new()));
        let handle = queue.spawn_future(std::future::poll_fn({
            let (reasons, wakers, mut is_first) = (Arc::clone(&reasons), Arc::clone(&wakers), true);
            move |context: &mut Context<'_>| {
                if std::mem::take(&mut is_first) {
                    wakers.lock().extend([context.waker().clone(), context.waker().clone()]);
                }
                let all = reasons.iter().all(|reason| reason.load(Ordering::Relaxed));
                if all { Poll::Ready(42) } else { Poll::Pending }
            }
        }));
        assert!(queue.run_one());
        let threads = [0, 1].map(|i| {
            let (reasons, waker) = (Arc::clone(&reasons), wakers.lock().pop().unwrap());
            thread::spawn(move || {
                reasons[i].store(true, Ordering::Relaxed);
                waker.wake();
            })
        });
        run_all(&queue);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        run_all(&queue);
        assert_eq!(queue.bodies(), 0);
        assert_eq!(handle.join().unwrap(), 42);
    });
}

/// Two threads run whatever there is to run, while the future is woken.
#[test]
fn two_workers_do_not_poll_at_once() {
    with_preemptions(2, || {
        let (queue, event) = (TaskQueue::new(), Event::new());
        let handle = queue.spawn_future(wait_for(&event));
        let other = thread::spawn({
            let queue = queue.clone();
            move || {
                event.happen();
                run_all(&queue);
            }
        });
        run_all(&queue);
        other.join().unwrap();
        run_all(&queue);
        assert_eq!(queue.bodies(), 0);
        assert_eq!(handle.join().unwrap(), 42);
    });
}

/// The waker is used, cloned and dropped elsewhere, at whatever time: before or after the end.
#[test]
fn a_waker_that_comes_late_does_nothing() {
    with_preemptions(3, || {
        let queue = TaskQueue::new();
        let kept = Arc::new(Mutex::new(None));
        let handle = queue.spawn_future(std::future::poll_fn({
            let (kept, mut polls) = (Arc::clone(&kept), 0);
            move |context: &mut Context<'_>| {
                polls += 1;
                *kept.lock() = Some(context.waker().clone());
                // Ready the second time, for which it is woken here.
                context.waker().wake_by_ref();
                if polls == 2 { Poll::Ready(polls) } else { Poll::Pending }
            }
        }));
        let other = thread::spawn({
            let kept = Arc::clone(&kept);
            move || {
                if let Some(waker) = kept.lock().take() {
                    let other = waker.clone();
                    waker.wake();
                    drop(other);
                }
            }
        });
        run_all(&queue);
        other.join().unwrap();
        drop(kept.lock().take());
        // A reference that came too late may be there still. It does nothing.
        run_all(&queue);
        assert_eq!(queue.bodies(), 0);
        assert_eq!(handle.join().unwrap(), 2);
    });
}

/// A closure is cancelled as it begins. It runs or it is dropped.
#[test]
fn a_closure_runs_or_is_cancelled() {
    every_interleaving(|| {
        let (queue, ran, token) =
            (TaskQueue::new(), Arc::new(AtomicBool::new(false)), Arc::new(()));
        let handle = queue.spawn({
            let (ran, token) = (Arc::clone(&ran), Arc::clone(&token));
            move || {
                drop(token);
                ran.store(true, Ordering::Relaxed);
            }
        });
        let worker = thread::spawn({
            let queue = queue.clone();
            move || run_all(&queue)
        });
        let was_cancelled = handle.cancel();
        if was_cancelled {
            assert_eq!(Arc::strong_count(&token), 1, "it is dropped at once");
        }
        let result = handle.join();
        worker.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), !was_cancelled);
        match result {
            Ok(()) => assert!(!was_cancelled),
            Err(payload) => assert!(was_cancelled && is_cancelled(&*payload)),
        }
        assert_eq!((queue.bodies(), Arc::strong_count(&token)), (0, 1));
        assert!(queue.is_empty() && queue.may_close());
    });
}

/// A future that waits is cancelled as it is woken.
#[test]
fn a_future_ends_or_is_cancelled() {
    with_preemptions(2, || {
        let (queue, event) = (TaskQueue::new(), Event::new());
        let handle = queue.spawn_future(wait_for(&event));
        run_all(&queue);
        let waker = thread::spawn({
            let event = Arc::clone(&event);
            move || event.happen()
        });
        handle.cancel();
        run_all(&queue);
        waker.join().unwrap();
        run_all(&queue);
        assert_eq!(queue.bodies(), 0);
        match handle.join() {
            Ok(result) => assert_eq!(result, 42),
            Err(payload) => assert!(is_cancelled(&*payload)),
        }
        assert_eq!(Arc::strong_count(&event), 1, "the future is gone");
    });
}

/// The handle is dropped as the closure ends. Its result is dropped once, by one of the two.
#[test]
fn a_result_that_nobody_wants_is_dropped_once() {
    every_interleaving(|| {
        let (queue, token) = (TaskQueue::new(), Arc::new(Parcel::empty()));
        let handle = queue.spawn({
            let token = Arc::clone(&token);
            move || {
                token.put(42);
                token
            }
        });
        let worker = thread::spawn(move || run_all(&queue));
        drop(handle);
        worker.join().unwrap();
        assert_eq!(Arc::strong_count(&token), 1);
        assert_eq!(token.take(), 42);
    });
}

/// Somebody waits, first with one waker, then with another, as the closure ends. The one that was
/// left last is told, if it was left in time, and once.
#[test]
fn the_last_waker_is_told_once() {
    every_interleaving(|| {
        let queue = TaskQueue::new();
        let mut handle = queue.spawn(|| 42);
        let worker = thread::spawn(move || run_all(&queue));
        let bells = [Bell::new(), Bell::new()];
        let [first, second] = bells.clone().map(Waker::from);
        let mut pending = [false, false];
        for (waker, is_pending) in [&first, &second].into_iter().zip(&mut pending) {
            match handle.poll(waker) {
                Poll::Ready(result) => {
                    assert_eq!(result.unwrap(), 42);
                    break;
                }
                Poll::Pending => *is_pending = true,
            }
        }
        worker.join().unwrap();
        let rings = [bells[0].rings(), bells[1].rings()];
        if pending[1] {
            assert_eq!(rings, [0, 1]);
            assert!(matches!(handle.poll(&second), Poll::Ready(Ok(42))));
        } else {
            assert_eq!(rings[1], 0);
            assert!(rings[0] <= usize::from(pending[0]));
        }
    });
}

/// Nobody has the handle, nor a waker; but the future has woken itself.
#[test]
fn one_that_wakes_itself_goes_on() {
    every_interleaving(|| {
        let (queue, has_ended) = (TaskQueue::new(), Arc::new(AtomicBool::new(false)));
        let handle = queue.spawn_future(std::future::poll_fn({
            let (has_ended, mut is_first) = (Arc::clone(&has_ended), true);
            move |context: &mut Context<'_>| {
                if std::mem::take(&mut is_first) {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                has_ended.store(true, Ordering::Relaxed);
                Poll::Ready(())
            }
        }));
        let worker = thread::spawn({
            let queue = queue.clone();
            move || run_all(&queue)
        });
        drop(handle);
        worker.join().unwrap();
        assert!(has_ended.load(Ordering::Relaxed) && queue.bodies() == 0);
    });
}

/// Nobody has the handle, and the last waker is dropped elsewhere: the future can never end, and is
/// dropped by whoever runs the tasks.
#[test]
fn a_future_that_nobody_can_wake_is_dropped() {
    with_preemptions(3, || {
        let (queue, event) = (TaskQueue::new(), Event::new());
        let handle = queue.spawn_future(wait_for(&event));
        let worker = thread::spawn({
            let queue = queue.clone();
            move || run_all(&queue)
        });
        drop::<TaskHandle<u32>>(handle);
        drop(event.waker.lock().take());
        worker.join().unwrap();
        drop(event.waker.lock().take());
        run_all(&queue);
        assert_eq!((queue.bodies(), Arc::strong_count(&event)), (0, 1));
    });
}

/// It sees what was done before.
#[test]
fn block_on_sees_why() {
    every_interleaving(|| {
        let (parcel, mut other) = (Arc::new(Parcel::empty()), None);
        let result = drowse::block_on(std::future::poll_fn(|context: &mut Context<'_>| {
            if other.is_some() {
                return Poll::Ready(parcel.take());
            }
            let (parcel, waker) = (Arc::clone(&parcel), context.waker().clone());
            other = Some(thread::spawn(move || {
                parcel.put(42);
                waker.wake();
            }));
            Poll::Pending
        }));
        assert_eq!(result, 42);
        other.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// A thread that waits for a future sees it woken, whenever that is.
#[test]
fn block_on_is_woken() {
    with_preemptions(3, || {
        let event = Event::new();
        let other = thread::spawn({
            let event = Arc::clone(&event);
            move || event.happen()
        });
        assert_eq!(drowse::block_on(wait_for(&event)), 42);
        other.join().unwrap();
    });
}
