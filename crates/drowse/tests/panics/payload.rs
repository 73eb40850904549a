//! Payloads and results whose drop panics: they open no way out of a scope whose jobs still run,
//! and take no other panic's place.

use crate::common::{self, caught, until, watchdog};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

/// Lets a job go on as it is dropped, and panics.
struct Bomb(Sender<()>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
        // A payload without a size: drowse forgets it, and a leak checker need not notice.
        panic::resume_unwind(Box::new(()));
    }
}

#[test]
fn a_scope_waits_for_its_jobs_though_the_second_payload_panics_as_it_goes() {
    watchdog(|| {
        let pool = common::pool(2);
        for _ in 0..20 {
            let (go_on, told) = mpsc::channel();
            let job_is_done = AtomicBool::new(false);
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                pool.in_place_scope(|s| {
                    let job_is_done = &job_is_done;
                    s.spawn(move |_| {
                        told.recv().unwrap();
                        (0..100_000).for_each(|n| _ = std::hint::black_box(n));
                        job_is_done.store(true, Ordering::Release);
                    });
                    s.spawn(|_| panic::resume_unwind(Box::new("first")));
                    until("the first panic was kept", || {
                        format!("{s:?}").contains("panicked: true")
                    });
                    // The second: it is not kept, and blows up.
                    panic::resume_unwind(Box::new(Bomb(go_on)));
                });
            }));
            assert!(job_is_done.load(Ordering::Acquire), "the scope has left a job behind");
            assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"first"));
        }
        assert_eq!(pool.install(|| 6 * 7), 42);
    });
}

/// Panics as it is dropped.
#[derive(Debug)]
struct Spark;

impl Drop for Spark {
    fn drop(&mut self) {
        panic::resume_unwind(Box::new(()));
    }
}

#[test]
fn a_join_goes_on_with_the_first_panic_though_what_the_second_half_left_panics_as_it_goes() {
    watchdog(|| {
        for width in [1, 2] {
            let pool = common::pool(width);
            let first = caught::<&str, _>(|| pool.join(|| panic!("the first"), || Spark));
            assert_eq!(first, "the first");
            let first = caught::<&str, _>(|| {
                pool.join(|| panic!("the first"), || panic::panic_any(Spark));
            });
            assert_eq!(first, "the first");
            common::assert_works(&pool);
        }
    });
}

#[test]
fn a_scope_goes_on_with_its_panic_though_its_result_panics_as_it_goes() {
    watchdog(|| {
        let pool = common::pool(2);
        let of_a_job = caught::<&str, _>(|| {
            pool.scope(|s| {
                s.spawn(|_| panic!("of a job"));
                Spark
            })
        });
        assert_eq!(of_a_job, "of a job");
        common::assert_works(&pool);
    });
}

#[test]
fn a_broadcast_goes_on_with_the_first_panic_though_the_others_panic_as_they_go() {
    watchdog(|| {
        let pool = common::pool(3);
        let first = caught::<&str, _>(|| {
            pool.broadcast(|context| match context.index() {
                0 => Some(Spark),
                1 => panic!("the first"),
                _ => panic::panic_any(Spark),
            })
        });
        assert_eq!(first, "the first");
        common::assert_works(&pool);
    });
}
