//! The threads of one pool, as its [recruiter](super::recruit) records them; and the report of
//! those that are left when the end of the pool has timed out.

use drowse_sync::thread::JoinHandle;
use std::fmt;

/// The threads of one pool, behind the recruiter's lock.
pub(super) struct Crew {
    /// One a worker, for each thread that runs it.
    pub(super) names: Vec<Option<String>>,
    pub(super) members: Vec<Member>,
    /// `true` once the pool has ended: each thread ends as soon as it can.
    pub(super) is_over: bool,
    /// `true` if no thread will join the members.
    pub(super) is_forgotten: bool,
    /// `true` if a thread waits for their end, or is about to.
    pub(super) is_awaited: bool,
    next_number: u64,
}

/// Record of a thread.
pub(super) struct Member {
    pub(super) number: u64,
    pub(super) role: Role,
    /// `true` if the thread counts as busy. A watch does while it calls the user's handler.
    pub(super) is_busy: bool,
    /// `true` while another thread starts it, which then stores the handle.
    pub(super) is_starting: bool,
    /// `true` if it does nothing more for the pool.
    has_left: bool,
    /// Set if the pool has started the thread, and no other thread joins it yet.
    handle: Option<JoinHandle<()>>,
}

/// Role of a thread in its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Worker(usize),
    Spare(usize),
    /// Watches the other threads, and calls handlers. Has this name.
    #[cfg_attr(not(feature = "diagnose"), expect(dead_code, reason = "only alarms start them"))]
    Watch(&'static str),
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
            Role::Spare(_) => f.write_str("a spare")?,
            Role::Watch(_) => f.write_str("a handler on")?,
        }
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " \"{name}\""))
    }
}

impl Role {
    fn index(self) -> Option<usize> {
        if let Self::Worker(index) = self { Some(index) } else { None }
    }
}

impl Member {
    /// Returns `true` if the thread works for the pool, or is going to, or its handle is missing.
    pub(super) fn is_present(&self) -> bool {
        self.is_starting || !self.has_left
    }
}

impl Crew {
    pub(super) fn new(workers: usize) -> Self {
        let mut names = Vec::new();
        names.resize_with(workers, || None);
        Self {
            names,
            members: Vec::new(),
            is_over: false,
            is_forgotten: false,
            is_awaited: false,
            next_number: 0,
        }
    }

    /// Returns the name of the threads with this role.
    pub(super) fn name_of(&self, role: Role) -> Option<String> {
        match role {
            Role::Worker(index) => self.names[index].clone(),
            Role::Spare(number) => Some(format!("drowse-spare-{number}")),
            Role::Watch(name) => Some(name.to_owned()),
        }
    }

    /// Adds a member, and returns its number. Returns `None` if the pool has ended. (Spares are
    /// called by threads that its end waits for.)
    pub(super) fn add(&mut self, role: Role) -> Option<u64> {
        if self.is_over && !matches!(role, Role::Spare(_)) {
            return None;
        }
        self.next_number += 1;
        self.members.push(Member {
            number: self.next_number,
            role,
            is_busy: !matches!(role, Role::Watch(_)),
            is_starting: false,
            has_left: false,
            handle: None,
        });
        Some(self.next_number)
    }

    pub(super) fn member(&mut self, number: u64) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.number == number)
    }

    /// Removes a member.
    pub(super) fn remove(&mut self, number: u64) {
        if let Some(at) = self.members.iter().position(|member| member.number == number) {
            self.members.swap_remove(at);
        }
    }

    /// Ends the start of a member. Without a handle, it was not started.
    pub(super) fn started(&mut self, number: u64, handle: Option<JoinHandle<()>>) {
        let is_forgotten = self.is_forgotten;
        let Some(member) = self.member(number) else { return };
        member.is_starting = false;
        member.handle = handle.filter(|_| !is_forgotten);
        if member.has_left && member.handle.is_none() {
            self.remove(number);
        }
    }

    /// Records that a member does nothing more for the pool. It stays if it is to be joined.
    pub(super) fn leave(&mut self, number: u64) {
        let Some(member) = self.member(number) else { return };
        member.has_left = true;
        if member.handle.is_none() && !member.is_starting {
            self.remove(number);
        }
    }

    /// Takes the handle of a member that has left, other than this one, with its number.
    pub(super) fn take_handle(&mut self, except: u64) -> Option<(u64, JoinHandle<()>)> {
        for member in &mut self.members {
            if !member.is_present() && member.number != except {
                if let Some(handle) = member.handle.take() {
                    return Some((member.number, handle));
                }
            }
        }
        None
    }

    /// Drops all handles, and keeps only the members that are present.
    pub(super) fn forget(&mut self) {
        self.is_forgotten = true;
        self.members.iter_mut().for_each(|member| drop(member.handle.take()));
        self.members.retain(Member::is_present);
    }

    /// Returns `true` if no member that has left is still ending. For a pool that goes on.
    #[cfg(not(any(drowse_loom, drowse_shuttle)))]
    pub(super) fn none_is_ending(&self) -> bool {
        self.members.iter().all(|member| {
            member.is_present() || member.handle.as_ref().is_none_or(JoinHandle::is_finished)
        })
    }

    /// Returns the busy threads, in the order of their indices, the others last. If no busy thread
    /// is present, returns those that are still ending.
    pub(super) fn busy(&self) -> Vec<BusyThread> {
        let mut threads: Vec<BusyThread> = Vec::new();
        let is_one_present =
            self.members.iter().any(|member| member.is_busy && member.is_present());
        for member in &self.members {
            if !member.is_busy || member.is_present() != is_one_present {
                continue;
            }
            let (role, index) = (member.role, member.role.index());
            // There are few, so each is inserted where it belongs.
            let rank = |index: Option<usize>| index.unwrap_or(usize::MAX);
            let later = threads.iter().position(|other| rank(other.index) > rank(index));
            let at = later.unwrap_or(threads.len());
            threads.insert(at, BusyThread { index, name: self.name_of(role), role });
        }
        threads
    }
}
