//! What a scope's jobs capture is gone when the scope returns: they may borrow, and a drop may look
//! at what they borrow.

use crate::common::{pool, watchdog};
use std::hint;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Borrows a counter of those alive, and takes its time to go: a scope that does not wait for it
/// will be seen.
struct Guard<'a>(&'a AtomicUsize);

impl<'a> Guard<'a> {
    fn new(alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Self(alive)
    }

    /// For closures that capture it and have no other use for it.
    fn touch(&self) {
        assert_ne!(self.0.load(Ordering::SeqCst), 0, "it counts itself");
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        for _ in 0..2_000 {
            hint::spin_loop();
        }
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[track_caller]
fn assert_none(alive: &AtomicUsize) {
    assert_eq!(alive.load(Ordering::SeqCst), 0, "captured values outlived the scope");
}

const ROUNDS: usize = 200;

/// The same tests for each kind of scope: its name, and how it spawns.
macro_rules! suite {
    ($($kind:ident $spawn:ident;)+) => {$(
        mod $kind {
            use super::*;

            #[test]
            fn what_a_job_captures_is_dropped_first() {
                watchdog(|| {
                    for width in [1, 2, 8] {
                        let (pool, alive) = (pool(width), AtomicUsize::new(0));
                        for _ in 0..ROUNDS {
                            pool.$kind(|s| {
                                for _ in 0..4 {
                                    let guard = Guard::new(&alive);
                                    s.$spawn(move |_| guard.touch());
                                }
                            });
                            assert_none(&alive);
                        }
                    }
                });
            }

            #[test]
            fn what_a_broadcast_captures_is_dropped_first() {
                watchdog(|| {
                    for width in [1, 2, 8] {
                        let (pool, alive) = (pool(width), AtomicUsize::new(0));
                        for _ in 0..ROUNDS {
                            pool.$kind(|s| {
                                let guard = Guard::new(&alive);
                                s.spawn_broadcast(move |_, _| guard.touch());
                            });
                            assert_none(&alive);
                        }
                    }
                });
            }

            #[test]
            fn what_a_broadcast_from_a_job_captures_is_dropped_first() {
                watchdog(|| {
                    let (pool, alive) = (pool(4), AtomicUsize::new(0));
                    let counter = &alive;
                    for _ in 0..ROUNDS {
                        pool.$kind(|s| {
                            s.$spawn(move |s| {
                                let guard = Guard::new(counter);
                                s.spawn_broadcast(move |_, _| guard.touch());
                            });
                        });
                        assert_none(&alive);
                    }
                });
            }

            #[test]
            fn what_a_panicking_job_captures_is_dropped_first() {
                watchdog(|| {
                    let (pool, alive) = (pool(2), AtomicUsize::new(0));
                    for _ in 0..ROUNDS / 10 {
                        let result = panic::catch_unwind(AssertUnwindSafe(|| {
                            pool.$kind(|s| {
                                let (job, broadcast) = (Guard::new(&alive), Guard::new(&alive));
                                s.$spawn(move |_| {
                                    job.touch();
                                    panic::resume_unwind(Box::new("job"));
                                });
                                s.spawn_broadcast(move |_, _| {
                                    broadcast.touch();
                                    panic::resume_unwind(Box::new("broadcast"));
                                });
                            });
                        }));
                        assert!(result.is_err());
                        assert_none(&alive);
                    }
                });
            }
        }
    )+};
}

suite! {
    scope spawn;
    scope_fifo spawn_fifo;
    in_place_scope spawn;
    in_place_scope_fifo spawn_fifo;
}
