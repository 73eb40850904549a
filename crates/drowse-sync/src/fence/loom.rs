//! Lopsided fences for loom, which are no stronger than the real ones.
//!
//! Loom knows nothing that makes *other* threads execute a fence, and with two full fences in the place of a light and a
//! heavy one it would pass what the real ones do not promise: a light fence against a light one, or against a
//! plain full one. What does promise it, and no more: each thread has a place of its own, a light fence is a
//! read-modify-write there, and a heavy fence one at every thread's place. Of two read-modify-writes at one
//! place the later acquires what the earlier released, so the light fence comes before the heavy one, whose thread then
//! sees what the other wrote, or after it, and then it is the other way round.

use super::full_fence;
use crate::atomic::{AtomicU32, Ordering};
use crate::mutant;
// Not loom's: for what is no part of what is modelled.
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The most threads that loom can run.
const THREADS: usize = loom::MAX_THREADS;

struct Places {
    places: [AtomicU32; THREADS],
    /// How many were given out.
    given: AtomicUsize,
    /// Whether the system can fence all threads.
    lopsided: AtomicBool,
}

loom::lazy_static! {
    static ref PLACES: Places = Places {
        places: std::array::from_fn(|_| AtomicU32::new(0)),
        given: AtomicUsize::new(0),
        lopsided: AtomicBool::new(true),
    };
}

loom::thread_local! {
    // ORDERING: immaterial; loom runs one thread at a time.
    static MINE: usize = PLACES.given.fetch_add(1, Ordering::Relaxed);
}

fn fence_at(place: usize) {
    // ORDERING: acquire-release, see above.
    PLACES.places[place].fetch_add(1, Ordering::AcqRel);
}

/// Pairs with a [`heavy_fence`], and with nothing else.
pub fn light_fence() {
    if prepare_fences() {
        MINE.with(|mine| fence_at(*mine));
    }
    if mutant::active("fence/light-is-full") {
        full_fence();
    }
}

/// Pairs with a [`light_fence`] and with a [`full_fence`].
pub fn heavy_fence() {
    full_fence();
    if prepare_fences() && !mutant::active("fence/heavy-is-full") {
        (0..THREADS).for_each(fence_at);
        full_fence();
    }
}

/// Whether [`light_fence`] can be relied on. The first call must come before the second thread: whoever makes the places releases
/// to all who use them, and would order what nothing orders in truth.
pub fn prepare_fences() -> bool {
    // ORDERING: immaterial; loom runs one thread at a time.
    PLACES.lopsided.load(Ordering::Relaxed)
}

/// From here on this execution of the model is on a system that knows no heavy fences. To be called first of all.
pub fn without_lopsided_fences() {
    // ORDERING: immaterial, as above.
    PLACES.lopsided.store(false, Ordering::Relaxed);
}
