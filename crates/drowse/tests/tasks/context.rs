//! What jobs inherit from whoever sends them.

use crate::common::{occupy, until, watchdog};
use crate::{SleepProtocol, yield_times};
use drowse::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};

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
            watchdog(move || {
                test(&builder(width).sleep_protocol(protocol).build().expect("a pool"))
            });
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
                assert_eq!(
                    (0..4).map(|_| receive.recv().unwrap()).collect::<Vec<_>>(),
                    [request; 4]
                );
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
        let seen =
            with_request(7, || here.install(|| there.install(|| here.install(|| REQUEST.get()))));
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
            let pool =
                ThreadPoolBuilder::new().num_threads(2).context(|| (), enter).build().unwrap();
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

/// One who panics before the rest is called loses no job: it runs without the context, and the
/// panic is that of the job.
#[test]
fn an_entry_that_panics_loses_no_job() {
    watchdog(|| {
        let panics = Arc::new(AtomicUsize::new(0));
        let enter = |fails: &bool, run: &mut dyn FnMut()| {
            assert!(!fails, "bad entry");
            run();
        };
        let handler = {
            let panics = Arc::clone(&panics);
            move |_| _ = panics.fetch_add(1, Ordering::SeqCst)
        };
        let builder = ThreadPoolBuilder::new().num_threads(2).panic_handler(handler);
        let pool = builder.context(|| REQUEST.get() == 13, enter).build().unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        let run = {
            let runs = Arc::clone(&runs);
            move || _ = runs.fetch_add(1, Ordering::SeqCst)
        };
        let fails = |f: &dyn Fn()| {
            assert!(
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| with_request(13, f)))
                    .is_err()
            );
        };
        fails(&|| pool.install(&run));
        fails(&|| pool.install_blocking(&run));
        fails(&|| pool.in_place_scope(|s| s.spawn(|_| run())));
        fails(&|| pool.in_place_scope(|s| s.spawn_broadcast(|_, _| run())));
        fails(&|| _ = pool.broadcast(|_| run()));
        fails(&|| pool.spawn_handle(run.clone()).join().unwrap());
        assert_eq!(runs.load(Ordering::SeqCst), 8);
        with_request(13, || pool.spawn(run.clone()));
        until("the panic was handled", || panics.load(Ordering::SeqCst) == 1);
        // On the worker, what is joined inherits from the worker.
        let halves = || pool.install(|| with_request(13, || drowse::join(&run, &run)));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(halves)).is_err());
        assert_eq!(runs.load(Ordering::SeqCst), 11);
        pool.shutdown();
    });
}

/// The panic handler is told when `enter` has returned, and once for each job.
#[test]
fn the_panic_handler_is_told_outside_of_the_context() {
    watchdog(|| {
        let told = Arc::new(AtomicUsize::new(0));
        let inside = Arc::new(AtomicUsize::new(0));
        let handler = {
            let (told, inside) = (Arc::clone(&told), Arc::clone(&inside));
            move |_| {
                assert_eq!(inside.load(Ordering::SeqCst), 0);
                told.fetch_add(1, Ordering::SeqCst);
            }
        };
        let enter = move |fails: &bool, run: &mut dyn FnMut()| {
            inside.fetch_add(1, Ordering::SeqCst);
            run();
            inside.fetch_sub(1, Ordering::SeqCst);
            assert!(!fails, "bad end");
        };
        let builder = ThreadPoolBuilder::new().num_threads(1).panic_handler(handler);
        let pool = builder.context(|| REQUEST.get() == 13, enter).build().unwrap();
        for (request, jobs) in [(7, 1), (13, 2)] {
            with_request(request, || {
                pool.spawn(|| panic!("bad dream"));
                pool.spawn_fifo(|| panic!("bad dream"));
                pool.spawn_broadcast(|_| panic!("bad dream"));
            });
            until("each is told", || told.load(Ordering::SeqCst) == 3 * jobs);
        }
        assert_eq!(pool.install(|| 42), 42);
        assert_eq!(told.load(Ordering::SeqCst), 6);
    });
}

/// A worker on which a job of a scope has ended gives its count back before it enters the context
/// of a job that is not of the scope.
#[test]
fn an_entry_that_waits_for_the_end_of_a_scope() {
    watchdog(|| {
        let (ended, is_over) = mpsc::channel::<()>();
        let (enters, entered) = mpsc::channel::<()>();
        let (is_over, enters) = (Mutex::new(is_over), Mutex::new(enters));
        let enter = move |waits: &bool, run: &mut dyn FnMut()| {
            if *waits {
                enters.lock().unwrap().send(()).unwrap();
                is_over.lock().unwrap().recv().unwrap();
            }
            run();
        };
        let pool = ThreadPoolBuilder::new().num_threads(2).context(|| REQUEST.get() == 13, enter);
        let pool = pool.build().unwrap();
        let (begun, begins) = mpsc::channel();
        let other = &pool;
        pool.in_place_scope(|s| {
            s.spawn(move |_| {
                begun.send(()).unwrap();
                entered.recv().unwrap();
            });
            s.spawn(move |_| {
                // The other worker is in the other job. This one goes on with what is spawned here.
                begins.recv().unwrap();
                with_request(13, || other.spawn(|| ()));
            });
        });
        ended.send(()).unwrap();
        pool.shutdown();
    });
}

/// Nothing is entered for jobs that do not begin.
#[test]
fn a_job_of_a_scope_that_was_cancelled_enters_nothing() {
    watchdog(|| {
        let entries = Arc::new(AtomicUsize::new(0));
        let enter = {
            let entries = Arc::clone(&entries);
            move |(): &(), run: &mut dyn FnMut()| {
                entries.fetch_add(1, Ordering::SeqCst);
                run();
            }
        };
        let pool = ThreadPoolBuilder::new().num_threads(2).context(|| (), enter).build().unwrap();
        let busy = occupy(&pool, 2);
        let before = entries.load(Ordering::SeqCst);
        let held = Arc::new(());
        pool.in_place_scope(|s| {
            for _ in 0..4 {
                let held = Arc::clone(&held);
                s.spawn(move |_| drop(held));
            }
            s.cancel();
            drop(busy);
        });
        assert_eq!((Arc::strong_count(&held), entries.load(Ordering::SeqCst)), (1, before));
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

/// Says whether it was dropped.
struct Held(Arc<AtomicUsize>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whoever enters may use what was captured after the job, as a guard does: it is there until then,
/// also if the job was the last to know of it.
#[test]
fn what_was_captured_is_there_until_the_end() {
    watchdog(|| {
        let late = Arc::new(AtomicUsize::new(0));
        let enter = {
            let late = Arc::clone(&late);
            move |held: &Held, run: &mut dyn FnMut()| {
                let drops = Arc::clone(&held.0);
                run();
                late.fetch_add(drops.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        };
        let capture = || Held(Arc::new(AtomicUsize::new(0)));
        let pool = ThreadPoolBuilder::new().num_threads(2).context(capture, enter).build().unwrap();
        for _ in 0..200 {
            drop(pool.spawn_handle(|| ()));
            drop(pool.spawn_future(yield_times(2)));
            pool.spawn_handle(|| ()).join().unwrap();
            pool.scope(|s| {
                drop(s.spawn_handle(|_| ()));
                drop(s.spawn_future(yield_times(1)));
                s.spawn(|_| ());
            });
        }
        pool.shutdown();
        assert_eq!(late.load(Ordering::Relaxed), 0);
    });
}

/// A panic of those who capture or enter is that of whoever spawns, or of the job; and the pool
/// ends.
#[test]
fn hooks_may_panic() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).context(
            || assert!(REQUEST.get() != 13, "bad capture"),
            |(), run| {
                run();
                assert!(REQUEST.get() != 7, "bad entry");
            },
        );
        let pool = pool.build().unwrap();
        with_request(13, || {
            assert!(std::panic::catch_unwind(|| pool.spawn_handle(|| ())).is_err());
            assert!(std::panic::catch_unwind(|| pool.spawn_broadcast(|_| ())).is_err());
        });
        let bad = pool.spawn_handle(|| REQUEST.set(7));
        assert!(bad.join().is_err());
        pool.broadcast(|_| REQUEST.set(0));
        pool.shutdown();
    });
}

/// It goes with the body, though somebody still has the handle, and a waker.
#[test]
fn what_was_inherited_goes_with_the_body() {
    watchdog(|| {
        let token = Arc::new(());
        let inherited = Arc::clone(&token);
        let builder = ThreadPoolBuilder::new().num_threads(2);
        let pool = builder
            .context(move || Arc::clone(&inherited), |_: &Arc<()>, run| run())
            .build()
            .unwrap();
        let [ran, cancelled] = [false, true].map(|cancels| {
            let busy = cancels.then(|| occupy(&pool, 2));
            let handle = pool.spawn_handle(|| ());
            assert!(busy.is_none() || handle.cancel());
            handle
        });
        until("both bodies are gone", || Arc::strong_count(&token) == 2);
        assert!(ran.join().is_ok() && cancelled.join().is_err());
    });
}
