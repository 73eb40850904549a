//! A system whose heavy fences come late, or go.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Owner, Steal, Stealer};
use drowse_models::{every_interleaving, with_preemptions};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, LightFences, full_fence, heavy_fence, light_fence, thread};
use drowse_sync::{change_light_fences, changing_light_fences};
use std::ptr::NonNull;

/// Two words, of which each side writes one and reads the other.
#[derive(Default)]
struct Words {
    x: AtomicU32,
    y: AtomicU32,
}

impl Words {
    /// The side that uses light fences if it has some. Whether it missed the other.
    fn user(&self, light: Option<&LightFences>) -> bool {
        self.x.store(1, Ordering::Relaxed);
        if light.is_some() {
            light_fence("")
        } else {
            full_fence("")
        }
        self.y.load(Ordering::Relaxed) == 0
    }

    /// The other side. Whether it missed the user.
    fn other(&self) -> bool {
        self.y.store(1, Ordering::Relaxed);
        heavy_fence("");
        self.x.load(Ordering::Relaxed) == 0
    }
}

/// The system changes its mind; one side begins to use light fences before that, or after, or not
/// at all, and stops.
fn one_side_sees(ready: bool) {
    every_interleaving(move || {
        changing_light_fences(ready);
        let words = Arc::new(Words::default());
        let system = thread::spawn(change_light_fences);
        let user = thread::spawn({
            let words = Arc::clone(&words);
            move || {
                let light = LightFences::get();
                let missed = words.user(light.as_ref());
                drop(light);
                missed
            }
        });
        let missed = words.other();
        system.join().unwrap();
        assert!(!(user.join().unwrap() && missed), "both sides missed the other");
    });
}

#[test]
fn light_fences_that_come_late_let_one_side_see() {
    one_side_sees(false);
}

#[test]
fn light_fences_that_go_let_one_side_see() {
    one_side_sees(true);
}

/// The owner of a deque pushes an item, which lets it notice that the system has changed, and wants
/// it back. A thief takes it by force.
fn one_item(ready: bool, make: fn() -> (Owner<u32>, Stealer<u32>)) {
    with_preemptions(2, move || {
        changing_light_fences(ready);
        let (owner, stealer) = make();
        let system = thread::spawn(change_light_fences);
        let thief = thread::spawn(move || take(&stealer));
        let mut item = 7;
        owner.push(NonNull::from(&mut item));
        let mine = pop_or_nothing(&owner);
        system.join().unwrap();
        assert_eq!(mine + thief.join().unwrap(), 1, "an item is taken once");
    });
}

fn pop_or_nothing(owner: &Owner<u32>) -> u32 {
    u32::from(owner.pop().is_some())
}

/// How many items a thief gets.
fn take(stealer: &Stealer<u32>) -> u32 {
    loop {
        match stealer.steal_by_force() {
            Steal::Success(_) => return 1,
            Steal::Retry | Steal::Private => {}
            Steal::Empty => return 0,
        }
    }
}

#[test]
fn an_item_is_taken_once_though_light_fences_come() {
    one_item(false, || deque::cold(2));
}

#[test]
fn an_item_is_taken_once_though_light_fences_go() {
    one_item(true, || deque::new(2));
}

#[test]
fn an_item_is_taken_once_though_its_owner_has_rested() {
    one_item(true, || {
        let (owner, stealer) = deque::new(2);
        owner.rest();
        (owner, stealer)
    });
}
