//! Panics that say what was wrong, what has begun when one comes, and what they carry.

use crate::common::{caught, pool, until, watchdog};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

thread_local!(static BLOCKS: Cell<bool> = const { Cell::new(false) });

/// Calls `f`; what it sends is entered by a closure that blocks.
fn sending_what_blocks<R>(f: impl FnOnce() -> R) -> R {
    BLOCKS.set(true);
    let result = f();
    BLOCKS.set(false);
    result
}

/// A pool of one worker. Where jobs are entered by a closure that blocks, a spare takes the place
/// of the worker, and keeps it until the job has run, which `has_run` says.
fn with_context_that_blocks(has_run: &Arc<AtomicBool>) -> ThreadPool {
    let has_run = Arc::clone(has_run);
    let enter = move |blocks: &bool, run: &mut dyn FnMut()| {
        if *blocks {
            let (begun, begins) = mpsc::channel();
            let has_run = Arc::clone(&has_run);
            drowse::spawn(move || {
                begun.send(()).unwrap();
                until("the job has run", || has_run.load(Ordering::SeqCst));
            });
            drowse::blocking(|| begins.recv().unwrap());
        }
        run();
    };
    let builder = ThreadPoolBuilder::new().num_threads(1).max_spare_threads(1);
    builder.context(|| BLOCKS.get(), enter).build().unwrap()
}

/// Broadcasts in such a pool, as `broadcast` does it: what is told the index must be called.
#[track_caller]
fn knows_its_worker(broadcast: fn(&ThreadPool, Tell)) {
    let has_run = Arc::new(AtomicBool::new(false));
    let pool = with_context_that_blocks(&has_run);
    let (send, indices) = mpsc::channel();
    let tell = move |index| {
        has_run.store(true, Ordering::SeqCst);
        send.send(index).unwrap();
    };
    sending_what_blocks(|| broadcast(&pool, Box::new(tell)));
    assert_eq!(indices.recv(), Ok(0));
}

type Tell = Box<dyn Fn(usize) + Send + Sync>;

#[test]
fn broadcasts_know_their_worker_after_a_context_that_blocks() {
    watchdog(|| {
        knows_its_worker(|pool, tell| _ = pool.broadcast(|context| tell(context.index())));
        knows_its_worker(|pool, tell| {
            pool.in_place_scope(|s| s.spawn_broadcast(move |_, context| tell(context.index())));
        });
        knows_its_worker(|pool, tell| pool.spawn_broadcast(move |context| tell(context.index())));
    });
}

/// Panics with that, and prints nothing: with a backtrace it takes long on a busy machine.
fn panic_silently(payload: impl Send + 'static) -> ! {
    panic::resume_unwind(Box::new(payload))
}

#[test]
fn a_context_that_swallows_the_panic_of_a_job() {
    watchdog(|| {
        let enter = |(): &(), run: &mut dyn FnMut()| {
            let _ = panic::catch_unwind(panic::AssertUnwindSafe(run));
        };
        let pool = ThreadPoolBuilder::new().num_threads(1).context(|| (), enter).build().unwrap();
        let message = caught::<&str, _>(|| pool.install(|| panic_silently("bad dream")));
        assert_eq!(message, "bad dream", "whoever waits for the job hears of it");
        assert_eq!(pool.install(|| 42), 42);
    });
}

/// A payload whose drop is counted, and panics as long as there are further ones inside.
struct Payload {
    drops: Arc<AtomicUsize>,
    inside: u32,
}

impl Drop for Payload {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        if self.inside > 0 {
            panic_silently(Payload { drops: Arc::clone(&self.drops), inside: self.inside - 1 });
        }
    }
}

/// A result that panics with that when it is dropped.
struct Bomb(Option<Payload>);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_silently(self.0.take().unwrap());
    }
}

#[test]
fn the_payload_of_a_result_that_panics_when_it_is_dropped_is_dropped() {
    watchdog(|| {
        for inside in [0, 1] {
            let drops = Arc::new(AtomicUsize::new(0));
            let pool = pool(2);
            let payload = caught::<&str, _>(|| {
                pool.broadcast(|context| {
                    if context.index() == 1 {
                        panic_silently("the other one");
                    }
                    Bomb(Some(Payload { drops: Arc::clone(&drops), inside }))
                })
            });
            assert_eq!(payload, "the other one");
            assert_eq!(drops.load(Ordering::SeqCst), 1 + inside as usize);
            assert_eq!(pool.install(|| 42), 42);
        }
    });
}

#[test]
fn a_payload_whose_drop_panics_again_and_again_goes_nowhere() {
    /// A payload that panics with another of its kind, for ever.
    struct Endless;
    impl Drop for Endless {
        fn drop(&mut self) {
            panic_silently(Endless);
        }
    }
    watchdog(|| {
        let pool = pool(1);
        let payload = caught::<&str, _>(|| {
            pool.scope(|s| {
                s.spawn(|_| panic_silently("the first"));
                drowse::yield_now();
                panic_silently(Endless);
            });
        });
        assert_eq!(payload, "the first");
    });
}
