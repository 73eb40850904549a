//! Full fences, and fences of which one side is free.
//!
//! # Notes on memory ordering
//!
//! drowse's handshakes all have one shape. Two threads each publish something and then look at what the
//! other publishes; at least one must see the other:
//!
//! ```text
//!     poster                     sleeper
//!     write job                  write "I may sleep"
//!     fence                      fence
//!     read "may anyone sleep?"   read jobs
//! ```
//!
//! Acquire and release do not give that; a sequentially consistent fence on both sides does. Loom models such
//! fences exactly, but treats sequentially consistent *accesses* as acquire-release, which is why the
//! handshakes are written with fences.
//!
//! Where one side happens a hundred million times a second and the other a hundred times, the fence can be lopsided:
//! a [`light_fence`] for the frequent side, which only keeps the compiler from reordering, and a
//! [`heavy_fence`] for the rare one, which makes the system run a full fence on *every* running thread of the
//! process. For each light fence, that full fence falls before it, in it or after it in its thread's program,
//! so a light and a heavy fence order like two full ones. Two light fences do not order anything between them, and a
//! light and a plain full fence do not either.

use crate::atomic::{Ordering, fence};

/// Orders every earlier access of this thread before every later one, loads after stores included.
/// Pairs with another full fence, or with a [`heavy_fence`].
#[inline(always)]
pub fn full_fence() {
    // ORDERING: pairs with the fence on the other side of the handshake; the call site names it. Anything
    // weaker lets both sides read the old value.
    if !crate::mutant::active("fence/no-full-fence") {
        fence(Ordering::SeqCst);
    }
}

#[cfg(drowse_loom)]
#[path = "fence/loom.rs"]
mod lopsided;

#[cfg(not(any(drowse_loom, all(target_os = "linux", not(drowse_shuttle)))))]
mod lopsided {
    use super::full_fence;

    /// Pairs with a [`heavy_fence`]. A full fence: this system (or shuttle) has no lopsided ones.
    #[inline(always)]
    pub fn light_fence() {
        full_fence();
    }

    /// Pairs with a [`light_fence`] and with a [`full_fence`].
    pub fn heavy_fence() {
        full_fence();
    }

    /// Whether [`light_fence`] can be relied on. Always, here.
    pub fn prepare_fences() -> bool {
        true
    }
}

#[cfg(all(target_os = "linux", not(any(drowse_loom, drowse_shuttle))))]
mod lopsided {
    use super::full_fence;
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence};

    /// Pairs with a [`heavy_fence`]. Free; and worth nothing unless [`prepare_fences`] has returned true.
    #[inline(always)]
    pub fn light_fence() {
        // ORDERING: for the compiler only; the processor's part is done by the heavy fence.
        compiler_fence(Ordering::SeqCst);
    }

    /// Pairs with a [`light_fence`] and with a [`full_fence`]. Costs a fifth of a microsecond if no other thread of the
    /// process runs, and some microseconds if one does.
    #[cold]
    pub fn heavy_fence() {
        full_fence();
        if prepare_fences() && !command(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
            // It worked when it was tried; perhaps somebody has put the process into a sandbox since. To go on silently would be
            // a lost wake-up some day.
            eprintln!("drowse: the system refused a memory barrier that it had granted before; aborting");
            std::process::abort();
        }
    }

    /// Gets the system ready for heavy fences. False if it knows none: then [`light_fence`] is worth nothing, and who would
    /// use it must use a [`full_fence`]. To be called before the first light fence.
    pub fn prepare_fences() -> bool {
        static READY: OnceLock<bool> = OnceLock::new();
        *READY.get_or_init(|| {
            command(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
                && command(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
        })
    }

    /// Asks the system; false if it refuses, or does not know how.
    fn command(command: libc::c_int) -> bool {
        // SAFETY: `membarrier` takes three integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(drowse_loom)]
pub use lopsided::without_lopsided_fences;
pub use lopsided::{heavy_fence, light_fence, prepare_fences};

#[cfg(test)]
mod tests {
    use super::{heavy_fence, light_fence, prepare_fences};
    use crate::atomic::{AtomicU32, Ordering};
    use std::sync::Barrier;

    #[test]
    fn a_light_and_a_heavy_fence_never_both_miss() {
        if !prepare_fences() {
            return;
        }
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let step = Barrier::new(2);
        let (mut missed_x, mut missed_y) = (Vec::new(), Vec::new());
        std::thread::scope(|s| {
            s.spawn(|| {
                for round in 1..=2_000 {
                    step.wait();
                    x.store(round, Ordering::Relaxed);
                    light_fence();
                    missed_y.push(y.load(Ordering::Relaxed) != round);
                }
            });
            for round in 1..=2_000 {
                step.wait();
                y.store(round, Ordering::Relaxed);
                heavy_fence();
                missed_x.push(x.load(Ordering::Relaxed) != round);
            }
        });
        assert!(missed_x.iter().zip(&missed_y).all(|(a, b)| !(a & b)));
    }
}
