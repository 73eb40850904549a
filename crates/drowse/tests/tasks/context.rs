//! What jobs inherit from whoever sends them.

use crate::common::watchdog;
use crate::{SleepProtocol, yield_times};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};

thread_local! {
    /// What the jobs inherit.
    static REQUEST: Cell<usize> = const { Cell::new(0) };
}

/// Calls `f` with this request, and puts back what was before.
fn with_request<R>(request: usize, f: impl FnOnce() -> R) -> R {
    let before = REQUEST.replace(request);
    let result = f();
    REQUEST.set(before);
    result
}

fn builder(width: usize) -> ThreadPoolBuilder {
    let enter = |request: &usize, run: &mut dyn FnMut()| with_request(*request, run);
    ThreadPoolBuilder::new().num_threads(width).context(|| REQUEST.get(), enter)
}

#[track_caller]
fn on_every_pool(test: impl Fn(&ThreadPool) + Clone + Send + 'static) {
    for protocol in SleepProtocol::ALL {
        for width in [1, 2, 8] {
            let test = test.clone();
            watchdog(move || test(&builder(width).sleep_protocol(protocol).build().expect("a pool")));
        }
    }
}

#[test]
fn whatever_is_sent_takes_it_along() {
    on_every_pool(|pool| {
        let (send, receive) = mpsc::channel();
        for request in 1..50 {
            with_request(request, || {
                let tell = || {
                    let send = send.clone();
                    move || send.send(REQUEST.get()).unwrap()
                };
                pool.spawn(tell());
                pool.spawn_fifo(tell());
                pool.spawn_all([tell(), tell()]);
                assert_eq!((0..4).map(|_| receive.recv().unwrap()).collect::<Vec<_>>(), [request; 4]);
                assert_eq!(pool.install(|| REQUEST.get()), request);
                assert_eq!(pool.spawn_handle(|| REQUEST.get()).join().unwrap(), request);
                let future = pool.spawn_future(async {
                    let first = REQUEST.get();
                    yield_times(3).await;
                    [first, REQUEST.get()]
                });
                assert_eq!(drowse::block_on(future).unwrap(), [request; 2]);
                assert!(pool.broadcast(|_| REQUEST.get()).iter().all(|seen| *seen == request));
                let seen = AtomicUsize::new(0);
                let add = || _ = seen.fetch_add(REQUEST.get(), Ordering::Relaxed);
                pool.scope(|s| {
                    s.spawn(|s| s.spawn(|_| add()));
                    drop(s.spawn_handle(|_| add()));
                    drop(s.spawn_future(async { add() }));
                    s.spawn_broadcast(|_, context| {
                        if context.index() == 0 {
                            add()
                        }
                    });
                });
                pool.scope_fifo(|s| s.spawn_fifo(|_| add()));
                assert_eq!(seen.into_inner(), 5 * request);
            });
            assert_eq!(REQUEST.get(), 0);
        }
        assert_eq!(pool.install(|| REQUEST.get()), 0, "nothing is left behind");
    });
}

/// Also where it was stolen, and where it was not.
#[test]
fn both_halves_of_a_join_have_it() {
    fn tree(depth: usize, request: usize) -> usize {
        assert_eq!(REQUEST.get(), request);
        if depth == 0 {
            return 1;
        }
        let (left, right) = drowse::join(|| tree(depth - 1, request), || tree(depth - 1, request));
        assert_eq!(REQUEST.get(), request);
        left + right
    }
    on_every_pool(|pool| {
        std::thread::scope(|threads| {
            for request in 1..4 {
                threads.spawn(move || {
                    with_request(request, || {
                        (0..20).for_each(|_| assert_eq!(pool.install(|| tree(7, request)), 128));
                    });
                });
            }
        });
        if pool.current_num_threads() > 1 {
            let both = Barrier::new(2);
            let meet = || {
                both.wait();
                REQUEST.get()
            };
            let seen = with_request(9, || pool.install(|| drowse::join(meet, meet)));
            assert_eq!(seen, (9, 9));
            let moved = pool.install(|| drowse::join_context(|a| a.migrated(), |_| ()));
            assert_eq!(moved, (false, ()), "though it takes the long way");
        }
    });
}

/// From one pool to another, and back.
#[test]
fn it_goes_from_pool_to_pool() {
    watchdog(|| {
        let (here, there) = (builder(2).build().unwrap(), builder(2).build().unwrap());
        let plain = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let seen = with_request(7, || here.install(|| there.install(|| here.install(|| REQUEST.get()))));
        assert_eq!(seen, 7);
        // A pool that has no such thing passes on nothing.
        assert_eq!(with_request(7, || plain.install(|| here.install(|| REQUEST.get()))), 0);
    });
}

/// One who enters, and does not call what it is given, loses no job; one who calls it twice runs
/// none twice.
#[test]
fn whoever_enters_badly_does_no_harm() {
    watchdog(|| {
        for calls in [0, 2] {
            let runs = Arc::new(AtomicUsize::new(0));
            let enter = move |(): &(), run: &mut dyn FnMut()| (0..calls).for_each(|_| run());
            let pool = ThreadPoolBuilder::new().num_threads(2).context(|| (), enter).build().unwrap();
            let count = {
                let runs = Arc::clone(&runs);
                move || _ = runs.fetch_add(1, Ordering::Relaxed)
            };
            pool.spawn_handle(count.clone()).join().unwrap();
            pool.install(|| drowse::join(&count, &count));
            pool.scope(|s| s.spawn(|_| count()));
            assert_eq!(runs.load(Ordering::Relaxed), 4);
        }
    });
}

#[test]
fn a_panic_goes_where_it_would() {
    watchdog(|| {
        let pool = builder(2).build().unwrap();
        let bad = || panic!("bad dream");
        assert!(pool.spawn_handle(bad).join().is_err());
        assert!(std::panic::catch_unwind(|| pool.install(|| drowse::join(|| (), bad))).is_err());
        assert!(std::panic::catch_unwind(|| pool.scope(|s| s.spawn(move |_| bad()))).is_err());
        assert_eq!(pool.install(|| REQUEST.get()), 0);
    });
}
