//! Memory that is given back: when, and that nothing is lost by it.

use super::Owner;
use crate::deque::pages::LARGE;
use crate::deque::tests::{Items, both_ways_from, while_thieves_steal};
use drowse_sync::atomic::{AtomicU32, Ordering};
use std::ops::Range;

/// Whether the next rest of an owner that has no items would give memory back.
fn has_much(owner: &Owner<AtomicU32>) -> bool {
    owner.pages.are_worth_giving_back(owner.buffer().capacity())
}

fn push(owner: &Owner<AtomicU32>, items: &Items, indices: Range<usize>) {
    for index in indices {
        owner.push(items.pointer(index));
    }
}

/// Takes what is left.
fn drain(owner: &Owner<AtomicU32>) {
    while !owner.is_empty() {
        // The last one may go to a thief.
        owner.pop().into_iter().for_each(Items::take);
    }
}

/// How many slots of the current buffer hold something, or what was left of it.
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
        // A few more change nothing; many do, though they need no larger buffer.
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
            // What was public uses up its index, whoever takes it.
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

/// A flood, and then bursts of a few items, with a rest after each that gives everything back.
#[test]
fn nothing_is_lost_though_thieves_are_about_when_memory_is_given_back() {
    both_ways_from(LARGE / 4, |owner, stealer| {
        let (flood, all) = (LARGE + 1, LARGE + 40_000);
        let items = Items::new(all);
        // Before the thieves come, so that it grows.
        push(&owner, &items, 0..flood);
        assert!(owner.buffer().capacity() > LARGE);
        while_thieves_steal(&stealer, || {
            let mut next = flood;
            for burst in (1..=20).cycle() {
                drain(&owner);
                // As if there had been many.
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
