//! Full fences: the two halves of every store-then-look handshake.

use crate::atomic::{AtomicIsize, Ordering};

/// Orders every earlier access of this thread before every later one, loads after stores included.
///
/// # Notes on memory ordering
///
/// drowse's handshakes all have one shape. Two threads each publish something and then look at what the
/// other publishes; at least one must see the other:
///
/// ```text
///     poster                     sleeper
///     write job                  write "I may sleep"
///     full_fence()               full_fence()
///     read "may anyone sleep?"   read jobs
/// ```
///
/// Acquire and release do not give that, only a sequentially consistent fence on both sides does. Loom
/// models such fences exactly, but treats sequentially consistent *accesses* as acquire-release, which
/// is why the handshakes are written with fences.
#[inline(always)]
pub fn full_fence() {
    // ORDERING: pairs with the full fence (or `swap_fenced`) of the other side of the handshake; the
    // call site names it. Anything weaker lets both sides read the old value.
    crate::atomic::fence(Ordering::SeqCst);
}

/// Stores `new`, then acts as a [`full_fence`]; returns what was there before.
///
/// The caller must be the only thread that writes the location. On x86 this is one `xchg`, which drains
/// the store buffer and costs less than a store and `mfence`.
#[inline(always)]
pub fn swap_fenced(location: &AtomicIsize, new: isize) -> isize {
    if cfg!(all(any(target_arch = "x86_64", target_arch = "x86"), not(drowse_loom), not(drowse_shuttle))) {
        // ORDERING: release, so that a thread that sees `new` sees what was written before. That a
        // *locked* instruction is also a full fence is the processor's promise, not the language's:
        // hence only here, for x86, with SeqCst so that the compiler moves nothing across either.
        location.swap(new, Ordering::SeqCst)
    } else {
        // ORDERING: relaxed, we are the only writer.
        let old = location.load(Ordering::Relaxed);
        // ORDERING: release, as above.
        location.store(new, Ordering::Release);
        full_fence();
        old
    }
}
