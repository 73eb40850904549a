//! Fences by `membarrier`, which makes every running thread of the process execute a full fence.
//!
//! The process must register with the system in advance. Registration is quick only while the
//! process has one thread: otherwise the system waits until each processor has been through its
//! scheduler, about ten milliseconds. So a pool that starts in a process with other threads starts
//! on full fences, and a thread of its own registers as soon as a worker would profit.
//!
//! # If the system refuses later
//!
//! A process that enters a sandbox after its pools have started may find `membarrier` refused. Then
//! no thread is given light fences any more, and the threads that hold some give them back at the
//! next opportunity. Until then a heavy fence waits for [`LONG_ENOUGH`]. All that a light fence may
//! delay is a store in the store buffer of the processor that its thread runs on. On x86 every
//! interrupt empties that buffer, and a processor that runs a thread is interrupted by its timer at
//! least a hundred times a second. Other architectures do not promise this in writing, but no
//! machine is known that keeps a store for longer than some microseconds (Morrison and Afek,
//! *Temporally Bounding TSO*, build on this too). Two alternatives were rejected: `mprotect`
//! interrupts no other processor on ARM, nor on an x86 that broadcasts such changes; a signal to
//! each thread needs a signal handler, which a library should not install in the user's process.

use super::budget::Budget;
use super::futex;
use super::process::{read_clock, watch_forks};
use crate::fence::full;
use crate::real::AtomicU64;
use crate::{hint, say, spawn_thread};
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering, compiler_fence};
use std::thread;
use std::time::{Duration, Instant};

/// State of the system's heavy fences.
static STATE: AtomicU32 = AtomicU32::new(UNTRIED);

/// Not registered yet.
const UNTRIED: u32 = 0;
/// A thread is registering.
const TELLING: u32 = 1;
/// Refused, or no thread could be started to register. No light fences were ever given.
const NEVER: u32 = 2;
/// Registered: heavy fences work.
const READY: u32 = 3;
/// Registered once, but refused now.
const REFUSED: u32 = 4;

// `membarrier`'s commands, equal on all architectures. libc has names for them since 0.2.140; these
// constants let programs keep the libc version of their lock file.
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

/// Recent heavy fences.
static BUDGET: Budget = Budget::new();

/// Returns the time for the budget, in nanoseconds.
fn now() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// Number of heavy fences that the system has executed.
static EXECUTED: AtomicU64 = AtomicU64::new(0);

/// Number of [`LightFences`] that exist. Without any, `heavy_fence` is only a full fence.
static USERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Number of heavy fences executed by this thread.
    static EXECUTED_HERE: Cell<u64> = const { Cell::new(0) };
}

thread_local! {
    /// This thread's part of `USERS`, and its exit function.
    static MINE: Mine = const { Mine { count: Cell::new(0), at_end: Cell::new(None) } };
}

struct Mine {
    count: Cell<usize>,
    /// See [`LightFences::at_end_of_thread`].
    at_end: Cell<Option<fn()>>,
}

impl Drop for Mine {
    /// Gives back the light fences that the thread has left behind: a thread that ends uses none.
    fn drop(&mut self) {
        self.at_end.take().into_iter().for_each(|give_back| give_back());
        // ORDERING: release, as in `LightFences::drop`.
        USERS.fetch_sub(self.count.get(), Ordering::Release);
    }
}

fn mine() -> usize {
    MINE.try_with(|mine| mine.count.get()).unwrap_or(0)
}

/// Error code of the refusal, until it is printed; else 0.
static UNSAID: AtomicI32 = AtomicI32::new(0);

/// Longest time that a store can wait in a buffer, with a margin. See the top of this file.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

fn state() -> u32 {
    // ORDERING: acquire pairs with the release in `tell_system`: the registration is visible. The
    // full fences, not this, make `heavy_fence` see each user: see "Who may use a light fence" in
    // `fence.rs`.
    STATE.load(Ordering::Acquire)
}

/// Permission of the calling thread to use [light fences](crate::light_fence) instead of full
/// fences, where the other side of a handshake has a [heavy fence](crate::heavy_fence).
#[derive(Debug)]
pub struct LightFences {
    at_any_cost: bool,
    /// Value of `EXECUTED` when the permission was given.
    executed: u64,
    on_this_thread: PhantomData<*mut ()>,
}

/// Proof that light fences were [prepared](LightFences::prepare), even if none are available.
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// Registers with the system, if that takes no wait. For the start of a pool.
    pub fn prepare() -> Prepared {
        if state() == UNTRIED && is_only_thread() {
            tell_system(UNTRIED);
        }
        Prepared(())
    }

    /// Returns the permission, if the system has heavy fences at all. Waits for the registration,
    /// and ignores the budget for heavy fences.
    pub fn at_any_cost() -> Option<Self> {
        want_light_fences();
        while state() == TELLING {
            #[allow(
                clippy::disallowed_methods,
                reason = "nothing tells when the system has answered"
            )]
            thread::sleep(Duration::from_millis(1));
        }
        let mut fences = Self::of_system()?;
        fences.at_any_cost = true;
        Some(fences)
    }

    /// Returns the permission, if it is available at this moment. Must be called where no thread
    /// waits for the caller: the first caller after a refusal by the system prints a message.
    /// Returns `None` while there are so many heavy fences that light ones do not pay.
    pub fn get() -> Option<Self> {
        if BUDGET.is_overdrawn() { None } else { Self::of_system() }
    }

    fn of_system() -> Option<Self> {
        match state() {
            READY => {}
            REFUSED => {
                tell_people();
                return None;
            }
            _ => return None,
        }
        // ORDERING: relaxed; `full` orders the increment, and the read of `STATE` above. A
        // `heavy_fence` whose full fence comes after this one sees both, and acts. What a thread
        // wrote before an earlier `heavy_fence` is visible to this thread.
        watch_forks();
        let counted = MINE.try_with(|mine| {
            mine.count.set(mine.count.get() + 1);
            USERS.fetch_add(1, Ordering::Relaxed);
        });
        full();
        // A thread that is about to end gets none.
        counted.ok().map(|()| Self {
            at_any_cost: false,
            // ORDERING: relaxed; a statistic.
            executed: EXECUTED.load(Ordering::Relaxed),
            on_this_thread: PhantomData,
        })
    }

    /// Calls `give_back` when the calling thread ends. From then on heavy fences ignore the thread,
    /// and it gets no light fences any more. But thread-locals that are older than this call are
    /// dropped later, and may still use the worker that the thread was: `give_back` drops that
    /// worker's light fences.
    pub fn at_end_of_thread(give_back: fn()) {
        // A thread that is about to end has none.
        let _ = MINE.try_with(|mine| mine.at_end.set(Some(give_back)));
    }

    /// Returns how many heavy fences all threads have executed since the permission was given.
    pub fn cost(&self) -> u64 {
        // ORDERING: relaxed; a statistic.
        EXECUTED.load(Ordering::Relaxed).saturating_sub(self.executed)
    }

    /// Returns `true` if the permission should be dropped soon: the system refuses heavy fences
    /// now, or there are too many. May print a message, like [`get`](Self::get).
    #[cold]
    pub fn are_due_back(&self) -> bool {
        let refused = state() == REFUSED;
        if refused {
            tell_people();
        }
        refused || (BUDGET.is_overdrawn() && !self.at_any_cost)
    }
}

/// Prints once that the system refuses what it granted. Not to be called where a thread waits.
#[cold]
fn tell_people() {
    // ORDERING: relaxed; the swap gives the error to one thread.
    let errno = UNSAID.swap(0, Ordering::Relaxed);
    if errno != 0 {
        let error = io::Error::from_raw_os_error(errno);
        say(format_args!(
            "drowse: the system refuses membarrier, which it had granted ({error}); going on with slower \
             fences (allow it in the sandbox, or build thread pools in there)"
        ));
    }
}

impl Drop for LightFences {
    fn drop(&mut self) {
        // ORDERING: release pairs with the acquire in `heavy_fence`: a thread that finds no users
        // left sees what they wrote. From now on the user's writes are followed by full fences.
        let give_back = |mine: &Mine| {
            mine.count.set(mine.count.get() - 1);
            USERS.fetch_sub(1, Ordering::Release);
        };
        // If the thread-local is gone, `Mine::drop` has given the count back.
        let _ = MINE.try_with(give_back);
    }
}

#[inline(always)]
pub(crate) fn light_fence() {
    // ORDERING: keeps only the compiler from reordering; `heavy_fence` does the processor's part.
    compiler_fence(Ordering::SeqCst);
}

#[cold]
pub(crate) fn heavy_fence() {
    full();
    // ORDERING: acquire pairs with the release in `LightFences::drop` and `Mine::drop`. The load
    // comes after the full fence, which pairs with the fence in `of_system`: see `fence.rs`.
    let has_users = USERS.load(Ordering::Acquire) > mine();
    if has_users || BUDGET.is_overdrawn() {
        BUDGET.spend(now());
    }
    if has_users {
        // ORDERING: relaxed; a statistic.
        EXECUTED.fetch_add(1, Ordering::Relaxed);
        let _ = EXECUTED_HERE.try_with(|executed| executed.set(executed.get() + 1));
        if state() == REFUSED { wait_it_out() } else { fence_everyone() }
    }
}

/// Returns how many heavy fences this thread has had the system execute.
pub fn heavy_fences_executed() -> u64 {
    EXECUTED_HERE.try_with(Cell::get).unwrap_or(0)
}

#[cold]
fn fence_everyone() {
    // The system may be short of memory for a moment.
    const TRIES: u32 = 3;
    for _ in 0..TRIES {
        match command(PRIVATE_EXPEDITED) {
            Ok(()) => return,
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => {}
            Err(error) => {
                // ORDERING: release pairs with the acquire in `state`.
                if STATE.swap(REFUSED, Ordering::AcqRel) == READY {
                    // Not printed here: this thread may hold a lock, and be about to sleep.
                    // ORDERING: relaxed; an error code for the message.
                    UNSAID.store(error.raw_os_error().unwrap_or(0), Ordering::Relaxed);
                }
                break;
            }
        }
    }
    wait_it_out();
}

/// Blocks until no earlier store can be in any store buffer.
#[cold]
fn wait_it_out() {
    let start = Instant::now();
    while let Some(left) = LONG_ENOUGH.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        let never_changes = AtomicU32::new(0);
        // If the wait ends early, or is refused, the loop checks the clock.
        futex::wait(&never_changes, 0, Some(left));
        hint::spin_loop();
    }
}

/// Makes light fences available soon, if possible. For a thread that has none and would profit.
#[cold]
pub fn want_light_fences() {
    BUDGET.recover(now());
    watch_forks();
    // ORDERING: acquire, as in `state`; the exchange lets one thread register.
    let mine =
        STATE.compare_exchange(UNTRIED, TELLING, Ordering::Acquire, Ordering::Relaxed).is_ok();
    if mine {
        let tell = Box::new(|| tell_system(TELLING));
        if with_signals_blocked(|| spawn_thread(Some("drowse-fences"), Some(64 << 10), tell))
            .is_err()
        {
            // No thread can be started: use full fences from now on.
            STATE.store(NEVER, Ordering::Release);
        }
    }
}

/// Calls `f` with signals blocked, so that threads that it starts leave them to the program's own.
fn with_signals_blocked<R>(f: impl FnOnce() -> R) -> R {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: room for two sets, each of which is filled before it is read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = f();
    // SAFETY: filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}

/// Corrects the counts and the state in a forked child. The other threads are gone, and with them
/// their light fences and a registration in progress.
///
/// The child inherits the registration: heavy fences work in it as in the parent.
pub(crate) fn after_fork() {
    // ORDERING: relaxed; a forked child has one thread.
    USERS.store(mine(), Ordering::Relaxed);
    let _ = STATE.compare_exchange(TELLING, UNTRIED, Ordering::Relaxed, Ordering::Relaxed);
}

/// Registers with the system, and stores the outcome unless the state is not `from` any more.
fn tell_system(from: u32) {
    let told = command(REGISTER_PRIVATE_EXPEDITED).and_then(|()| command(PRIVATE_EXPEDITED));
    let to = if told.is_ok() { READY } else { NEVER };
    // ORDERING: release pairs with the acquire in `state`. Failure: another thread has registered.
    let _ = STATE.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed);
}

/// Returns `true` if the process has no other thread, so that the system need not wait for any.
/// Returns `false` if libc cannot tell: reading `/proc` takes as long as starting a thread.
fn is_only_thread() -> bool {
    #[cfg(all(target_env = "gnu", not(target_feature = "crt-static")))]
    {
        // SAFETY: the name ends in a null. If the C library has it, it is a byte that lives as long
        // as the process, and is not zero while the process has had only one thread.
        unsafe {
            let only = libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr());
            !only.is_null() && only.cast::<u8>().read_volatile() != 0
        }
    }
    #[cfg(not(all(target_env = "gnu", not(target_feature = "crt-static"))))]
    false
}

/// Calls `membarrier`.
fn command(command: libc::c_int) -> io::Result<()> {
    // SAFETY: `membarrier` takes three integers and touches no memory of this process.
    match unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::{LightFences, USERS};
    use std::sync::atomic::Ordering;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_that_ends_gives_back_what_it_has_forgotten() {
        let before = USERS.load(Ordering::Relaxed);
        let forget = || LightFences::at_any_cost().map(std::mem::forget).is_some();
        if !thread::spawn(forget).join().unwrap() {
            return; // This system has no heavy fences.
        }
        // Other tests may hold some for a moment.
        let start = Instant::now();
        while USERS.load(Ordering::Relaxed) > before {
            assert!(start.elapsed() < Duration::from_secs(10), "they were not given back");
            thread::park_timeout(Duration::from_millis(1));
        }
    }
}
