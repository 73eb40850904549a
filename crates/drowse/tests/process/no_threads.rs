//! Where no thread can be started: the caller does the work, and a line on the standard error says
//! so.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use crate::common::child::{Ended, in_child, this_test};
use crate::common::{self, caught, fib};
use drowse::ThreadPoolBuilder;
use drowse::Yield::{Executed, Idle};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Runs `body` where every thread is to have a stack that no machine has.
fn without_threads(test: &str, body: impl FnOnce()) -> Ended {
    let absurd = (1_u64 << 60).to_string();
    in_child(test, &[("RUST_MIN_STACK", &absurd)], || {
        assert!(thread::Builder::new().spawn(|| ()).is_err(), "a thread could be started");
        body();
    })
}

/// One line of complaint, whatever else was done.
#[track_caller]
fn assert_said_once(ended: &Ended) {
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    for part in
        ["global pool could not be started", "on the calling thread", "thread could not be started"]
    {
        assert!(complaints[0].contains(part), "{part} in {}", complaints[0]);
    }
}

#[test]
fn joins_run_on_the_caller() {
    let ended = without_threads(this_test!(), || {
        let here = thread::current().id();
        let (a, b) = drowse::join(|| thread::current().id(), || thread::current().id());
        assert_eq!((a, b), (here, here));
        assert_eq!(fib(15), 610);
        let moved = drowse::join_context(|a| a.migrated(), |b| b.migrated());
        assert_eq!(moved, (false, false));
    });
    assert_said_once(&ended);
}

#[test]
fn scopes_run_on_the_caller() {
    let ended = without_threads(this_test!(), || {
        let here = thread::current().id();
        let mut ran_on = [None; 4];
        let [a, b, c, d] = &mut ran_on;
        let mark = |slot: &mut Option<_>| *slot = Some(thread::current().id());
        drowse::scope(|s| s.spawn(|_| mark(a)));
        drowse::scope_fifo(|s| s.spawn_fifo(|_| mark(b)));
        drowse::in_place_scope(|s| s.spawn(|_| mark(c)));
        drowse::in_place_scope_fifo(|s| s.spawn_fifo(|_| mark(d)));
        assert_eq!(ran_on, [Some(here); 4]);
    });
    assert_said_once(&ended);
}

#[test]
fn spawned_jobs_run_when_the_caller_yields() {
    let ended = without_threads(this_test!(), || {
        let (sender, receiver) = mpsc::channel();
        for i in 0..3 {
            let sender = sender.clone();
            drowse::spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        assert!(receiver.try_recv().is_err());
        for _ in 0..3 {
            assert_eq!(drowse::yield_now(), Some(Executed));
        }
        assert_eq!(drowse::yield_now(), Some(Idle));
        assert_eq!(receiver.iter().sum::<i32>(), 3);
    });
    assert_said_once(&ended);
}

#[test]
fn broadcasts_visit_the_caller() {
    let ended = without_threads(this_test!(), || {
        assert_eq!(drowse::current_num_threads(), 1);
        assert_eq!(drowse::broadcast(|context| context.index()), [0]);
        let visits = AtomicUsize::new(0);
        drowse::scope(|s| {
            s.spawn_broadcast(|_, context| {
                visits.fetch_add(context.num_threads(), Ordering::Relaxed);
            });
        });
        assert_eq!(visits.into_inner(), 1);
    });
    assert_said_once(&ended);
}

#[test]
fn panics_arrive_as_ever() {
    let ended = without_threads(this_test!(), || {
        let payload = caught::<&str, _>(|| {
            drowse::join(|| panic!("a"), || panic!("b"));
        });
        assert_eq!(payload, "a");
        assert_eq!(caught::<&str, _>(|| drowse::scope(|s| s.spawn(|_| panic!("job")))), "job");
        assert_eq!(fib(10), 55);
    });
    assert_said_once(&ended);
}

#[test]
fn a_pool_of_ones_own_is_an_error_that_says_what_to_do() {
    let ended = without_threads(this_test!(), || {
        for num_threads in [0, 1, 8] {
            let said =
                ThreadPoolBuilder::new().num_threads(num_threads).build().unwrap_err().to_string();
            for part in ["thread could not be started", "fewer threads", "smaller stacks", "limit"]
            {
                assert!(said.contains(part), "{part} in {said}");
            }
        }
        let error = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build();
        assert!(error.is_err());
        assert_eq!(drowse::current_thread_index(), None, "and lets go of this thread again");
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0], "the caller was told by the error");
}

#[test]
fn a_stack_size_that_can_be_had_makes_a_pool() {
    let ended = without_threads(this_test!(), || {
        let pool = ThreadPoolBuilder::new().num_threads(2).stack_size(1 << 20).build().unwrap();
        common::assert_works(&pool);
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn install_works_in_a_pool_of_the_calling_thread_alone() {
    let ended = without_threads(this_test!(), || {
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
        let here = thread::current().id();
        assert_eq!(pool.install(|| (fib(10), thread::current().id())), (55, here));
        assert_eq!(drowse::join(|| 1, || 2), (1, 2), "in the same pool");
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn each_thread_there_is_does_its_own_work() {
    let ended = without_threads(this_test!(), || {
        for _ in 0..3 {
            let (sender, receiver) = mpsc::channel();
            let work = move || {
                let (a, b) = drowse::join(|| thread::current().id(), || thread::current().id());
                sender.send((thread::current().id(), a, b, fib(12))).unwrap();
                // It is a worker for life: it does not end before the process.
                loop {
                    thread::park();
                }
            };
            thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap();
            let (here, a, b, sum) = receiver.recv().unwrap();
            assert_eq!((a, b, sum), (here, here, 144));
        }
    });
    assert_said_once(&ended);
}

/// Lets the process have so many bytes of addresses more than it has now.
fn limit_addresses(more: u64) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    let limit = libc::rlimit { rlim_cur: pages * 4096 + more, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a limit that outlives the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[test]
fn the_global_pool_goes_on_with_the_threads_that_can_be_started() {
    // Stacks of a gigabyte of addresses, and room for some of them.
    let gigabyte = (1_u64 << 30).to_string();
    let ended = in_child(
        this_test!(),
        &[("RUST_MIN_STACK", &gigabyte), ("DROWSE_NUM_THREADS", "64")],
        || {
            limit_addresses(6 << 30);
            let (sender, receiver) = mpsc::channel();
            drowse::spawn(move || sender.send(42).unwrap());
            assert_eq!(receiver.recv(), Ok(42), "what is spawned is answered");
            let threads = drowse::current_num_threads();
            assert!((1..=6).contains(&threads), "{threads}");
            assert!(drowse::broadcast(|context| context.index()).into_iter().eq(0..threads));
            assert_eq!(fib(15), 610);
            assert_eq!(drowse::current_thread_index(), None, "the caller is not one of them");
        },
    );
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("of 64 threads"), "{complaints:?}");
}
