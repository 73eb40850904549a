//! What a join may take back without a look at it.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Owner, Steal};
use drowse_models::{every_interleaving, with_preemptions};
use drowse_sync::thread;
use std::ptr::NonNull;

/// Pushes an item as a join does.
fn fork(owner: &Owner<u32>, item: &u32) {
    // SAFETY: it is the owner's own end.
    if unsafe { owner.end().push(NonNull::from(item)) } {
        owner.pushed_slow();
    }
}

/// Takes it back as a join does.
fn take_back(owner: &Owner<u32>, item: &u32) -> bool {
    // SAFETY: as above.
    unsafe {
        let (position, is_covered) = owner.end().newest();
        match is_covered {
            true => owner.take_back(NonNull::from(item)),
            false => owner.end().take_back(position) || owner.pop_slow(position),
        }
    }
}

fn is_covered(owner: &Owner<u32>) -> bool {
    // SAFETY: as above.
    unsafe { owner.end().newest().1 }
}

/// A job that was spawned lies on top of what the join has pushed.
#[test]
fn what_stays_covers_what_is_below() {
    every_interleaving(|| {
        let (owner, _stealer) = deque::new(4);
        let (half, spawned) = (1, 2);
        fork(&owner, &half);
        assert!(!is_covered(&owner));
        owner.push(NonNull::from(&spawned));
        assert!(!take_back(&owner, &half));
        assert_eq!(owner.pop(), Some(NonNull::from(&spawned)));
        assert!(take_back(&owner, &half));
        fork(&owner, &half);
        assert!(!is_covered(&owner), "that is over");
        assert!(take_back(&owner, &half));
    });
}

/// Somebody has run what the inner join has pushed, in the middle of it, and joined inside.
#[test]
fn whose_item_is_gone_does_not_take_that_of_another() {
    every_interleaving(|| {
        let (owner, _stealer) = deque::new(4);
        let (outer, inner, other) = (1, 2, 3);
        fork(&owner, &outer);
        fork(&owner, &inner);
        assert_eq!(owner.pop(), Some(NonNull::from(&inner)));
        for _ in 0..2 {
            fork(&owner, &other);
            assert!(take_back(&owner, &other));
        }
        assert!(!take_back(&owner, &inner));
        assert!(take_back(&owner, &outer));
        assert!(owner.is_empty());
    });
}

/// The inner one is stolen, perhaps, and both are taken back, or not.
#[test]
fn joins_and_a_thief_take_each_item_once() {
    with_preemptions(3, || {
        let (owner, stealer) = deque::new(4);
        let (outer, inner) = (1, 2);
        let items = [&outer, &inner].map(|item| NonNull::from(item).addr());
        fork(&owner, &outer);
        let thief = thread::spawn(move || match stealer.steal_by_force() {
            Steal::Success(item) => Some(item.addr()),
            _ => None,
        });
        fork(&owner, &inner);
        let inner_is_back = take_back(&owner, &inner);
        let outer_is_back = take_back(&owner, &outer);
        let stolen = thief.join().unwrap();
        assert_eq!(stolen == Some(items[0]), !outer_is_back);
        assert_eq!(stolen == Some(items[1]), !inner_is_back);
    });
}
