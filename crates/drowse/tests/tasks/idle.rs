//! Tasks that wait cost nothing.

use crate::common::{until, until_all_sleep, watchdog};
use crate::{Event, SleepProtocol};
use drowse::ThreadPoolBuilder;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// P1 with tasks: a hundred thousand of them wait, all workers sleep, and nothing happens until
/// they are woken.
#[test]
fn a_hundred_thousand_that_wait_let_all_sleep() {
    for protocol in SleepProtocol::ALL {
        watchdog(move || {
            let pool = ThreadPoolBuilder::new().num_threads(8).sleep_protocol(protocol).build().unwrap();
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
            let before: Vec<_> = pool.metrics().workers.iter().map(|worker| worker.searches).collect();
            until_all_sleep(&pool);
            let after: Vec<_> = pool.metrics().workers.iter().map(|worker| worker.searches).collect();
            assert_eq!(before, after, "somebody was woken for nothing");
            events.iter().for_each(Event::happen);
            until("all of them have ended", || done.load(Ordering::Relaxed) == 100_000);
        });
    }
}
