//! Full fences, and fences of which one side is free.
//!
//! # Notes on memory ordering
//!
//! drowse's handshakes all have one shape. Two threads each publish something and then look at what
//! the other publishes; at least one must see the other:
//!
//! ```text
//!     poster                     sleeper
//!     write job                  write "I may sleep"
//!     fence                      fence
//!     read "may anyone sleep?"   read jobs
//! ```
//!
//! Acquire and release do not give that; a sequentially consistent fence on both sides does. Loom
//! models such fences exactly, but treats sequentially consistent *accesses* as acquire-release,
//! which is why the handshakes are written with fences.
//!
//! Where one side happens a hundred million times a second and the other a hundred times, the fence
//! can be lopsided: a [`light_fence`] for the frequent side, which only keeps the compiler from
//! reordering, and a [`heavy_fence`] for the rare one, which makes the system run a full fence on
//! *every* running thread of the process. For each light fence, that full fence falls before it, in
//! it or after it in its thread's program, so a light and a heavy fence order like two full ones.
//! Two light fences do not order anything between them, and a light and a plain full fence do not
//! either.
//!
//! # Who may use a light fence
//!
//! Whoever holds [`LightFences`]. They are to be had only when the system is ready for heavy ones,
//! which can come late ([`want_light_fences`]) and end again, so a thread may begin to use light
//! fences, or stop, while others execute heavy ones:
//!
//! ```text
//!     user                       the other side
//!     users += 1                 write y
//!     full fence                 heavy fence = full fence, read users, fence them if there are any
//!     write x
//!     light fence
//!     read y
//! ```
//!
//! Of the two full fences one comes first. If it is the user's, the other side sees that there is
//! one, and acts. If it is the other side's, the user sees `y`, whatever its own fence is worth.
//! Stopping is simpler: a user releases its place among the users, and who acquires that nobody is
//! left sees what they wrote.

use crate::atomic::{Ordering, fence};
use crate::{mutant, omittable, platform};
use std::sync::atomic::compiler_fence;

/// Orders every earlier access of this thread before every later one, loads after stores included.
/// Pairs with another full fence, or with a [`heavy_fence`].
///
/// The name, here and below, is that of this side of the handshake: the [fault](mutant) is to leave
/// it out.
#[inline(always)]
pub fn full_fence(name: &'static str) {
    if !mutant::active(name) {
        full();
    }
}

/// The same, for a thread whose last access to shared memory was a read-modify-write. On x86 that
/// has been a full fence already, and what is left is to keep the compiler from reordering. (Miri
/// is of no such kind.)
#[inline(always)]
pub fn full_fence_after_rmw(name: &'static str) {
    if cfg!(all(target_arch = "x86_64", not(any(drowse_loom, drowse_shuttle, miri)))) {
        // ORDERING: nothing that follows is moved before the read-modify-write, which no processor
        // of this kind lets a later load overtake.
        compiler_fence(Ordering::SeqCst);
    } else {
        full_fence(name);
    }
}

/// Pairs with a [`heavy_fence`]. Free; and worth nothing without
/// [`LightFences`](crate::LightFences).
#[inline(always)]
pub fn light_fence(name: &'static str) {
    if !mutant::active(name) {
        platform::light_fence();
    }
}

/// Pairs with a [`light_fence`] and with a [`full_fence`]. A full fence, unless another thread has
/// light ones; then some microseconds, and tens of them in a virtual machine.
pub fn heavy_fence(name: &'static str) {
    if !mutant::active(name) {
        platform::heavy_fence();
    }
}

#[inline(always)]
pub(crate) fn full() {
    // ORDERING: pairs with the fence on the other side of the handshake; the call site names it.
    // Anything weaker lets both sides read the old value.
    omittable!("fence/no-full-fence", fence(Ordering::SeqCst));
}

#[cfg(test)]
mod tests {
    use super::{heavy_fence, light_fence};
    use crate::LightFences;
    use crate::atomic::{AtomicU32, Ordering};
    use std::sync::Barrier;

    #[test]
    fn a_light_and_a_heavy_fence_never_both_miss() {
        let Some(_light) = LightFences::at_any_cost() else { return };
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let step = Barrier::new(2);
        let (mut missed_x, mut missed_y) = (Vec::new(), Vec::new());
        std::thread::scope(|s| {
            s.spawn(|| {
                for round in 1..=2_000 {
                    step.wait();
                    x.store(round, Ordering::Relaxed);
                    light_fence("");
                    missed_y.push(y.load(Ordering::Relaxed) != round);
                }
            });
            for round in 1..=2_000 {
                step.wait();
                y.store(round, Ordering::Relaxed);
                heavy_fence("");
                missed_x.push(x.load(Ordering::Relaxed) != round);
            }
        });
        assert!(missed_x.iter().zip(&missed_y).all(|(a, b)| !(a & b)));
    }
}
