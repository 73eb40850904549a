//! Starts the threads of a pool, and waits for their end.
//!
//! Most threads are started when the pool is built. Others come later: spares, watches, and the
//! threads of workers that have none yet or have none any more.
//!
//! A thread counts as *present* from the decision to start it until it does nothing more for the
//! pool. Threads that drowse has started can also be joined: this waits until the system has ended
//! them, after their thread-locals were dropped.

use super::crew::{BusyThread, Crew, Member, Role, Unfinished};
use drowse_sync::thread::JoinHandle;
use drowse_sync::{
    Arc, Condvar, Mutex, MutexGuard, Outlined, Stopwatch, serial_number, spawn_thread,
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
type Run = Box<dyn FnOnce(&Presence) + Send>;

/// Time after which the system, having refused a thread that is to join others, is asked again.
const NEXT_TRY: Duration = Duration::from_millis(1);

impl Recruiter {
    pub(crate) fn new(workers: usize, stack_size: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            id: serial_number(),
            stack_size,
            crew: Mutex::new(Outlined::new(Crew::new(workers))),
            left: Condvar::new(),
        })
    }

    /// Names this worker's threads.
    pub(super) fn set_name(&self, worker: usize, name: Option<String>) {
        self.crew.lock().names[worker] = name;
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

    /// Counts a thread that is going to be started as present. Returns `None` if the pool has
    /// ended.
    pub(super) fn expect(self: &Arc<Self>, role: Role) -> Option<Presence> {
        let (mut number, mut name) = (0, None);
        if KEEPS_ACCOUNT {
            let mut crew = self.crew.lock();
            number = crew.add(role)?;
            name = crew.name_of(role);
        }
        Some(Presence { recruiter: Arc::clone(self), number, role, name, joins: false })
    }

    /// Returns `true` if a thread may end while the pool goes on: not before the last one that
    /// ended is gone. Where ending takes longer than starting, there would be more and more
    /// threads.
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    pub(super) fn lets_leave(&self) -> bool {
        self.crew.lock().none_is_ending()
    }

    /// Returns `true`: a model cannot tell if a thread has ended.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn lets_leave(&self) -> bool {
        true
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
        crew.forget();
    }

    /// Waits until a thread leaves, but for no longer than `time`.
    pub(crate) fn wait_for_one(&self, time: Duration) {
        let crew = self.crew.lock();
        if crew.members.iter().any(Member::is_present) {
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
        self.wait_while(&limit, |crew| crew.members.iter().any(Member::is_present))
            .map_err(|crew| self.give_up(crew, Unfinished::Busy))?;
        if time.is_some() {
            return self.join_within(&limit);
        }
        self.join_all();
        Ok(())
    }

    /// Joins all threads that have left.
    #[inline(never)]
    fn join_all(&self) {
        loop {
            let left = self.crew.lock().take_handle(0);
            let Some((number, handle)) = left else { return };
            join(handle);
            self.crew.lock().remove(number);
            // WAKE: `wait_while`, called by `join_within`, looks again.
            self.left.notify_one();
        }
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
            // WAKE: `Presence::drop`, `Presence::start` and the helper of `join_within` notify,
            // after they have changed what we look at, with the lock.
            crew = match limit.left() {
                None => self.left.wait(crew),
                Some(Duration::ZERO) => return Err(crew),
                Some(left) => self.left.wait_for(crew, left),
            };
        }
        Ok(crew)
    }

    /// Joins all threads by a helper, which can be waited for with a limit. Joining them has none:
    /// how long their thread-locals take to be dropped depends on the user.
    fn join_within(self: &Arc<Self>, limit: &Limit) -> Result<(), Unfinished> {
        let mut helper = None;
        // Threads that the user has started are not joined, and there may be no others.
        let are_some_left = || !self.crew.lock().members.is_empty();
        while helper.is_none() && limit.left() != Some(Duration::ZERO) && are_some_left() {
            let recruiter = Arc::clone(self);
            let join_all = Box::new(move || recruiter.join_all());
            helper = spawn_thread(Some("drowse-joiner"), None, join_all).ok();
            if helper.is_none() {
                // Threads that end make room for the helper.
                #[allow(
                    clippy::disallowed_methods,
                    reason = "nothing tells when there are threads again"
                )]
                std::thread::sleep(NEXT_TRY);
            }
        }
        match self.wait_while(limit, |crew| !crew.members.is_empty()) {
            Ok(crew) => drop(crew),
            Err(crew) => return Err(self.give_up(crew, Unfinished::Ending)),
        }
        helper.into_iter().for_each(join);
        Ok(())
    }

    #[inline(never)]
    fn give_up(&self, mut crew: Locked<'_>, how: fn(Vec<BusyThread>) -> Unfinished) -> Unfinished {
        let threads = crew.busy();
        crew.is_awaited = false;
        drop(crew);
        self.forget();
        how(threads)
    }
}

/// Waits until a thread has ended. This is never the calling thread: a thread may not wait for the
/// end of its own pool, and one that leaves joins a thread that left before it. A thread that the
/// system has refused joins none: [`Presence::joins`].
fn join(handle: JoinHandle<()>) {
    // The panic of a spare is not passed on.
    let _ = handle.join();
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
    role: Role,
    name: Option<String>,
    /// `true` on the thread that it counts, if the pool has started it.
    joins: bool,
}

impl Presence {
    /// Returns the name that the thread should have.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Starts the thread, which does what `run` does.
    pub(super) fn start(mut self, run: Run) -> io::Result<()> {
        let (recruiter, number) = (Arc::clone(&self.recruiter), self.number);
        let name = self.name.take();
        self.change(|member| member.is_starting = true);
        // The user's choice is for jobs. Handlers have the default stack size.
        let is_watch = matches!(self.role, Role::Watch(_));
        let stack_size = recruiter.stack_size.filter(|_| !is_watch);
        let main = move || {
            let mut presence = self;
            presence.joins = true;
            mem::forget(presence.recruiter.enlist());
            run(&presence);
        };
        let started = spawn_thread(name.as_deref(), stack_size, Box::new(main));
        let (handle, result) = match started {
            Ok(handle) => (Some(handle), Ok(())),
            Err(error) => (None, Err(error)),
        };
        if KEEPS_ACCOUNT {
            recruiter.crew.lock().started(number, handle);
            // WAKE: `wait_while` waits until the handle is there.
            recruiter.left.notify_one();
        }
        result
    }

    /// Runs a handler on a thread that watches: meanwhile the thread counts as busy.
    #[cfg(feature = "diagnose")]
    pub(super) fn while_busy(&self, handler: &dyn Fn()) {
        self.change(|member| member.is_busy = true);
        handler();
        self.change(|member| member.is_busy = false);
    }

    fn change(&self, change: fn(&mut Member)) {
        if KEEPS_ACCOUNT {
            self.recruiter.crew.lock().member(self.number).into_iter().for_each(change);
        }
    }
}

/// The thread leaves. While the pool goes on, it first joins the thread that left before it: it has
/// nothing else to do, and that thread's stack would be kept until the end of the pool. At the end
/// all threads end side by side: [`Recruiter::wait_for_all`] joins them, if it is called.
impl Drop for Presence {
    #[inline(never)]
    fn drop(&mut self) {
        if !KEEPS_ACCOUNT {
            return;
        }
        let mut crew = self.recruiter.crew.lock();
        crew.leave(self.number);
        let may_join = self.joins && !crew.is_over;
        let before = if may_join { crew.take_handle(self.number) } else { None };
        if let Some((number, _)) = &before {
            crew.remove(*number);
        }
        drop(crew);
        // WAKE: at most one thread is in `wait_for_all` or `wait_for_one`, and it looks again.
        self.recruiter.left.notify_one();
        before.into_iter().for_each(|(_, handle)| join(handle));
    }
}

/// The calling thread counts as one of the pool's own as long as this lives.
pub(super) struct Enlisted(u64);

impl Drop for Enlisted {
    fn drop(&mut self) {
        RECRUITED_BY.with(|recruiter| recruiter.set(self.0));
    }
}
