//! How tasks end: what is told to whom, in which order.
#![cfg(drowse_loom)]

use drowse::model::task::TaskQueue;
use drowse_models::every_interleaving;
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Mutex, thread};
use std::future::poll_fn;
use std::task::Poll;

/// A closure is cancelled, and whoever closes the queue does so when there is no reason not to:
/// then there is nothing in it.
#[test]
fn a_closure_that_ended_early_is_met() {
    closure_that_ends_early(TaskQueue::new);
}

/// The same, of a scope: whoever meets it must not be quicker than who leaves the reason.
#[test]
fn a_closure_of_a_scope_that_ended_early_is_met() {
    closure_that_ends_early(TaskQueue::of_scope);
}

fn closure_that_ends_early(make: fn() -> TaskQueue) {
    every_interleaving(move || {
        let queue = make();
        let handle = queue.spawn(|| 42);
        let worker = thread::spawn({
            let queue = queue.clone();
            move || _ = queue.run_one()
        });
        handle.cancel();
        let has_body = queue.bodies() > 0;
        assert!(!queue.may_close() || queue.is_empty() || has_body);
        worker.join().unwrap();
        assert!(queue.may_close() && queue.is_empty());
    });
}

/// Notes, when it is dropped, how many bodies its home knows of.
struct Borrows(TaskQueue, Arc<AtomicUsize>);

impl Drop for Borrows {
    fn drop(&mut self) {
        self.1.store(self.0.bodies(), Ordering::Relaxed);
    }
}

/// Nobody wants the result, which borrows what the body has borrowed: it must be gone when the home
/// is told, also if the task itself is kept by a waker.
#[test]
fn a_result_is_dropped_before_its_home_is_told() {
    every_interleaving(|| {
        let (queue, bodies) = (TaskQueue::new(), Arc::new(AtomicUsize::new(0)));
        let mut borrows = Some(Borrows(queue.clone(), Arc::clone(&bodies)));
        let kept = Arc::new(Mutex::new(None));
        drop(queue.spawn_future({
            let kept = Arc::clone(&kept);
            poll_fn(move |context| {
                *kept.lock() = Some(context.waker().clone());
                Poll::Ready(borrows.take())
            })
        }));
        assert!(queue.run_one());
        assert_eq!((bodies.load(Ordering::Relaxed), queue.bodies()), (1, 0));
        drop(kept.lock().take());
    });
}
