//! What a `fork` leaves behind.
//!
//! A forked child has one thread, a copy of the one that forked. All others are gone, in the middle
//! of whatever they did: locks that they held stay locked, and nobody answers. So what belongs to
//! the threads of a process is marked with the [`Process`], and what all of them share is had anew
//! by each, [`PerProcess`].
//!
//! On Linux the C library tells us of a fork, so that to look costs a load. A process that was made
//! in another way, by a bare `clone`, is not noticed. Elsewhere on Unix the number of the process
//! tells. Under the model checkers there is one process.

use crate::platform::{process_number, watch_forks};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A process, to be told apart from those that were forked from it.
///
/// ```
/// use drowse_sync::Process;
///
/// let process = Process::this();
/// assert!(process.is_this());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process(u64);

impl Process {
    /// The process that calls this.
    pub fn this() -> Self {
        watch_forks();
        Self(process_number())
    }

    /// Whether this is the one. In a child that was forked since, it is not.
    #[inline]
    pub fn is_this(self) -> bool {
        self.0 == process_number()
    }
}

/// Something of which each process has one, made when it is first needed: for a `static`.
///
/// Nobody waits for another thread to make it, since that one may be gone in a forked child. If two
/// make it at the same time, one of them is dropped.
///
/// ```
/// use drowse_sync::{Mutex, PerProcess};
///
/// static NAMES: PerProcess<Mutex<Vec<&str>>> = PerProcess::new();
/// NAMES.get(|| Mutex::new(Vec::new())).lock().push("dozer");
/// assert_eq!(*NAMES.get(|| Mutex::new(Vec::new())).lock(), ["dozer"]);
/// ```
pub struct PerProcess<T: 'static> {
    /// Null, or leaked.
    entry: AtomicPtr<Entry<T>>,
}

struct Entry<T> {
    of: Process,
    value: T,
}

impl<T> PerProcess<T> {
    /// Not made yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { entry: AtomicPtr::new(ptr::null_mut()) }
    }

    /// That of this process. What a parent process had stays as it was, and is not used.
    pub fn get(&'static self, make: impl FnOnce() -> T) -> &'static T {
        self.look().map_or_else(|entry| self.get_cold(entry, make), |entry| &entry.value)
    }

    /// That of this process, if there is one.
    fn look(&'static self) -> Result<&'static Entry<T>, *mut Entry<T>> {
        // ORDERING: acquire pairs with the release below: the entry was written.
        let entry = self.entry.load(Ordering::Acquire);
        // SAFETY: leaked, or null; and nobody has it but to share it.
        unsafe { entry.as_ref() }.filter(|entry| entry.of.is_this()).ok_or(entry)
    }

    #[cold]
    fn get_cold(&'static self, mut seen: *mut Entry<T>, make: impl FnOnce() -> T) -> &'static T {
        let made = Box::into_raw(Box::new(Entry { of: Process::this(), value: make() }));
        loop {
            // ORDERING: release pairs with the acquire in `look`. A failure is looked at anew.
            match self.entry.compare_exchange(seen, made, Ordering::Release, Ordering::Relaxed) {
                // SAFETY: leaked just now, and shared from now on.
                Ok(_) => return unsafe { &(*made).value },
                Err(_) => match self.look() {
                    Ok(entry) => {
                        // SAFETY: ours, and nobody else has seen it.
                        drop(unsafe { Box::from_raw(made) });
                        return &entry.value;
                    }
                    Err(entry) => seen = entry,
                },
            }
        }
    }
}

impl<T> fmt::Debug for PerProcess<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PerProcess")
    }
}

// SAFETY: shares the value among threads, and drops on one thread what was made on the same.
unsafe impl<T: Send + Sync> Sync for PerProcess<T> {}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::PerProcess;
    #[cfg(target_os = "linux")]
    use super::Process;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_threads_get_the_same() {
        static VALUE: PerProcess<usize> = PerProcess::new();
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let start = Barrier::new(4);
        let get = || {
            start.wait();
            std::ptr::from_ref(VALUE.get(|| MADE.fetch_add(1, Ordering::Relaxed))).addr()
        };
        let all = std::thread::scope(|s| {
            let threads = [(); 4].map(|()| s.spawn(get));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
        assert_eq!(std::ptr::from_ref(VALUE.get(|| unreachable!("made already"))).addr(), all[0]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_has_its_own() {
        static VALUE: PerProcess<AtomicUsize> = PerProcess::new();
        let (process, make) = (Process::this(), || AtomicUsize::new(0));
        VALUE.get(make).store(1, Ordering::Relaxed);
        // SAFETY: the child does nothing that needs another thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_new = !process.is_this() && Process::this().is_this();
            let is_fresh = VALUE.get(make).load(Ordering::Relaxed) == 0;
            // SAFETY: ends the child, and nothing else.
            unsafe { libc::_exit(if is_new && is_fresh { 0 } else { 1 }) };
        }
        let mut status = -1;
        // SAFETY: room for the answer.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert!(process.is_this());
        assert_eq!(VALUE.get(make).load(Ordering::Relaxed), 1);
    }
}
