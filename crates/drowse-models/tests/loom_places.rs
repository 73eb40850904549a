//! The places of a pool: each is held by one at a time, and whoever waits for one gets it.
#![cfg(drowse_loom)]

use drowse::model::Places;
use drowse_models::{Parcel, every_interleaving, with_preemptions};
use drowse_sync::{Arc, thread};

/// One place for three seats, and what its holder may touch.
struct Pool {
    places: Places,
    index: Parcel,
}

impl Pool {
    fn new() -> Arc<Self> {
        Arc::new(Self { places: Places::new(1, 3), index: Parcel::of(0) })
    }

    fn start(self: &Arc<Self>, work: fn(&Self)) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || work(&pool))
    }

    fn run(&self) {
        self.index.put(self.index.take() + 1);
    }

    /// Waits for the place, runs, and leaves it.
    fn visit(&self, seat: usize) {
        if !self.places.ask_for(0, seat) {
            self.places.wait(seat);
            assert!(self.places.is_granted(seat) && !self.places.withdraw(0, seat));
        }
        self.run();
        self.places.give_up(0, false);
    }

    fn end(&self, runs: u32) {
        assert_eq!(self.index.take(), runs);
        assert!(self.places.are_at_rest(1));
    }
}

#[test]
fn a_place_that_is_given_up_goes_to_one_who_waits() {
    every_interleaving(|| {
        let pool = Pool::new();
        let waiter = pool.start(|pool| pool.visit(1));
        pool.run();
        pool.places.give_up(0, false);
        waiter.join().unwrap();
        pool.end(2);
    });
}

#[test]
fn two_who_wait_have_it_one_after_the_other() {
    with_preemptions(2, || {
        let pool = Pool::new();
        let waiters = [pool.start(|pool| pool.visit(1)), pool.start(|pool| pool.visit(2))];
        pool.run();
        pool.places.give_up(0, false);
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        pool.end(3);
    });
}

/// Whoever has lost patience has the place all the same if it was granted meanwhile.
#[test]
fn a_place_is_granted_or_the_wish_withdrawn() {
    every_interleaving(|| {
        let pool = Pool::new();
        let waiter = pool.start(|pool| {
            if !pool.places.ask_for(0, 1) {
                if pool.places.withdraw(0, 1) {
                    assert!(!pool.places.is_granted(1));
                    return;
                }
                assert!(pool.places.is_granted(1));
            }
            pool.run();
            pool.places.give_up(0, false);
        });
        pool.run();
        // One that is between two jobs goes on if nobody wants its place.
        if !pool.places.yield_to_waiter(0) {
            pool.run();
            pool.places.give_up(0, false);
        }
        waiter.join().unwrap();
        assert!(pool.places.are_at_rest(1));
    });
}

/// So one of them runs what it has forked, before it blocks.
#[test]
fn one_of_two_who_give_up_the_last_places_is_the_last() {
    every_interleaving(|| {
        let places = Arc::new(Places::new(2, 2));
        let other = thread::spawn({
            let places = Arc::clone(&places);
            move || places.give_up(1, true)
        });
        let given = [places.give_up(0, true), other.join().unwrap()];
        assert!(given[0] != given[1]);
        assert!(places.are_at_rest(1));
    });
}
