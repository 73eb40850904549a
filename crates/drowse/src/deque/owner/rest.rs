//! How an owner begins to use light fences, and what it does before it rests.

use super::Owner;
use drowse_sync::atomic::Ordering;
use drowse_sync::{LightFences, faulty, omittable};

impl<T> Owner<T> {
    /// Begins to use light fences when the system is ready for them, and stops when it no longer
    /// is.
    pub(super) fn change_fences(&self) {
        let mut fences = self.fences.borrow_mut();
        if fences.as_ref().is_some_and(LightFences::are_due_back) {
            // First the slow path, then no light fences.
            self.leave_fast_path();
            self.shared.private.price.give_back(fences.take());
        } else if fences.is_none() && self.shared.private.price.is_paid() {
            *fences = (self.get_fences)();
            if fences.is_some() {
                self.set_light(true);
                self.make_room(self.bottom());
            } else {
                self.shared.private.price.refused();
            }
        }
    }

    /// Gets light fences, if there are any, as the first push would. For tests of what comes after.
    #[cfg(any(test, drowse_loom, drowse_shuttle))]
    pub fn warm_up(&self) {
        self.change_fences();
    }

    /// The owner is going to do nothing for a while: it gives its light fences back, so that nobody
    /// executes a heavy one because of it. It gets them again by pushes, when it has
    /// [paid](super::Price) for those.
    pub fn rest(&self) {
        let mut fences = self.fences.borrow_mut();
        if fences.is_some() {
            omittable!("deque/rest-stays-light", self.leave_fast_path());
            self.shared.private.price.give_back(fences.take());
        }
    }

    /// Whether many items have taken up much memory.
    pub fn has_memory_to_give_back(&self) -> bool {
        self.pages.are_worth_giving_back(self.buffer().capacity())
    }

    /// Gives most of that memory back, if the items are gone. For an owner that
    /// [rests](Self::rest): it is on the slow path, and its next push sets the limit that `pages`
    /// wants.
    #[cold]
    pub fn give_memory_back(&self) {
        let bottom = self.bottom();
        // ORDERING: acquire pairs with the release of each thief's compare-and-swap: those who have
        // taken an item read its slot before it is lost.
        let top = self.shared.public.top.load(Ordering::Acquire);
        let is_empty = faulty!("deque/rest-forgets-items", bottom <= top, true);
        if is_empty && self.has_memory_to_give_back() {
            // A slow thief may read a slot after this. Then its compare-and-swap fails: see "no
            // epochs" in the module's notes.
            self.buffer().give_back();
            self.pages.given_back_at(bottom);
        }
    }

    /// Takes the slow path from now on.
    pub(super) fn leave_fast_path(&self) {
        self.set_light(false);
        // The next push takes the slowest of all ways, where it looks for sleepers: what they may
        // have written to the limit is overwritten here.
        let slow_down = || {
            faulty!("deque/rest-forgets-alert", self.share_next(), self.make_room(self.bottom()));
        };
        omittable!("deque/rest-keeps-limit", slow_down());
    }

    /// Notes whether the owner has light fences. The caller sets the limit next.
    pub(super) fn set_light(&self, is_light: bool) {
        // A thief that is publishing has acted on what was before: its claim ends.
        self.shared.public.split.update(|split| split.with_light_owner(is_light));
    }

    /// Whether the owner has light fences.
    pub fn is_light(&self) -> bool {
        // ORDERING: relaxed; only the owner changes that.
        self.shared.public.split.load(Ordering::Relaxed).owner_is_light()
    }
}
