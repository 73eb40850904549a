//! The threads of one pool, as its [recruiter](super::recruit) keeps account of them; and those
//! that are left when the pool was to end, as its user is told of them.

use drowse_sync::thread;
use std::fmt;
use std::mem;

/// The account, behind the recruiter's lock.
#[derive(Default)]
pub(super) struct Crew {
    pub(super) present: Vec<Member>,
    /// The threads that we have started and that nothing joins yet.
    pub(super) started: Vec<Started>,
    /// The thread that left last, before the end of the pool. It joins the one that left before it.
    pub(super) last_to_leave: Option<Started>,
    /// The threads that a helper joins, because there is a limit.
    pub(super) joining: Vec<Member>,
    /// The pool has ended: each thread ends as soon as it can.
    pub(super) is_over: bool,
    /// Nothing will join them.
    pub(super) is_forgotten: bool,
    /// A thread waits for their end, or is going to.
    pub(super) is_awaited: bool,
    next_number: u64,
}

/// A thread, as it is told from others.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) number: u64,
    role: Role,
    pub(super) name: Option<String>,
    /// Whether it counts as busy. A watch does while it calls the user's handler.
    pub(super) is_busy: bool,
}

/// A thread that we have started, to be joined.
pub(super) struct Started {
    pub(super) member: Member,
    pub(super) handle: thread::JoinHandle<()>,
}

/// What a thread does for its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Worker(usize),
    Spare,
    /// It watches the others, and calls handlers.
    Watch,
}

/// The end of a pool that has not come within the limit.
pub(crate) enum Unfinished {
    /// These threads are busy for the pool.
    Busy(Vec<BusyThread>),
    /// None is, but these may still be dropping their thread-locals.
    Ending(Vec<BusyThread>),
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
    /// The index of the worker that it is; `None` for a thread that stood in for others, or calls a
    /// [deadlock handler](crate::ThreadPoolBuilder::deadlock_handler) or a
    /// [stall handler](crate::ThreadPoolBuilder::stall_handler).
    pub index: Option<usize>,
    /// Its name, if it has one.
    pub name: Option<String>,
    role: Role,
}

impl fmt::Display for BusyThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role {
            Role::Worker(index) => write!(f, "worker {index}")?,
            Role::Spare => f.write_str("a spare")?,
            Role::Watch => f.write_str("a handler on")?,
        }
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " \"{name}\""))
    }
}

impl Started {
    /// Waits until the thread is gone. It cannot be the calling one: a thread that waits for the
    /// end of its own pool is refused, and one that leaves joins those that left before it.
    pub(super) fn join(self) {
        // A panic of a spare was its own.
        let _ = self.handle.join();
    }
}

impl Crew {
    pub(super) fn new_member(&mut self, role: Role, name: Option<&str>) -> Member {
        self.next_number += 1;
        Member { number: self.next_number, role, name: name.map(str::to_owned), is_busy: role != Role::Watch }
    }

    pub(super) fn take_started(&mut self) -> Vec<Started> {
        let mut started = mem::take(&mut self.started);
        started.extend(self.last_to_leave.take());
        started
    }
}

/// Returns those of them that are busy, workers first, in the order of their indices.
pub(super) fn busy_threads(members: &[Member]) -> Vec<BusyThread> {
    let mut threads: Vec<BusyThread> = Vec::new();
    for member in members.iter().filter(|member| member.is_busy) {
        let index = if let Role::Worker(index) = member.role { Some(index) } else { None };
        // There are few, so they are sorted as they come.
        let rank = |index: Option<usize>| index.unwrap_or(usize::MAX);
        let later = threads.iter().position(|other| rank(other.index) > rank(index));
        let at = later.unwrap_or(threads.len());
        threads.insert(at, BusyThread { index, name: member.name.clone(), role: member.role });
    }
    threads
}
