//! A bound: never more jobs than so many, and what comes into a place comes after what was there.
#![cfg(drowse_loom)]

use drowse::model::{Bound, Place};
use drowse_models::{Parcel, every_interleaving};
use drowse_sync::{Arc, thread};

/// A bound, and what only one job at a time may touch.
struct Shared {
    bound: Bound,
    parcel: Parcel,
}

impl Shared {
    fn enter(&self, limit: usize) -> Option<Place> {
        // SAFETY: whoever has the place has the bound.
        unsafe { self.bound.enter(limit) }
    }

    /// A job that wants to be alone, if there is room. Whether there was.
    fn alone(&self) -> bool {
        let place = self.enter(1);
        if place.is_some() {
            self.parcel.put(42);
            assert_eq!(self.parcel.take(), 42);
        }
        place.is_some()
    }
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { bound: Bound::new(), parcel: Parcel::empty() })
}

#[test]
fn with_a_bound_of_one_jobs_come_one_after_the_other() {
    every_interleaving(|| {
        let shared = shared();
        let threads = [0, 1].map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.alone())
        });
        let here = shared.alone();
        let entered = threads.map(|thread| thread.join().unwrap());
        assert!(here || entered.contains(&true), "the first had room");
        assert!(shared.alone(), "all places are free again");
    });
}

#[test]
fn there_are_no_more_than_so_many_and_no_fewer() {
    every_interleaving(|| {
        let shared = shared();
        let threads = [0, 1].map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.enter(2))
        });
        let here = shared.enter(2);
        let places = threads.map(|thread| thread.join().unwrap());
        let entered = places.iter().chain([&here]).filter(|place| place.is_some()).count();
        assert_eq!(entered, 2, "of three that want a place, and stay");
    });
}
