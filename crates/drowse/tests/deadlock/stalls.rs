//! The stall watch: it needs no marks, and tells of workers that do not come back from a job while
//! others could do with them. Once.

use crate::common::{assert_works, fib, patience, until_all_sleep, watchdog};
use drowse::{SleepProtocol, Stall, ThreadPool, ThreadPoolBuilder, WaitFor};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Longer than a worker that works is kept from its processor, on a busy machine too: the watch
/// cannot tell such a worker from one that is stuck.
fn long() -> Duration {
    Duration::from_millis(400) * patience()
}

/// A pool, and what its stall watch tells.
fn watched(protocol: SleepProtocol, width: usize) -> (ThreadPool, Receiver<Stall>) {
    let (sender, stalls) = mpsc::channel();
    let sender = Mutex::new(sender);
    let builder = ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol);
    let builder = builder.thread_name(|index| format!("dozer-{index}")).stall_watch(long());
    let builder = builder.stall_handler(move |stall| {
        // Nobody listens any more if the test has failed.
        let _ = sender.lock().unwrap().send(stall.clone());
    });
    (builder.build().unwrap(), stalls)
}

/// Each worker blocks, unmarked, until a job has run that is queued behind it: rayon hangs.
#[test]
fn jobs_that_nobody_takes() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for width in [1, 2] {
                let (pool, stalls) = watched(protocol, width);
                let (begun, begins) = mpsc::channel();
                let holds: Vec<_> = (0..width)
                    .map(|_| {
                        let ((hold, held), begun) = (mpsc::channel::<()>(), begun.clone());
                        pool.spawn(move || {
                            begun.send(drowse::current_thread_index().unwrap()).unwrap();
                            assert!(held.recv().is_err());
                        });
                        hold
                    })
                    .collect();
                let mut workers: Vec<_> = begins.iter().take(width).collect();
                workers.sort_unstable();
                let (sender, done) = mpsc::channel();
                pool.spawn(move || sender.send(()).unwrap());
                // All at once, or one by one if the watch looked in between.
                let mut told = Vec::new();
                while told.len() < width {
                    let stall = stalls.recv().unwrap();
                    assert!(
                        stall.queued && stall.num_threads == width && stall.after == long(),
                        "{stall}"
                    );
                    assert!(
                        stall.to_string().contains("jobs are queued that no worker takes"),
                        "{stall}"
                    );
                    told.extend(stall.stalled);
                }
                told.sort_unstable_by_key(|stalled| stalled.worker.index);
                assert_eq!(
                    told.iter().map(|stalled| stalled.worker.index).collect::<Vec<_>>(),
                    workers
                );
                for stalled in &told {
                    assert!(stalled.since >= long() && stalled.worker.depth == 1);
                    let name = stalled.worker.name.as_deref().unwrap();
                    assert_eq!(name, format!("dozer-{}", stalled.worker.index));
                    #[cfg(target_os = "linux")]
                    assert!(stalled.thread_state.as_ref().unwrap().starts_with('S'), "{stalled}");
                }
                drop(holds);
                done.recv().unwrap();
                assert_works(&pool);
                drop(pool);
                assert_eq!(stalls.iter().count(), 0, "once for each");
            }
        }
    });
}

/// A worker sleeps in a join whose other half does not come back.
#[test]
fn others_that_wait() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, stalls) = watched(protocol, 2);
            let (hold, held) = mpsc::channel::<()>();
            let (begun, begins) = mpsc::channel();
            let (sender, workers) = mpsc::channel();
            let index = || drowse::current_thread_index().unwrap();
            pool.spawn(move || {
                drowse::join(
                    move || sender.send((index(), begins.recv().unwrap())).unwrap(),
                    move || {
                        begun.send(index()).unwrap();
                        assert!(held.recv().is_err());
                    },
                );
            });
            let (waiter, stuck) = workers.recv().unwrap();
            let stall = stalls.recv().unwrap();
            assert_eq!((stall.stalled.len(), stall.queued), (1, false), "{stall}");
            assert_eq!(stall.stalled[0].worker.index, stuck, "{stall}");
            assert_eq!(stall.stalled[0].worker.stole_from(), Some(waiter), "{stall}");
            assert_eq!(
                (stall.waiting[0].index, stall.waiting[0].waits_for),
                (waiter, Some(WaitFor::Join))
            );
            let said = stall.to_string();
            assert!(said.contains(", and others wait\n"), "{said}");
            assert!(said.contains(&format!(
                "worker {stuck} (dozer-{stuck}): active, in a job stolen from {waiter}; "
            )));
            drop(hold);
            assert_works(&pool);
            drop(pool);
            assert_eq!(stalls.iter().count(), 0, "once");
        }
    });
}

/// Work, and a pool that sleeps, and one that is gone: nothing to tell.
#[test]
fn there_is_nothing_to_tell_of_a_pool_that_works_or_sleeps() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, stalls) = watched(protocol, 2);
            // Longer than the watch waits, in one job after the other.
            let since = std::time::Instant::now();
            while since.elapsed() < long() * 2 {
                assert_eq!(pool.install(|| fib(10)), 55);
            }
            until_all_sleep(&pool);
            drop(pool);
            assert_eq!(stalls.iter().count(), 0);
        }
    });
}
