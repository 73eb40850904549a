//! The threads of one pool, as its [recruiter](super::recruit) records them; and the report of
//! those that are left when the end of the pool has timed out.

use drowse_sync::thread;
use std::fmt;
use std::mem;

/// The threads of one pool, behind the recruiter's lock.
#[derive(Default)]
pub(super) struct Crew {
    pub(super) present: Vec<Member>,
    /// The threads that the pool has started and that no thread joins yet.
    pub(super) started: Vec<Started>,
    /// The thread that left last, before the end of the pool. It joins the one that left before it.
    pub(super) last_to_leave: Option<Started>,
    /// The threads that a helper thread joins, because the end of the pool has a time limit.
    pub(super) joining: Vec<Member>,
    /// `true` once the pool has ended: each thread ends as soon as it can.
    pub(super) is_over: bool,
    /// `true` if no thread will join them.
    pub(super) is_forgotten: bool,
    /// `true` if a thread waits for their end, or is about to.
    pub(super) is_awaited: bool,
    next_number: u64,
}

/// Identity and state of a thread.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) number: u64,
    role: Role,
    pub(super) name: Option<String>,
    /// `true` if the thread counts as busy. A watch does while it calls the user's handler.
    pub(super) is_busy: bool,
}

/// A thread that the pool has started, with the handle to join it.
pub(super) struct Started {
    pub(super) member: Member,
    pub(super) handle: thread::JoinHandle<()>,
}

/// Role of a thread in its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Worker(usize),
    Spare,
    /// Watches the other threads, and calls handlers.
    Watch,
}

/// Threads that are left when the end of a pool has not come within its limit.
pub(crate) enum Unfinished {
    /// These threads are busy for the pool.
    Busy(Vec<BusyThread>),
    /// No thread is busy, but these may still be dropping their thread-locals.
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
    /// Index of the worker that the thread is; `None` for a thread that stood in for others, or
    /// calls a [deadlock handler](crate::ThreadPoolBuilder::deadlock_handler) or a [stall
    /// handler](crate::ThreadPoolBuilder::stall_handler).
    pub index: Option<usize>,
    /// Name of the thread, if it has one.
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
    /// Waits until the thread has ended. This is never the calling thread: a thread may not wait
    /// for the end of its own pool, and one that leaves joins threads that left before it.
    pub(super) fn join(self) {
        // The panic of a spare is not passed on.
        let _ = self.handle.join();
    }
}

impl Crew {
    pub(super) fn new_member(&mut self, role: Role, name: Option<&str>) -> Member {
        self.next_number += 1;
        Member {
            number: self.next_number,
            role,
            name: name.map(str::to_owned),
            is_busy: role != Role::Watch,
        }
    }

    pub(super) fn take_started(&mut self) -> Vec<Started> {
        let mut started = mem::take(&mut self.started);
        started.extend(self.last_to_leave.take());
        started
    }
}

/// Returns the busy ones among `members`, workers first, in the order of their indices.
pub(super) fn busy_threads(members: &[Member]) -> Vec<BusyThread> {
    let mut threads: Vec<BusyThread> = Vec::new();
    for member in members.iter().filter(|member| member.is_busy) {
        let index = if let Role::Worker(index) = member.role { Some(index) } else { None };
        // There are few, so each is inserted where it belongs.
        let rank = |index: Option<usize>| index.unwrap_or(usize::MAX);
        let later = threads.iter().position(|other| rank(other.index) > rank(index));
        let at = later.unwrap_or(threads.len());
        threads.insert(at, BusyThread { index, name: member.name.clone(), role: member.role });
    }
    threads
}
