//! Start and end of an owner's use of light fences, and its preparations for a rest.

use super::Owner;
use drowse_sync::atomic::Ordering;
use drowse_sync::{LightFences, faulty, omittable};

impl<T> Owner<T> {
    /// Begins to use light fences when the system is ready for them, and stops when it no longer
    /// is.
    pub(super) fn change_fences(&self) {
        let mut fences = self.fences.borrow_mut();
        if fences.as_ref().is_some_and(LightFences::are_due_back) {
            // In this order: the fast path needs the light fences.
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

    /// Gets light fences, if there are any, as the first push would. For tests and models.
    #[cfg(any(test, drowse_loom, drowse_shuttle))]
    pub fn warm_up(&self) {
        self.change_fences();
    }

    /// Gives the light fences back, as the owner will do nothing for a while: then no thread
    /// executes a heavy fence because of it. New ones are paid for by slow pushes: see `Price`.
    pub fn rest(&self) {
        let mut fences = self.fences.borrow_mut();
        if fences.is_some() {
            omittable!("deque/rest-stays-light", self.leave_fast_path());
            self.shared.private.price.give_back(fences.take());
        }
    }

    /// Returns `true` if many items have taken up much memory.
    pub fn has_memory_to_give_back(&self) -> bool {
        self.pages.are_worth_giving_back(self.buffer().capacity())
    }

    /// Gives most of that memory back, if the items are gone. The owner must [rest](Self::rest): it
    /// is on the slow path, and its next push sets the limit that `pages` wants.
    #[cold]
    pub fn give_memory_back(&self) {
        let bottom = self.bottom();
        // ORDERING: acquire pairs with the release of `top` in `Stealer::steal_public`: each thief
        // has read the slot of its item before the slot is lost.
        let top = self.shared.public.top.load(Ordering::Acquire);
        let is_empty = faulty!("deque/rest-forgets-items", bottom <= top, true);
        if is_empty && self.has_memory_to_give_back() {
            // A slow thief may read a slot after this. Then its compare-and-swap fails: see "No
            // epochs" in the module's notes.
            self.buffer().give_back();
            self.pages.given_back_at(bottom);
        }
    }

    /// Makes all pushes and pops take the slow path from now on.
    pub(super) fn leave_fast_path(&self) {
        self.set_light(false);
        // This may overwrite an alert of a sleeper. The next push finds `ASKED`, so it takes the
        // longest path in `pushed_slow`, which looks for sleepers.
        let slow_down = || {
            faulty!("deque/rest-forgets-alert", self.share_next(), self.make_room(self.bottom()));
        };
        omittable!("deque/rest-keeps-limit", slow_down());
    }

    /// Notes in the split whether the owner has light fences. The caller sets the limit next.
    pub(super) fn set_light(&self, is_light: bool) {
        // This ends the claim of a thief that is publishing: the thief has chosen its fence by the
        // old flag.
        self.shared.public.split.update(|split| split.with_light_owner(is_light));
    }

    /// Returns `true` if the owner has light fences.
    pub fn is_light(&self) -> bool {
        // ORDERING: relaxed; only the owner changes this flag.
        self.shared.public.split.load(Ordering::Relaxed).owner_is_light()
    }
}
