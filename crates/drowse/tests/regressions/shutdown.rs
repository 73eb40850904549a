//! `shutdown` leaves no thread and no handler behind, keeps to its limit, and does not hang.

#[cfg(target_os = "linux")]
use crate::common::child::{in_child, this_test};
#[cfg(target_os = "linux")]
use crate::common::tasks;
use crate::common::{caught, occupy, pool, until, watchdog, watchdog_for_life};
use drowse::{Start, ThreadPool, ThreadPoolBuilder};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// A short time, after which the pool's handlers are called.
const SOON: Duration = Duration::from_millis(2);

/// A closure that runs when a thread drops its thread-locals.
struct OnDrop(Option<Box<dyn FnOnce()>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|run| run());
    }
}

thread_local!(static LAST_WORD: RefCell<Option<OnDrop>> = const { RefCell::new(None) });

/// Runs `f` when the calling thread drops its thread-locals.
fn as_the_thread_ends(f: impl FnOnce() + 'static) {
    LAST_WORD.set(Some(OnDrop(Some(Box::new(f)))));
}

/// A handle of a pool that one thread can take.
type Shared = Arc<Mutex<Option<ThreadPool>>>;

fn take(shared: &Shared) -> ThreadPool {
    shared.lock().unwrap().take().expect("the pool's handle is there")
}

/// Blocks a worker of the pool, marked, until the returned sender is dropped.
fn block_one(pool: &ThreadPool) -> Sender<()> {
    let (hold, held) = mpsc::channel::<()>();
    pool.spawn(move || {
        let _blocked = drowse::mark_blocked();
        let _ = held.recv();
    });
    hold
}

/// A pool whose deadlock handler is `handler`, and which raises the alarm.
pub(crate) fn in_deadlock(handler: impl Fn() + Send + Sync + 'static) -> (ThreadPool, Sender<()>) {
    let builder = ThreadPoolBuilder::new().num_threads(2).deadlock_after(SOON);
    let pool = builder.deadlock_handler(move |_| handler()).build().unwrap();
    let hold = block_one(&pool);
    (pool, hold)
}

/// A pool of one whose stall handler is `handler`, and which stalls.
pub(crate) fn in_stall(handler: impl Fn() + Send + Sync + 'static) -> (ThreadPool, Sender<()>) {
    let builder = ThreadPoolBuilder::new().num_threads(1).stall_watch(SOON);
    let pool = builder.stall_handler(move |_| handler()).build().unwrap();
    let (hold, held) = mpsc::channel::<()>();
    pool.spawn(move || _ = held.recv());
    pool.spawn(|| ());
    (pool, hold)
}

/// A handler that says that it has begun, takes its time, and says that it has ended.
fn slow_handler() -> (impl Fn() + Send + Sync + 'static, Receiver<()>, Arc<AtomicBool>) {
    let (begun, begins) = mpsc::channel();
    let begun = Mutex::new(begun);
    let ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&ended);
    let handler = move || {
        let _ = begun.lock().unwrap().send(());
        // So that a shutdown that does not wait returns first.
        thread::park_timeout(Duration::from_millis(20));
        end.store(true, Ordering::SeqCst);
    };
    (handler, begins, ended)
}

#[test]
fn the_deadlock_handler_has_returned() {
    watchdog(|| {
        for _ in 0..5 {
            let (handler, begins, ended) = slow_handler();
            let (pool, hold) = in_deadlock(handler);
            begins.recv().unwrap();
            drop(hold);
            pool.shutdown();
            assert!(ended.load(Ordering::SeqCst));
        }
    });
}

#[test]
fn the_stall_handler_has_returned() {
    watchdog(|| {
        for _ in 0..5 {
            let (handler, begins, ended) = slow_handler();
            let (pool, hold) = in_stall(handler);
            begins.recv().unwrap();
            drop(hold);
            pool.shutdown();
            assert!(ended.load(Ordering::SeqCst));
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn no_lookout_and_no_watch_is_left() {
    let ended = in_child(this_test!(), &[], || {
        for round in 0..8 {
            let (alarm, alarms) = mpsc::channel();
            let alarm = Mutex::new(alarm);
            let builder =
                ThreadPoolBuilder::new().num_threads(2).stall_watch(Duration::from_secs(3600));
            let builder = builder.deadlock_after(Duration::from_micros(100));
            let tell = move |_: &drowse::Deadlock| _ = alarm.lock().unwrap().send(());
            let pool = builder.deadlock_handler(tell).build().unwrap();
            let hold = block_one(&pool);
            alarms.recv().unwrap();
            drop(hold);
            pool.shutdown();
            // The system wakes whoever joins a moment before it takes the thread off its list.
            let left: Vec<_> =
                tasks::named("drowse-").into_iter().filter(|task| !task.is_exiting()).collect();
            assert!(left.is_empty(), "in round {round}: {left:?}");
        }
    });
    ended.assert_done();
}

#[test]
fn a_handler_that_is_under_way_is_reported_by_name() {
    watchdog(|| {
        for (name, stalls) in [("drowse-lookout", false), ("drowse-stalls", true)] {
            let (begun, begins) = mpsc::channel();
            let (release, released) = mpsc::channel::<()>();
            let begun_and_released = Mutex::new((begun, released));
            let handler = move || {
                let (begun, released) = &*begun_and_released.lock().unwrap();
                let _ = begun.send(());
                let _ = released.recv();
            };
            let (pool, hold) = if stalls { in_stall(handler) } else { in_deadlock(handler) };
            begins.recv().unwrap();
            drop(hold);
            let busy = pool.shutdown_timeout(Duration::from_millis(200)).unwrap_err();
            let names: Vec<_> =
                busy.threads().iter().map(|thread| thread.name.as_deref()).collect();
            assert!(names.contains(&Some(name)), "{busy}");
            drop(release);
        }
    });
}

#[test]
fn a_watch_that_only_looks_is_not_busy() {
    watchdog(|| {
        let builder =
            ThreadPoolBuilder::new().num_threads(2).stall_watch(Duration::from_secs(3600));
        let pool = builder.build().unwrap();
        let busy = occupy(&pool, 1);
        let report = pool.shutdown_timeout(Duration::from_millis(50)).unwrap_err();
        assert!(report.threads().iter().all(|thread| thread.index.is_some()), "{report}");
        drop(busy);
    });
}

#[test]
fn a_handler_that_shuts_its_pool_down_is_told() {
    watchdog(|| {
        for stalls in [false, true] {
            let shared = Shared::default();
            let (tell, told) = mpsc::channel();
            let (mine, tell) = (Arc::clone(&shared), Mutex::new(tell));
            let handler = move || {
                until("the handle is there", || mine.lock().unwrap().is_some());
                let pool = take(&mine);
                let _ = tell.lock().unwrap().send(caught::<&str, _>(|| pool.shutdown()));
            };
            let (pool, hold) = if stalls { in_stall(handler) } else { in_deadlock(handler) };
            *shared.lock().unwrap() = Some(pool);
            let message = told.recv().unwrap();
            assert!(message.contains("wait for itself"), "{message}");
            drop(hold);
        }
    });
}

#[test]
fn a_handler_may_drop_the_last_handle_of_its_pool() {
    watchdog(|| {
        for stalls in [false, true] {
            let shared = Shared::default();
            let (gone, goes) = mpsc::channel();
            let (mine, gone) = (Arc::clone(&shared), Mutex::new(gone));
            let handler = move || {
                until("the handle is there", || mine.lock().unwrap().is_some());
                drop(take(&mine));
                let _ = gone.lock().unwrap().send(());
            };
            let (pool, hold) = if stalls { in_stall(handler) } else { in_deadlock(handler) };
            let (exit, exits) = mpsc::channel();
            pool.spawn_broadcast(move |_| {
                as_the_thread_ends({
                    let exit = exit.clone();
                    move || _ = exit.send(())
                })
            });
            *shared.lock().unwrap() = Some(pool);
            goes.recv().unwrap();
            drop(hold);
            assert_eq!(exits.iter().count(), if stalls { 1 } else { 2 }, "all threads end");
        }
    });
}

#[test]
fn a_limit_holds_for_threads_that_drop_their_thread_locals() {
    watchdog(|| {
        let pool = pool(3);
        let (begun, begins) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        pool.broadcast(|context| {
            if context.index() == 1 {
                let (begun, released) = (begun.clone(), Arc::clone(&released));
                as_the_thread_ends(move || {
                    begun.send(()).unwrap();
                    let _ = released.lock().unwrap().recv();
                });
            }
        });
        let busy = pool.shutdown_timeout(Duration::from_secs(2)).unwrap_err();
        begins.recv().unwrap();
        let indices: Vec<_> = busy.threads().iter().map(|thread| thread.index).collect();
        assert!(indices.contains(&Some(1)), "{busy}");
        #[cfg(target_os = "linux")]
        assert_eq!(indices, [Some(1)], "the others are gone: {busy}");
        drop(release);
    });
}

#[test]
fn a_limit_that_suffices_waits_for_thread_locals() {
    watchdog(|| {
        let pool = pool(4);
        let gone = Arc::new(AtomicUsize::new(0));
        pool.broadcast(|_| {
            let gone = Arc::clone(&gone);
            as_the_thread_ends(move || {
                thread::park_timeout(Duration::from_millis(5));
                gone.fetch_add(1, Ordering::SeqCst);
            });
        });
        pool.shutdown_timeout(Duration::from_secs(3600)).unwrap();
        assert_eq!(gone.load(Ordering::SeqCst), 4);
    });
}

/// Each thread waits for all others with its thread-locals half dropped.
fn end_side_by_side(builder: ThreadPoolBuilder, end: fn(ThreadPool)) {
    let pool = builder.num_threads(6).build().unwrap();
    let (meeting, met) = (Arc::new(Barrier::new(6)), Arc::new(AtomicUsize::new(0)));
    pool.broadcast(|_| {
        let (meeting, met) = (Arc::clone(&meeting), Arc::clone(&met));
        as_the_thread_ends(move || {
            meeting.wait();
            met.fetch_add(1, Ordering::SeqCst);
        });
    });
    end(pool);
    until("all threads have met", || met.load(Ordering::SeqCst) == 6);
}

#[test]
fn threads_end_side_by_side() {
    watchdog(|| {
        end_side_by_side(ThreadPoolBuilder::new(), ThreadPool::shutdown);
        end_side_by_side(ThreadPoolBuilder::new(), drop);
        let in_time = |pool: ThreadPool| pool.shutdown_timeout(Duration::from_secs(3600)).unwrap();
        end_side_by_side(ThreadPoolBuilder::new(), in_time);
        let come_and_go = || {
            let builder = ThreadPoolBuilder::new().idle_timeout(Duration::from_secs(3600));
            builder.start(Start::OnDemand)
        };
        end_side_by_side(come_and_go(), ThreadPool::shutdown);
    });
}

#[test]
fn a_worker_that_leaves_and_shuts_its_pool_down_is_told() {
    watchdog(|| {
        let shared = Shared::default();
        let (tell, told) = mpsc::channel();
        let builder =
            ThreadPoolBuilder::new().num_threads(2).idle_timeout(Duration::from_millis(1));
        let pool = builder.build().unwrap();
        let mine = Arc::clone(&shared);
        pool.spawn_broadcast(move |context| {
            if context.index() == 1 {
                let (mine, tell) = (Arc::clone(&mine), tell.clone());
                as_the_thread_ends(move || {
                    until("the handle is there", || mine.lock().unwrap().is_some());
                    let pool = take(&mine);
                    tell.send(caught::<&str, _>(|| pool.shutdown())).unwrap();
                });
            }
        });
        *shared.lock().unwrap() = Some(pool);
        let message = told.recv().unwrap();
        assert!(message.contains("wait for itself"), "{message}");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_thread_of_the_global_pool_that_shuts_it_down_is_told() {
    let variables = [("DROWSE_NUM_THREADS", "2"), ("DROWSE_IDLE_TIMEOUT", "1")];
    // As its thread leaves; and at the end of the pool, when another thread waits for that.
    let ended = in_child(this_test!(), &variables, || {
        let (tell, told) = mpsc::channel();
        drowse::spawn_broadcast({
            let tell = tell.clone();
            move |context| {
                let (tell, index) = (tell.clone(), context.index());
                as_the_thread_ends(move || {
                    tell.send((index, caught::<&str, _>(drowse::shutdown_global))).unwrap();
                });
            }
        });
        let (index, message) = told.recv().unwrap();
        assert!(index == 1 && message.contains("wait for itself"), "{index}: {message}");
        let other = thread::spawn(drowse::shutdown_global);
        let (index, message) = told.recv().unwrap();
        assert!(index == 0 && message.contains("wait for itself"), "{index}: {message}");
        other.join().unwrap();
    });
    ended.assert_done();
}

#[cfg(target_os = "linux")]
#[test]
fn a_job_of_the_global_pool_that_shuts_it_down_while_it_ends_is_told() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "2")], || {
        let ending = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let seen = Arc::clone(&ending);
        drowse::spawn(move || {
            until("another thread ends the pool", || seen.load(Ordering::SeqCst));
            for _ in 0..100 {
                // Wherever the other thread is by now.
                thread::park_timeout(Duration::from_micros(200));
                tell.send(caught::<&str, _>(drowse::shutdown_global)).unwrap();
            }
        });
        let other = thread::spawn(move || {
            ending.store(true, Ordering::SeqCst);
            drowse::shutdown_global();
        });
        let messages: Vec<_> = told.iter().collect();
        assert!(
            messages.len() == 100
                && messages.iter().all(|message| message.contains("wait for itself"))
        );
        other.join().unwrap();
    });
    ended.assert_done();
}

#[test]
fn a_release_handler_that_shuts_its_pool_down_is_told() {
    thread_local!(static IS_WORKER: Cell<bool> = const { Cell::new(false) });
    watchdog(|| {
        let shared = Shared::default();
        let (tell, told) = mpsc::channel();
        let (mine, tell) = (Arc::clone(&shared), Mutex::new(tell));
        let builder =
            ThreadPoolBuilder::new().num_threads(1).start_handler(|_| IS_WORKER.set(true));
        let builder = builder.acquire_thread_handler(|| ()).release_thread_handler(move || {
            let pool = if IS_WORKER.get() { mine.lock().unwrap().take() } else { None };
            if let Some(pool) = pool {
                let _ = tell.lock().unwrap().send(caught::<&str, _>(|| pool.shutdown()));
            }
        });
        let pool = builder.build().unwrap();
        pool.spawn(|| ());
        *shared.lock().unwrap() = Some(pool);
        // The worker may have fallen asleep before.
        let message = loop {
            match told.recv_timeout(Duration::from_millis(1)) {
                Ok(message) => break message,
                Err(_) => shared.lock().unwrap().iter().for_each(|pool| pool.spawn(|| ())),
            }
        };
        assert!(message.contains("wait for itself"), "{message}");
    });
}

/// Builds a pool of three on the calling thread. While this thread waits in the middle of a job of
/// the pool, the release handler shuts the pool down. Returns the message of the panic.
fn shut_down_in_the_middle_of_a_job(builder: ThreadPoolBuilder) -> String {
    thread_local!(static IN_A_JOB: Cell<bool> = const { Cell::new(false) });
    let shared = Shared::default();
    let (tell, told) = mpsc::channel();
    let is_told = Arc::new(AtomicBool::new(false));
    let (mine, tell, note) = (Arc::clone(&shared), Mutex::new(tell), Arc::clone(&is_told));
    let release = move || {
        let pool = if IN_A_JOB.get() { mine.lock().unwrap().take() } else { None };
        if let Some(pool) = pool {
            let _ = tell.lock().unwrap().send(caught::<&str, _>(|| pool.shutdown()));
            note.store(true, Ordering::SeqCst);
        }
    };
    *shared.lock().unwrap() =
        Some(builder.num_threads(3).release_thread_handler(release).build().unwrap());
    let here = thread::current().id();
    let job = move || {
        if thread::current().id() != here {
            return;
        }
        IN_A_JOB.set(true);
        let is_stolen = AtomicBool::new(false);
        drowse::join(
            || until("the second half is stolen", || is_stolen.load(Ordering::SeqCst)),
            || {
                is_stolen.store(true, Ordering::SeqCst);
                until("the handler is told", || is_told.load(Ordering::SeqCst));
            },
        );
        IN_A_JOB.set(false);
    };
    // Another thread may be quicker, and take the job.
    loop {
        let handle = match &*shared.lock().unwrap() {
            Some(pool) => pool.spawn_handle(job.clone()),
            None => return told.recv().unwrap().to_owned(),
        };
        handle.join().unwrap();
    }
}

#[test]
fn a_guest_that_shuts_its_pool_down_in_a_handler_is_told() {
    watchdog(|| {
        let message = shut_down_in_the_middle_of_a_job(ThreadPoolBuilder::new().guests(true));
        assert!(message.contains("shut down by one of its own threads"), "{message}");
    });
}

#[test]
fn a_thread_that_was_adopted_and_shuts_its_pool_down_in_a_handler_is_told() {
    watchdog_for_life(|| {
        let builder = ThreadPoolBuilder::new().use_current_thread();
        let message = shut_down_in_the_middle_of_a_job(builder);
        assert!(message.contains("shut down by one of its own threads"), "{message}");
    });
}

/// Starts a pool of two whose threads start on demand, ends it, and wakes a future in it at the
/// same time, from outside, which may take a thread for the second worker. Returns how many threads
/// have started after that.
fn wake_while_the_pool_ends(late: &Arc<AtomicUsize>) {
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, late) = (Arc::clone(&is_over), Arc::clone(late));
    let start = move |_| _ = late.fetch_add(over.load(Ordering::SeqCst).into(), Ordering::SeqCst);
    let builder = ThreadPoolBuilder::new().num_threads(2).start(Start::OnDemand);
    let pool = builder.start_handler(start).build().unwrap();
    let (is_ready, (wait, waits)) = (Arc::new(AtomicBool::new(false)), mpsc::channel::<Waker>());
    let ready = Arc::clone(&is_ready);
    drop(pool.spawn_future(poll_fn(move |context| {
        let _ = wait.send(context.waker().clone());
        if ready.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    })));
    let waker = waits.recv().unwrap();
    // The first worker is busy for a moment, so that the second is asked for.
    let (begun, begins) = mpsc::channel();
    pool.spawn(move || {
        begun.send(()).unwrap();
        let since = Instant::now();
        while since.elapsed() < Duration::from_micros(50) {
            std::hint::spin_loop();
        }
    });
    begins.recv().unwrap();
    is_ready.store(true, Ordering::SeqCst);
    thread::scope(|threads| {
        threads.spawn(|| waker.wake());
        pool.shutdown();
        is_over.store(true, Ordering::SeqCst);
    });
}

/// As often as there is time for: it takes a thread that is kept from its processor at the wrong
/// moment.
#[test]
fn no_thread_starts_when_the_pool_has_ended() {
    watchdog(|| {
        let (since, late) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
        while since.elapsed() < Duration::from_millis(700) {
            wake_while_the_pool_ends(&late);
        }
        assert_eq!(late.load(Ordering::SeqCst), 0);
    });
}

/// A thread that was adopted, and shuts its pool down within a limit, lends its place to jobs that
/// come back from something that blocks.
#[test]
fn jobs_get_their_places_back_from_a_thread_that_shuts_the_pool_down() {
    watchdog(|| {
        thread::spawn(|| {
            let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
            let pool = builder.build().unwrap();
            let indices = Arc::new(Mutex::new(Vec::new()));
            let all_block = Arc::new(Barrier::new(8));
            for _ in 0..8 {
                let (indices, all_block) = (Arc::clone(&indices), Arc::clone(&all_block));
                pool.spawn(move || {
                    drowse::blocking(|| all_block.wait());
                    indices.lock().unwrap().push(drowse::current_thread_index());
                });
            }
            pool.shutdown_timeout(Duration::from_secs(3600)).unwrap();
            let indices = indices.lock().unwrap();
            assert!(indices.len() == 8 && indices.iter().all(Option::is_some), "{indices:?}");
        })
        .join()
        .unwrap();
    });
}

/// A `join` of a guest is over before its worker may be gone. (A sanitizer sees it.)
#[cfg(target_os = "linux")]
#[test]
fn guests_join_while_the_global_pool_ends() {
    let ended =
        in_child(this_test!(), &[("DROWSE_GUESTS", "on"), ("DROWSE_NUM_THREADS", "1")], || {
            let is_over = AtomicBool::new(false);
            thread::scope(|threads| {
                let joiners: Vec<_> = (0..3)
                    .map(|_| {
                        threads.spawn(|| {
                            while !is_over.load(Ordering::Relaxed) {
                                assert_eq!(drowse::join(|| 1, || 2), (1, 2));
                            }
                        })
                    })
                    .collect();
                (0..200).for_each(|_| drowse::shutdown_global());
                is_over.store(true, Ordering::Relaxed);
                joiners.into_iter().for_each(|joiner| joiner.join().unwrap());
            });
        });
    ended.assert_done();
}

#[test]
fn a_shutdown_that_times_out_names_the_threads_that_are_left() {
    watchdog(|| {
        for limit in (0..300).map(Duration::from_micros) {
            let builder = ThreadPoolBuilder::new().num_threads(1).stall_watch(SOON);
            let pool = builder.build().unwrap();
            assert_eq!(pool.install(|| 42), 42);
            if let Err(busy) = pool.shutdown_timeout(limit) {
                assert!(!busy.threads().is_empty(), "after {limit:?}: {busy}");
            }
        }
    });
}
