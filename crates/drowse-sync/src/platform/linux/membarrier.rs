//! Linux: `membarrier` makes every running thread of the process execute a full fence.
//!
//! The system wants to be told of that in advance, and to be told is quick only while the process
//! has one thread: otherwise it waits until each processor has been through its scheduler, about
//! ten milliseconds. So a pool that starts in a process with other threads starts on full fences,
//! and a thread of its own tells the system as soon as somebody would profit.
//!
//! # When the system changes its mind
//!
//! A process that enters a sandbox after its pools have started may find `membarrier` refused. Then
//! nobody is given light fences any more, and those who have them give them back at their next
//! occasion. Until then a heavy fence waits for [`LONG_ENOUGH`]. What a light fence may delay is a
//! store that sits in the store buffer of the processor that its thread runs on. On x86 every
//! interrupt empties that buffer, and a processor that runs a thread is interrupted by its timer at
//! least a hundred times a second. Other architectures promise no such thing in writing, but no
//! machine is known that keeps a store for longer than some microseconds (Morrison and Afek,
//! *Temporally Bounding TSO*, build on the same fact). Other ways were considered: `mprotect`
//! interrupts no other processor on ARM, nor on an x86 that broadcasts such changes; a signal to
//! each thread needs a handler of ours in a process that is not.

use super::budget::Budget;
use super::futex;
use super::process::watch_forks;
use crate::fence::full;
use crate::real::AtomicU64;
use crate::{Stopwatch, hint, say, spawn_thread};
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering, compiler_fence};
use std::thread;
use std::time::{Duration, Instant};

/// What is known of the system's heavy fences.
static STATE: AtomicU32 = AtomicU32::new(UNTRIED);

/// Nobody has told the system yet.
const UNTRIED: u32 = 0;
/// Somebody is telling it.
const TELLING: u32 = 1;
/// It refuses. Nobody was ever given light fences.
const NEVER: u32 = 2;
/// It is ready.
const READY: u32 = 3;
/// It was ready once, and refuses now.
const REFUSED: u32 = 4;

// `membarrier`'s commands, the same on every architecture. libc has names for them since 0.2.140;
// ours let programs keep the libc that their lock file holds.
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

/// How many heavy fences there were lately.
static BUDGET: Budget = Budget::new();

static CLOCK: LazyLock<Stopwatch> = LazyLock::new(Stopwatch::start);

/// How many heavy fences the system has executed.
static EXECUTED: AtomicU64 = AtomicU64::new(0);

/// How many have light fences. Nobody executes a heavy fence for the sake of none.
static USERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// How many of them were this thread's.
    static EXECUTED_HERE: Cell<u64> = const { Cell::new(0) };
}

thread_local! {
    /// What this very thread has of them.
    static MINE: Mine = const { Mine { count: Cell::new(0), at_end: Cell::new(None) } };
}

struct Mine {
    count: Cell<usize>,
    /// See [`LightFences::at_end_of_thread`].
    at_end: Cell<Option<fn()>>,
}

impl Drop for Mine {
    /// A thread that ends uses nothing any more, whatever it has left behind.
    fn drop(&mut self) {
        self.at_end.take().into_iter().for_each(|give_back| give_back());
        // ORDERING: as for one who gives them back.
        USERS.fetch_sub(self.count.get(), Ordering::Release);
    }
}

fn mine() -> usize {
    MINE.try_with(|mine| mine.count.get()).unwrap_or(0)
}

/// The error with which the system has refused, if nobody was told yet; else 0.
static UNSAID: AtomicI32 = AtomicI32::new(0);

/// How long a store can wait in a buffer, and then some. See the top of this file.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

fn state() -> u32 {
    // ORDERING: acquire pairs with the release in `tell_system`, for what the system did by then.
    // That a heavy fence does not miss the news is the business of the fences: see "Who may use a
    // light fence".
    STATE.load(Ordering::Acquire)
}

/// Leave to use [light fences](crate::light_fence), for the thread that got it: instead of a full
/// fence, where the other side of a handshake has a [heavy fence](crate::heavy_fence).
#[derive(Debug)]
pub struct LightFences {
    at_any_cost: bool,
    /// Heavy fences before.
    executed: u64,
    on_this_thread: PhantomData<*mut ()>,
}

/// Proof that light fences were [prepared](LightFences::prepare), whether or not there are any.
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// Does what can be done without a wait, so that there will be some. For the start of a pool.
    pub fn prepare() -> Prepared {
        // Here, where nobody forks meanwhile.
        LazyLock::force(&CLOCK);
        if state() == UNTRIED && is_only_thread() {
            tell_system(UNTRIED);
        }
        Prepared(())
    }

    /// If they are to be had at all, however long that takes, and however many heavy ones there
    /// are.
    pub fn at_any_cost() -> Option<Self> {
        want_light_fences();
        while state() == TELLING {
            #[allow(clippy::disallowed_methods, reason = "nothing tells when the system has answered")]
            thread::sleep(Duration::from_millis(1));
        }
        let mut fences = Self::of_system()?;
        fences.at_any_cost = true;
        Some(fences)
    }

    /// If they are to be had at this moment. To be asked where nobody waits for the caller: if the
    /// system has changed its mind, whoever hears of it first tells people. Not while there are so
    /// many heavy fences that light ones are not worth it.
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
        // ORDERING: relaxed; ordered by the fence, as is the look at the state above. Whoever
        // executes its full fence after ours sees both; whoever did before is seen by us.
        watch_forks();
        let counted = MINE.try_with(|mine| {
            mine.count.set(mine.count.get() + 1);
            USERS.fetch_add(1, Ordering::Relaxed);
        });
        full();
        // A thread that is about to end gets none.
        counted.ok().map(|()| Self {
            at_any_cost: false,
            // ORDERING: relaxed; a measure.
            executed: EXECUTED.load(Ordering::Relaxed),
            on_this_thread: PhantomData,
        })
    }

    /// Calls `give_back` when the calling thread ends. From then on heavy fences take no account of
    /// the thread, and it gets no light fences any more; but thread-locals that are older than this
    /// call are dropped later, and may go on with what the thread was. `give_back` drops the light
    /// fences of that.
    pub fn at_end_of_thread(give_back: fn()) {
        // A thread that is about to end has none.
        let _ = MINE.try_with(|mine| mine.at_end.set(Some(give_back)));
    }

    /// How many heavy fences there were since, for these or others.
    pub fn cost(&self) -> u64 {
        // ORDERING: relaxed; a measure.
        EXECUTED.load(Ordering::Relaxed).saturating_sub(self.executed)
    }

    /// Whether the system refuses heavy fences now, or there are too many: then these should be
    /// dropped soon. As for [`get`](Self::get).
    #[cold]
    pub fn are_due_back(&self) -> bool {
        let refused = state() == REFUSED;
        if refused {
            tell_people();
        }
        refused || (BUDGET.is_overdrawn() && !self.at_any_cost)
    }
}

/// Says that the system has changed its mind, once. Not where somebody waits for us.
#[cold]
fn tell_people() {
    // ORDERING: relaxed; one of them gets it.
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
        // ORDERING: release pairs with the acquire in `heavy_fence`: who finds no users left sees
        // what they wrote. What they write from now on is followed by full fences.
        let give_back = |mine: &Mine| {
            mine.count.set(mine.count.get() - 1);
            USERS.fetch_sub(1, Ordering::Release);
        };
        // If there is no count any more, it was given back when the count went.
        let _ = MINE.try_with(give_back);
    }
}

#[inline(always)]
pub(crate) fn light_fence() {
    // ORDERING: for the compiler only; the processor's part is done by the heavy fence.
    compiler_fence(Ordering::SeqCst);
}

#[cold]
pub(crate) fn heavy_fence() {
    full();
    // ORDERING: acquire pairs with the release of those who gave theirs back; after the full fence,
    // see the module.
    let has_users = USERS.load(Ordering::Acquire) > mine();
    if has_users || BUDGET.is_overdrawn() {
        BUDGET.spend(CLOCK.elapsed());
    }
    if has_users {
        // ORDERING: relaxed; a measure.
        EXECUTED.fetch_add(1, Ordering::Relaxed);
        let _ = EXECUTED_HERE.try_with(|executed| executed.set(executed.get() + 1));
        if state() == REFUSED { wait_it_out() } else { fence_everyone() }
    }
}

/// How many heavy fences this thread has had the system execute.
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
                // ORDERING: as in `tell_system`.
                if STATE.swap(REFUSED, Ordering::AcqRel) == READY {
                    // Not said here: we may hold a lock, and be on the way to bed.
                    // ORDERING: relaxed; for people to read.
                    UNSAID.store(error.raw_os_error().unwrap_or(0), Ordering::Relaxed);
                }
                break;
            }
        }
    }
    wait_it_out();
}

/// Blocks until no store from before can be in any buffer.
#[cold]
fn wait_it_out() {
    let start = Instant::now();
    while let Some(left) = LONG_ENOUGH.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        let never_changes = AtomicU32::new(0);
        // If it ends early, or is refused, the loop looks at the clock.
        futex::wait(&never_changes, 0, Some(left));
        hint::spin_loop();
    }
}

/// Somebody who has no light fences would profit from them: sees to it that there are some, soon.
#[cold]
pub fn want_light_fences() {
    BUDGET.recover(CLOCK.elapsed());
    watch_forks();
    // ORDERING: acquire, as in `state`; the exchange lets one thread tell the system.
    let mine = STATE.compare_exchange(UNTRIED, TELLING, Ordering::Acquire, Ordering::Relaxed).is_ok();
    if mine {
        let tell = Box::new(|| tell_system(TELLING));
        if with_signals_blocked(|| spawn_thread(Some("drowse-fences"), Some(64 << 10), tell)).is_err() {
            // Where no thread is to be had, full fences will do, for good.
            STATE.store(NEVER, Ordering::Release);
        }
    }
}

/// Calls `f` so that threads that it starts handle no signals: those are for the program's own.
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

/// In a forked child: the other threads are gone, and with them what they used and what they were
/// at.
///
/// The system has copied what it was told: heavy fences work in the child as in the parent.
pub(crate) fn after_fork() {
    // ORDERING: relaxed; there is one thread.
    USERS.store(mine(), Ordering::Relaxed);
    let _ = STATE.compare_exchange(TELLING, UNTRIED, Ordering::Relaxed, Ordering::Relaxed);
}

/// Tells the system that there will be heavy fences, unless the state is not `from` any more.
fn tell_system(from: u32) {
    let told = command(REGISTER_PRIVATE_EXPEDITED).and_then(|()| command(PRIVATE_EXPEDITED));
    let to = if told.is_ok() { READY } else { NEVER };
    // ORDERING: release pairs with the acquire in `state`. Failure: somebody else has told it.
    let _ = STATE.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed);
}

/// Whether the process has no other thread, so that the system need not wait for any. False if it
/// cannot be told cheaply: to look into `/proc` takes as long as to start a thread.
fn is_only_thread() -> bool {
    #[cfg(all(target_env = "gnu", not(target_feature = "crt-static")))]
    {
        // SAFETY: a name that ends in a null. What has this name, in a C library that has it, is a
        // byte that is not zero as long as the process has had but one thread, and that lives as
        // long as the process.
        unsafe {
            let only = libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr());
            !only.is_null() && only.cast::<u8>().read_volatile() != 0
        }
    }
    #[cfg(not(all(target_env = "gnu", not(target_feature = "crt-static"))))]
    false
}

/// Asks the system.
fn command(command: libc::c_int) -> io::Result<()> {
    // SAFETY: `membarrier` takes three integers and touches no memory of ours.
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
            return; // This system has none.
        }
        // Other tests may have some for a moment.
        let start = Instant::now();
        while USERS.load(Ordering::Relaxed) > before {
            assert!(start.elapsed() < Duration::from_secs(10), "they were not given back");
            thread::park_timeout(Duration::from_millis(1));
        }
    }
}
