//! Thieves' end of the deque.

use super::{ASKED, Shared};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, MutexGuard, faulty, full_fence, heavy_fence, look, mutant, omittable};
use std::ptr::NonNull;

/// End that other threads take from.
#[derive(Debug)]
pub struct Stealer<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

/// Result of an attempt to steal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steal<P> {
    /// The deque was empty.
    Empty,
    /// Another thread was quicker; there may be more items.
    Retry,
    /// All items are private: the owner can be [asked](Stealer::ask) to publish some. Or another
    /// thief is publishing.
    Private,
    /// The oldest item.
    Success(P),
}

impl<P> Steal<P> {
    /// Replaces the item by the result of `f`.
    pub fn map<Q>(self, f: impl FnOnce(P) -> Q) -> Steal<Q> {
        match self {
            Self::Empty => Steal::Empty,
            Self::Retry => Steal::Retry,
            Self::Private => Steal::Private,
            Self::Success(item) => Steal::Success(f(item)),
        }
    }
}

impl<T> Stealer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    /// Returns `true` if the deque seems empty. Exact for events that happen before the call.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Returns `true` if there seems to be a public item. Does not read the cache line that the
    /// owner writes to.
    pub fn is_public(&self) -> bool {
        let public = &*self.shared.public;
        // ORDERING: relaxed, both; a hint, which `steal_public` verifies.
        public.top.load(Ordering::Relaxed) < public.split.load(Ordering::Relaxed).index()
    }

    /// Asks these owners, so that their next push leaves the fast path. Before, the caller must
    /// have announced its sleep, and executed a full fence. Returns `true` if there already is an
    /// item to [steal](Self::steal_by_force_since), at its owner's position or later.
    pub fn listen_to<'s, I>(owners: impl Fn() -> I) -> bool
    where
        I: Iterator<Item = (&'s Self, i64)>,
        T: 's,
    {
        let mut is_anybody_there = false;
        for (owner, _) in owners() {
            // ORDERING: pairs with the full fence in `Owner::pushed_slow`, between the raising of
            // the limit and the hook. Either the hook sees the caller, or this overwrites the
            // raised limit.
            omittable!("deque/listens-unasked", owner.ask());
            is_anybody_there = true;
        }
        if is_anybody_there {
            // ORDERING: pairs with the fence in `Private::push`, before the owner reads its limit.
            // Either the owner sees the request, or we see the item. A full fence would let both
            // miss.
            heavy_fence("deque/listen-unfenced");
        }
        look!("deque/listens-only", owners().any(|(owner, position)| owner.has_since(position)))
    }

    fn has_since(&self, position: i64) -> bool {
        // ORDERING: relaxed; a hint, as in `is_empty`.
        !self.is_empty() && self.shared.public.top.load(Ordering::Relaxed) >= position
    }

    /// Returns two numbers that change as items come and go. For the stall reports.
    #[cfg(feature = "diagnose")]
    pub fn pulse(&self) -> [u64; 2] {
        // ORDERING: relaxed, both; no other data is read because of these values.
        let top = self.shared.public.top.load(Ordering::Relaxed);
        let bottom = self.shared.private.bottom.load(Ordering::Relaxed);
        [top, bottom].map(|index| index as u64)
    }

    /// Takes the oldest item, if it is public. Does not disturb an owner without items.
    pub fn steal(&self) -> Steal<NonNull<T>> {
        self.steal_since(i64::MIN).map(|(item, _)| item)
    }

    /// Takes the oldest item, with its position, if it is public and was pushed at this
    /// [position](super::Owner::position) or later.
    pub fn steal_since(&self, position: i64) -> Steal<(NonNull<T>, i64)> {
        // Most victims are empty. If an item is public, the owner's cache line is not read.
        if !self.is_public() && self.shared.is_empty() {
            return Steal::Empty;
        }
        match self.steal_public(position) {
            // Publishing is cheap without light fences.
            Steal::Empty if !self.owner_is_light() => match self.shared.public.publisher.try_lock()
            {
                lock @ Some(_) => self.publish_and_steal(lock, position),
                None => Steal::Private,
            },
            Steal::Empty => Steal::Private,
            outcome => outcome,
        }
    }

    /// Takes the oldest item: see [`steal_by_force_since`](Self::steal_by_force_since).
    #[cfg(any(test, drowse_loom, drowse_shuttle))]
    pub fn steal_by_force(&self) -> Steal<NonNull<T>> {
        self.steal_by_force_since(i64::MIN).map(|(item, _)| item)
    }

    /// Takes the oldest item, with its position, if it was pushed at this position or later;
    /// private or not, whatever the owner does meanwhile. If the owner has light fences this costs
    /// thief and owner tens of microseconds, and more if the owner is preempted: try
    /// [`steal_since`](Self::steal_since) first.
    pub fn steal_by_force_since(&self, position: i64) -> Steal<(NonNull<T>, i64)> {
        if self.shared.is_empty() {
            return Steal::Empty;
        }
        match self.steal_public(position) {
            Steal::Empty => {
                let publisher =
                    mutant::lock("deque/publish-unlocked", &self.shared.public.publisher);
                self.publish_and_steal(publisher, position)
            }
            outcome => outcome,
        }
    }

    fn owner_is_light(&self) -> bool {
        // ORDERING: relaxed; a guess, which `publish` verifies.
        self.shared.public.split.load(Ordering::Relaxed).owner_is_light()
    }

    fn publish_and_steal(
        &self,
        publisher: Option<MutexGuard<'_, ()>>,
        position: i64,
    ) -> Steal<(NonNull<T>, i64)> {
        let published = self.publish();
        drop(publisher);
        if !published {
            return Steal::Empty;
        }
        match self.steal_public(position) {
            // Other thieves took all published items; there may still be more.
            Steal::Empty => faulty!("deque/steal-gives-up", Steal::Retry, Steal::Empty),
            outcome => outcome,
        }
    }

    /// Makes the owner look for sleepers after its next push.
    pub fn alert(&self) {
        self.shared.private.alert();
    }

    /// Asks the owner to publish some items, or the pushed one, with its next push.
    pub fn ask(&self) {
        let limit = &self.shared.private.limit;
        // ORDERING: relaxed, both; the owner sees it at its next push, or at the one after. Loads
        // first, because the owner writes to this cache line all the time.
        if limit.load(Ordering::Relaxed) != ASKED {
            limit.store(ASKED, Ordering::Relaxed);
        }
    }

    /// Takes the oldest public item, if it is at this position or later.
    fn steal_public(&self, position: i64) -> Steal<(NonNull<T>, i64)> {
        let public = &*self.shared.public;
        // ORDERING: relaxed; the fence below acquires.
        let top = public.top.load(Ordering::Relaxed);
        if top < position {
            return Steal::Empty;
        }
        // ORDERING: pairs with the fence in `Owner::pop_public`: handshake 2 of the module's notes.
        full_fence("deque/steal-unfenced");
        // ORDERING: acquire pairs with the release in `AtomicSplit::replace`, whose thread has
        // pushed the items or has acquired the push: the item, its slot and its buffer are visible.
        if public.split.load(mutant::weaken("deque/steal-relaxed", Ordering::Acquire)).index()
            <= top
        {
            return Steal::Empty;
        }
        // ORDERING: acquire pairs with the release in `Owner::grow`: the copied slots are visible.
        let buffer = public.buffer.load(mutant::weaken("deque/buffer-relaxed", Ordering::Acquire));
        // SAFETY: buffers live as long as `shared`, which we hold.
        // ORDERING: relaxed; made visible by the acquire of `split`. If the slot was used again
        // since, `top` has moved and the exchange below fails.
        let item = unsafe { (*buffer).slot(top).load(Ordering::Relaxed) };
        // ORDERING: release pairs with the acquire in `Owner::make_room`: the owner uses this slot
        // again after our read. (No model shows what breaks without: a load overtaken by a later
        // store, which loom does not do.) The item was acquired with `split`.
        match public.top.compare_exchange(top, top + 1, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => NonNull::new(item).map_or(Steal::Empty, |item| Steal::Success((item, top))),
            Err(_) => Steal::Retry,
        }
    }

    /// Makes half of the private items public, unless the owner does so meanwhile. Only one thief
    /// at a time. Returns `false` if there are none.
    #[cold]
    fn publish(&self) -> bool {
        let public = &*self.shared.public;
        // ORDERING: acquire pairs with the owner's `AtomicSplit::replace`: the owner lowers
        // `bottom` before the split. An extra precaution: `bottom` is read again after the fence.
        let split = public.split.load(Ordering::Acquire);
        // ORDERING: relaxed; a hint. Nothing is to do if a thief has published before us.
        if public.top.load(Ordering::Relaxed) < split.index() {
            return true;
        }
        // ORDERING: relaxed; a guess, verified below.
        let private = self.shared.private.bottom.load(Ordering::Relaxed) - split.index();
        if private <= 0 {
            return false;
        }
        if !public.split.replace(split, split.claimed()) {
            return true; // The owner has changed it.
        }
        // ORDERING: pairs with the light fence in `Shared::lower_bottom`, or with the full one in
        // `Shared::is_private_fenced`: handshake 1 of the module's notes.
        if split.owner_is_light() {
            heavy_fence("deque/publish-unfenced");
        } else {
            full_fence("deque/publish-unfenced");
        }
        // ORDERING: acquire pairs with the release in `Private::set_bottom`; the change of the
        // split passes it on to other thieves. (No model shows it: in loom the two fences do the
        // same.)
        let bottom = self.shared.private.bottom.load(Ordering::Acquire);
        let wanted = split.index() + (private + 1) / 2;
        let granted = faulty!("deque/publish-ignores-owner", wanted.min(bottom), wanted);
        // An owner that pops a public item holds `bottom` below the split for a moment.
        let lowest = faulty!("deque/publish-lowers-split", split.index(), 0);
        let next = split.at(granted.max(lowest));
        // If the owner has ended the claim, it has usually published items itself.
        let moved = faulty!(
            "deque/publish-overwrites",
            public.split.replace(split.claimed(), next),
            public.split.overwrite(next)
        );
        !moved || granted > split.index()
    }
}
