//! Lopsided fences for loom, which are no stronger than the real ones.
//!
//! Loom knows nothing that makes *other* threads execute a fence, and with two full fences in the
//! place of a light and a heavy one it would pass what the real ones do not promise: a light fence
//! against a light one, or against a plain full one. What does promise it, and no more: each thread
//! has a place of its own, a light fence is a read-modify-write there, and a heavy fence one at
//! every thread's place. Of two read-modify-writes at one place the later acquires what the earlier
//! released, so the light fence comes before the heavy one, whose thread then sees what the other
//! wrote, or after it, and then it is the other way round.

use crate::atomic::{AtomicU32, Ordering};
use crate::fence::full;
use crate::{mutant, omittable};
// Not loom's: for what is no part of what is modelled.
use std::sync::atomic::{AtomicU8, AtomicUsize};

/// The most threads that loom can run.
const THREADS: usize = loom::MAX_THREADS;

struct Places {
    places: [AtomicU32; THREADS],
    /// How many were given out.
    given: AtomicUsize,
    /// Which of the systems below this one is.
    system: AtomicU8,
    /// What a system is at that changes: `UNREADY`, `WORKS`, `REFUSES`.
    now: AtomicU32,
    /// How many have light fences.
    users: AtomicU32,
}

/// The system is ready for heavy fences from the beginning.
const READY: u8 = 0;
/// It knows none.
const NEVER: u8 = 1;
/// It changes in the middle.
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
    // ORDERING: loom runs one thread at a time.
    static MINE: usize = PLACES.given.fetch_add(1, Ordering::Relaxed);
}

loom::thread_local! {
    /// How many of the users are this very thread.
    static MY_TOKENS: std::cell::Cell<u32> = std::cell::Cell::new(0);
}

/// What the system is at.
fn system() -> u32 {
    // ORDERING: loom runs one thread at a time.
    match PLACES.system.load(Ordering::Relaxed) {
        READY => WORKS,
        NEVER => UNREADY,
        // ORDERING: relaxed, weaker than the real one; the fences must do.
        _ => PLACES.now.load(Ordering::Relaxed),
    }
}

/// Leave to use [light fences](crate::light_fence).
#[derive(Debug)]
pub struct LightFences(());

/// Proof that light fences were [prepared](LightFences::prepare), whether or not there are any.
#[derive(Debug, Clone, Copy)]
pub struct Prepared(());

impl LightFences {
    /// The first call must come before the second thread: whoever makes the places releases to all
    /// who use them, and would order what nothing orders in truth.
    pub fn prepare() -> Prepared {
        let _ = system();
        Prepared(())
    }

    /// If they are to be had at all.
    pub fn at_any_cost() -> Option<Self> {
        Self::get()
    }

    /// If they are to be had at this moment.
    pub fn get() -> Option<Self> {
        if system() != WORKS {
            return None;
        }
        // ORDERING: as the real one.
        PLACES.users.fetch_add(1, Ordering::Relaxed);
        MY_TOKENS.with(|mine| mine.set(mine.get() + 1));
        omittable!("fence/begin-unfenced", full());
        Some(Self(()))
    }

    /// Here they are good for as long as the thread runs anything.
    pub fn at_end_of_thread(_give_back: fn()) {}

    /// How many heavy fences there were since: none that cost anything.
    pub fn cost(&self) -> u64 {
        0
    }

    /// Whether they must be given back.
    pub fn are_due_back(&self) -> bool {
        system() == REFUSES
    }
}

impl Drop for LightFences {
    fn drop(&mut self) {
        // ORDERING: as the real one.
        PLACES.users.fetch_sub(1, mutant::weaken("fence/end-relaxed", Ordering::Release));
        MY_TOKENS.with(|mine| mine.set(mine.get() - 1));
    }
}

fn fence_at(place: usize) {
    // ORDERING: acquire-release, see above.
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
        // ORDERING: as the real one.
        let users = PLACES.users.load(Ordering::Acquire);
        users > MY_TOKENS.with(std::cell::Cell::get)
    };
    // Mutant: as if it were asked whether there are users before the fence, not after.
    let before = mutant::active("fence/users-before-fence").then(users);
    full();
    // If the system refuses, the real one waits, which is as good.
    let refused = mutant::active("fence/refused-is-full") && system() == REFUSES;
    if before.unwrap_or_else(users) && !refused && !mutant::active("fence/heavy-is-full") {
        (0..THREADS).for_each(fence_at);
        full();
    }
}

/// How many heavy fences this thread has had the system execute: none.
pub fn heavy_fences_executed() -> u64 {
    0
}

/// Whoever wants them may have them when the model says so.
pub fn want_light_fences() {}

/// From here on this execution of the model is on a system that knows no heavy fences. To be called
/// first of all.
pub fn without_light_fences() {
    // ORDERING: loom runs one thread at a time.
    PLACES.system.store(NEVER, Ordering::Relaxed);
}

/// From here on this execution of the model is on a system that changes its mind about heavy
/// fences: now it is ready for them, or not yet. To be called first of all.
pub fn changing_light_fences(ready: bool) {
    // ORDERING: loom runs one thread at a time.
    PLACES.system.store(CHANGES, Ordering::Relaxed);
    if ready {
        change_light_fences();
    }
}

/// The system changes its mind: it gets ready, or refuses what it granted.
pub fn change_light_fences() {
    // ORDERING: relaxed, weaker than the real one; the fences must do.
    PLACES.now.fetch_add(1, Ordering::Relaxed);
}
