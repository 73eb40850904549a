//! Detection of forked children, and values of which each process has its own.
//!
//! A forked child has one thread, a copy of the thread that forked. All others are gone, in the
//! middle of whatever they did: locks that they held stay locked, and no thread answers a request.
//! So what belongs to the threads of a process is marked with the [`Process`], and each process
//! makes its own instance of what all its threads share: [`PerProcess`].
//!
//! On Linux the C library reports a fork, so a check costs one load. A process that was made in
//! another way, by a bare `clone`, is not noticed. Elsewhere on Unix the process id tells. Under
//! the model checkers there is one process.

use crate::platform::{process_number, watch_forks};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Identity of a process: different in each child that is forked from it.
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
    /// Returns the calling process.
    pub fn this() -> Self {
        watch_forks();
        Self(process_number())
    }

    /// Returns `true` if this is the calling process. In a child that was forked since, it is not.
    #[inline]
    pub fn is_this(self) -> bool {
        self.0 == process_number()
    }
}

/// A value of which each process has its own, made when it is first needed: for a `static`.
///
/// No thread waits for another thread to make the value, since the other thread may be gone in a
/// forked child. If two make it at the same time, one of the two values is dropped.
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
    /// Returns a place for a value that is not made yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { entry: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the value of this process; `make` makes it if there is none. A parent process's
    /// value stays as it was, and is not used.
    pub fn get(&'static self, make: impl FnOnce() -> T) -> &'static T {
        self.look().map_or_else(|entry| self.get_cold(entry, make), |entry| &entry.value)
    }

    /// Returns the entry of this process; if there is none, the stale entry or null.
    fn look(&'static self) -> Result<&'static Entry<T>, *mut Entry<T>> {
        // ORDERING: acquire pairs with the release in `get_cold`: the entry is fully written.
        // Relaxed would let this thread read uninitialised memory.
        let entry = self.entry.load(Ordering::Acquire);
        // SAFETY: null, or leaked by `get_cold`; only shared references to it exist.
        unsafe { entry.as_ref() }.filter(|entry| entry.of.is_this()).ok_or(entry)
    }

    #[cold]
    fn get_cold(&'static self, mut seen: *mut Entry<T>, make: impl FnOnce() -> T) -> &'static T {
        let made = Box::into_raw(Box::new(Entry { of: Process::this(), value: make() }));
        loop {
            // ORDERING: release pairs with the acquire in `look`. A failure calls `look` again.
            match self.entry.compare_exchange(seen, made, Ordering::Release, Ordering::Relaxed) {
                // SAFETY: leaked just now, and only shared from now on.
                Ok(_) => return unsafe { &(*made).value },
                Err(_) => match self.look() {
                    Ok(entry) => {
                        // SAFETY: made by this thread, and never published.
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

// SAFETY: the value is `Sync`; `get_cold` drops a value only on the thread that has made it.
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
