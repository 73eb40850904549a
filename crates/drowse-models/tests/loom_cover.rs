//! What a join may take back without a look at it.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Owner, Steal, Stealer};
use drowse_models::{every_interleaving, with_preemptions};
use drowse_sync::{thread, without_light_fences};
use std::ptr::NonNull;

/// What a join has pushed.
struct Half<'a> {
    item: &'a u32,
    position: i64,
}

impl<'a> Half<'a> {
    /// Pushes an item as a join does.
    fn fork(owner: &Owner<u32>, item: &'a u32) -> Self {
        // SAFETY: it is the owner's own end.
        let position = unsafe { owner.end().position() };
        // SAFETY: as above.
        let is_pushed = unsafe {
            !owner.end().push(position, NonNull::from(item)) || owner.end().pushed_fenced()
        };
        if !is_pushed {
            owner.pushed_slow(true);
        }
        Self { item, position }
    }

    fn is_covered(&self, owner: &Owner<u32>) -> bool {
        // SAFETY: as above.
        unsafe { owner.end().is_covered(self.position) }
    }

    /// Takes it back as a join does.
    fn take_back(&self, owner: &Owner<u32>) -> bool {
        if self.is_covered(owner) {
            return owner.take_back(NonNull::from(self.item));
        }
        // SAFETY: as above.
        let is_private = unsafe {
            owner.end().take_back(self.position) || owner.end().taken_back_fenced(self.position)
        };
        is_private || owner.pop_slow(self.position)
    }

    /// Takes it back as a join does that sees, by its latch, that somebody has run it.
    fn take_back_done(&self, owner: &Owner<u32>) -> bool {
        // SAFETY: as above.
        assert!(unsafe { owner.end().is_covered(-1) }, "whatever is there");
        owner.take_back(NonNull::from(self.item))
    }
}

/// A job that was spawned lies on top of what the join has pushed.
#[test]
fn what_stays_covers_what_is_below() {
    every_interleaving(|| {
        let (owner, _stealer) = deque::new(4);
        let (item, spawned) = (1, 2);
        let half = Half::fork(&owner, &item);
        assert!(!half.is_covered(&owner));
        owner.push(NonNull::from(&spawned));
        assert!(!half.take_back(&owner));
        assert_eq!(owner.pop(), Some(NonNull::from(&spawned)));
        assert!(half.take_back(&owner));
        let half = Half::fork(&owner, &item);
        assert!(!half.is_covered(&owner), "that is over");
        assert!(half.take_back(&owner));
    });
}

/// Somebody has run what the inner join has pushed, in the middle of it, and joined inside.
#[test]
fn whose_item_is_gone_does_not_take_that_of_another() {
    every_interleaving(|| {
        let (owner, _stealer) = deque::new(4);
        let (outer, inner, other) = (1, 2, 3);
        let outer = Half::fork(&owner, &outer);
        let inner = Half::fork(&owner, &inner);
        assert_eq!(owner.pop(), Some(NonNull::from(inner.item)));
        for _ in 0..2 {
            let other = Half::fork(&owner, &other);
            assert!(other.take_back(&owner));
        }
        assert!(!inner.take_back_done(&owner));
        assert!(outer.take_back(&owner));
        assert!(owner.is_empty());
    });
}

fn steal(stealer: &Stealer<u32>) -> Option<NonNull<u32>> {
    match stealer.steal_by_force() {
        Steal::Success(item) => Some(item),
        _ => None,
    }
}

#[test]
fn joins_and_a_thief_take_each_item_once() {
    with_preemptions(3, joins_and_a_thief);
}

#[test]
fn joins_and_a_thief_take_each_item_once_without_light_fences() {
    with_preemptions(3, || {
        without_light_fences();
        joins_and_a_thief();
    });
}

/// The inner one is stolen, perhaps, and both are taken back, or not.
fn joins_and_a_thief() {
    let (owner, stealer) = deque::new(4);
    let (outer, inner) = (1, 2);
    let items = [&outer, &inner].map(|item| NonNull::from(item).addr());
    let outer = Half::fork(&owner, &outer);
    let thief = thread::spawn(move || steal(&stealer).map(NonNull::addr));
    let inner = Half::fork(&owner, &inner);
    let inner_is_back = inner.take_back(&owner);
    let outer_is_back = outer.take_back(&owner);
    let stolen = thief.join().unwrap();
    assert_eq!(stolen == Some(items[0]), !outer_is_back);
    assert_eq!(stolen == Some(items[1]), !inner_is_back);
}

/// Both are stolen, the outer one first. When its join looks, the newest position is not its own.
#[test]
fn what_comes_after_two_that_were_stolen_is_found() {
    every_interleaving(|| {
        let (owner, stealer) = deque::new(4);
        let (outer, inner, next) = (1, 2, 3);
        let outer = Half::fork(&owner, &outer);
        let inner = Half::fork(&owner, &inner);
        assert_eq!(steal(&stealer), Some(NonNull::from(outer.item)));
        assert_eq!(steal(&stealer), Some(NonNull::from(inner.item)));
        assert!(!inner.take_back(&owner));
        assert!(!outer.take_back(&owner));
        assert!(owner.is_empty());
        let next = Half::fork(&owner, &next);
        assert!(!stealer.is_empty());
        assert_eq!(steal(&stealer), Some(NonNull::from(next.item)));
        assert!(!next.take_back(&owner));
    });
}
