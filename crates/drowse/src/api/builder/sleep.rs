//! How the workers of a pool are to sleep.

use super::ThreadPoolBuilder;
use crate::Trace;
use drowse_sleep::{Deadlock, Policy, SleepProtocol, Steering};

impl<S> ThreadPoolBuilder<S> {
    /// Sets how idle workers fall asleep and are woken. Without it: what the environment variable `DROWSE_SLEEP` says
    /// (`sleepy`, `counters` or `jec`), else [the default](SleepProtocol::default).
    ///
    /// ```
    /// use drowse::{SleepProtocol, ThreadPoolBuilder};
    ///
    /// let pool = ThreadPoolBuilder::new().sleep_protocol(SleepProtocol::Sleepy).build().unwrap();
    /// assert_eq!(pool.metrics().protocol, "sleepy");
    /// ```
    pub fn sleep_protocol(mut self, protocol: SleepProtocol) -> Self {
        self.sleep_protocol = Some(protocol);
        self
    }

    /// Sets how long an idle worker searches before it sleeps. Without it: what
    /// [suits the protocol](SleepProtocol::policy).
    ///
    /// ```
    /// use drowse::{SleepPolicy, ThreadPoolBuilder};
    ///
    /// // Find work that comes within some microseconds, at the price of CPU time.
    /// let patient = SleepPolicy { rounds_until_sleepy: 200, ..SleepPolicy::default() };
    /// let pool = ThreadPoolBuilder::new().num_threads(2).sleep_policy(patient).build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn sleep_policy(mut self, policy: Policy) -> Self {
        self.sleep_policy = Some(policy);
        self
    }

    /// Sets whether a worker that is woken by a working one is kept off that one's processor. Without it: what the environment
    /// variable `DROWSE_STEER` says (`0` for never, `1` for always), else [`Steering::Auto`]. Of effect on Linux alone.
    ///
    /// ```
    /// use drowse::{Steering, ThreadPoolBuilder};
    ///
    /// let pool = ThreadPoolBuilder::new().num_threads(2).steering(Steering::Never).build().unwrap();
    /// pool.install(|| drowse::join(|| (), || ()));
    /// assert_eq!(pool.metrics().total().sleep.steered, 0);
    /// ```
    pub fn steering(mut self, steering: Steering) -> Self {
        self.steering = Some(steering);
        self
    }

    /// Records what the workers do. A trace is for one pool.
    ///
    /// ```
    /// let trace = drowse::Trace::new();
    /// let pool = drowse::ThreadPoolBuilder::new().num_threads(2).trace(&trace).build().unwrap();
    /// pool.install(|| ());
    /// assert!(!trace.drain().is_empty());
    ///
    /// let again = drowse::ThreadPoolBuilder::new().trace(&trace).build();
    /// assert!(again.unwrap_err().to_string().contains("trace"));
    /// ```
    pub fn trace(mut self, trace: &Trace) -> Self {
        self.trace = Some(trace.clone());
        self
    }

    /// Sets who hears of a deadlock: no worker of the pool is active (runs a job, or searches for one), and at least one is
    /// [marked as blocked](crate::mark_blocked). The others sleep, waiting for work that nobody is left to post.
    ///
    /// A pool that is merely idle, or has just been built, is not dead: none of its workers is blocked. A pool without a
    /// handler does not keep count, so it pays nothing.
    ///
    /// The handler runs on the worker that was the last one active, before it sleeps or blocks, **with the pool's
    /// count of workers locked**. That way what it is told is true until it returns: nobody can be woken or unblocked
    /// behind its back. It is called each time that the pool comes to a stand: again, if somebody was woken in between and slept again.
    ///
    /// For the same reason it must not mark workers, nor wait for a pool, this one or another (`install`, `join`, `scope`, `broadcast`):
    /// whom it waits for may need the lock. Nor may it give work to another pool that has a deadlock handler, which might be about to
    /// do the same the other way round. It gets a panic that says so, instead of waiting for itself. Let it tell a thread outside the pool, and
    /// let that one break the deadlock. What it may do is [`spawn`](crate::ThreadPool::spawn) into its own pool. The thread counts as no
    /// worker meanwhile. A panic of the handler goes to the [panic handler](Self::panic_handler), which then runs under the same rules.
    ///
    /// **An alarm is a question, not a proof.** Marks that are dropped by the blocked worker
    /// itself, marks round the locks of std, and help that comes from outside raise false alarms
    /// even in correct programs, and workers that block without a mark keep true ones from coming:
    /// see [what marks can and cannot do](crate::mark_blocked#what-marks-can-and-cannot-do). Have
    /// the handler note what it is told, and let a thread outside look again after a while; do not
    /// abort on the first alarm.
    ///
    /// Only the workers of this pool are counted. If a thread outside, or a worker of another pool, is about to give this one work or to
    /// unblock somebody, that does not keep the alarm from being raised. A thread that was [taken over](Self::use_current_thread) counts as
    /// active whenever it does not sleep in drowse.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// let (alarm, alarms) = channel();
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .deadlock_handler(move |deadlock| alarm.send(deadlock.to_string()).unwrap())
    ///     .build()
    ///     .unwrap();
    ///
    /// let ((marks, marked), (answer, question)) = (channel(), channel());
    /// pool.spawn(move || {
    ///     marks.send(drowse::mark_blocked()).unwrap();
    ///     assert_eq!(question.recv(), Ok(42)); // nobody in the pool can answer
    /// });
    /// let report = alarms.recv().unwrap();
    /// assert!(report.starts_with("no worker of 1 can go on: 0 is blocked at "));
    ///
    /// // To the rescue, from outside: first unmark, then unblock.
    /// drowse::mark_unblocked(marked.recv().unwrap());
    /// answer.send(42).unwrap();
    /// ```
    pub fn deadlock_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(&Deadlock) + Send + Sync + 'static,
    {
        self.handlers.deadlock = Some(Box::new(handler));
        self
    }

    /// Sets what a thread calls when it is about to run in the pool: each worker as it starts and whenever it was woken, and a
    /// thread outside once workers have done for it what it waited for. The counterpart of
    /// [`release_thread_handler`](Self::release_thread_handler). (A thread that was [taken over](Self::use_current_thread) runs already:
    /// it calls this when it is woken, not as it starts.)
    ///
    /// The thread counts as no worker meanwhile. The handler must not wait for this pool, which waits for it; its panics go to the
    /// [panic handler](Self::panic_handler).
    ///
    /// It may block, and so limit how many threads of the process run at once, across pools and processes: a token of
    /// `make`'s job server is taken here.
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
        self.handlers.acquire_thread = Some(Box::new(handler));
        self
    }

    /// Sets what a thread calls when it is about to block in the pool: each worker before it sleeps and as it ends, and a
    /// thread outside that waits for workers, in `install`, `broadcast`, a scope. The
    /// counterpart of [`acquire_thread_handler`](Self::acquire_thread_handler).
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
        self.handlers.release_thread = Some(Box::new(handler));
        self
    }
}
