//! P21: a process that does little starts no more threads than it needs. rayon starts all of them.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use crate::common::child::{Ended, in_child, this_test};
use crate::common::{assert_works, fib, occupy, tasks, until};
use drowse::{SleepProtocol, Start, ThreadPoolBuilder};
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn a_join_in_a_wide_pool_starts_two_or_three_threads() {
    let ended = in_child(this_test!(), &[], || {
        for protocol in SleepProtocol::ALL {
            let builder = ThreadPoolBuilder::new().num_threads(64).thread_name(|_| "wide".into());
            let pool = builder.sleep_protocol(protocol).start(Start::OnDemand).build().unwrap();
            assert_eq!(pool.join(|| 1, || 2), (1, 2));
            let threads = tasks::named("wide").len();
            // The oldest protocol wakes everybody for anything, and so it starts everybody.
            let most = if protocol == SleepProtocol::Sleepy { 64 } else { 3 };
            assert!((1..=most).contains(&threads), "{protocol}: {threads}");
            pool.shutdown();
            until("they are gone", || tasks::named("wide").is_empty());
        }
    });
    ended.assert_done();
}

#[test]
fn the_environment_says_so_for_the_global_pool() {
    let variables =
        [("DROWSE_NUM_THREADS", "64"), ("DROWSE_START", "OnDemand"), ("DROWSE_IDLE_TIMEOUT", "1")];
    let ended = in_child(this_test!(), &variables, || {
        let before = tasks::count();
        assert_eq!(drowse::join(|| 1, || 2), (1, 2));
        let threads = tasks::count() - before;
        assert!((1..=3).contains(&threads), "{threads}");
        assert_eq!(drowse::broadcast(|_| ()).len(), 64);
        until("all but one have left", || tasks::count() == before + 1);
        assert_eq!(fib(15), 610);
        drowse::shutdown_global();
        until("all have left", || tasks::count() == before);
    });
    ended.assert_done();
    assert_eq!(ended.complaints(), [""; 0]);
}

#[test]
fn what_cannot_be_understood_is_complained_about() {
    let variables = [("DROWSE_START", "later"), ("DROWSE_IDLE_TIMEOUT", "soon")];
    let ended = in_child(this_test!(), &variables, || assert_eq!(fib(10), 55));
    ended.assert_done();
    let complaints = ended.complaints();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(
        complaints[0].contains("DROWSE_START") && complaints[1].contains("DROWSE_IDLE_TIMEOUT")
    );
}

const STACK: u64 = 1 << 30;

/// Runs `body` where so many threads can be started, with stacks of a gigabyte of addresses.
fn with_room_for(threads: u64, test: &str, body: impl FnOnce()) -> Ended {
    in_child(test, &[("RUST_MIN_STACK", &STACK.to_string())], || {
        leave_room_for(threads);
        body();
    })
}

fn leave_room_for(threads: u64) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    limit_addresses(pages * 4096 + threads * STACK + STACK / 2);
}

fn limit_addresses(most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a limit that outlives the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[test]
fn threads_that_are_refused_later_are_done_without() {
    let ended = with_room_for(2, this_test!(), || {
        for protocol in SleepProtocol::ALL {
            for guests in [false, true] {
                let builder =
                    ThreadPoolBuilder::new().num_threads(8).start(Start::OnDemand).guests(guests);
                let pool = builder.sleep_protocol(protocol).build().unwrap();
                for _ in 0..50 {
                    assert_eq!(pool.install(|| fib(12)), 144);
                }
                let busy = occupy(&pool, 2);
                let (sender, receiver) = mpsc::channel();
                for i in 0..100 {
                    let sender = sender.clone();
                    pool.spawn(move || sender.send(i).unwrap());
                }
                drop((busy, sender));
                assert_eq!(receiver.iter().sum::<i32>(), 4950, "{protocol}");
                pool.shutdown();
            }
        }
    });
    ended.assert_done();
    let complaints = ended.complaints();
    assert!(complaints.iter().all(|line| line.contains("goes on with those")), "{complaints:?}");
    assert!(complaints.len() <= 2 * SleepProtocol::ALL.len(), "once for each pool: {complaints:?}");
}

#[test]
fn a_broadcast_waits_until_there_are_threads() {
    let ended = with_room_for(2, this_test!(), || {
        for protocol in SleepProtocol::ALL {
            leave_room_for(2);
            let builder = ThreadPoolBuilder::new().num_threads(4).start(Start::OnDemand);
            let pool = builder.sleep_protocol(protocol).stack_size(1 << 30).build().unwrap();
            let (sender, receiver) = mpsc::channel();
            std::thread::scope(|s| {
                std::thread::Builder::new()
                    .stack_size(1 << 20)
                    .spawn_scoped(s, || {
                        sender.send(pool.broadcast(|context| context.index())).unwrap()
                    })
                    .unwrap();
                assert!(
                    receiver.recv_timeout(Duration::from_millis(20)).is_err(),
                    "not all can be there"
                );
                limit_addresses(libc::RLIM_INFINITY);
                assert_eq!(receiver.recv(), Ok(vec![0, 1, 2, 3]));
            });
            assert_works(&pool);
            pool.shutdown();
        }
    });
    ended.assert_done();
}
