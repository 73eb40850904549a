//! A payload whose drop panics must not open a way out of a scope whose jobs still run.

mod common;

use common::{until, watchdog};
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
                    until("the first panic was kept", || format!("{s:?}").contains("panicked: true"));
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
