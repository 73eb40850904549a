//! The thieves' end.

use super::{ASKED, Shared};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, full_fence, heavy_fence, hint, mutant};
use std::ptr::NonNull;

/// How often a thief looks whether the owner has answered, before it helps itself: a microsecond or two, a tenth of what a heavy
/// fence costs when the owner runs. A model needs no pauses to try every order.
fn patience() -> u32 {
    if cfg!(any(drowse_loom, drowse_shuttle)) { 0 } else { 40 }
}

/// The end that everyone else takes from.
#[derive(Debug)]
pub struct Stealer<T> {
    shared: Arc<Shared<T>>,
}

/// What a thief got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steal<P> {
    /// There was nothing.
    Empty,
    /// Somebody else was quicker; there may be more.
    Retry,
    /// The oldest item.
    Success(P),
}

impl<T> Stealer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    /// Whether there seems to be nothing to steal. Exact for what happened before.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Takes the oldest item.
    pub fn steal(&self) -> Steal<NonNull<T>> {
        // Look before you leap: most victims are empty, and looking does not disturb their owner.
        if self.shared.is_empty() {
            return Steal::Empty;
        }
        match self.steal_public() {
            Steal::Empty if self.ask() || self.publish() => match self.steal_public() {
                // If others take all that was published, there may still be more.
                Steal::Empty if !mutant::active("deque/steal-gives-up") => Steal::Retry,
                outcome => outcome,
            },
            outcome => outcome,
        }
    }

    /// Asks the owner to publish some items with its next push, and waits a little. True if it did.
    fn ask(&self) -> bool {
        let public = &*self.shared.public;
        if !self.shared.lopsided_fences {
            return false;
        }
        // ORDERING: relaxed; the owner sees it at its next push, or at the one after.
        self.shared.private.limit.store(ASKED, Ordering::Relaxed);
        for _ in 0..patience() {
            hint::spin_loop();
            // ORDERING: relaxed; a look.
            if public.top.load(Ordering::Relaxed) < public.split.load(Ordering::Relaxed) {
                return true;
            }
        }
        false
    }

    /// Takes the oldest public item.
    fn steal_public(&self) -> Steal<NonNull<T>> {
        let public = &*self.shared.public;
        // ORDERING: acquire pairs with the release of whoever moved `top` here.
        let top = public.top.load(Ordering::Acquire);
        // ORDERING: pairs with the fence in `Owner::pop_public`: handshake 2 of the module's notes.
        if !mutant::active("deque/steal-unfenced") {
            full_fence();
        }
        // ORDERING: acquire pairs with the release of the publication, which acquired that of the push: the item, its slot and
        // its buffer are visible.
        if public.split.load(Ordering::Acquire) <= top {
            return Steal::Empty;
        }
        // ORDERING: acquire pairs with the release in `grow`: the copied slots are visible.
        let buffer = public.buffer.load(Ordering::Acquire);
        // SAFETY: buffers live as long as `shared`, which we hold.
        // ORDERING: relaxed; made visible by the acquire of `split`. If the slot was used again since,
        // `top` has moved and the exchange below fails.
        let item = unsafe { (*buffer).slot(top).load(Ordering::Relaxed) };
        // ORDERING: release, so that the owner which acquires `top` to use this slot again does so after we read it;
        // acquire, so that what the next thief reads comes after.
        match public.top.compare_exchange(top, top + 1, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => NonNull::new(item).map_or(Steal::Empty, Steal::Success),
            Err(_) => Steal::Retry,
        }
    }

    /// Makes half of the private items public, without their owner's help. False if there are none.
    #[cold]
    fn publish(&self) -> bool {
        let public = &*self.shared.public;
        let lock = public.lock.lock();
        // ORDERING: relaxed; written under the lock.
        let split = public.split.load(Ordering::Relaxed);
        // ORDERING: relaxed; a look. If another thief published while we waited for the lock, so much the better.
        if public.top.load(Ordering::Relaxed) < split {
            return true;
        }
        // ORDERING: relaxed; a guess, made sure of below.
        let private = self.shared.private.bottom.load(Ordering::Relaxed) - split;
        if private <= 0 {
            return false;
        }
        let wanted = split + (private + 1) / 2;
        if self.shared.lopsided_fences {
            // ORDERING: relaxed; the fence publishes it.
            public.claim.store(wanted, Ordering::Relaxed);
            if !mutant::active("deque/publish-unfenced") {
                // ORDERING: pairs with the light fence in `Owner::lower_bottom`: handshake 1 of the module's notes. Without such
                // fences, the owner does not pop but with the lock that we hold.
                heavy_fence();
            }
        }
        // ORDERING: acquire pairs with the release of the push; `set_split` passes it on to the thieves.
        let bottom = self.shared.private.bottom.load(Ordering::Acquire);
        let granted = if mutant::active("deque/publish-ignores-owner") { wanted } else { wanted.min(bottom) };
        self.shared.set_split(granted.max(split));
        drop(lock);
        granted > split
    }
}
