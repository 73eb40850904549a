//! What is chosen about pools in which nothing moves.

use super::ThreadPoolBuilder;
use crate::engine::StallPlan;
use crate::{Deadlock, Stall};
use drowse_sync::say;
use std::time::Duration;

impl<S> ThreadPoolBuilder<S> {
    /// Sets what is called in a deadlock: no worker of the pool is active (runs a job, or searches
    /// for one), at least one is [marked as blocked](crate::mark_blocked), and nobody has moved for
    /// [200 ms](Self::deadlock_after). The others sleep, waiting for work that nobody is left to
    /// post.
    ///
    /// A pool that is idle, or has just been built, is not deadlocked: none of its workers is
    /// blocked. A pool without a handler does not count, and pays nothing. One with a handler has a
    /// thread more from the first moment on in which nobody is active and somebody blocked; it sets
    /// a timer only then.
    ///
    /// The handler runs on that thread, which is not a worker, with nothing locked: it may do
    /// whatever a thread outside may. It is told [who is stuck where](Deadlock), and is called once
    /// for each time that the pool stops. If it gets the pool going, by sending what somebody waits
    /// for, or by spawning a job that does, the pool works on. Its panic goes to the
    /// [panic handler](Self::panic_handler).
    ///
    /// On Linux, a blocked worker must also be seen to wait: if its thread could run, or has run
    /// since, the time begins anew. So it does not matter whether it was unblocked and has not had
    /// a processor yet. Elsewhere the time alone counts.
    ///
    /// Only the workers of this pool are counted. A thread outside, or a worker of another pool,
    /// that is about to give this pool work or to unblock somebody, but takes longer than that
    /// time, does not prevent the alarm. A thread that was
    /// [taken over](Self::use_current_thread) counts as active whenever it does not sleep in
    /// drowse.
    ///
    /// Where no handler was set, the environment variable `DROWSE_DEADLOCK` may set one: `report`
    /// for [`report_deadlocks`](Self::report_deadlocks), `abort` to abort the process after that.
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
    /// let (answer, question) = channel();
    /// pool.spawn(move || {
    ///     let _blocked = drowse::mark_blocked();
    ///     assert_eq!(question.recv(), Ok(42)); // nobody in the pool can answer
    /// });
    /// let report = alarms.recv().unwrap();
    /// assert!(report.starts_with("no worker of 1 can go on: 0 is blocked at "));
    /// answer.send(42).unwrap(); // to the rescue, from outside
    /// ```
    pub fn deadlock_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(&Deadlock) + Send + Sync + 'static,
    {
        self.handlers.deadlock = Some(Box::new(handler));
        self
    }

    /// Sets how long nobody must have moved before it is called a deadlock; 200 ms, if this is not
    /// called. It takes up to twice that time, and more if somebody was seen to move at first.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (alarm, alarms) = std::sync::mpsc::channel();
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .deadlock_handler(move |deadlock| alarm.send(deadlock.asleep).unwrap())
    ///     .deadlock_after(Duration::from_millis(2))
    ///     .build()
    ///     .unwrap();
    /// let blocked = pool.install(drowse::mark_blocked); // and it stays so
    /// assert_eq!(alarms.recv(), Ok(0));
    /// drop(blocked);
    /// ```
    pub fn deadlock_after(mut self, time: Duration) -> Self {
        self.handlers.deadlock_after = Some(time);
        self
    }

    /// Sets a [deadlock handler](Self::deadlock_handler) that prints what it is told to the
    /// standard error.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(2).report_deadlocks();
    /// let pool = builder.build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn report_deadlocks(self) -> Self {
        self.deadlock_handler(|deadlock| say(format_args!("drowse: {deadlock}")))
    }

    /// Watches for workers that have been inside one job for longer than `after`, while jobs are
    /// queued that nobody takes, or while other workers wait in the middle of theirs. Needs no
    /// marks. Where this is not called, the environment variable `DROWSE_STALL` may set it, in
    /// seconds.
    ///
    /// A thread of the pool looks four times in that time. What it finds it prints to the standard
    /// error, or tells the [stall handler](Self::stall_handler), once for each worker and job: what
    /// drowse knows of the worker, and on Linux what its thread does in the system. It does not
    /// know whether the worker waits or computes; `thread_state` tells. The workers pay nothing.
    ///
    /// A worker goes on when it searches, takes, pushes or waits for a job: long work that forks
    /// now and then is not noticed. If a [guest](Self::guests) has a worker's seat, what the system
    /// tells is about the worker's own thread.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(2);
    /// let pool = builder.stall_watch(Duration::from_secs(5)).build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn stall_watch(mut self, after: Duration) -> Self {
        let handler = self.handlers.stall.and_then(|plan| plan.handler);
        self.handlers.stall = Some(StallPlan { after: Some(after), handler });
        self
    }

    /// Sets what is called instead of printing when the [stall watch](Self::stall_watch) finds
    /// something: on its own thread, which is not a worker. Its panic goes to the
    /// [panic handler](Self::panic_handler).
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// let (told, stalls) = channel();
    /// let pool = drowse::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .stall_watch(Duration::from_millis(4))
    ///     .stall_handler(move |stall| told.send(stall.clone()).unwrap())
    ///     .build()
    ///     .unwrap();
    /// let (answer, question) = channel();
    /// pool.spawn(move || assert_eq!(question.recv(), Ok(42)));
    /// let from_inside = answer.clone();
    /// pool.spawn(move || _ = from_inside.send(42)); // queued, and nobody takes it
    /// let stall = stalls.recv().unwrap();
    /// assert!(stall.queued && stall.stalled[0].worker.index == 0);
    /// answer.send(42).unwrap(); // to the rescue, from outside
    /// ```
    pub fn stall_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(&Stall) + Send + Sync + 'static,
    {
        let after = self.handlers.stall.and_then(|plan| plan.after);
        self.handlers.stall = Some(StallPlan { after, handler: Some(Box::new(handler)) });
        self
    }
}
