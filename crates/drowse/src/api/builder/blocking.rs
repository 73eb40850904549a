//! What is chosen about workers that wait and block.

use super::ThreadPoolBuilder;
use crate::Waiting;

impl<S> ThreadPoolBuilder<S> {
    /// Sets what workers run while they wait, in the middle of a job. The default is what the
    /// environment variable `DROWSE_WAITING` says (`help` or `isolate`), else [`Waiting::Help`].
    ///
    /// With [`Waiting::Isolate`] all that runs in the pool does so as in
    /// [`isolate`](crate::isolate): a lock may be held across a `join`, a `scope`, a parallel loop.
    ///
    /// ```
    /// use drowse::{ThreadPoolBuilder, Waiting};
    /// use std::sync::Mutex;
    ///
    /// let pool = ThreadPoolBuilder::new().waiting(Waiting::Isolate).build().unwrap();
    /// let total = Mutex::new(0);
    /// pool.scope(|s| {
    ///     for _ in 0..64 {
    ///         s.spawn(|_| {
    ///             let mut total = total.lock().unwrap(); // held across a join
    ///             let (a, b) = drowse::join(|| 1, || 2);
    ///             *total += a + b;
    ///         });
    ///     }
    /// });
    /// assert_eq!(total.into_inner().unwrap(), 192);
    /// ```
    pub fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = Some(waiting);
        self
    }
}
