//! Asymmetric fences for loom, which are no stronger than the real ones.
//!
//! Loom has no operation that makes *other* threads execute a fence. With two full fences in place
//! of a light and a heavy one, it would accept programs that rely on an order which the real fences
//! do not give: between two light fences, or between a light and a plain full fence.
//!
//! This is as strong as the real fences, and not stronger: each thread has a place of its own, a
//! light fence is a read-modify-write there, and a heavy fence is one at the place of every thread.
//! Of two read-modify-writes at one place the later acquires what the earlier released. So if the
//! light fence comes first, the thread of the heavy fence sees what the other thread wrote before;
//! and the reverse if the heavy fence comes first.

use crate::atomic::{AtomicU32, Ordering};
use crate::fence::full;
use crate::{mutant, omittable};
// Not loom's: for state that is not modelled.
use std::sync::atomic::{AtomicU8, AtomicUsize};

/// Largest number of threads that loom can run.
const THREADS: usize = loom::MAX_THREADS;

struct Places {
    places: [AtomicU32; THREADS],
    /// Number of places given out.
    given: AtomicUsize,
    /// Kind of the system: `READY`, `NEVER` or `CHANGES`.
    system: AtomicU8,
    /// State of a system of kind `CHANGES`: `UNREADY`, `WORKS` or `REFUSES`.
    now: AtomicU32,
    /// Number of [`LightFences`] that exist.
    users: AtomicU32,
}

/// System that is ready for heavy fences from the beginning.
const READY: u8 = 0;
/// System without heavy fences.
const NEVER: u8 = 1;
/// System that changes while the model runs.
const CHANGES: u8 = 2;

const UNREADY: u32 = 0;
const WORKS: u32 = 1;
const REFUSES: u32 = 2;

loom::lazy_static! {
    static ref PLACES: Places = Places {
        places: std::array::from_fn(|_| AtomicU32::new(0)),
        given: AtomicUsize::new(0),
        system: AtomicU8::new(READY),
        now: AtomicU32::new(UNREADY),
        users: AtomicU32::new(0),
    };
}

loom::thread_local! {
    // ORDERING: relaxed; loom runs one thread at a time.
    static MINE: usize = PLACES.given.fetch_add(1, Ordering::Relaxed);
}

loom::thread_local! {
    /// Number of [`LightFences`] of this thread.
    static MY_TOKENS: std::cell::Cell<u32> = std::cell::Cell::new(0);
}

/// Returns the current state of the system.
fn system() -> u32 {
    // ORDERING: relaxed; loom runs one thread at a time.
    match PLACES.system.load(Ordering::Relaxed) {
        READY => WORKS,
        NEVER => UNREADY,
        // ORDERING: relaxed, weaker than acquire in `membarrier::state`; the fences must suffice.
        _ => PLACES.now.load(Ordering::Relaxed),
    }
}

/// Permission to use [light fences](crate::light_fence).
#[derive(Debug)]
pub struct LightFences(());

/// Proof that light fences were [prepared](LightFences::prepare), even if none are available.
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// Makes the places. The first call must come before the second thread starts: making them
    /// releases to all threads that use them, an order that does not exist on a real system.
    pub fn prepare() -> Prepared {
        let _ = system();
        Prepared(())
    }

    /// Returns the permission, if the system has heavy fences now.
    pub fn at_any_cost() -> Option<Self> {
        Self::get()
    }

    /// Returns the permission, if the system has heavy fences now.
    pub fn get() -> Option<Self> {
        if system() != WORKS {
            return None;
        }
        // ORDERING: relaxed, as in the real `of_system`: `full` orders it.
        PLACES.users.fetch_add(1, Ordering::Relaxed);
        MY_TOKENS.with(|mine| mine.set(mine.get() + 1));
        omittable!("fence/begin-unfenced", full());
        Some(Self(()))
    }

    /// Does nothing: here light fences work until the end of the thread.
    pub fn at_end_of_thread(_give_back: fn()) {}

    /// Returns how many heavy fences there were since `get` that cost anything: none.
    pub fn cost(&self) -> u64 {
        0
    }

    /// Returns `true` if the permission must be given back.
    pub fn are_due_back(&self) -> bool {
        system() == REFUSES
    }
}

impl Drop for LightFences {
    fn drop(&mut self) {
        // ORDERING: release, as in the real `drop`; pairs with the acquire in `heavy_fence`.
        PLACES.users.fetch_sub(1, mutant::weaken("fence/end-relaxed", Ordering::Release));
        MY_TOKENS.with(|mine| mine.set(mine.get() - 1));
    }
}

fn fence_at(place: usize) {
    // ORDERING: acquire-release; two calls at one place order their threads: see the module.
    PLACES.places[place].fetch_add(1, Ordering::AcqRel);
}

pub(crate) fn light_fence() {
    MINE.with(|mine| fence_at(*mine));
    if mutant::active("fence/light-is-full") {
        full();
    }
}

pub(crate) fn heavy_fence() {
    let users = || {
        // ORDERING: acquire, as in the real `heavy_fence`; pairs with the release in `drop`.
        let users = PLACES.users.load(Ordering::Acquire);
        users > MY_TOKENS.with(std::cell::Cell::get)
    };
    // Mutant: reads the number of users before the fence instead of after it.
    let before = mutant::active("fence/users-before-fence").then(users);
    full();
    // If the system refuses, the real `heavy_fence` waits, with the effect of a fence.
    let refused = mutant::active("fence/refused-is-full") && system() == REFUSES;
    if before.unwrap_or_else(users) && !refused && !mutant::active("fence/heavy-is-full") {
        (0..THREADS).for_each(fence_at);
        full();
    }
}

/// Returns how many heavy fences this thread has had the system execute: none.
pub fn heavy_fences_executed() -> u64 {
    0
}

/// Does nothing: the model decides when light fences are available.
pub fn want_light_fences() {}

/// Makes this execution of the model run on a system without heavy fences. Must be called first.
pub fn without_light_fences() {
    // ORDERING: relaxed; loom runs one thread at a time.
    PLACES.system.store(NEVER, Ordering::Relaxed);
}

/// Makes this execution of the model run on a system that changes: `ready` says whether it has
/// heavy fences at the beginning. Must be called first.
pub fn changing_light_fences(ready: bool) {
    // ORDERING: relaxed; loom runs one thread at a time.
    PLACES.system.store(CHANGES, Ordering::Relaxed);
    if ready {
        change_light_fences();
    }
}

/// Changes the state of the system: from unready to ready, or from ready to refusing.
pub fn change_light_fences() {
    // ORDERING: relaxed, weaker than release in `membarrier::tell_system`; the fences must suffice.
    PLACES.now.fetch_add(1, Ordering::Relaxed);
}
