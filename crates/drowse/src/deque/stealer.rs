//! The thieves' end.

use super::{ASKED, Shared};
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, MutexGuard, faulty, full_fence, heavy_fence, look, mutant, omittable};
use std::ptr::NonNull;

/// The end that everyone else takes from.
#[derive(Debug)]
pub struct Stealer<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

/// What a thief got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steal<P> {
    /// There was nothing.
    Empty,
    /// Somebody else was quicker; there may be more.
    Retry,
    /// Everything is private: the owner can be [asked](Stealer::ask) to publish some of it. Or
    /// another thief is doing so.
    Private,
    /// The oldest item.
    Success(P),
}

impl<P> Steal<P> {
    /// The same, with something else in the place of the item.
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

    /// Whether there seems to be nothing to steal. Exact for what happened before.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Whether there seems to be something public. Does not look at what the owner writes to.
    pub fn is_public(&self) -> bool {
        let public = &*self.shared.public;
        // ORDERING: relaxed, both; a hint. `steal_public` makes sure.
        public.top.load(Ordering::Relaxed) < public.split.load(Ordering::Relaxed).index()
    }

    /// For one that is about to sleep, has said so, and executed a full fence since: asks these
    /// owners, so that they leave the fast path with their next push. Whether there is something to
    /// [steal](Self::steal_by_force_since) already that was pushed at its position or later.
    pub fn listen_to<'s, I>(owners: impl Fn() -> I) -> bool
    where
        I: Iterator<Item = (&'s Self, i64)>,
        T: 's,
    {
        let mut is_anybody_there = false;
        for (owner, _) in owners() {
            // ORDERING: an owner that raises its limit does so before a full fence, and looks for
            // sleepers after it. Either it sees us, or we overwrite what it has raised.
            omittable!("deque/listens-unasked", owner.ask());
            is_anybody_there = true;
        }
        if is_anybody_there {
            // ORDERING: pairs with the fence between a push and the look at the limit. Either that
            // look shows that we have asked, or we see what was pushed.
            heavy_fence("deque/listen-unfenced");
        }
        look!("deque/listens-only", owners().any(|(owner, position)| owner.has_since(position)))
    }

    fn has_since(&self, position: i64) -> bool {
        // ORDERING: relaxed; a look, as `is_empty` is.
        !self.is_empty() && self.shared.public.top.load(Ordering::Relaxed) >= position
    }

    /// What changes as items come and go. For those who watch from afar.
    pub fn pulse(&self) -> [u64; 2] {
        // ORDERING: relaxed, both; nothing is read on the strength of it.
        let top = self.shared.public.top.load(Ordering::Relaxed);
        let bottom = self.shared.private.bottom.load(Ordering::Relaxed);
        [top, bottom].map(|index| index as u64)
    }

    /// Takes the oldest item, if it is public. Does not disturb an owner that has none.
    pub fn steal(&self) -> Steal<NonNull<T>> {
        self.steal_since(i64::MIN).map(|(item, _)| item)
    }

    /// Takes the oldest item, if it is public, and if it was pushed when the owner had got to this
    /// [position](super::Owner::position), or later. With its own.
    pub fn steal_since(&self, position: i64) -> Steal<(NonNull<T>, i64)> {
        // Most victims are empty. Where something is public there is no need to look at what the
        // owner writes to, and to take that away from it.
        if !self.is_public() && self.shared.is_empty() {
            return Steal::Empty;
        }
        match self.steal_public(position) {
            // Without light fences there is little to it.
            Steal::Empty if !self.owner_is_light() => match self.shared.public.publisher.try_lock() {
                lock @ Some(_) => self.publish_and_steal(lock, position),
                None => Steal::Private,
            },
            Steal::Empty => Steal::Private,
            outcome => outcome,
        }
    }

    /// Takes the oldest item, private or not, whatever the owner does meanwhile. Where the owner
    /// has light fences this costs tens of microseconds, of thief and owner alike, and more if the
    /// system has taken the owner's processor away: try [`steal`](Self::steal) first.
    #[cfg(any(test, drowse_loom, drowse_shuttle))]
    pub fn steal_by_force(&self) -> Steal<NonNull<T>> {
        self.steal_by_force_since(i64::MIN).map(|(item, _)| item)
    }

    /// The same, for an item that was pushed at this position or later. With its own.
    pub fn steal_by_force_since(&self, position: i64) -> Steal<(NonNull<T>, i64)> {
        if self.shared.is_empty() {
            return Steal::Empty;
        }
        match self.steal_public(position) {
            Steal::Empty => {
                let publisher = mutant::lock("deque/publish-unlocked", &self.shared.public.publisher);
                self.publish_and_steal(publisher, position)
            }
            outcome => outcome,
        }
    }

    fn owner_is_light(&self) -> bool {
        // ORDERING: relaxed; a guess, made sure of in `publish`.
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
            // If others took all that was published, there may still be more.
            Steal::Empty => faulty!("deque/steal-gives-up", Steal::Retry, Steal::Empty),
            outcome => outcome,
        }
    }

    /// Tells the owner, with its next push, that somebody sleeps, or is about to.
    pub fn alert(&self) {
        self.shared.private.alert();
    }

    /// Asks the owner to publish some items with its next push, or what it pushes then.
    pub fn ask(&self) {
        let limit = &self.shared.private.limit;
        // ORDERING: relaxed, both; the owner sees it at its next push, or at the one after. Look
        // first: the owner writes to that line all the time.
        if limit.load(Ordering::Relaxed) != ASKED {
            limit.store(ASKED, Ordering::Relaxed);
        }
    }

    /// Takes the oldest public item, if it is at this position or later.
    fn steal_public(&self, position: i64) -> Steal<(NonNull<T>, i64)> {
        let public = &*self.shared.public;
        // ORDERING: relaxed; the fence that follows acquires.
        let top = public.top.load(Ordering::Relaxed);
        if top < position {
            return Steal::Empty;
        }
        // ORDERING: pairs with the fence in `Owner::pop_public`: handshake 2 of the module's notes.
        full_fence("deque/steal-unfenced");
        // ORDERING: acquire pairs with the release of the publication, which acquired that of the
        // push: the item, its slot and its buffer are visible.
        if public.split.load(mutant::weaken("deque/steal-relaxed", Ordering::Acquire)).index() <= top {
            return Steal::Empty;
        }
        // ORDERING: acquire pairs with the release in `grow`: the copied slots are visible.
        let buffer = public.buffer.load(mutant::weaken("deque/buffer-relaxed", Ordering::Acquire));
        // SAFETY: buffers live as long as `shared`, which we hold.
        // ORDERING: relaxed; made visible by the acquire of `split`. If the slot was used again
        // since, `top` has moved and the exchange below fails.
        let item = unsafe { (*buffer).slot(top).load(Ordering::Relaxed) };
        // ORDERING: release, so that the owner which acquires `top` to use this slot again does so
        // after we read it. (No model shows what breaks without: a load overtaken by a later store,
        // which loom does not do.) What is taken was acquired with `split`.
        match public.top.compare_exchange(top, top + 1, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => NonNull::new(item).map_or(Steal::Empty, |item| Steal::Success((item, top))),
            Err(_) => Steal::Retry,
        }
    }

    /// Makes half of the private items public, without their owner's help; or the owner does so
    /// when it notices. Only one thief at a time. False if there are none.
    #[cold]
    fn publish(&self) -> bool {
        let public = &*self.shared.public;
        // ORDERING: acquire pairs with the release of the owner, who lowers `bottom` before it
        // lowers the split. Belt and braces: `bottom` is read again after the fence.
        let split = public.split.load(Ordering::Acquire);
        // ORDERING: relaxed; a look. If another thief published before us, there is nothing to do.
        if public.top.load(Ordering::Relaxed) < split.index() {
            return true;
        }
        // ORDERING: relaxed; a guess, made sure of below.
        let private = self.shared.private.bottom.load(Ordering::Relaxed) - split.index();
        if private <= 0 {
            return false;
        }
        if !public.split.replace(split, split.claimed()) {
            return true; // The owner was at it.
        }
        // ORDERING: pairs with the light fence in `Owner::lower_bottom`, or with the full one in
        // its place: handshake 1 of the module's notes.
        if split.owner_is_light() {
            heavy_fence("deque/publish-unfenced");
        } else {
            full_fence("deque/publish-unfenced");
        }
        // ORDERING: acquire pairs with the release of the push; the change of the split passes it
        // on to other thieves. (No model shows it: to loom the two fences do the same.)
        let bottom = self.shared.private.bottom.load(Ordering::Acquire);
        let wanted = split.index() + (private + 1) / 2;
        let granted = faulty!("deque/publish-ignores-owner", wanted.min(bottom), wanted);
        // An owner that is after a public item has `bottom` below the split, for a moment.
        let lowest = faulty!("deque/publish-lowers-split", split.index(), 0);
        let next = split.at(granted.max(lowest));
        // If the owner has ended the claim, it has published what there was.
        let moved = faulty!(
            "deque/publish-overwrites",
            public.split.replace(split.claimed(), next),
            public.split.overwrite(next)
        );
        !moved || granted > split.index()
    }
}
