//! Starts the threads of a pool, and waits for their end.
//!
//! Most threads are started when the pool is built. Others come later: spares, watches, and the
//! threads of workers that have none yet or have none any more.
//!
//! A thread counts as *present* from the decision to start it until it does nothing more for the
//! pool. Threads that drowse has started can also be joined: this waits until the system has ended
//! them, after their thread-locals were dropped.

use super::crew::{BusyThread, Crew, Member, Role, Started, Unfinished, busy_threads};
use super::start::{ThreadBuilderParts, run_worker};
use drowse_sync::{
    Arc, Condvar, Mutex, MutexGuard, OnceLock, Outlined, Stopwatch, serial_number, spawn_thread,
};
use std::cell::Cell;
use std::fmt;
use std::io;
use std::mem;
use std::time::Duration;

/// Starts threads for one pool, and keeps account of them.
pub(crate) struct Recruiter {
    /// Identity of the recruiter, which is never used again.
    id: u64,
    /// One name a worker. Empty if its thread has no name, or was not named yet.
    names: Box<[OnceLock<String>]>,
    stack_size: Option<usize>,
    crew: Mutex<Outlined<Crew>>,
    /// Notified when a thread is no longer present, or was joined.
    left: Condvar,
}

drowse_sync::thread_local! {
    /// Recruiter whose thread this is, from its first step to the end of its last thread-local.
    /// Zero for a thread of no pool.
    static RECRUITED_BY: Cell<u64> = const { Cell::new(0) };
}

/// `false` in loom models: they do not test the end of pools, and each lock multiplies their
/// states.
const KEEPS_ACCOUNT: bool = !cfg!(drowse_loom);

/// Closure that a thread runs.
pub(super) type Run = Box<dyn FnOnce() + Send>;

/// Time after which the system, having refused a thread that is to join others, is asked again.
const NEXT_TRY: Duration = Duration::from_millis(1);

impl Recruiter {
    pub(crate) fn new(workers: usize, stack_size: Option<usize>) -> Self {
        Self {
            id: serial_number(),
            names: (0..workers).map(|_| OnceLock::new()).collect(),
            stack_size,
            crew: Mutex::new(Outlined::new(Crew::default())),
            left: Condvar::new(),
        }
    }

    /// Returns the name of this worker's thread.
    pub(crate) fn name(&self, worker: usize) -> Option<&str> {
        self.names.get(worker)?.get().map(String::as_str)
    }

    /// Names this worker's threads, the first time that it is called for it.
    pub(super) fn set_name(&self, worker: usize, name: Option<String>) {
        if let Some(name) = name {
            let _ = self.names[worker].set(name);
        }
    }

    pub(crate) fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Makes the calling thread one of the pool's own, until what this returns is dropped.
    pub(super) fn enlist(&self) -> Enlisted {
        Enlisted(RECRUITED_BY.with(|recruiter| recruiter.replace(self.id)))
    }

    /// Returns `true` if the calling thread is one of the pool's own, also while it drops its
    /// thread-locals. If such a thread waited for the end of them all, it would wait for itself.
    pub(crate) fn owns_current_thread(&self) -> bool {
        RECRUITED_BY.with(Cell::get) == self.id
    }

    /// Counts a thread that is going to be started for this worker as present.
    pub(super) fn expect(self: &Arc<Self>, worker: usize) -> Presence {
        self.expect_as(Role::Worker(worker), self.name(worker))
    }

    fn expect_as(self: &Arc<Self>, role: Role, name: Option<&str>) -> Presence {
        let number = if KEEPS_ACCOUNT {
            let mut crew = self.crew.lock();
            let member = crew.new_member(role, name);
            let number = member.number;
            crew.present.push(member);
            number
        } else {
            0
        };
        Presence { recruiter: Arc::clone(self), number }
    }

    /// Starts the thread of a worker.
    ///
    /// # Errors
    ///
    /// If it cannot be started. Then the parts are given back.
    pub(crate) fn start_worker(
        self: &Arc<Self>,
        parts: ThreadBuilderParts,
    ) -> Result<(), Box<(io::Error, ThreadBuilderParts)>> {
        let index = parts.index;
        let kept = Arc::new(Mutex::new(Some(parts)));
        let given = Arc::clone(&kept);
        let run = move || {
            let parts = given.lock().take();
            if let Some(parts) = parts {
                run_worker(parts);
            }
        };
        self.start(Role::Worker(index), self.name(index), Box::new(run)).map_err(|error| {
            let parts = kept.lock().take();
            Box::new((error, parts.expect("there is no thread that could have taken them")))
        })
    }

    /// Starts a thread with this name that is no worker, or not yet. If a thread waits for the end
    /// of the pool, it waits for this one, too.
    pub(super) fn start_spare(self: &Arc<Self>, name: &str, run: Run) -> io::Result<()> {
        let presence = self.expect_as(Role::Spare, Some(name));
        let run = move || {
            let _presence = presence;
            run();
        };
        self.start(Role::Spare, Some(name), Box::new(run))
    }

    /// Starts a thread with this name that watches the others until the pool ends, and which the
    /// end of the pool waits for. `run` calls handlers by [`Presence::while_busy`]. Does nothing if
    /// the pool has ended.
    #[cfg(feature = "diagnose")]
    pub(super) fn start_watch(
        self: &Arc<Self>,
        name: &str,
        run: Box<dyn FnOnce(&Presence) + Send>,
    ) -> io::Result<()> {
        let presence = self.expect_as(Role::Watch, Some(name));
        self.start(Role::Watch, Some(name), Box::new(move || run(&presence)))
    }

    #[inline(never)]
    fn start(self: &Arc<Self>, role: Role, name: Option<&str>, run: Run) -> io::Result<()> {
        // The user's choice is for jobs. Handlers have the default stack size.
        let stack_size = self.stack_size.filter(|_| role != Role::Watch);
        if !KEEPS_ACCOUNT {
            return spawn_thread(name, stack_size, run).map(drop);
        }
        // If it is not run, it is dropped after the lock is released: it may hold a presence.
        let kept = Arc::new(Mutex::new(Some(run)));
        let run = Arc::clone(&kept);
        // Locked until the handle is stored, where the thread looks for it when it ends.
        let mut crew = self.crew.lock();
        if crew.is_over && role == Role::Watch {
            return Ok(());
        }
        let member = crew.new_member(role, name);
        let number = member.number;
        let recruiter = Arc::clone(self);
        let run = move || {
            mem::forget(recruiter.enlist());
            let _leaving = Leaving { recruiter, number };
            let run = run.lock().take();
            if let Some(run) = run {
                run();
            }
        };
        let handle = spawn_thread(name, stack_size, Box::new(run))?;
        if !crew.is_forgotten {
            crew.started.push(Started { member, handle });
        }
        Ok(())
    }

    /// Returns `true` if a thread may end while the pool goes on: not before the last one that
    /// ended is gone. Where ending takes longer than starting, there would be more and more
    /// threads.
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    pub(super) fn lets_leave(&self) -> bool {
        self.crew.lock().last_to_leave.as_ref().is_none_or(|last| last.handle.is_finished())
    }

    /// Returns `true`: a model cannot tell if a thread has ended.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn lets_leave(&self) -> bool {
        true
    }

    /// Ends the thread of this number, which is the calling one. While the pool goes on, each
    /// thread that leaves is joined by the next one to leave, which has nothing else to do: its
    /// stack would be kept until the end of the pool otherwise. At the end of the pool all threads
    /// end side by side: [`wait_for_all`](Self::wait_for_all) joins them, if it is called.
    fn end_thread(&self, number: u64) {
        let before = {
            let mut crew = self.crew.lock();
            if crew.is_over {
                return;
            }
            // If it is not there, it is being joined, or was forgotten.
            let at = crew.started.iter().position(|started| started.member.number == number);
            at.and_then(|at| {
                let own = crew.started.swap_remove(at);
                crew.last_to_leave.replace(own)
            })
        };
        if let Some(before) = before {
            before.join();
        }
    }

    /// Notes that the pool has ended: each thread ends as soon as it can, and no watch is started.
    pub(super) fn close(&self) {
        if KEEPS_ACCOUNT {
            self.crew.lock().is_over = true;
        }
    }

    /// Keeps the threads from being [forgotten](Self::forget) until the caller
    /// [waits](Self::wait_for_all).
    pub(crate) fn keep_to_join(&self) {
        self.crew.lock().is_awaited = true;
    }

    /// Forgets the threads, which end when they are done: no thread waits for them.
    pub(crate) fn forget(&self) {
        if !KEEPS_ACCOUNT {
            return;
        }
        let mut crew = self.crew.lock();
        if crew.is_awaited {
            return;
        }
        crew.is_forgotten = true;
        let gone = crew.take_started();
        drop(crew);
        drop(gone);
    }

    /// Waits until a thread leaves, but for no longer than `time`.
    pub(crate) fn wait_for_one(&self, time: Duration) {
        let crew = self.crew.lock();
        if !crew.present.is_empty() {
            drop(self.left.wait_for(crew, time));
        }
    }

    /// Waits until no thread is present any more, and then until the threads that we have started
    /// have ended and dropped their thread-locals; but for no longer than `time`, if there is one.
    /// The calling thread must not be [one of them](Self::owns_current_thread).
    ///
    /// # Errors
    ///
    /// If it takes longer. Then the threads that are left are forgotten.
    pub(crate) fn wait_for_all(self: &Arc<Self>, time: Option<Duration>) -> Result<(), Unfinished> {
        let limit = Limit { clock: Stopwatch::start(), time };
        let crew = self.wait_while(&limit, |crew| !crew.present.is_empty());
        let mut crew =
            crew.map_err(|crew| self.give_up(crew, Unfinished::Busy, |crew| &crew.present[..]))?;
        let started = crew.take_started();
        drop(crew);
        if started.is_empty() {
            return Ok(());
        }
        if time.is_none() {
            for started in started {
                started.join();
            }
            return Ok(());
        }
        self.join_within(&limit, started)
    }

    /// Waits as long as `is_so` returns `true`. Returns `Err` when the time is up.
    #[inline(never)]
    fn wait_while(
        &self,
        limit: &Limit,
        is_so: fn(&Crew) -> bool,
    ) -> Result<Locked<'_>, Locked<'_>> {
        let mut crew = self.crew.lock();
        while is_so(&crew) {
            // WAKE: `Presence::drop` and the helper of `join_within` notify, after they have
            // changed what we look at, with the lock.
            crew = match limit.left() {
                None => self.left.wait(crew),
                Some(Duration::ZERO) => return Err(crew),
                Some(left) => self.left.wait_for(crew, left),
            };
        }
        Ok(crew)
    }

    /// Joins these threads by a helper, which can be waited for with a limit. Joining them has
    /// none: how long their thread-locals take to be dropped depends on the user.
    fn join_within(
        self: &Arc<Self>,
        limit: &Limit,
        started: Vec<Started>,
    ) -> Result<(), Unfinished> {
        let mut joining = Vec::with_capacity(started.len());
        for started in &started {
            joining.push(started.member.clone());
        }
        self.crew.lock().joining = joining;
        // Kept until there is a helper that takes them.
        let kept = Arc::new(Mutex::new(started));
        let helper = loop {
            let (recruiter, given) = (Arc::clone(self), Arc::clone(&kept));
            let join_all = move || {
                let started = mem::take(&mut *given.lock());
                for started in started {
                    recruiter.join_and_tell(started);
                }
            };
            match spawn_thread(Some("drowse-joiner"), None, Box::new(join_all)) {
                Ok(helper) => break Some(helper),
                // Threads that end make room for the helper.
                #[allow(
                    clippy::disallowed_methods,
                    reason = "nothing tells when there are threads again"
                )]
                Err(_) if limit.left() != Some(Duration::ZERO) => std::thread::sleep(NEXT_TRY),
                Err(_) => break None,
            }
        };
        match self.wait_while(limit, |crew| !crew.joining.is_empty()) {
            Ok(crew) => drop(crew),
            Err(crew) => {
                return Err(self.give_up(crew, Unfinished::Ending, |crew| &crew.joining[..]));
            }
        }
        if let Some(helper) = helper {
            let _ = helper.join();
        }
        Ok(())
    }

    fn join_and_tell(&self, started: Started) {
        let number = started.member.number;
        started.join();
        self.crew.lock().joining.retain(|member| member.number != number);
        // WAKE: `wait_while`, called by `join_within`, looks again.
        self.left.notify_one();
    }

    #[inline(never)]
    fn give_up(
        &self,
        mut crew: Locked<'_>,
        how: fn(Vec<BusyThread>) -> Unfinished,
        left: fn(&Crew) -> &[Member],
    ) -> Unfinished {
        let threads = busy_threads(left(&crew));
        crew.is_awaited = false;
        drop(crew);
        self.forget();
        how(threads)
    }
}

type Locked<'a> = MutexGuard<'a, Outlined<Crew>>;

/// Time limit of a wait.
struct Limit {
    clock: Stopwatch,
    time: Option<Duration>,
}

impl Limit {
    fn left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.clock.elapsed()))
    }
}

impl fmt::Debug for Recruiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recruiter").field("stack_size", &self.stack_size).finish_non_exhaustive()
    }
}

/// A thread counts as present as long as this lives.
#[derive(Debug)]
pub(crate) struct Presence {
    recruiter: Arc<Recruiter>,
    number: u64,
}

#[cfg(feature = "diagnose")]
impl Presence {
    /// Runs a handler on a thread that watches: meanwhile the thread counts as busy.
    pub(super) fn while_busy(&self, handler: &dyn Fn()) {
        self.set_busy(true);
        handler();
        self.set_busy(false);
    }

    fn set_busy(&self, is_busy: bool) {
        let mut crew = self.recruiter.crew.lock();
        if let Some(own) = crew.present.iter_mut().find(|member| member.number == self.number) {
            own.is_busy = is_busy;
        }
    }
}

impl Drop for Presence {
    #[inline(never)]
    fn drop(&mut self) {
        if !KEEPS_ACCOUNT {
            return;
        }
        let mut crew = self.recruiter.crew.lock();
        crew.present.retain(|member| member.number != self.number);
        // WAKE: at most one thread is in `wait_for_all` or `wait_for_one`, and it looks again.
        self.recruiter.left.notify_one();
    }
}

/// The calling thread counts as one of the pool's own as long as this lives.
pub(super) struct Enlisted(u64);

impl Drop for Enlisted {
    fn drop(&mut self) {
        RECRUITED_BY.with(|recruiter| recruiter.set(self.0));
    }
}

/// Guard that ends a started thread, also on a panic.
struct Leaving {
    recruiter: Arc<Recruiter>,
    number: u64,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.recruiter.end_thread(self.number);
    }
}
