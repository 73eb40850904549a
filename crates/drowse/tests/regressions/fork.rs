//! What the child of a job may do that has called `fork`.

use crate::common::child::{in_child, this_test};
use crate::common::forks::{
    assert_aborted, assert_done, assert_left_behind, end_child_after, fork_and_wait, forked,
    wait_for_a_half_of_the_parent,
};
use crate::common::{self, assert_works, caught, fib, occupy, until, until_all_sleep};
use crate::shutdown::{in_deadlock, in_stall};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder, Waiting};
use std::hint::black_box;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Jobs of each kind that a worker can run by itself.
fn work_alone() {
    assert_eq!(fib(12), 144);
    let sum = AtomicUsize::new(0);
    drowse::scope(|s| {
        for i in 0..100 {
            let sum = &sum;
            s.spawn(move |s| s.spawn(move |_| _ = sum.fetch_add(i, Ordering::Relaxed)));
        }
    });
    drowse::in_place_scope_fifo(|s| {
        (0..100).for_each(|i| s.spawn_fifo(move |_| _ = black_box(i)));
    });
    assert_eq!(sum.into_inner(), 4950);
    assert_eq!(drowse::spawn_handle(|| 42).join().unwrap(), 42);
    drowse::spawn(|| ());
    while drowse::yield_now() == Some(drowse::Yield::Executed) {}
    assert_eq!(drowse::isolate(|| drowse::join(|| fib(5), || fib(6))), (5, 8));
}

/// A thread whose stack is full of something else than it was before.
struct NewThread {
    go_on: Sender<()>,
    thread: thread::JoinHandle<usize>,
}

fn new_thread() -> NewThread {
    fn fill_stack(depth: u32) -> usize {
        let here = black_box([0x5a_u8; 4 << 10]);
        here.len() + if depth > 0 { fill_stack(depth - 1) } else { 0 }
    }
    let (filled, is_filled) = channel();
    let (go_on, wait) = channel::<()>();
    let thread = thread::spawn(move || {
        filled.send(fill_stack(100)).unwrap();
        let _ = wait.recv();
        fill_stack(100)
    });
    is_filled.recv().unwrap();
    NewThread { go_on, thread }
}

impl NewThread {
    fn end(self) {
        drop(self.go_on);
        assert_eq!(self.thread.join().unwrap(), 101 * (4 << 10));
    }
}

/// Calls `work` beside a thread that was started just now.
fn beside_a_new_thread(work: impl FnOnce()) {
    let thread = new_thread();
    work();
    thread.end();
}

/// Calls `job` as a guest of the pool.
fn as_guest<R: Send>(pool: &ThreadPool, job: impl Fn() -> R + Send + Sync) -> R {
    let here = thread::current().id();
    loop {
        until_all_sleep(pool);
        let run = || (thread::current().id() == here).then(&job);
        if let Some(result) = pool.install(run) {
            return result;
        }
    }
}

fn guest_pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).guests(true).build().expect("a pool")
}

#[test]
fn the_child_of_a_guest_goes_on_beside_new_threads() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "2")], || {
        for threads in [1, 3] {
            for _ in 0..10 {
                let pool = guest_pool(threads);
                let status = as_guest(&pool, || {
                    forked(|| {
                        beside_a_new_thread(|| {
                            assert!(drowse::current_thread_index().is_some());
                            work_alone();
                        });
                        thread::spawn(|| fib(12)).join().unwrap();
                        beside_a_new_thread(work_alone);
                    })
                });
                assert_done(status);
                assert_works(&pool);
            }
        }
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn the_child_of_a_guest_leaves_beside_new_threads() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "2")], || {
        for threads in [1, 3] {
            for _ in 0..10 {
                let pool = guest_pool(threads);
                let (status, thread) = as_guest(&pool, || {
                    let status = fork_and_wait();
                    let thread = status.is_none().then(new_thread);
                    drowse::spawn(|| ());
                    (status, thread)
                });
                let Some(status) = status else {
                    end_child_after(|| {
                        assert_eq!(drowse::current_thread_index(), None);
                        assert_eq!(fib(12), 144);
                        thread.into_iter().for_each(NewThread::end);
                        panic::set_hook(Box::new(|_| ()));
                        assert_left_behind(|| pool.install(|| ()));
                        assert_works(&common::pool(2));
                        drop(pool);
                    })
                };
                assert_done(status);
                assert_works(&pool);
            }
        }
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

/// Calls `test` with what builds pools of each kind, of two threads.
fn on_all_kinds_of_pools(test: impl Fn(&(dyn Fn() -> ThreadPoolBuilder + Sync))) {
    for protocol in SleepProtocol::ALL {
        for waiting in [Waiting::Help, Waiting::Isolate] {
            for guests in [false, true] {
                test(&|| {
                    let builder = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(protocol);
                    let builder = builder.waiting(waiting).guests(guests).deadlock_handler(|_| ());
                    builder.stall_watch(Duration::from_secs(60))
                });
            }
        }
    }
}

#[test]
fn blocking_is_a_plain_call_in_the_child() {
    let ended = in_child(this_test!(), &[], || {
        panic::set_hook(Box::new(|_| ()));
        on_all_kinds_of_pools(|builder| {
            let pool = builder().build().unwrap();
            let in_the_child = || {
                let index = drowse::current_thread_index();
                assert_eq!(drowse::blocking(drowse::current_thread_index), index);
                assert_eq!(drowse::blocking(|| drowse::blocking(|| fib(10))), 55);
                let caught = caught::<&str, _>(|| drowse::blocking(|| panic!("in vain")));
                assert_eq!(caught, "in vain");
                work_alone();
            };
            assert_done(pool.install(|| forked(in_the_child)));
            assert_done(pool.install(|| drowse::blocking(|| forked(in_the_child))));
            // The child returns from what blocks.
            let status = pool.install(|| {
                let status = drowse::blocking(fork_and_wait);
                status.unwrap_or_else(|| {
                    end_child_after(|| {
                        assert!(drowse::current_thread_index().is_some());
                        in_the_child();
                    })
                })
            });
            assert_done(status);
            assert_works(&pool);
        });
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn blocking_in_the_child_calls_no_handlers() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    static ACQUIRED: AtomicUsize = AtomicUsize::new(0);
    let ended = in_child(this_test!(), &[], || {
        let builder = ThreadPoolBuilder::new().num_threads(1).max_spare_threads(0);
        let builder =
            builder.release_thread_handler(|| _ = RELEASED.fetch_add(1, Ordering::Relaxed));
        let builder =
            builder.acquire_thread_handler(|| _ = ACQUIRED.fetch_add(1, Ordering::Relaxed));
        let pool = builder.build().unwrap();
        let calls = || (RELEASED.load(Ordering::Relaxed), ACQUIRED.load(Ordering::Relaxed));
        let status = pool.install(|| {
            let status = drowse::blocking(|| {
                let status = fork_and_wait();
                // (Before the fork the thread that waits for this job may call one, too.)
                let before = calls();
                if status.is_none() {
                    drowse::blocking(|| assert_eq!(calls(), before));
                }
                (status, before)
            });
            match status {
                (Some(status), _) => status,
                (None, before) => end_child_after(|| assert_eq!(calls(), before)),
            }
        });
        assert_done(status);
    });
    ended.assert_done();
}

#[test]
fn install_blocking_in_the_child_panics_or_works() {
    let ended = in_child(this_test!(), &[], || {
        panic::set_hook(Box::new(|_| ()));
        on_all_kinds_of_pools(|builder| {
            let (pool, other) = (builder().build().unwrap(), builder().build().unwrap());
            let in_the_child = || {
                assert_eq!(pool.install_blocking(|| fib(10)), 55);
                assert_left_behind(|| other.install_blocking(|| ()));
                assert_left_behind(|| other.install(|| ()));
                assert_left_behind(|| drowse::isolate(|| other.install_blocking(|| ())));
                assert_left_behind(|| other.in_place_scope(|s| s.spawn(|_| ())));
                let new = builder().build().unwrap();
                assert_eq!(new.install_blocking(|| fib(10)), 55);
                assert_eq!(drowse::isolate(|| new.install_blocking(|| fib(10))), 55);
                work_alone();
            };
            assert_done(pool.install(|| forked(in_the_child)));
            assert_done(pool.install(|| drowse::blocking(|| forked(in_the_child))));
            assert_works(&pool);
            assert_works(&other);
        });
    });
    ended.assert_done();
}

/// For so long others block.
const A_MOMENT: Duration = Duration::from_micros(50);

/// Others lend their places, come back, insist and sleep all the while.
#[test]
fn the_child_needs_no_place_of_its_parent() {
    let ended = in_child(this_test!(), &[], || {
        for waiting in [Waiting::Help, Waiting::Isolate] {
            let builder = ThreadPoolBuilder::new().num_threads(2).waiting(waiting);
            let pool = &builder.max_spare_threads(4).deadlock_handler(|_| ()).build().unwrap();
            let (over, round) = (&AtomicBool::new(false), &AtomicUsize::new(0));
            thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(move || {
                        while !over.load(Ordering::Relaxed) {
                            pool.install(|| {
                                drowse::join(
                                    || drowse::blocking(|| thread::park_timeout(A_MOMENT)),
                                    || fib(5),
                                );
                                round.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                    });
                }
                let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                    for _ in 0..50 {
                        let seen = round.load(Ordering::Relaxed);
                        until("the others go on", || round.load(Ordering::Relaxed) > seen + 3);
                        let in_the_child = || {
                            work_alone();
                            drowse::blocking(work_alone);
                        };
                        assert_done(pool.install(|| forked(in_the_child)));
                        assert_done(pool.install(|| drowse::blocking(|| forked(in_the_child))));
                    }
                }));
                over.store(true, Ordering::Relaxed);
                outcome.unwrap();
            });
            assert_works(pool);
        }
    });
    ended.assert_done();
}

/// One worker works without a place, which it wants to have back from a spare. Both fork.
#[test]
fn the_child_does_not_mind_a_place_that_is_wanted() {
    let ended = in_child(this_test!(), &[], || {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let in_the_child = || {
            work_alone();
            assert_eq!(drowse::blocking(|| 1), 1);
            work_alone();
        };
        let (spare_works, wait_for_spare) = channel();
        let (worker_is_back, wait_for_worker) = channel();
        let (spare_is_done, wait_for_done) = channel();
        let statuses = pool.install(move || {
            drowse::spawn(move || {
                spare_works.send(()).unwrap();
                wait_for_worker.recv().unwrap();
                spare_is_done.send(forked(in_the_child)).unwrap();
            });
            drowse::blocking(|| wait_for_spare.recv().unwrap());
            // It has lost patience.
            assert_eq!(drowse::current_thread_index(), None);
            let status = forked(in_the_child);
            worker_is_back.send(()).unwrap();
            [status, wait_for_done.recv().unwrap()]
        });
        statuses.into_iter().for_each(assert_done);
        assert_works(&pool);
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn a_child_that_waits_in_isolation_for_others_is_aborted() {
    let ended = in_child(this_test!(), &[], || {
        for protocol in SleepProtocol::ALL {
            for (waiting, region) in [(Waiting::Isolate, false), (Waiting::Help, true)] {
                let builder = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(protocol);
                let pool = builder.waiting(waiting).build().unwrap();
                let status = pool.install(|| match region {
                    true => drowse::isolate(wait_for_a_half_of_the_parent),
                    false => wait_for_a_half_of_the_parent(),
                });
                assert_aborted(status);
                assert_works(&pool);
            }
        }
    });
    ended.assert_done();
    let complaints = ended.complaints();
    assert!(
        complaints.len() == 8 && complaints.iter().all(|line| line.contains("fork()")),
        "{ended:?}"
    );
}

/// Waits so many times, one inside of the other, with so much on the stack each, and calls `f`.
fn deep_down(waits: u32, f: &(dyn Fn() -> i32 + Sync)) -> i32 {
    let here = [0_u8; 40 << 10];
    let mut result = 0;
    if waits == 0 {
        result = f();
    } else {
        drowse::scope(|s| s.spawn(|_| result = deep_down(waits - 1, f)));
    }
    result + i32::from(black_box(&here)[0])
}

#[test]
fn a_child_that_waits_deep_down_for_others_is_aborted() {
    let ended = in_child(this_test!(), &[], || {
        for protocol in SleepProtocol::ALL {
            for spares in [0, 1] {
                let builder = ThreadPoolBuilder::new().num_threads(2).sleep_protocol(protocol);
                let stack = (1 << 20) * common::patience() as usize;
                let pool = builder.max_spare_threads(spares).stack_size(stack).build().unwrap();
                let busy = Mutex::new(Some(occupy(&pool, 1)));
                let work_down_there = || {
                    // In the child this waits for what it can do itself.
                    assert_done(forked(work_alone));
                    drop(busy.lock().unwrap().take());
                    wait_for_a_half_of_the_parent()
                };
                assert_aborted(pool.install(|| deep_down(16, &work_down_there)));
                assert_works(&pool);
            }
        }
    });
    ended.assert_done();
    let complaints = ended.complaints();
    assert!(
        complaints.len() == 8 && complaints.iter().all(|line| line.contains("fork()")),
        "{ended:?}"
    );
}

/// A thread outside forks in the middle of a scope in which there is nothing to wait for.
#[test]
fn the_child_of_a_thread_in_a_scope_leaves_it() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "2")], || {
        let pool = common::pool(2);
        for _ in 0..10 {
            let status = pool.in_place_scope(|_| fork_and_wait());
            match status {
                None => end_child_after(|| assert_works(&common::pool(2))),
                Some(status) => assert_done(status),
            }
        }
    });
    ended.assert_done();
}

/// A job of a pool whose worker waits for it in isolation, from pool to pool and back, forks. Its
/// child runs what it has pushed.
#[test]
fn the_child_of_a_job_with_ancestors_in_other_pools_goes_on() {
    let ended = in_child(this_test!(), &[("DROWSE_NUM_THREADS", "2")], || {
        let isolated =
            || ThreadPoolBuilder::new().num_threads(2).waiting(Waiting::Isolate).build().unwrap();
        let (here, there) = (isolated(), isolated());
        for _ in 0..60 {
            let status = here.install(|| {
                there.install(|| {
                    here.install(|| {
                        let child = || {
                            forked(|| {
                                drowse::spawn(|| ());
                                while drowse::yield_now() == Some(drowse::Yield::Executed) {}
                                assert_eq!(fib(8), 21);
                            })
                        };
                        drowse::join(child, || fib(12)).0
                    })
                })
            });
            assert_done(status);
        }
    });
    ended.assert_done();
}

/// Returns a handler that forks once, on a thread that `is_it` accepts, and from which the child
/// returns; and where the parent tells how the child has ended.
fn forking_handler(
    is_it: impl Fn() -> bool + Send + Sync + 'static,
) -> (impl Fn() + Send + Sync + 'static, Receiver<i32>) {
    let (tell, told) = channel();
    let tell = Mutex::new(Some(tell));
    let handler = move || {
        let Some(tell) = is_it().then(|| tell.lock().unwrap().take()).flatten() else { return };
        match fork_and_wait() {
            Some(status) => tell.send(status).unwrap(),
            // A thread of the parent may have the lock of the channel.
            None => std::mem::forget(tell),
        }
    };
    (handler, told)
}

/// Demands that the child of a handler was aborted, and said why. `body` calls the handler, and
/// returns how its child has ended.
#[track_caller]
fn assert_child_is_aborted(test: &str, body: impl FnOnce() -> i32) {
    let ended = in_child(test, &[], || assert_aborted(body()));
    ended.assert_done();
    let complaints = ended.complaints();
    assert!(complaints.len() == 1 && complaints[0].contains("fork()"), "{ended:#?}");
}

/// The child has one thread, which would fall asleep for ever.
#[test]
fn the_child_of_a_worker_that_falls_asleep_is_aborted() {
    assert_child_is_aborted(this_test!(), || {
        let (release, told) = forking_handler(|| true);
        let builder = ThreadPoolBuilder::new().num_threads(2).release_thread_handler(release);
        let pool = builder.build().unwrap();
        let status = told.recv().unwrap();
        assert_works(&pool);
        status
    });
}

fn is_spare() -> bool {
    thread::current().name().is_some_and(|name| name.contains("spare"))
}

#[test]
fn the_child_of_a_spare_that_falls_asleep_is_aborted() {
    assert_child_is_aborted(this_test!(), || {
        let (release, told) = forking_handler(is_spare);
        let builder = ThreadPoolBuilder::new().num_threads(1).release_thread_handler(release);
        let pool = builder.build().unwrap();
        // The spare has nothing to do.
        let status = pool.install(move || drowse::blocking(|| told.recv().unwrap()));
        assert_works(&pool);
        status
    });
}

/// The spare runs a job until the worker, which goes on without a place by then, wants its place
/// back: it does not fall asleep in between.
#[test]
fn the_child_of_a_spare_that_becomes_idle_is_aborted() {
    assert_child_is_aborted(this_test!(), || {
        let (release, told) = forking_handler(is_spare);
        let builder = ThreadPoolBuilder::new().num_threads(1).release_thread_handler(release);
        let pool = builder.build().unwrap();
        pool.install(|| {
            let (begun, begins) = channel();
            let (is_back, back) = channel();
            drowse::spawn(move || {
                begun.send(()).unwrap();
                back.recv().unwrap();
            });
            drowse::blocking(|| begins.recv().unwrap());
            is_back.send(()).unwrap();
        });
        let status = told.recv().unwrap();
        assert_works(&pool);
        status
    });
}

#[test]
fn the_child_of_a_stall_handler_is_aborted() {
    assert_child_is_aborted(this_test!(), || {
        let (handler, told) = forking_handler(|| true);
        let (pool, hold) = in_stall(handler);
        let status = told.recv().unwrap();
        drop(hold);
        assert_works(&pool);
        status
    });
}

#[test]
fn the_child_of_a_deadlock_handler_is_aborted() {
    assert_child_is_aborted(this_test!(), || {
        let (handler, told) = forking_handler(|| true);
        let (pool, hold) = in_deadlock(handler);
        let status = told.recv().unwrap();
        drop(hold);
        assert_works(&pool);
        status
    });
}
