//! Owner's end of the deque.

#[cfg(any(drowse_loom, drowse_shuttle))]
mod faults;
mod positions;
mod rest;
#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;

use super::pages::Pages;
use super::split::Split;
use super::{ALERTED, ASKED, Bottom, Buffer, FENCED, Shared};
use drowse_sync::atomic::{AtomicPtr, Ordering};
use drowse_sync::{Arc, LightFences, faulty, full_fence, look, mutant, omittable};
use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};

/// End that its thread pushes to and pops from. Can be sent to a thread, but not shared.
#[derive(Debug)]
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
    /// Current buffer, so that the owner need not load its address.
    buffer: Cell<NonNull<Buffer<T>>>,
    /// Permission for the fast path; `None` while the owner must take the slow path.
    fences: RefCell<Option<LightFences>>,
    /// Returns light fences, if they are available.
    get_fences: fn() -> Option<LightFences>,
    /// Called after each push off the fast path. Returns `true` if the next must leave it too.
    after_slow_push: fn(&Self, posts: bool) -> bool,
    /// Memory of the buffers that the owner can give back.
    pages: Pages,
}

/// Owner that has pushed just now, and needs no more than a light fence to look for sleepers: an
/// owner without light fences ended the push with a full one.
#[derive(Debug)]
#[repr(transparent)]
pub struct Pushed<T> {
    owner: Owner<T>,
}

impl<T> Pushed<T> {
    #[inline(always)]
    fn by(owner: &Owner<T>) -> &Self {
        // SAFETY: `Pushed` is a `repr(transparent)` wrapper of `Owner`.
        unsafe { &*ptr::from_ref(owner).cast() }
    }

    /// Returns the owner.
    pub fn owner(&self) -> &Owner<T> {
        &self.owner
    }
}

// SAFETY: the raw pointer goes to a buffer that `shared` keeps alive; the cells move with the
// owner. Light fences belong to the thread that got them, by a push: an owner is sent to its thread
// before that, and stays there.
unsafe impl<T> Send for Owner<T> {}

impl<T> Owner<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, get_fences: fn() -> Option<LightFences>) -> Self {
        // ORDERING: relaxed; no other thread has the deque yet.
        let buffer = NonNull::new(shared.public.buffer.load(Ordering::Relaxed))
            .expect("a deque has a buffer");
        let owner = Self {
            shared,
            buffer: Cell::new(buffer),
            fences: RefCell::new(None),
            get_fences,
            after_slow_push: |_, _| false,
            pages: Pages::default(),
        };
        owner.use_buffer(buffer);
        owner.set_limit(0);
        owner
    }

    /// Sets a `hook` to call after each push that left the fast path, as after a thief has
    /// [asked](super::Stealer::ask) or [alerted](super::Stealer::alert) the owner. The item is in
    /// its place, and a fence was executed since. The hook gets `false` if the item is one of
    /// [several](Self::push_one_of_many). If it returns `true` the next push leaves the fast path
    /// too.
    #[must_use]
    pub fn with_hook(self, hook: fn(&Self, posts: bool) -> bool) -> Self {
        Self { after_slow_push: hook, ..self }
    }

    /// Returns this owner, which has pushed just now, and executed a fence.
    pub fn pushed(&self) -> &Pushed<T> {
        Pushed::by(self)
    }

    /// Returns the end that the owner pushes to.
    pub fn end(&self) -> Bottom<T> {
        Bottom::of(&self.shared)
    }

    /// Adds the newest item, which may stay for any time.
    #[inline]
    pub fn push(&self, item: NonNull<T>) -> &Pushed<T> {
        self.push_and_maybe_post(item, true);
        Pushed::by(self)
    }

    /// Adds the newest item, one of several, for which the caller posts afterwards.
    #[inline]
    pub fn push_one_of_many(&self, item: NonNull<T>) {
        self.push_and_maybe_post(item, false);
    }

    #[inline(always)]
    fn push_and_maybe_post(&self, item: NonNull<T>, posts: bool) {
        let position = self.bottom();
        // SAFETY: we are the owner.
        let must_slow_down = unsafe { self.shared.private.push(position, item) };
        omittable!("deque/push-covers-nothing", self.shared.private.cover(position + 1));
        if must_slow_down {
            self.pushed_slow(posts);
        }
    }

    /// Ends a push that left the fast path. `posts` is passed on to the hook.
    #[cold]
    #[inline(never)]
    pub fn pushed_slow(&self, posts: bool) {
        let private = &*self.shared.private;
        if private.pushed_fenced() {
            return;
        }
        let (bottom, is_light) = (self.bottom(), self.is_light());
        if !is_light {
            // ORDERING: takes the place of the light fence in `Private::push`, for an owner that
            // has none.
            full_fence("deque/push-unfenced");
        }
        // ORDERING: relaxed; a thief's request may be seen at the next push. A sleeper's alert is
        // seen because of the fence of the push.
        let before = private.limit.load(Ordering::Relaxed);
        if before == ALERTED
            && bottom < private.room.get()
            && (is_light || private.price.is_still_due())
            && (self.after_slow_push)(self, posts)
        {
            return; // The limit stays as it is.
        }
        // Reads `bottom` again: the hook may have moved the item.
        self.make_room(self.bottom());
        if before == ASKED && is_light {
            // A thief may have asked. (Without light fences it publishes by itself, at little
            // cost.)
            self.share();
        }
        self.change_fences();
        // ORDERING: pairs with the fence in `Sleep::alert_posters`, for an owner that raised its
        // limit: either the sleeper lowers the limit after that, or the hook now sees the sleeper.
        full_fence("deque/raise-unfenced");
        if (self.after_slow_push)(self, posts) {
            self.shared.private.alert();
        }
    }

    /// Publishes half of the private items, if nothing is public. Cheaper than by a thief.
    pub fn share(&self) {
        let public = &*self.shared.public;
        let bottom = self.bottom();
        public.split.update(|split| {
            // ORDERING: relaxed; `top` never falls. If this is an old, lower value, nothing is
            // shared, and the thief asks again.
            if split.index() > public.top.load(Ordering::Relaxed) {
                return split;
            }
            // No fence: only the owner pops, and it is here.
            shared_half(split, bottom)
        });
    }

    /// Makes the next push take the slow path, as if a thief had asked: the pushed item becomes
    /// public at once.
    pub fn share_next(&self) {
        // ORDERING: relaxed; only the owner acts on it.
        self.shared.private.limit.store(ASKED, Ordering::Relaxed);
    }

    /// Takes the newest item. If a join has pushed it, it must be run before that join continues:
    /// see [`bottom`](super::bottom).
    pub fn pop(&self) -> Option<NonNull<T>> {
        // ORDERING: relaxed; `top` never falls, so a deque that looks empty to its owner is empty.
        if self.bottom() <= self.shared.public.top.load(Ordering::Relaxed) {
            return None;
        }
        let bottom = self.bottom() - 1;
        if self.shared.lower_bottom(bottom) || self.pop_slow(bottom) {
            // ORDERING: relaxed; the owner wrote the slot itself.
            NonNull::new(self.slot(bottom).load(Ordering::Relaxed))
        } else {
            None
        }
    }

    /// Takes `item` back if it is still here and still the newest; otherwise changes nothing.
    #[must_use]
    pub fn take_back(&self, item: NonNull<T>) -> bool {
        let bottom = self.bottom() - 1;
        // ORDERING: relaxed; the owner wrote the slot itself. If the deque is empty the slot is
        // stale, and the check of `split` below fails.
        let newest = self.slot(bottom).load(Ordering::Relaxed);
        // Compares first: to withdraw another item, even for a moment, would hide it from a worker
        // that takes its last look before it sleeps.
        let is_newest = faulty!(
            "deque/take-back-hides-others",
            ptr::eq(newest, item.as_ptr()),
            faults::hide_then_look(self, bottom, item)
        );
        let is_back = is_newest && (self.shared.lower_bottom(bottom) || self.pop_slow(bottom));
        if is_back {
            // All items above it are gone.
            self.shared.private.cover.set(self.shared.private.cover.get().min(bottom));
        }
        is_back
    }

    /// Returns the number of items. Thieves may have taken some of them by now.
    pub fn len(&self) -> usize {
        // ORDERING: relaxed; the number may be out of date at once.
        let top = self.shared.public.top.load(Ordering::Relaxed);
        usize::try_from(self.bottom() - top).unwrap_or(0)
    }

    /// Returns `true` if no item is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bottom(&self) -> i64 {
        self.shared.private.bottom()
    }

    fn slot(&self, index: i64) -> &AtomicPtr<T> {
        // SAFETY: we are the owner, and hold `shared`, which keeps the buffer alive.
        unsafe { self.shared.private.slot(index) }
    }

    fn buffer(&self) -> &Buffer<T> {
        // SAFETY: `shared` keeps every buffer until it is dropped, and we hold `shared`.
        unsafe { self.buffer.get().as_ref() }
    }

    fn use_buffer(&self, buffer: NonNull<Buffer<T>>) {
        self.buffer.set(buffer);
        self.shared.private.slots.set(self.buffer().slots().as_ptr());
        self.shared.private.mask.set(self.buffer().capacity() - 1);
    }

    /// Ends a pop of an item that may be public, or gone. Returns `true` if the owner gets it;
    /// otherwise undoes the pop.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn pop_slow(&self, bottom: i64) -> bool {
        let public = &*self.shared.public;
        if self.shared.is_private_fenced(bottom) {
            return true;
        }
        loop {
            // ORDERING: relaxed; `is_private_fenced` or `lower_bottom` has executed a fence.
            let split = public.split.load(Ordering::Relaxed);
            if split.index() > bottom {
                if public.split.replace(split, split.at(bottom)) {
                    return self.pop_public(bottom);
                }
            } else if !look!("deque/pop-ignores-claim", split.is_claimed()) {
                return true;
            } else {
                // Ends a thief's claim, and publishes half of the items below ours.
                let left = faulty!("deque/pop-shares-its-own", bottom, bottom + 1);
                if public.split.replace(split, shared_half(split, left)) {
                    return true;
                }
            }
        }
    }

    /// Takes the item at `bottom`, which was public until the split was lowered to it.
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
        // The item is the last public one, or gone.
        let won = top == bottom && faulty!("deque/pop-last-without-race", self.win_last(top), true);
        // The index is used up: `top`, `split` and `bottom` meet behind it, or behind younger items
        // that thieves have taken.
        let behind = faulty!("deque/pop-forgets-younger", top.max(bottom + 1), bottom + 1);
        public.split.update(|split| split.at(behind));
        // ORDERING: release, like every store to `bottom`, though no item is left below.
        self.shared.private.set_bottom(behind, Ordering::Release);
        won
    }

    /// Races the thieves for the last public item, at `top`, after the fence in `pop_public`.
    fn win_last(&self, top: i64) -> bool {
        // ORDERING: relaxed; the modification order of `top` decides who takes an index, and the
        // owner has pushed the item itself. The fence in `pop_public` releases.
        self.shared
            .public
            .top
            .compare_exchange(top, top + 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Makes room for an item at `bottom`: reads the thieves' position, and grows if the buffer is
    /// full.
    fn make_room(&self, bottom: i64) {
        // ORDERING: acquire pairs with the release of `top` in `Stealer::steal_public`: the thief
        // has read the slot before we use it again.
        let top = self.shared.public.top.load(Ordering::Acquire);
        self.pages.reached(bottom);
        let capacity = self.buffer().capacity() as i64;
        if bottom - top >= capacity {
            self.grow(top, bottom);
        }
        self.set_limit(top);
    }

    /// Sets how far pushes can take the fast path, while the thieves are at `top` or beyond.
    fn set_limit(&self, top: i64) {
        let capacity = self.buffer().capacity() as i64;
        let room = (top + capacity).min(self.pages.limit());
        self.shared.private.room.set(room);
        let limit = if self.is_light() { room } else { FENCED };
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
        // ORDERING: release publishes the copied slots to `Stealer::steal_public`, which acquires
        // the pointer. The old buffer is not changed: a thief that still reads it finds the same
        // items at the same indices.
        self.shared
            .public
            .buffer
            .store(bigger.as_ptr(), mutant::weaken("deque/grow-relaxed", Ordering::Release));
    }
}

/// Returns the split with half of the private items published, and without a claim.
fn shared_half(split: Split, bottom: i64) -> Split {
    let private = (bottom - split.index()).max(0);
    split.at(split.index() + (private + 1) / 2)
}
