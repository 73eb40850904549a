//! The deque: every item is taken once, whole, whoever takes it.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Owner, Steal, Stealer};
use drowse_models::{Parcel, every_interleaving, with_preemptions};
use drowse_sync::{Arc, thread, without_light_fences};
use std::ptr::NonNull;

/// Items to push. Their contents are written by the owner just before each push, and taken out by
/// the taker.
#[derive(Clone)]
struct Items(Arc<Vec<Parcel>>);

impl Items {
    fn new(count: usize) -> Self {
        Self(Arc::new((0..count).map(|_| Parcel::empty()).collect()))
    }

    fn push(&self, deque: &Owner<Parcel>, index: usize) -> NonNull<Parcel> {
        self.0[index].put(index as u32);
        let item = NonNull::from(&self.0[index]);
        deque.push(item);
        item
    }

    /// Takes an item's contents out: a race or a panic if another thread did or does.
    fn open(&self, item: NonNull<Parcel>) -> u32 {
        // SAFETY: points into the vector, which we hold.
        unsafe { item.as_ref() }.take()
    }
}

/// Steals once: asks, and takes by force what it is not given. Tries again as long as somebody else
/// is quicker.
fn steal(deque: &Stealer<Parcel>, items: &Items) -> Option<u32> {
    let mut by_force = false;
    loop {
        match if by_force { deque.steal_by_force() } else { deque.steal() } {
            Steal::Success(item) => return Some(items.open(item)),
            Steal::Retry => {}
            Steal::Private => {
                deque.ask();
                by_force = true;
            }
            Steal::Empty => return None,
        }
    }
}

fn pop(deque: &Owner<Parcel>, items: &Items) -> Option<u32> {
    deque.pop().map(|item| items.open(item))
}

/// Demands that the takers got what was pushed, and each item once.
fn assert_all_taken(items: &Items, taken: impl IntoIterator<Item = Option<u32>>) {
    let mut taken: Vec<u32> = taken.into_iter().flatten().collect();
    taken.sort_unstable();
    let all: Vec<u32> = (0..items.0.len() as u32).collect();
    assert_eq!(taken, all, "items taken");
}

fn last_item() {
    let items = Items::new(1);
    let (owner, stealer) = deque::new(2);
    let thief = thread::spawn({
        let items = items.clone();
        move || steal(&stealer, &items)
    });
    items.push(&owner, 0);
    let popped = pop(&owner, &items);
    let stolen = thief.join().unwrap();
    assert_all_taken(&items, [popped, stolen]);
    assert!(owner.is_empty());
}

#[test]
fn the_last_item_goes_to_one() {
    every_interleaving(last_item);
}

#[test]
fn the_last_item_goes_to_one_without_light_fences() {
    every_interleaving(|| {
        without_light_fences();
        last_item();
    });
}

/// An owner pushes two items, does `this`, and pops; a thief steals meanwhile.
fn two_items(this: impl Fn(&Owner<Parcel>)) {
    let items = Items::new(2);
    let (owner, stealer) = deque::new(2);
    items.push(&owner, 0);
    let thief = thread::spawn({
        let items = items.clone();
        move || steal(&stealer, &items)
    });
    items.push(&owner, 1);
    this(&owner);
    let popped = [pop(&owner, &items), pop(&owner, &items)];
    let stolen = thief.join().unwrap();
    assert_all_taken(&items, popped.into_iter().chain([stolen]));
    assert!(owner.is_empty());
}

#[test]
fn owner_and_thief_share_two_items() {
    with_preemptions(4, || two_items(|_| {}));
}

/// An owner that expects thieves publishes of its own accord, and goes on to take what it
/// published.
#[test]
fn an_owner_shares_and_takes_back_while_a_thief_steals() {
    with_preemptions(3, || two_items(Owner::share));
}

#[test]
fn a_thief_that_comes_twice_takes_no_item_twice() {
    with_preemptions(3, || {
        let items = Items::new(2);
        let (owner, stealer) = deque::new(2);
        items.push(&owner, 0);
        items.push(&owner, 1);
        let thief = thread::spawn({
            let items = items.clone();
            move || [steal(&stealer, &items), steal(&stealer, &items)]
        });
        let popped = [pop(&owner, &items), pop(&owner, &items)];
        let stolen = thief.join().unwrap();
        assert_all_taken(&items, popped.into_iter().chain(stolen));
        assert!(owner.is_empty());
    });
}

/// The request reaches the owner before one of its pushes, or too late, or never.
#[test]
fn a_thief_asks_an_owner_that_goes_on_pushing() {
    with_preemptions(2, || {
        let items = Items::new(3);
        let (owner, stealer) = deque::new(4);
        items.push(&owner, 0);
        let thief = thread::spawn({
            let items = items.clone();
            move || [(); 3].map(|()| steal(&stealer, &items))
        });
        items.push(&owner, 1);
        items.push(&owner, 2);
        let popped = [(); 3].map(|()| pop(&owner, &items));
        let stolen = thief.join().unwrap();
        assert_all_taken(&items, popped.into_iter().chain(stolen));
        assert!(owner.is_empty());
    });
}

#[test]
fn what_is_pushed_between_pops_is_not_lost() {
    with_preemptions(3, || {
        let items = Items::new(3);
        let (owner, stealer) = deque::new(2);
        items.push(&owner, 0);
        items.push(&owner, 1);
        let thief = thread::spawn({
            let items = items.clone();
            move || steal(&stealer, &items)
        });
        let first = pop(&owner, &items);
        items.push(&owner, 2);
        let rest = [pop(&owner, &items), pop(&owner, &items)];
        let stolen = thief.join().unwrap();
        assert_all_taken(&items, [first, stolen].into_iter().chain(rest));
    });
}

#[test]
fn take_back_gets_the_item_or_a_thief_does() {
    with_preemptions(3, || {
        let items = Items::new(2);
        let (owner, stealer) = deque::new(2);
        let older = items.push(&owner, 0);
        let thief = thread::spawn({
            let items = items.clone();
            move || steal(&stealer, &items)
        });
        let newer = items.push(&owner, 1);
        assert!(!owner.take_back(older), "it is not the newest");
        let back = [newer, older].map(|item| owner.take_back(item).then(|| items.open(item)));
        let stolen = thief.join().unwrap();
        assert_all_taken(&items, back.into_iter().chain([stolen]));
        assert!(owner.is_empty());
    });
}

#[test]
fn a_deque_that_grows_loses_nothing() {
    with_preemptions(3, || {
        let items = Items::new(3);
        let (owner, stealer) = deque::new(2);
        items.push(&owner, 0);
        let thief = thread::spawn({
            let items = items.clone();
            move || steal(&stealer, &items)
        });
        // It grows as soon as it is full.
        items.push(&owner, 1);
        items.push(&owner, 2);
        let stolen = thief.join().unwrap();
        let popped = [pop(&owner, &items), pop(&owner, &items), pop(&owner, &items)];
        assert_all_taken(&items, popped.into_iter().chain([stolen]));
    });
}

/// An owner that rests gives back what its buffers hold, but not while there are items. A thief may
/// be slow, and read what was given back: of the outgrown buffer, too, or when another item is
/// there.
#[test]
fn an_owner_that_rests_gives_back_nothing_that_is_left() {
    with_preemptions(2, || {
        let items = Items::new(4);
        let (owner, stealer) = deque::new(2);
        items.push(&owner, 0);
        items.push(&owner, 1);
        let thief = thread::spawn({
            let items = items.clone();
            move || steal(&stealer, &items)
        });
        items.push(&owner, 2);
        owner.rest();
        owner.give_memory_back();
        let mut taken = [(); 3].map(|()| pop(&owner, &items)).to_vec();
        owner.rest();
        owner.give_memory_back();
        items.push(&owner, 3);
        taken.push(pop(&owner, &items));
        taken.push(thief.join().unwrap());
        assert_all_taken(&items, taken);
    });
}

#[test]
fn two_thieves_and_the_owner() {
    with_preemptions(2, || {
        let items = Items::new(2);
        let (owner, stealer) = deque::new(2);
        let stealer = Arc::new(stealer);
        items.push(&owner, 0);
        items.push(&owner, 1);
        let thieves = [(); 2].map(|()| {
            let (items, stealer) = (items.clone(), Arc::clone(&stealer));
            thread::spawn(move || steal(&stealer, &items))
        });
        let popped = [pop(&owner, &items), pop(&owner, &items)];
        let stolen = thieves.map(|thief| thief.join().unwrap());
        assert_all_taken(&items, popped.into_iter().chain(stolen));
    });
}

/// A public item that is not the last: the owner takes it without a race, and a thief must leave it
/// alone.
fn two_public_items() {
    let items = Items::new(6);
    let (owner, stealer) = deque::new(8);
    for index in 0..6 {
        items.push(&owner, index);
    }
    // The first thief makes half of them public, and takes one. The owner takes the private half: 1
    // and 2 are left.
    let mut taken = vec![steal(&stealer, &items)];
    taken.extend((0..3).map(|_| pop(&owner, &items)));
    let thief = thread::spawn({
        let items = items.clone();
        move || [steal(&stealer, &items), steal(&stealer, &items)]
    });
    taken.push(pop(&owner, &items));
    taken.extend(thief.join().unwrap());
    taken.push(pop(&owner, &items));
    assert_all_taken(&items, taken);
}

#[test]
fn owner_and_thief_share_two_public_items() {
    every_interleaving(two_public_items);
}

#[test]
fn owner_and_thief_share_two_public_items_without_light_fences() {
    every_interleaving(|| {
        without_light_fences();
        two_public_items();
    });
}

/// Two items, two thieves, and the owner takes none: nobody comes back empty, although one may have
/// taken all that the other has published.
#[test]
fn a_thief_that_finds_nothing_has_overlooked_nothing() {
    with_preemptions(2, || {
        let items = Items::new(2);
        let (owner, stealer) = deque::new(2);
        let stealer = Arc::new(stealer);
        items.push(&owner, 0);
        items.push(&owner, 1);
        let thief = thread::spawn({
            let (items, stealer) = (items.clone(), Arc::clone(&stealer));
            move || steal(&stealer, &items)
        });
        let ours = steal(&stealer, &items);
        let theirs = thief.join().unwrap();
        assert_all_taken(&items, [ours, theirs]);
    });
}

/// One thief publishes what the owner has put in the place of another item. The other thief has
/// seen only that one, and takes what is there now: it has nothing to go by but the publication.
#[test]
fn a_thief_takes_what_another_has_published() {
    with_preemptions(3, || {
        let items = Items::new(2);
        let (owner, stealer) = deque::new(4);
        let stealer = Arc::new(stealer);
        items.push(&owner, 0);
        let thieves = [Stealer::steal, Stealer::steal_by_force].map(|steal| {
            let (items, stealer) = (items.clone(), Arc::clone(&stealer));
            thread::spawn(move || match steal(&stealer) {
                Steal::Success(item) => Some(items.open(item)),
                _ => None,
            })
        });
        let first = pop(&owner, &items);
        items.push(&owner, 1);
        let stolen = thieves.map(|thief| thief.join().unwrap());
        let rest = [pop(&owner, &items), pop(&owner, &items)];
        assert_all_taken(&items, [first].into_iter().chain(stolen).chain(rest));
    });
}

/// All that the thief has of the first item is what the owner wrote as it took the second one back.
#[test]
fn a_thief_sees_what_lies_below_what_was_popped() {
    with_preemptions(3, || {
        let items = Items::new(2);
        let (owner, stealer) = deque::new(4);
        let thief = thread::spawn({
            let items = items.clone();
            move || steal(&stealer, &items)
        });
        items.push(&owner, 0);
        items.push(&owner, 1);
        let popped = [pop(&owner, &items), pop(&owner, &items)];
        let stolen = thief.join().unwrap();
        assert_all_taken(&items, popped.into_iter().chain([stolen]));
    });
}

/// A thief that has claimed what is private is overtaken: the owner takes the item, puts another
/// one in its place and takes that too, and the other thief makes a claim that looks the same.
#[test]
fn a_thief_does_not_take_the_claim_of_another_for_its_own() {
    with_preemptions(3, || {
        let items = Items::new(2);
        let (owner, stealer) = deque::new(2);
        let stealer = Arc::new(stealer);
        items.push(&owner, 0);
        let start_thief = || {
            let (items, stealer) = (items.clone(), Arc::clone(&stealer));
            thread::spawn(move || match stealer.steal_by_force() {
                Steal::Success(item) => Some(items.open(item)),
                _ => None,
            })
        };
        let one = start_thief();
        let first = pop(&owner, &items);
        items.push(&owner, 1);
        let other = start_thief();
        let second = pop(&owner, &items);
        let stolen = [one, other].map(|thief| thief.join().unwrap());
        assert_all_taken(&items, [first, second].into_iter().chain(stolen));
    });
}
