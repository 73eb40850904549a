//! Who starts the threads of a pool, and who knows which of them are left.
//!
//! Most threads are started when the pool is built. Others come later: spares, and the threads of
//! workers that have none yet or have none any more. So the pool keeps what it takes to start one.
//!
//! A thread counts as *present* from the moment at which it is decided that it will be, until it
//! does nothing more for the pool. Those that we have started ourselves can be joined too, which
//! waits until the system has forgotten them and their thread-locals are gone.

use super::start::{ThreadBuilderParts, run_worker};
use drowse_sync::{Arc, Condvar, Mutex, Stopwatch, thread};
use std::fmt;
use std::io;
use std::mem;
use std::time::Duration;

/// Starts threads for one pool, and keeps account of them.
pub(crate) struct Recruiter {
    /// One a worker.
    names: Box<[Option<String>]>,
    stack_size: Option<usize>,
    crew: Mutex<Crew>,
    /// Somebody is no longer present.
    left: Condvar,
}

#[derive(Default)]
struct Crew {
    present: Vec<Member>,
    /// Of the threads that we have started, by the number of each.
    handles: Vec<(u64, thread::JoinHandle<()>)>,
    /// Whoever has left last, before the end of the pool. It has joined those that left before it.
    last_to_leave: Option<thread::JoinHandle<()>>,
    /// Nobody will join them.
    is_forgotten: bool,
    /// Somebody will.
    is_awaited: bool,
    next_number: u64,
}

struct Member {
    number: u64,
    index: Option<usize>,
    name: Option<String>,
}

/// A thread that was busy when a pool was to end: see
/// [`StillBusy`](crate::StillBusy).
///
/// ```
/// # use std::{sync::mpsc, time::Duration};
/// # let builder = drowse::ThreadPoolBuilder::new().num_threads(1);
/// # let pool = builder.thread_name(|_| "dozer".into()).build().unwrap();
/// # let (hold, held) = mpsc::channel::<()>();
/// # pool.spawn(move || _ = held.recv());
/// let busy = pool.shutdown_timeout(Duration::ZERO).unwrap_err();
/// assert_eq!(busy.threads()[0].to_string(), "worker 0 \"dozer\"");
/// # drop(hold);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusyThread {
    /// The index of the worker that it is; `None` for a thread that stood in for others.
    pub index: Option<usize>,
    /// Its name, if it was given one.
    pub name: Option<String>,
}

impl fmt::Display for BusyThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "worker {index}")?,
            None => f.write_str("a spare")?,
        }
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " \"{name}\""))
    }
}

/// The models of single parts are not about the end of pools; each lock would multiply what they
/// have to look at.
const KEEPS_ACCOUNT: bool = !cfg!(drowse_loom);

impl Recruiter {
    pub(crate) fn new(names: Box<[Option<String>]>, stack_size: Option<usize>) -> Self {
        Self { names, stack_size, crew: Mutex::new(Crew::default()), left: Condvar::new() }
    }

    /// The name of this worker's thread.
    pub(crate) fn name(&self, worker: usize) -> Option<&str> {
        self.names.get(worker)?.as_deref()
    }

    pub(crate) fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// There is going to be a thread for this worker, or for a spare of this name.
    pub(super) fn expect(self: &Arc<Self>, index: Option<usize>, name: Option<&str>) -> Presence {
        let number = if KEEPS_ACCOUNT {
            let mut crew = self.crew.lock();
            let number = crew.number();
            crew.present.push(Member { number, index, name: name.map(str::to_owned) });
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
            parts.into_iter().for_each(run_worker);
        };
        self.start(self.name(index), run).map_err(|error| {
            let parts = kept.lock().take();
            Box::new((error, parts.expect("there is no thread that could have taken them")))
        })
    }

    /// Starts a thread with this name that is no worker, or not yet. The end of the pool waits for
    /// it, as for the others, if anybody waits.
    #[allow(dead_code, reason = "for threads that stand in for others that block")]
    pub(crate) fn start_spare(
        self: &Arc<Self>,
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let presence = self.expect(None, Some(name));
        self.start(Some(name), move || {
            let _presence = presence;
            run();
        })
    }

    fn start(self: &Arc<Self>, name: Option<&str>, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut builder = thread::Builder::new();
        if let Some(name) = name {
            builder = builder.name(name.to_owned());
        }
        if let Some(stack_size) = self.stack_size {
            builder = builder.stack_size(stack_size);
        }
        if !KEEPS_ACCOUNT {
            return builder.spawn(run).map(drop);
        }
        // Dropped when the lock is free again, if it is not run: it may hold a presence.
        let kept = Arc::new(Mutex::new(Some(run)));
        let run = Arc::clone(&kept);
        // Locked until the handle is where the thread looks for it when it ends.
        let mut crew = self.crew.lock();
        let number = crew.number();
        let recruiter = Arc::clone(self);
        let handle = builder.spawn(move || {
            let _leaving = Leaving { recruiter, number };
            let run = run.lock().take();
            run.into_iter().for_each(|run| run());
        })?;
        if !crew.is_forgotten {
            crew.handles.push((number, handle));
        }
        Ok(())
    }

    /// Whether another thread may end while the pool goes on. Not before the last one that did is
    /// gone: where threads take longer to end than others to start, there would be ever more.
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    pub(super) fn lets_leave(&self) -> bool {
        self.crew.lock().last_to_leave.as_ref().is_none_or(thread::JoinHandle::is_finished)
    }

    /// In a model a thread cannot tell.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn lets_leave(&self) -> bool {
        true
    }

    /// The thread of this number, which is the calling one, ends. If others go on, somebody has to
    /// join it, or its stack would be kept until the end: that is the next one to leave, which has
    /// nothing else to do.
    fn end_thread(&self, number: u64) {
        let before = {
            let mut crew = self.crew.lock();
            // If it is not there, somebody joins us already, or nobody will.
            let at = crew.handles.iter().position(|(other, _)| *other == number);
            at.and_then(|at| {
                let (_, own) = crew.handles.swap_remove(at);
                crew.last_to_leave.replace(own)
            })
        };
        before.into_iter().for_each(join);
    }

    /// Somebody is going to [wait](Self::wait_for_all): until then nobody is
    /// [forgotten](Self::forget).
    pub(crate) fn keep_to_join(&self) {
        self.crew.lock().is_awaited = true;
    }

    /// Nobody waits for the threads: they end when they are done.
    pub(crate) fn forget(&self) {
        if !KEEPS_ACCOUNT {
            return;
        }
        let mut crew = self.crew.lock();
        if crew.is_awaited {
            return;
        }
        crew.is_forgotten = true;
        let gone = (mem::take(&mut crew.handles), crew.last_to_leave.take());
        drop(crew);
        drop(gone);
    }

    /// Waits until somebody leaves, or for so long.
    pub(crate) fn wait_for_somebody(&self, time: Duration) {
        let crew = self.crew.lock();
        if !crew.present.is_empty() {
            drop(self.left.wait_for(crew, time));
        }
    }

    /// Waits until nobody is present any more, but for no longer than that, if anything is said;
    /// and then until the threads have ended that we have started.
    ///
    /// # Errors
    ///
    /// If it takes longer. Then those who are left are forgotten.
    pub(crate) fn wait_for_all(&self, time: Option<Duration>) -> Result<(), Vec<BusyThread>> {
        let clock = Stopwatch::start();
        let mut crew = self.crew.lock();
        while !crew.present.is_empty() {
            let left = time.map(|time| time.saturating_sub(clock.elapsed()));
            match left {
                None => crew = self.left.wait(crew),
                Some(Duration::ZERO) => {
                    let busy_threads = crew.busy_threads();
                    crew.is_awaited = false;
                    drop(crew);
                    self.forget();
                    return Err(busy_threads);
                }
                // WAKE: whoever leaves notifies, after it has changed what we look at, with the
                // lock.
                Some(left) => crew = self.left.wait_for(crew, left),
            }
        }
        loop {
            let handles = mem::take(&mut crew.handles);
            let last = crew.last_to_leave.take();
            if handles.is_empty() && last.is_none() {
                return Ok(());
            }
            drop(crew);
            handles.into_iter().map(|(_, handle)| handle).chain(last).for_each(join);
            crew = self.crew.lock();
        }
    }
}

/// Waits until the thread is gone. It cannot be the calling one: whoever waits is no thread of the
/// pool, or leaves after that one.
fn join(handle: thread::JoinHandle<()>) {
    // A panic of a spare was its own.
    let _ = handle.join();
}

impl Crew {
    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn busy_threads(&self) -> Vec<BusyThread> {
        let mut busy_threads: Vec<_> = self
            .present
            .iter()
            .map(|member| BusyThread { index: member.index, name: member.name.clone() })
            .collect();
        busy_threads.sort_by_key(|thread| thread.index.unwrap_or(usize::MAX));
        busy_threads
    }
}

impl fmt::Debug for Recruiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recruiter").field("stack_size", &self.stack_size).finish_non_exhaustive()
    }
}

/// Somebody is present, or will be, as long as this lives.
#[derive(Debug)]
pub(crate) struct Presence {
    recruiter: Arc<Recruiter>,
    number: u64,
}

impl Drop for Presence {
    fn drop(&mut self) {
        if !KEEPS_ACCOUNT {
            return;
        }
        let mut crew = self.recruiter.crew.lock();
        crew.present.retain(|member| member.number != self.number);
        // WAKE: there is at most one who waits, and it looks again.
        self.recruiter.left.notify_one();
    }
}

/// What a thread that we have started does last, whatever happened before.
struct Leaving {
    recruiter: Arc<Recruiter>,
    number: u64,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.recruiter.end_thread(self.number);
    }
}
