//! Deadlock detection: a census of active, sleeping and blocked workers, and a lookout that
//! confirms a suspicion.
//!
//! For the census a worker is **active** unless it sleeps, is blocked, or has ended: a searching
//! worker is active too. When none is active and at least one is blocked, the pool is *suspect*:
//! sleepers sleep until work is posted, and no worker is left that could post it. (If none is
//! blocked the pool is merely idle.)
//!
//! A worker that blocks in a way in which another thread may work in its place is *away*, and not
//! active. A worker that sleeps alone is not active either. A pool with such workers, and no active
//! one, is suspect too if a thread sits in every spare seat: no further one can be started for
//! queued jobs. Whether a job is queued is for the pool to say, when the lookout asks.
//!
//! A suspicion is not a deadlock. A blocked worker may have been unblocked already, without having
//! unmarked itself yet; or a thread outside the pool is about to unblock it. So the pool's
//! *lookout*, a thread of its own, waits to confirm the suspicion: if nothing at all has changed in
//! the census for a stated time, and the system says that the blocked threads have not moved
//! either, it is a [`Standstill`].
//!
//! Falling asleep and being woken happen *under the census's lock*, slot and census in one step.
//! Otherwise a worker could be woken by a second one that then falls asleep itself, and the pool
//! would look dead between the two. If one thread wakes many, all of them become active in one
//! step, for this reason: the first may run and block before the others are woken.
//!
//! All of this is compiled only with the feature `diagnose`. Without it there is never a detector:
//! [`null`] has an empty type in its place, so the compiler removes what its callers do with one.

#[cfg(feature = "diagnose")]
mod census;
#[cfg(feature = "diagnose")]
mod detector;
#[cfg(feature = "diagnose")]
mod lookout;
mod mark;
#[cfg(not(feature = "diagnose"))]
mod null;
#[cfg(all(test, feature = "diagnose", not(any(drowse_loom, drowse_shuttle))))]
mod tests;

#[cfg(feature = "diagnose")]
pub use census::{Standstill, Stopped};
#[cfg(feature = "diagnose")]
pub(crate) use detector::Detector;
#[cfg(feature = "diagnose")]
pub use lookout::{Lookout, Moment};
pub use mark::Mark;
#[cfg(not(feature = "diagnose"))]
pub(crate) use null::Detector;

use crate::slots::Claim;

/// Counts a claimed worker as awake.
type Awake<'a> = dyn FnMut(usize, Claim) + 'a;
