//! Slabs: one is freed when all of its slots are, and not before.
#![cfg(drowse_loom)]

use drowse::model::Slabs;
use drowse_models::every_interleaving;
use drowse_sync::thread;

/// A slab has two slots in a model: the worker frees one, and a thief the other.
#[test]
fn a_slab_goes_when_its_last_slot_is_freed() {
    every_interleaving(|| {
        let slabs = Slabs::new();
        let (stolen, kept) = (slabs.alloc(), slabs.alloc());
        let thief = thread::spawn(move || Slabs::new().free(stolen));
        slabs.free(kept);
        drop(slabs);
        thief.join().unwrap();
    });
}

/// The worker goes on to the next slab, and ends before it has used it up.
#[test]
fn a_slab_outlives_its_worker() {
    every_interleaving(|| {
        let slabs = Slabs::new();
        let slots = [slabs.alloc(), slabs.alloc(), slabs.alloc()];
        let thieves = slots.map(|slot| thread::spawn(move || Slabs::new().free(slot)));
        drop(slabs);
        for thief in thieves {
            thief.join().unwrap();
        }
    });
}
