//! The owner's end.

#[cfg(any(drowse_loom, drowse_shuttle))]
mod faults;
mod positions;
mod rest;
#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;

use super::pages::Pages;
use super::price::Price;
use super::split::Split;
use super::{ASKED, Buffer, Shared};
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::{Arc, LightFences, faulty, full_fence, light_fence, look, mutant};
use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};

/// The end that one thread pushes to and pops from. Can be sent to that thread, but not shared.
#[derive(Debug)]
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
    /// The current buffer, so that the owner need not load its address.
    buffer: Cell<NonNull<Buffer<T>>>,
    /// Its slots, and their number less one.
    slots: Cell<NonNull<AtomicPtr<T>>>,
    mask: Cell<usize>,
    /// What lets it take the fast path; `None` while it must take the slow one.
    fences: RefCell<Option<LightFences>>,
    /// Where it gets them.
    get_fences: fn() -> Option<LightFences>,
    /// What it pays for them.
    price: Price,
    /// Called after each push that left the fast path.
    after_slow_push: fn(),
    /// What it can give back of its buffers' memory.
    pages: Pages,
}

/// An owner that has pushed just now. Whoever looks for sleepers next needs no more than a light
/// fence: an owner that has no light fences ended the push with a full one.
#[derive(Debug)]
#[repr(transparent)]
pub struct Pushed<T> {
    owner: Owner<T>,
}

impl<T> Pushed<T> {
    #[inline(always)]
    fn by(owner: &Owner<T>) -> &Self {
        // SAFETY: it is an owner, and is laid out like one.
        unsafe { &*ptr::from_ref(owner).cast() }
    }

    /// The owner itself.
    pub fn owner(&self) -> &Owner<T> {
        &self.owner
    }
}

// SAFETY: the raw pointer goes to a buffer that `shared` keeps alive; the cells go with the owner.
// Light fences belong to the thread that got them, by a push: an owner is sent to its thread before
// that, and stays there.
unsafe impl<T> Send for Owner<T> {}

impl<T> Owner<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, get_fences: fn() -> Option<LightFences>) -> Self {
        // ORDERING: relaxed; nobody else has the deque yet.
        let buffer =
            NonNull::new(shared.public.buffer.load(Ordering::Relaxed)).expect("a deque has a buffer");
        let owner = Self {
            shared,
            buffer: Cell::new(buffer),
            slots: Cell::new(NonNull::dangling()),
            mask: Cell::new(0),
            fences: RefCell::new(None),
            get_fences,
            price: Price::default(),
            after_slow_push: || (),
            pages: Pages::default(),
        };
        owner.use_buffer(buffer);
        owner.set_limit(0);
        owner
    }

    /// The same, that calls `hook` after each push that left the fast path: because a thief has
    /// [asked](super::Stealer::ask), say. The item is in its place then.
    #[must_use]
    pub fn with_hook(self, hook: fn()) -> Self {
        Self { after_slow_push: hook, ..self }
    }

    /// Adds the newest item.
    #[inline(always)]
    pub fn push(&self, item: NonNull<T>) -> &Pushed<T> {
        let bottom = self.bottom();
        // ORDERING: relaxed; it makes no difference whether a thief's request is seen now or at the
        // next push.
        if bottom >= self.shared.private.limit.load(Ordering::Relaxed) {
            self.push_slow(bottom, item);
        } else {
            self.push_at(bottom, item);
        }
        Pushed::by(self)
    }

    #[cold]
    #[inline(never)]
    fn push_slow(&self, bottom: i64, item: NonNull<T>) {
        self.make_room(bottom);
        self.push_at(bottom, item);
        if self.is_light() {
            // A thief may have asked for it. (Without light fences it helps itself, at little
            // cost.)
            self.share();
        }
        self.change_fences();
        if !self.is_light() {
            // ORDERING: in the place of the light fence that pairs with a sleeper's heavy one:
            // `Pushed` promises that no more is needed.
            full_fence("deque/push-unfenced");
        }
        (self.after_slow_push)();
    }

    /// Publishes half of the private items, if nothing is public. Cheaper than when a thief must do
    /// so.
    pub fn share(&self) {
        let public = &*self.shared.public;
        let bottom = self.bottom();
        public.split.update(|split| {
            // ORDERING: relaxed; `top` never falls. If it seems lower than it is, nothing is
            // shared, and the thief asks again.
            if split.index() > public.top.load(Ordering::Relaxed) {
                return split;
            }
            // No fence: it is the owner who pops, and it does not while it is here.
            shared_half(split, bottom)
        });
    }

    /// Makes the next push public at once, as if a thief had asked for it.
    pub fn share_next(&self) {
        // ORDERING: relaxed; only the owner acts on it.
        self.shared.private.limit.store(ASKED, Ordering::Relaxed);
    }

    #[inline(always)]
    fn push_at(&self, bottom: i64, item: NonNull<T>) {
        // ORDERING: relaxed; published by the release of `bottom`.
        self.slot(bottom).store(item.as_ptr(), Ordering::Relaxed);
        // ORDERING: release pairs with the acquire in `Stealer::publish`; see `set_bottom`.
        self.set_bottom(bottom + 1, mutant::weaken("deque/push-relaxed", Ordering::Release));
    }

    /// Takes the newest item.
    pub fn pop(&self) -> Option<NonNull<T>> {
        // ORDERING: relaxed; `top` never falls, so what looks empty to the owner is.
        if self.bottom() <= self.shared.public.top.load(Ordering::Relaxed) {
            return None;
        }
        let bottom = self.bottom() - 1;
        if self.lower_bottom(bottom) || self.pop_slow(bottom) {
            // ORDERING: relaxed; the owner wrote the slot itself.
            NonNull::new(self.slot(bottom).load(Ordering::Relaxed))
        } else {
            None
        }
    }

    /// Takes `item` back if it is still here and still the newest; otherwise changes nothing.
    #[inline(always)]
    #[must_use]
    pub fn take_back(&self, item: NonNull<T>) -> bool {
        let bottom = self.bottom() - 1;
        // ORDERING: relaxed; the owner wrote the slot itself. If the deque is empty the slot is
        // stale, and `split` tells.
        let newest = self.slot(bottom).load(Ordering::Relaxed);
        // Look first: to withdraw another item, even for a moment, would hide it from a worker that
        // takes a last look before it sleeps.
        let is_newest = faulty!(
            "deque/take-back-hides-others",
            ptr::eq(newest, item.as_ptr()),
            faults::hide_then_look(self, bottom, item)
        );
        is_newest && (self.lower_bottom(bottom) || self.pop_slow(bottom))
    }

    /// How many items there are. Thieves may have taken some of them by now.
    pub fn len(&self) -> usize {
        // ORDERING: relaxed; a number that is out of date at once.
        let top = self.shared.public.top.load(Ordering::Relaxed);
        usize::try_from(self.bottom() - top).unwrap_or(0)
    }

    /// Whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn bottom(&self) -> i64 {
        // ORDERING: relaxed; only the owner writes it.
        self.shared.private.bottom.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set_bottom(&self, bottom: i64, release: Ordering) {
        // ORDERING: release, every time: a thief that acquires this value must see the items below
        // it.
        self.shared.private.bottom.store(bottom, release);
    }

    #[inline(always)]
    fn slot(&self, index: i64) -> &AtomicPtr<T> {
        // SAFETY: `use_buffer` keeps `slots` and `mask` those of the current buffer, which `shared`
        // keeps alive; masked, the index is below the number of slots.
        unsafe { self.slots.get().add(index as usize & self.mask.get()).as_ref() }
    }

    fn buffer(&self) -> &Buffer<T> {
        // SAFETY: `shared` keeps every buffer until it is dropped, and we hold `shared`.
        unsafe { self.buffer.get().as_ref() }
    }

    fn use_buffer(&self, buffer: NonNull<Buffer<T>>) {
        self.buffer.set(buffer);
        self.slots.set(NonNull::from(self.buffer().slots()).cast());
        self.mask.set(self.buffer().capacity() - 1);
    }

    /// Withdraws the newest item, at `bottom`, from the thieves' sight. Whether it is the owner's
    /// for sure.
    #[inline(always)]
    fn lower_bottom(&self, bottom: i64) -> bool {
        // ORDERING: release, though nothing is pushed: a thief may never see the values that the
        // items below were pushed with, since this one replaces them.
        self.set_bottom(bottom, mutant::weaken("deque/pop-relaxed", Ordering::Release));
        // ORDERING: pairs with the heavy fence in `Stealer::publish`: handshake 1 of the module's
        // notes.
        light_fence("deque/pop-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        self.shared.public.split.load(Ordering::Relaxed).is_private(bottom)
    }

    /// The slow end of a pop: the item may be public, or gone. True if it is ours. If not, undoes
    /// the pop.
    #[cold]
    #[inline(never)]
    fn pop_slow(&self, bottom: i64) -> bool {
        let public = &*self.shared.public;
        if !self.is_light() {
            // ORDERING: in the place of the light fence, against one who publishes without a heavy
            // one.
            full_fence("deque/pop-slow-unfenced");
        }
        loop {
            // ORDERING: relaxed; a fence is above, or in `lower_bottom`.
            let split = public.split.load(Ordering::Relaxed);
            if split.index() > bottom {
                if public.split.replace(split, split.at(bottom)) {
                    return self.pop_public(bottom);
                }
            } else if !look!("deque/pop-ignores-claim", split.is_claimed()) {
                return true;
            } else {
                // A thief is after what we pop, or after what is left: that it can have.
                let left = faulty!("deque/pop-shares-its-own", bottom, bottom + 1);
                if public.split.replace(split, shared_half(split, left)) {
                    return true;
                }
            }
        }
    }

    /// Takes the item at `bottom`, which was public: the split has come down to it.
    fn pop_public(&self, bottom: i64) -> bool {
        let public = &*self.shared.public;
        // ORDERING: pairs with the fence in `Stealer::steal_public`: handshake 2 of the module's
        // notes.
        full_fence("deque/pop-public-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        let top = public.top.load(Ordering::Relaxed);
        if top < bottom {
            return true;
        }
        // The last public item, or none.
        let won = top == bottom && faulty!("deque/pop-last-without-race", self.win_last(top), true);
        // Taken by us or by a thief, the index is used up: `top`, `split` and `bottom` meet behind
        // it.
        public.split.update(|split| split.at(bottom + 1));
        // ORDERING: release, as every store to `bottom`, though no item is left below.
        self.set_bottom(bottom + 1, Ordering::Release);
        won
    }

    /// Races the thieves for the last public item, at `top`. After the fence of `pop_public`.
    fn win_last(&self, top: i64) -> bool {
        // ORDERING: relaxed; the order among the takers of one index is that of the changes of
        // `top`, and the owner takes what it pushed itself. The fence in `pop_public` releases.
        self.shared.public.top.compare_exchange(top, top + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Makes room for an item at `bottom`: looks how far the thieves are, and grows if that is not
    /// far enough.
    fn make_room(&self, bottom: i64) {
        // ORDERING: acquire pairs with the release of a thief's compare-and-swap: it has read the
        // slot that we are about to use again.
        let top = self.shared.public.top.load(Ordering::Acquire);
        self.pages.reached(bottom);
        let capacity = self.buffer().capacity() as i64;
        if bottom - top >= capacity {
            self.grow(top, bottom);
        }
        self.set_limit(top);
    }

    /// Sets how far pushes can take the fast path, as long as the thieves are at `top` or beyond.
    fn set_limit(&self, top: i64) {
        let capacity = self.buffer().capacity() as i64;
        let limit = if self.is_light() { (top + capacity).min(self.pages.limit()) } else { ASKED };
        // ORDERING: relaxed; if this overwrites a thief's request, the thief asks again, or
        // publishes by force.
        self.shared.private.limit.store(limit, Ordering::Relaxed);
    }

    fn grow(&self, top: i64, bottom: i64) {
        let bigger = Buffer::leak(self.buffer().capacity() * 2, Some(self.buffer.get()));
        for index in top..bottom {
            // ORDERING: relaxed; the owner wrote all of these.
            let item = self.slot(index).load(Ordering::Relaxed);
            // SAFETY: freshly leaked, alive.
            // ORDERING: relaxed; published by the release below.
            unsafe { bigger.as_ref() }.slot(index).store(item, Ordering::Relaxed);
        }
        faulty!("deque/grow-frees-old", (), faults::spoil(self.buffer(), top..bottom));
        self.use_buffer(bigger);
        // ORDERING: release publishes the copied slots to thieves, which acquire the pointer. The
        // old buffer stays as it is: a thief that still reads it finds the same items at the same
        // indices.
        self.shared
            .public
            .buffer
            .store(bigger.as_ptr(), mutant::weaken("deque/grow-relaxed", Ordering::Release));
    }
}

/// The split with half of the private items published, if there are any, and claimed by nobody.
fn shared_half(split: Split, bottom: i64) -> Split {
    let private = (bottom - split.index()).max(0);
    split.at(split.index() + (private + 1) / 2)
}
