//! Tasks that wait cost nothing.

use crate::common::{until, until_all_sleep, watchdog};
use crate::{Event, SleepProtocol};
use drowse::ThreadPoolBuilder;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

/// One that is woken from outside is polled by the worker that has polled it before, if that one
/// sleeps.
#[test]
fn a_woken_one_goes_where_it_was() {
    const WORKERS: usize = 4;
    // The oldest protocol wakes everybody, and whoever is first gets it.
    for protocol in SleepProtocol::ALL.into_iter().filter(|protocol| protocol.name() != "sleepy") {
        watchdog(move || {
            let pool = ThreadPoolBuilder::new()
                .num_threads(WORKERS)
                .sleep_protocol(protocol)
                .build()
                .unwrap();
            // Each has a worker of its own at first.
            let start = Arc::new(Barrier::new(WORKERS));
            let rounds: Vec<[Event; 3]> =
                (0..WORKERS).map(|_| [(); 3].map(|()| Event::new())).collect();
            let tasks: Vec<_> = rounds
                .iter()
                .cloned()
                .map(|rounds| {
                    let start = Arc::clone(&start);
                    pool.spawn_future(async move {
                        start.wait();
                        let mut polled_by = vec![drowse::current_thread_index()];
                        for event in rounds {
                            event.await;
                            polled_by.push(drowse::current_thread_index());
                        }
                        polled_by
                    })
                })
                .collect();
            for round in 0..3 {
                for task in &rounds {
                    until("it waits", || task[round].is_awaited());
                    until_all_sleep(&pool);
                    task[round].happen();
                }
            }
            for task in tasks {
                let polled_by = task.join().unwrap();
                assert!(
                    polled_by.iter().all(|worker| *worker == polled_by[0]),
                    "{protocol:?}: {polled_by:?}"
                );
            }
        });
    }
}

/// P1 with tasks: a hundred thousand of them wait, all workers sleep, and nothing happens until
/// they are woken.
#[test]
fn a_hundred_thousand_that_wait_let_all_sleep() {
    for protocol in SleepProtocol::ALL {
        watchdog(move || {
            let pool =
                ThreadPoolBuilder::new().num_threads(8).sleep_protocol(protocol).build().unwrap();
            let done = Arc::new(AtomicUsize::new(0));
            let events: Vec<Event> = (0..100_000).map(|_| Event::new()).collect();
            for event in &events {
                let (event, done) = (event.clone(), Arc::clone(&done));
                drop(pool.spawn_future(async move {
                    event.await;
                    done.fetch_add(1, Ordering::Relaxed);
                }));
            }
            until("all of them wait", || events.iter().all(Event::is_awaited));
            until_all_sleep(&pool);
            let before: Vec<_> =
                pool.metrics().workers.iter().map(|worker| worker.searches).collect();
            until_all_sleep(&pool);
            let after: Vec<_> =
                pool.metrics().workers.iter().map(|worker| worker.searches).collect();
            assert_eq!(before, after, "somebody was woken for nothing");
            events.iter().for_each(Event::happen);
            until("all of them have ended", || done.load(Ordering::Relaxed) == 100_000);
        });
    }
}
