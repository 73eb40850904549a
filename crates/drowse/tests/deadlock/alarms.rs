//! The deadlock handler: it is called when no worker can go on, it is told who is blocked and
//! where, and it is not called otherwise.

use crate::common::deadlocks::{Stuck, block, blocked, one_rescues_the_other, rescue, with_alarm};
use crate::common::{assert_works, fib, until_all_sleep, watchdog};
use drowse::{
    Blocked, Deadlock, SleepProtocol, ThreadPool, ThreadPoolBuilder, mark_blocked, mark_unblocked,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Barrier};

fn builder(protocol: SleepProtocol, width: usize) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol)
}

/// A pool of this protocol and width, and where its alarms are heard.
fn pool(protocol: SleepProtocol, width: usize) -> (ThreadPool, Receiver<Deadlock>) {
    with_alarm(builder(protocol, width))
}

/// So many tasks, each of which spawns a child and waits for it. As many of them as there are
/// workers begin before the first child is there, so no worker is left for the children. A thread
/// outside answers in their place.
fn children_by_channel(protocol: SleepProtocol, width: usize, tasks: usize) {
    let (pool, alarms) = pool(protocol, width);
    let (stuck, all_stuck) = mpsc::channel();
    let (sender, done) = mpsc::channel();
    let (tickets, everyone) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(width + 1)));
    for _ in 0..tasks {
        let (stuck, sender) = (stuck.clone(), sender.clone());
        let (tickets, everyone) = (Arc::clone(&tickets), Arc::clone(&everyone));
        pool.spawn(move || {
            let first = tickets.fetch_add(1, Ordering::SeqCst) < width;
            let (to_child, own) = mpsc::channel::<Stuck>();
            let child = move || {
                // Nobody, if somebody else is to answer.
                rescue(own.recv());
            };
            if first {
                everyone.wait();
                drowse::spawn(child);
                // The child is not told; somebody else is.
                drop(to_child);
                sender.send(block(&stuck)).unwrap();
            } else {
                drowse::spawn(child);
                sender.send(block(&to_child)).unwrap();
            }
        });
    }
    everyone.wait();
    let alarm = alarms.recv().unwrap();
    assert_eq!(alarm.num_threads, width);
    assert!(blocked(&alarm).0.into_iter().eq(0..width), "{alarm}");
    rescue(all_stuck.iter().take(width));
    assert_eq!(done.iter().take(tasks).collect::<Vec<_>>(), vec![42; tasks]);
    assert_works(&pool);
    drop((pool, stuck));
    assert_eq!(alarms.iter().count(), 0, "one deadlock, one alarm");
}

#[test]
fn five_parents_on_four_workers() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            (0..20).for_each(|_| children_by_channel(protocol, 4, 5));
        }
    });
}

#[test]
fn one_parent_on_one_worker() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            (0..20).for_each(|_| children_by_channel(protocol, 1, 1));
        }
    });
}

#[test]
fn many_parents_on_two_workers() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            // Those that come later are served: they leave a worker for their children.
            (0..20).for_each(|_| children_by_channel(protocol, 2, 3));
        }
    });
}

#[test]
fn the_handler_is_told_who_and_where() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, alarms) = pool(protocol, 3);
            let (stuck, all_stuck) = mpsc::channel();
            let other = stuck.clone();
            let (sender, indices) = mpsc::channel();
            let other_sender = sender.clone();
            let index = || drowse::current_thread_index().unwrap();
            pool.spawn(move || {
                let both = Arc::new(Barrier::new(2));
                let one = || {
                    sender.send((index(), line!() + 1)).unwrap();
                    block(&stuck);
                };
                let other = || {
                    other_sender.send((index(), line!() + 1)).unwrap();
                    block(&other);
                };
                drowse::join(
                    || {
                        both.wait();
                        one();
                    },
                    || {
                        both.wait();
                        other();
                    },
                );
            });
            let alarm = alarms.recv().unwrap();
            let mut expected: Vec<_> = indices.iter().take(2).collect();
            expected.sort_unstable();
            let (workers, lines) = blocked(&alarm);
            assert_eq!(workers.into_iter().zip(lines).collect::<Vec<_>>(), expected, "{alarm}");
            let report = alarm.to_string();
            let said = report.lines().next().unwrap();
            assert!(
                said.starts_with("no worker of 3 can go on: ") && said.ends_with(", one sleeps")
            );
            for (worker, line) in expected {
                assert!(
                    said.contains(&format!("{worker} is blocked at {}:{line}:", file!())),
                    "{said}"
                );
            }
            rescue(all_stuck.iter().take(2));
            assert_works(&pool);
        }
    });
}

#[test]
fn there_are_no_false_alarms() {
    watchdog(|| {
        let mut runs = 0;
        while runs < 1_000 {
            for protocol in SleepProtocol::ALL {
                for width in [1, 2, 4] {
                    let (pool, alarms) = pool(protocol, width);
                    match runs % 5 {
                        // New, and gone at once.
                        0 => (),
                        1 => until_all_sleep(&pool),
                        2 => assert_eq!(pool.install(|| fib(10)), 55),
                        3 => {
                            assert_works(&pool);
                            until_all_sleep(&pool);
                            assert_works(&pool);
                        }
                        _ if width == 1 => assert_eq!(pool.install(|| drop(marked_in_vain())), ()),
                        _ => {
                            until_all_sleep(&pool);
                            assert_eq!(pool.install(one_rescues_the_other), 42);
                            until_all_sleep(&pool);
                        }
                    }
                    drop(pool);
                    // Ends when the last thread has.
                    assert_eq!(alarms.iter().count(), 0, "{protocol} on {width}, run {runs}");
                    runs += 1;
                }
            }
        }
    });
}

/// A mark on another worker's behalf would be wrong; one made outside any worker is not a mark.
fn marked_in_vain() -> Option<Blocked> {
    std::thread::spawn(mark_blocked).join().ok()
}

#[test]
fn there_are_no_false_alarms_amid_rescues() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for width in [2, 4] {
                let (pool, alarms) = pool(protocol, width);
                for round in 0..300 {
                    if round % 8 == 0 {
                        until_all_sleep(&pool);
                    }
                    assert_eq!(pool.install(one_rescues_the_other), 42);
                }
                pool.install(|| (0..300).for_each(|_| assert_eq!(one_rescues_the_other(), 42)));
                drop(pool);
                assert_eq!(alarms.iter().count(), 0, "{protocol} on {width}");
            }
        }
    });
}

#[test]
fn each_pool_has_its_own_count() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let ((a, a_alarms), (b, b_alarms)) = (pool(protocol, 1), pool(protocol, 2));
            let (stuck, all_stuck) = mpsc::channel();
            let (stuck_a, stuck_b) = (stuck.clone(), stuck);
            a.spawn(move || assert_eq!(block(&stuck_a), 42));
            assert_eq!(a_alarms.recv().unwrap().num_threads, 1);
            assert!(b_alarms.try_recv().is_err());
            // The other pool works, and has a deadlock of its own.
            assert_works(&b);
            b.spawn(move || assert_eq!(block(&stuck_b), 42));
            assert_eq!(b_alarms.recv().unwrap().num_threads, 2);
            rescue(all_stuck.iter().take(2));
            assert_works(&a);
            assert_works(&b);
            drop((a, b));
            assert_eq!((a_alarms.iter().count(), b_alarms.iter().count()), (0, 0));
        }
    });
}

#[test]
fn who_waits_for_another_pool_is_not_blocked() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let ((home, home_alarms), (away, away_alarms)) = (pool(protocol, 1), pool(protocol, 1));
            let (stuck, all_stuck) = mpsc::channel();
            std::thread::scope(|threads| {
                threads.spawn(|| assert_eq!(home.install(|| away.install(|| block(&stuck))), 42));
                assert_eq!(blocked(&away_alarms.recv().unwrap()).0, [0]);
                until_all_sleep(&home);
                rescue(all_stuck.recv());
            });
            drop((home, away));
            assert_eq!((home_alarms.iter().count(), away_alarms.iter().count()), (0, 0));
        }
    });
}

/// A thread outside may wake several workers. The first one awake pushes a job and blocks, perhaps
/// before the second one is woken; but there is a job, and somebody is about to be woken who will
/// run it.
#[test]
fn no_alarm_while_there_is_a_job_and_somebody_is_being_woken() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, alarms) = pool(protocol, 2);
            for round in 0..1_000 {
                until_all_sleep(&pool);
                let (sender, done) = mpsc::channel();
                pool.spawn(move || {
                    let ((marks, marked), (answer, question)) = (mpsc::channel(), mpsc::channel());
                    // Unblocks us as soon as somebody runs it.
                    drowse::spawn(move || {
                        mark_unblocked(marked.recv().unwrap());
                        answer.send(()).unwrap();
                    });
                    marks.send(mark_blocked()).unwrap();
                    question.recv().unwrap();
                    sender.send(()).unwrap();
                });
                done.recv().unwrap();
                assert_eq!(
                    alarms.try_recv().ok(),
                    None,
                    "a false alarm of {protocol}, in round {round}"
                );
            }
        }
    });
}

/// A guest in the seat of a worker that sleeps can go on, and when it has gone nobody can.
#[test]
fn a_guest_counts_as_active() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let builder =
                ThreadPoolBuilder::new().num_threads(2).sleep_protocol(protocol).guests(true);
            let (pool, alarms) = with_alarm(builder);
            until_all_sleep(&pool);
            let (stuck, heard) = mpsc::channel();
            let rescuer = pool.install(move || {
                drowse::spawn(move || assert_eq!(block(&stuck), 42));
                // The other worker has taken it, and is marked.
                heard.recv().map(|stuck| (stuck, alarms.try_recv().is_err(), alarms)).unwrap()
            });
            let (stuck, calm, alarms) = rescuer;
            assert!(calm, "the guest is active");
            assert_eq!(alarms.recv().expect("nobody is left").num_threads, 2);
            rescue(vec![stuck]);
        }
    });
}
