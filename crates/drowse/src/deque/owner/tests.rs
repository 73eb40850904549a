//! Tests of memory that is given back: at the right time, and without losing an item.

use super::Owner;
use crate::deque::pages::LARGE;
use crate::deque::tests::{Items, both_ways_from, while_thieves_steal};
use drowse_sync::atomic::{AtomicU32, Ordering};
use std::ops::Range;

/// Returns `true` if the next rest of an owner without items would give memory back.
fn has_much(owner: &Owner<AtomicU32>) -> bool {
    owner.pages.are_worth_giving_back(owner.buffer().capacity())
}

fn push(owner: &Owner<AtomicU32>, items: &Items, indices: Range<usize>) {
    for index in indices {
        owner.push(items.pointer(index));
    }
}

/// Takes the items that are left.
fn drain(owner: &Owner<AtomicU32>) {
    while !owner.is_empty() {
        // The last one may go to a thief.
        owner.pop().into_iter().for_each(Items::take);
    }
}

/// Returns the number of slots in the current buffer that are not null.
fn slots_in_use(owner: &Owner<AtomicU32>) -> usize {
    owner.buffer().slots().iter().filter(|slot| !slot.load(Ordering::Relaxed).is_null()).count()
}

#[test]
fn an_owner_that_rests_gives_back_what_many_items_took_up() {
    both_ways_from(64, |owner, _| {
        let items = Items::new(4 * LARGE);
        push(&owner, &items, 0..LARGE);
        owner.rest();
        owner.give_memory_back();
        assert!(has_much(&owner), "there are items");
        assert_eq!(slots_in_use(&owner), LARGE);
        drain(&owner);
        owner.rest();
        owner.give_memory_back();
        assert!(!has_much(&owner));
        if cfg!(target_os = "linux") {
            let left = slots_in_use(&owner);
            assert!(left < LARGE / 4, "{left} slots still hold something");
        }
        // A few more items change nothing; many do, though they need no larger buffer.
        push(&owner, &items, LARGE..LARGE + 1_000);
        drain(&owner);
        owner.rest();
        owner.give_memory_back();
        assert!(!has_much(&owner));
        push(&owner, &items, LARGE + 1_000..2 * LARGE + 1_001);
        drain(&owner);
        assert!(has_much(&owner));
        owner.rest();
        owner.give_memory_back();
        assert!(!has_much(&owner));
        push(&owner, &items, 2 * LARGE + 1_001..4 * LARGE);
        drain(&owner);
        owner.rest();
        owner.give_memory_back();
        items.assert_each_taken_once();
    });
}

#[test]
fn few_items_at_a_time_touch_many_pages_in_the_end() {
    both_ways_from(LARGE, |owner, _| {
        owner.rest();
        owner.give_memory_back();
        assert!(!has_much(&owner));
        let items = Items::new(LARGE);
        for index in 0..LARGE {
            assert!(!has_much(&owner), "at {index}");
            owner.push(items.pointer(index));
            // A public item uses up its index, whether owner or thief takes it.
            owner.share();
            drain(&owner);
        }
        assert!(has_much(&owner));
        items.assert_each_taken_once();
    });
}

#[test]
fn small_deques_keep_what_they_have() {
    both_ways_from(64, |owner, _| {
        // There is always room for one more.
        let items = Items::new(LARGE / 2 - 1);
        push(&owner, &items, 0..LARGE / 2 - 1);
        drain(&owner);
        owner.rest();
        owner.give_memory_back();
        assert_eq!(slots_in_use(&owner), LARGE / 2 - 1);
    });
}

/// Pushes many items, then bursts of a few, with a rest after each that gives everything back.
#[test]
fn nothing_is_lost_though_thieves_are_about_when_memory_is_given_back() {
    both_ways_from(LARGE / 4, |owner, stealer| {
        let (flood, all) = (LARGE + 1, LARGE + 40_000);
        let items = Items::new(all);
        // Pushed before the thieves start, so that the buffer grows.
        push(&owner, &items, 0..flood);
        assert!(owner.buffer().capacity() > LARGE);
        while_thieves_steal(&stealer, || {
            let mut next = flood;
            for burst in (1..=20).cycle() {
                drain(&owner);
                // As if many items had been pushed.
                owner.pages.reached(i64::MAX);
                owner.rest();
                owner.give_memory_back();
                assert!(!has_much(&owner));
                if next == all {
                    break;
                }
                let end = all.min(next + burst);
                push(&owner, &items, next..end);
                next = end;
            }
        });
        items.assert_each_taken_once();
    });
}
