//! Builder methods for how the workers of a pool sleep.

use super::ThreadPoolBuilder;
use drowse_sleep::{Policy, SleepProtocol, Steering};

impl<S> ThreadPoolBuilder<S> {
    /// Sets the protocol by which idle workers fall asleep and are woken.
    ///
    /// The default is the value of the environment variable `DROWSE_SLEEP` (`sleepy`, `counters`,
    /// `jec` or `relay`), else [`SleepProtocol::default`].
    ///
    /// ```
    /// use drowse::{SleepProtocol, ThreadPoolBuilder};
    ///
    /// let pool = ThreadPoolBuilder::new().sleep_protocol(SleepProtocol::Sleepy).build().unwrap();
    /// assert_eq!(pool.metrics().protocol, "sleepy");
    /// ```
    pub fn sleep_protocol(mut self, protocol: SleepProtocol) -> Self {
        self.chosen.sleep_protocol = Some(protocol);
        self
    }

    /// Sets how long an idle worker searches before it sleeps.
    ///
    /// The default is [the protocol's policy](SleepProtocol::policy).
    ///
    /// ```
    /// use drowse::{SleepPolicy, ThreadPoolBuilder};
    ///
    /// // Finds work that comes within some microseconds, at the price of CPU time.
    /// let patient = SleepPolicy { rounds_until_sleepy: 200, ..SleepPolicy::default() };
    /// let pool = ThreadPoolBuilder::new().num_threads(2).sleep_policy(patient).build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn sleep_policy(mut self, policy: Policy) -> Self {
        self.chosen.sleep_policy = Some(policy);
        self
    }

    /// Sets whether a worker that another worker wakes is kept off that worker's processor.
    ///
    /// The default is the value of the environment variable `DROWSE_STEER` (`off` for never, `on`
    /// for always), else [`Steering::Auto`]. Has an effect only on Linux.
    ///
    /// ```
    /// use drowse::{Steering, ThreadPoolBuilder};
    ///
    /// let builder = ThreadPoolBuilder::new().num_threads(2).steering(Steering::Never);
    /// let pool = builder.build().unwrap();
    /// pool.install(|| drowse::join(|| (), || ()));
    /// assert_eq!(pool.metrics().total().sleep.steered, 0);
    /// ```
    pub fn steering(mut self, steering: Steering) -> Self {
        self.chosen.steering = Some(steering);
        self
    }

    /// Sets what a thread calls when it is about to run in the pool.
    ///
    /// A worker calls it as it starts and whenever it is woken, a thread outside the pool when it
    /// stops waiting for workers. The counterpart is
    /// [`release_thread_handler`](Self::release_thread_handler). (A thread that was
    /// [taken over](Self::use_current_thread) runs already: it calls this when it is woken, not as
    /// it starts.)
    ///
    /// The thread does not count as a worker meanwhile. The handler must not wait for this pool,
    /// which waits for it. Its panics go to the [panic handler](Self::panic_handler).
    ///
    /// It may block, and so limit how many threads run at once, across pools and processes: for
    /// instance by taking a token from `make`'s job server.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicIsize, Ordering};
    ///
    /// let running = Arc::new(AtomicIsize::new(1)); // this thread
    /// let (acquired, released) = (Arc::clone(&running), Arc::clone(&running));
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .acquire_thread_handler(move || _ = acquired.fetch_add(1, Ordering::SeqCst))
    ///     .release_thread_handler(move || _ = released.fetch_sub(1, Ordering::SeqCst))
    ///     .build()
    ///     .unwrap();
    /// assert!(pool.install(|| running.load(Ordering::SeqCst)) >= 1);
    /// ```
    pub fn acquire_thread_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn() + Send + Sync + 'static,
    {
        self.chosen.handlers.acquire_thread = Some(Box::new(handler));
        self
    }

    /// Sets what a thread calls when it is about to block in the pool.
    ///
    /// A worker calls it before it sleeps and as it ends, a thread outside the pool before it waits
    /// for workers, in `install`, `broadcast` or a scope. The counterpart is
    /// [`acquire_thread_handler`](Self::acquire_thread_handler).
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// let (released, places) = channel();
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .release_thread_handler(move || _ = released.send(std::thread::current().id()))
    ///     .build()
    ///     .unwrap();
    /// let worker = places.recv().unwrap(); // it has nothing to do
    /// assert_ne!(worker, std::thread::current().id());
    /// # drop(pool);
    /// ```
    pub fn release_thread_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn() + Send + Sync + 'static,
    {
        self.chosen.handlers.release_thread = Some(Box::new(handler));
        self
    }
}
