//! The fences that everything else stands on: what they promise, and that the model's promise no
//! more.
#![cfg(drowse_loom)]

use drowse_models::every_interleaving;
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::{Arc, LightFences, full_fence, heavy_fence, light_fence, thread};
use std::sync::atomic::AtomicBool;

/// Two threads each write, fence, and read what the other writes. Both may use light fences.
/// Returns whether both can miss what the other wrote.
fn both_can_miss(left: fn(&'static str), right: fn(&'static str)) -> bool {
    // Not loom's, since it lives from one execution to the next.
    let both_missed = Arc::new(AtomicBool::new(false));
    every_interleaving({
        let both_missed = Arc::clone(&both_missed);
        move || {
            let (x, y) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
            let other = thread::spawn({
                let (x, y) = (Arc::clone(&x), Arc::clone(&y));
                move || {
                    let _light = LightFences::get();
                    x.store(1, Ordering::Relaxed);
                    left("");
                    y.load(Ordering::Relaxed) == 0
                }
            });
            let _light = LightFences::get();
            y.store(1, Ordering::Relaxed);
            right("");
            let missed_x = x.load(Ordering::Relaxed) == 0;
            if other.join().unwrap() && missed_x {
                both_missed.store(true, Ordering::Relaxed);
            }
        }
    });
    both_missed.load(Ordering::Relaxed)
}

#[test]
fn full_fences_let_one_side_see() {
    assert!(!both_can_miss(full_fence, full_fence));
}

#[test]
fn a_light_and_a_heavy_fence_let_one_side_see() {
    assert!(!both_can_miss(light_fence, heavy_fence));
    assert!(!both_can_miss(heavy_fence, light_fence));
}

#[test]
fn a_heavy_fence_is_a_full_one() {
    assert!(!both_can_miss(heavy_fence, heavy_fence));
    assert!(!both_can_miss(full_fence, heavy_fence));
}

/// If these came out otherwise, the models would pass what a real machine fails.
#[test]
fn lesser_fences_let_both_sides_miss() {
    assert!(both_can_miss(|_| {}, |_| {}));
    assert!(both_can_miss(full_fence, |_| {}));
    assert!(both_can_miss(light_fence, light_fence));
    assert!(both_can_miss(light_fence, full_fence));
}

/// Not about memory, but about the time that models take: see `stacks.rs`.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn executions_use_stacks_again() {
    let before = drowse_models::stacks_used_again();
    every_interleaving(|| {
        let flag = Arc::new(AtomicU32::new(0));
        let writer = flag.clone();
        let thread = thread::spawn(move || writer.store(1, Ordering::Relaxed));
        flag.load(Ordering::Relaxed);
        thread.join().unwrap();
    });
    assert!(drowse_models::stacks_used_again() > before);
}
