//! What jobs capture arrives as it was, however large it is, and however it is aligned.

use crate::common::ledger::Ledger;
use crate::common::{pool, watchdog};
use std::sync::atomic::{AtomicUsize, Ordering};

const JOBS: usize = 300;

/// Spawns jobs that capture an array of so many bytes, and from each of them another.
fn bytes<const N: usize>() {
    let sum = AtomicUsize::new(0);
    for width in [1, 2, 8] {
        pool(width).scope(|s| {
            for i in 0..JOBS {
                let (captured, sum) = ([(i % 251) as u8; N], &sum);
                s.spawn(move |s| {
                    assert!(captured.iter().all(|byte| usize::from(*byte) == i % 251));
                    s.spawn(move |_| {
                        assert!(captured.iter().all(|byte| usize::from(*byte) == i % 251));
                        sum.fetch_add(1, Ordering::Relaxed);
                    });
                });
            }
        });
        assert_eq!(sum.swap(0, Ordering::Relaxed), JOBS);
    }
}

#[test]
fn of_any_size() {
    watchdog(|| {
        bytes::<0>();
        bytes::<1>();
        bytes::<7>();
        bytes::<8>();
        bytes::<9>();
        bytes::<16>();
        bytes::<17>();
        bytes::<24>();
        bytes::<25>();
        bytes::<100>();
    });
}

/// A value that is aligned to so much.
macro_rules! aligned {
    ($($name:ident $align:literal;)+) => {$(
        #[test]
        fn $name() {
            #[repr(align($align))]
            struct Aligned(usize);

            watchdog(|| {
                let sum = AtomicUsize::new(0);
                pool(2).scope(|s| {
                    for i in 0..JOBS {
                        let (captured, sum) = (Aligned(i), &sum);
                        s.spawn(move |_| {
                            let captured = captured;
                            assert!((&raw const captured).is_aligned());
                            sum.fetch_add(captured.0, Ordering::Relaxed);
                        });
                    }
                });
                assert_eq!(sum.into_inner(), JOBS * (JOBS - 1) / 2);
            });
        }
    )+};
}

aligned! {
    aligned_to_16 16;
    aligned_to_32 32;
    aligned_to_64 64;
}

#[test]
fn dropped_once_though_other_workers_run_them() {
    watchdog(|| {
        let (pool, ledger) = (pool(4), Ledger::default());
        pool.scope(|s| {
            for _ in 0..JOBS {
                let (first, second) = (ledger.item(), ledger.item());
                s.spawn(move |s| {
                    first.touch();
                    s.spawn(move |_| second.touch());
                });
            }
        });
        drop(pool);
        ledger.assert_settled(2 * JOBS);
    });
}
