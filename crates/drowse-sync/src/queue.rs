//! A queue that any thread may push to and take from.

#[cfg(not(any(drowse_loom, drowse_shuttle)))]
use crossbeam_queue::SegQueue as Inner;
#[cfg(any(drowse_loom, drowse_shuttle))]
use model::Inner;

/// An unbounded first-in first-out queue for any number of producers and consumers.
///
/// It is crossbeam's segmented queue; under the model checkers, a locked queue.
#[derive(Debug)]
pub struct Queue<T>(Inner<T>);

impl<T> Queue<T> {
    /// Returns an empty queue.
    pub fn new() -> Self {
        Self(Inner::new())
    }

    /// Appends a value. Its last access to the queue is a read-modify-write, as
    /// [`full_fence_after_rmw`](crate::full_fence_after_rmw) requires.
    pub fn push(&self, value: T) {
        self.0.push(value);
    }

    /// Takes the oldest value.
    pub fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    /// Returns `true` if there was nothing to take. Sees every push that happened before the call.
    /// The caller must establish that order itself (see [`full_fence`](crate::full_fence)).
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(any(drowse_loom, drowse_shuttle))]
mod model {
    use crate::Mutex;
    use crate::atomic::{AtomicUsize, Ordering};
    use std::collections::VecDeque;

    /// A queue that is like the real one in what matters to the models: `is_empty` is a plain read
    /// of a published length and orders nothing by itself.
    #[derive(Debug)]
    pub(super) struct Inner<T> {
        items: Mutex<VecDeque<T>>,
        length: AtomicUsize,
    }

    impl<T> Inner<T> {
        pub(super) fn new() -> Self {
            Self { items: Mutex::new(VecDeque::new()), length: AtomicUsize::new(0) }
        }

        pub(super) fn push(&self, value: T) {
            let mut items = self.items.lock();
            items.push_back(value);
            // ORDERING: release pairs with the acquire in `is_empty`: a thread that reads the
            // length sees the item. Written under the lock.
            self.length.store(items.len(), Ordering::Release);
        }

        pub(super) fn pop(&self) -> Option<T> {
            // Without this early return the lock would order more than the real queue does.
            if self.is_empty() {
                return None;
            }
            let mut items = self.items.lock();
            let value = items.pop_front();
            // ORDERING: release, as in `push`.
            self.length.store(items.len(), Ordering::Release);
            value
        }

        pub(super) fn is_empty(&self) -> bool {
            // ORDERING: acquire pairs with the release in `push`. No fence here: a model must not
            // be stronger than crossbeam's queue promises to be.
            self.length.load(Ordering::Acquire) == 0
        }
    }
}
