//! Full fences, and asymmetric fences, one side of which is free.
//!
//! # Notes on memory ordering
//!
//! drowse's handshakes all have one shape. Two threads each publish something and then read what
//! the other publishes; at least one of them must see the other's write:
//!
//! ```text
//!     poster                     sleeper
//!     write job                  write "I may sleep"
//!     fence                      fence
//!     read "may one sleep?"      read jobs
//! ```
//!
//! Acquire and release do not ensure that; a sequentially consistent fence on both sides does. Loom
//! models such fences exactly, but treats sequentially consistent *accesses* as acquire-release,
//! which is why the handshakes are written with fences.
//!
//! Where one side happens a hundred million times a second and the other a hundred times, the
//! fences can be asymmetric: a [`light_fence`] for the frequent side, which only keeps the compiler
//! from reordering, and a [`heavy_fence`] for the rare side, which makes the system run a full
//! fence on *every* running thread of the process. In the program of the light fence's thread, that
//! full fence falls before the light fence, on it or after it. So a light and a heavy fence order
//! like two full fences. Two light fences order nothing, nor do a light and a plain full fence.
//!
//! # Who may use a light fence
//!
//! A thread that holds [`LightFences`]. They are available only while the system is ready for heavy
//! fences. That can begin late ([`want_light_fences`]) and end again, so a thread may begin to use
//! light fences, or stop, while other threads execute heavy ones:
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
//! Of the two full fences one comes first. If it is the user's, the heavy fence sees that there is
//! a user, and acts. If it is the heavy fence's, the user sees `y`, even if its own light fence has
//! no effect. Stopping is simpler: a user decrements `users` with release, and a heavy fence that
//! acquires a count of zero sees what the users wrote.

use crate::atomic::{Ordering, fence};
use crate::{mutant, omittable, platform};
use std::sync::atomic::compiler_fence;

/// Orders every earlier access of this thread before every later one, loads after stores included.
/// Pairs with another full fence, or with a [`heavy_fence`].
///
/// The name, here and below, names this side of the handshake: the [fault](mutant) omits the fence.
#[inline(always)]
pub fn full_fence(name: &'static str) {
    if !mutant::active(name) {
        full();
    }
}

/// Executes a full fence in a thread whose last access to shared memory was a read-modify-write. On
/// x86 that access was a full fence already, so only the compiler must be kept from reordering.
/// (Miri does not behave like x86.)
#[inline(always)]
pub fn full_fence_after_rmw(name: &'static str) {
    if cfg!(all(target_arch = "x86_64", not(any(drowse_loom, drowse_shuttle, miri)))) {
        // ORDERING: the compiler moves nothing that follows before the read-modify-write, and no
        // x86 processor lets a later load overtake it.
        compiler_fence(Ordering::SeqCst);
    } else {
        full_fence(name);
    }
}

/// Pairs with a [`heavy_fence`]. Free, and without effect unless the thread holds
/// [`LightFences`](crate::LightFences).
#[inline(always)]
pub fn light_fence(name: &'static str) {
    if !mutant::active(name) {
        platform::light_fence();
    }
}

/// Pairs with a [`light_fence`] and with a [`full_fence`]. Costs as much as a full fence unless
/// another thread holds light fences; then some microseconds, or tens of them in a virtual machine.
pub fn heavy_fence(name: &'static str) {
    if !mutant::active(name) {
        platform::heavy_fence();
    }
}

#[inline(always)]
pub(crate) fn full() {
    // ORDERING: pairs with the fence on the other side of the handshake, which the call site names.
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
