//! Tests that loom cannot run: many items and threads, real memory; with and without light fences.

use super::{Owner, Steal, Stealer, with_fences};
use drowse_sync::LightFences;
use drowse_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::ptr::NonNull;
use std::thread;

/// Items that count how often they are taken.
pub(super) struct Items(Vec<AtomicU32>);

impl Items {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU32::new(0)).collect())
    }

    pub(super) fn pointer(&self, index: usize) -> NonNull<AtomicU32> {
        NonNull::from(&self.0[index])
    }

    pub(super) fn take(item: NonNull<AtomicU32>) {
        // SAFETY: a pointer from `pointer`; the items outlive the threads that take them.
        unsafe { item.as_ref() }.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn assert_each_taken_once(&self) {
        let wrong: Vec<_> = self
            .0
            .iter()
            .map(|item| item.load(Ordering::Relaxed))
            .enumerate()
            .filter(|(_, n)| *n != 1)
            .collect();
        assert!(wrong.is_empty(), "(index, times taken): {wrong:?}");
    }
}

fn both_ways(test: impl Fn(Owner<AtomicU32>, Stealer<AtomicU32>)) {
    both_ways_from(2, test);
}

/// Runs `test` with light fences and without, on a deque with this initial capacity.
pub(super) fn both_ways_from(capacity: usize, test: impl Fn(Owner<AtomicU32>, Stealer<AtomicU32>)) {
    for get in [LightFences::at_any_cost, || None] {
        let (owner, stealer) = with_fences(0, capacity, get);
        owner.warm_up();
        test(owner, stealer);
    }
}

#[test]
fn newest_first_for_the_owner_oldest_first_for_thieves() {
    both_ways(|owner, stealer| {
        let items = Items::new(10);
        for index in 0..10 {
            owner.push(items.pointer(index));
        }
        assert_eq!(owner.len(), 10);
        assert_eq!(stealer.steal_by_force(), Steal::Success(items.pointer(0)));
        assert_eq!(owner.pop(), Some(items.pointer(9)));
        assert_eq!(stealer.steal_by_force(), Steal::Success(items.pointer(1)));
        for index in (2..9).rev() {
            assert_eq!(owner.pop(), Some(items.pointer(index)));
        }
        assert_eq!((owner.pop(), stealer.steal_by_force()), (None, Steal::Empty));
        assert!(owner.is_empty() && stealer.is_empty());
    });
}

#[test]
fn takes_back_the_newest_and_nothing_else() {
    both_ways(|owner, stealer| {
        let items = Items::new(3);
        let [a, b, c] = [0, 1, 2].map(|index| items.pointer(index));
        assert!(!owner.take_back(a), "never pushed");
        owner.push(a);
        owner.push(b);
        assert!(!owner.take_back(a), "covered by b");
        assert!(!owner.take_back(c), "never pushed");
        assert_eq!(owner.len(), 2);
        assert!(owner.take_back(b));
        assert!(owner.take_back(a));
        assert!(!owner.take_back(a), "taken already");
        owner.push(c);
        assert_eq!(stealer.steal_by_force(), Steal::Success(c));
        assert!(!owner.take_back(c), "stolen");
        assert!(owner.is_empty());
    });
}

/// Returns a deque whose owner can push on the fast path; `None` where there are no light fences,
/// and so no private items.
fn with_private_items() -> Option<(Owner<AtomicU32>, Stealer<AtomicU32>)> {
    LightFences::at_any_cost()?;
    let (owner, stealer) = with_fences(0, 16, LightFences::at_any_cost);
    owner.warm_up();
    Some((owner, stealer))
}

#[test]
fn a_thief_asks_for_what_is_private_and_the_next_push_answers() {
    let Some((owner, stealer)) = with_private_items() else { return };
    let items = Items::new(3);
    owner.push(items.pointer(0));
    assert_eq!(stealer.steal(), Steal::Private);
    stealer.ask();
    owner.push(items.pointer(1));
    assert_eq!(stealer.steal(), Steal::Success(items.pointer(0)));
    // The request was used up: what is pushed now is private again.
    owner.push(items.pointer(2));
    assert_eq!(stealer.steal(), Steal::Private);
    assert_eq!((owner.pop(), owner.pop()), (Some(items.pointer(2)), Some(items.pointer(1))));
    assert_eq!(owner.pop(), None);
}

#[test]
fn a_request_left_at_an_empty_deque_is_answered_by_the_next_push() {
    let Some((owner, stealer)) = with_private_items() else { return };
    let items = Items::new(1);
    assert_eq!(stealer.steal(), Steal::Empty);
    stealer.ask();
    owner.push(items.pointer(0));
    assert_eq!(stealer.steal(), Steal::Success(items.pointer(0)));
    assert_eq!(owner.pop(), None);
}

#[test]
fn what_is_shared_can_be_taken_by_thief_or_owner() {
    let Some((owner, stealer)) = with_private_items() else { return };
    let items = Items::new(4);
    for index in 0..4 {
        owner.push(items.pointer(index));
    }
    owner.share();
    assert_eq!(stealer.steal(), Steal::Success(items.pointer(0)));
    assert_eq!(stealer.steal(), Steal::Success(items.pointer(1)));
    assert_eq!(stealer.steal(), Steal::Private, "half of the items, no more");
    owner.share();
    assert_eq!((owner.pop(), owner.pop()), (Some(items.pointer(3)), Some(items.pointer(2))));
    assert_eq!((owner.pop(), stealer.steal()), (None, Steal::Empty));
}

pub(super) fn while_thieves_steal(stealer: &Stealer<AtomicU32>, owner: impl FnOnce()) {
    let done = &AtomicBool::new(false);
    thread::scope(|s| {
        for by_force in [true, false, false] {
            s.spawn(move || {
                loop {
                    match if by_force { stealer.steal_by_force() } else { stealer.steal() } {
                        Steal::Success(item) => Items::take(item),
                        Steal::Empty if done.load(Ordering::Acquire) => break,
                        Steal::Empty | Steal::Retry | Steal::Private => std::hint::spin_loop(),
                    }
                }
            });
        }
        owner();
        done.store(true, Ordering::Release);
    });
}

#[test]
fn everything_is_taken_once_while_thieves_are_about() {
    both_ways(|owner, stealer| {
        let items = Items::new(200_000);
        while_thieves_steal(&stealer, || {
            // Bursts of every length up to a hundred, of which the owner takes most back.
            let mut next = 0;
            for burst in (1..=100).cycle() {
                let end = (next + burst).min(items.0.len());
                for index in next..end {
                    owner.push(items.pointer(index));
                }
                for index in (next..end).rev() {
                    if burst % 3 == 0 {
                        if owner.take_back(items.pointer(index)) {
                            Items::take(items.pointer(index));
                        }
                    } else if let Some(item) = owner.pop() {
                        Items::take(item);
                    }
                }
                next = end;
                if next == items.0.len() {
                    break;
                }
            }
            while let Some(item) = owner.pop() {
                Items::take(item);
            }
        });
        items.assert_each_taken_once();
    });
}
