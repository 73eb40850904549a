//! Builder methods for the deadlock handler, the stall watch and the trace.

use super::ThreadPoolBuilder;
use crate::{Deadlock, Stall, Trace};
use drowse_sync::say;
use std::time::Duration;

impl<S> ThreadPoolBuilder<S> {
    /// Sets what is called in a deadlock: when no worker of the pool can go on.
    ///
    /// The handler is called when no worker is active (runs a job, or searches for one), at least
    /// one is [marked as blocked](crate::mark_blocked), and no worker has moved for
    /// [200 ms](Self::deadlock_after). The others sleep, and wait for work that no worker is left
    /// to post.
    ///
    /// It is also called, without a mark, if all workers and all spares wait, asleep or inside
    /// [`blocking`](crate::blocking()), while a job is queued that no thread is left to run:
    /// [`Deadlock::out_of_spares`].
    ///
    /// A pool that is idle, or has just been built, is not deadlocked: none of its workers is
    /// blocked. A pool without a handler does not count, and pays nothing. A pool with one starts
    /// another thread when for the first time no worker is active and one is blocked, and sets a
    /// timer only then.
    ///
    /// The handler runs on that thread, which is not a worker and holds no locks: it may do
    /// whatever a thread outside the pool may. Its argument says
    /// [which worker is stuck where](Deadlock). It is called once each time that the pool stops. If
    /// it sends what a worker waits for, or spawns a job that does, the pool works on. Its panic
    /// goes to the [panic handler](Self::panic_handler).
    ///
    /// On Linux, a blocked worker must also be seen to wait: if its thread could run, or has run
    /// since, the time begins anew. So a worker that was unblocked, but has not had a processor
    /// yet, raises no alarm. On other systems only the time counts.
    ///
    /// Only the workers of this pool are counted. If a thread outside, or a worker of another pool,
    /// is about to give this pool work or to unblock one of its workers, but takes longer than that
    /// time, the alarm is raised. A thread that was [taken over](Self::use_current_thread) counts
    /// as active whenever it does not sleep in drowse.
    ///
    /// If no handler is set, the environment variable `DROWSE_DEADLOCK` may set one: `report` like
    /// [`report_deadlocks`](Self::report_deadlocks), `abort` to abort the process after that.
    ///
    /// # A pool with a handler schedules differently
    ///
    /// To count exactly which workers are active, it does without three things that save wakes:
    /// more workers may be awake at once than there are processors, no wake is deferred for short
    /// work from outside, and no worker naps beside [guests](Self::guests) instead of being woken.
    /// So timings with and without a handler differ: measure without one. `DROWSE_LOG=1` prints
    /// this for each such pool. The [stall watch](Self::stall_watch) does not change scheduling.
    ///
    /// # Example
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
    ///     assert_eq!(question.recv(), Ok(42)); // no job of the pool can answer
    /// });
    /// let report = alarms.recv().unwrap();
    /// assert!(report.starts_with("no worker of 1 can go on: 0 is blocked at "));
    /// answer.send(42).unwrap(); // to the rescue, from outside
    /// ```
    pub fn deadlock_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(&Deadlock) + Send + Sync + 'static,
    {
        self.chosen.diagnose.deadlock = Some(Box::new(handler));
        self
    }

    /// Sets for how long no worker must have moved before the deadlock handler is called; 200 ms by
    /// default.
    ///
    /// The call comes after at most twice that time, or later if a worker was seen to move at
    /// first. Without a handler, and without `DROWSE_DEADLOCK`, this has no effect, and the pool
    /// prints that to standard error.
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
    /// let blocked = pool.install(drowse::mark_blocked); // this worker stays marked
    /// assert_eq!(alarms.recv(), Ok(0));
    /// drop(blocked);
    /// ```
    pub fn deadlock_after(mut self, time: Duration) -> Self {
        self.chosen.diagnose.deadlock_after = Some(time);
        self
    }

    /// Sets a [deadlock handler](Self::deadlock_handler) that prints its argument to standard
    /// error.
    ///
    /// Like any deadlock handler, it changes how the pool schedules, so timings differ.
    ///
    /// ```
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(2).report_deadlocks();
    /// let pool = builder.build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn report_deadlocks(self) -> Self {
        self.deadlock_handler(|deadlock| say(format_args!("drowse: {deadlock}")))
    }

    /// Reports workers that stay in one job for longer than `after` while something waits for them.
    ///
    /// Needs no marks. If this is not called, the environment variable `DROWSE_STALL` may set it
    /// (`5s`, `500ms`, a number of seconds; `off` or `0` for no watch).
    ///
    /// A stalled worker is reported if during that time
    ///
    /// - jobs are queued, and no worker takes them;
    /// - another worker waits in the middle of a job;
    /// - the worker has taken the job while an earlier one, below it on the same stack, waits;
    /// - a broadcast has left a job that only that worker can run; or
    /// - a thread outside waits (in `install`, `scope`, `broadcast`, [`JoinHandle::join`], or
    ///   [`block_on`](crate::block_on()) for a handle), and the worker has begun its closure, or no
    ///   worker moves at all.
    ///
    /// A job that takes long is not reported if nothing waits for it.
    ///
    /// A thread of the pool checks four times in that time. It prints what it finds to standard
    /// error, or passes it to the [stall handler](Self::stall_handler), once for each worker and
    /// job: what drowse knows of the worker, on Linux what its thread does in the system, and the
    /// debugger's command that shows the stacks. drowse does not know whether the worker waits or
    /// computes; `thread_state` tells. The watch costs the workers nothing; a thread outside that
    /// waits takes a lock before and after.
    ///
    /// [`JoinHandle::join`]: crate::JoinHandle::join
    ///
    /// A worker counts as moving when it searches for, takes, pushes or waits for a job: long work
    /// that forks now and then is not reported. If a [guest](Self::guests) has a worker's seat, the
    /// report of the system is about the worker's own thread.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = drowse::ThreadPoolBuilder::new().num_threads(2);
    /// let pool = builder.stall_watch(Duration::from_secs(5)).build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn stall_watch(mut self, after: Duration) -> Self {
        self.chosen.diagnose.stall_after = Some(after);
        self
    }

    /// Sets what is called, instead of printing, when the [stall watch](Self::stall_watch) finds a
    /// stall.
    ///
    /// It runs on the watch's own thread, which is not a worker. Its panic goes to the
    /// [panic handler](Self::panic_handler). Without a watch this has no effect, and the pool
    /// prints that to standard error, unless `DROWSE_STALL` turns the watch off.
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
    /// pool.spawn(move || _ = from_inside.send(42)); // queued, and no worker takes it
    /// let stall = stalls.recv().unwrap();
    /// assert!(stall.queued && stall.stalled[0].worker.index == 0);
    /// answer.send(42).unwrap(); // to the rescue, from outside
    /// ```
    pub fn stall_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(&Stall) + Send + Sync + 'static,
    {
        self.chosen.diagnose.stall_handler = Some(Box::new(handler));
        self
    }

    /// Records what the workers do. A trace can be used for one pool only.
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
        self.chosen.diagnose.trace = Some(trace.clone());
        self
    }
}
