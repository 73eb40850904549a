//! What a report tells: who waits for what, in which job, and where that came from.

use crate::common::deadlocks::{SOON, listen};
use crate::common::{assert_works, watchdog};
use drowse::{
    Deadlock, JobFrom, SleepProtocol, ThreadPool, ThreadPoolBuilder, WaitFor, WorkerState,
    mark_blocked_on,
};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};

fn pool(protocol: SleepProtocol, width: usize) -> (ThreadPool, Receiver<Deadlock>) {
    let builder = ThreadPoolBuilder::new().num_threads(width).sleep_protocol(protocol);
    listen(builder.thread_name(|index| format!("dozer-{index}")).deadlock_after(SOON))
}

/// Worker A waits for the half that B has stolen; B is blocked. The report shows the way from one
/// to the other.
#[test]
fn it_shows_who_waits_for_whom() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, alarms) = pool(protocol, 3);
            let (answer, question) = mpsc::channel();
            let (here, is_here) = mpsc::channel();
            let index = || drowse::current_thread_index().unwrap();
            pool.spawn(move || {
                let (begun, begins) = mpsc::channel();
                let thief = drowse::join(
                    move || begins.recv().unwrap(),
                    move || {
                        begun.send(index()).unwrap();
                        let _blocked = mark_blocked_on("the oracle");
                        assert_eq!(question.recv(), Ok(42));
                    },
                )
                .0;
                here.send((index(), thief)).unwrap();
            });
            let alarm = alarms.recv().unwrap();
            answer.send(42).unwrap();
            let (victim, thief) = is_here.recv().unwrap();
            let idle = 3 - victim - thief;
            let (blocked, waiting) = (&alarm.workers[thief], &alarm.workers[victim]);
            assert_eq!(blocked.state, WorkerState::Blocked, "{alarm}");
            assert_eq!(blocked.region.unwrap().what, Some("the oracle"), "{alarm}");
            assert_eq!((blocked.depth, blocked.stole_from()), (1, Some(victim)), "{alarm}");
            assert_eq!(
                (waiting.state, waiting.waits_for),
                (WorkerState::Asleep, Some(WaitFor::Join)),
                "{alarm}"
            );
            assert_eq!((waiting.depth, waiting.jobs[0].from), (1, JobFrom::Outside), "{alarm}");
            assert_eq!(
                (alarm.workers[idle].depth, alarm.workers[idle].waits_for),
                (0, Some(WaitFor::Home))
            );
            let said = alarm.to_string();
            let lines: Vec<_> = said.lines().collect();
            assert_eq!(lines.len(), 3, "the one that is idle is left out: {said}");
            assert!(
                lines[0].starts_with("no worker of 3 can go on: ")
                    && lines[0].ends_with(", 2 sleep"),
                "{said}"
            );
            let mut expected = [
                (
                    thief,
                    format!(
                        "  worker {thief} (dozer-{thief}): blocked on the oracle at {}:",
                        file!()
                    ),
                ),
                (
                    victim,
                    format!(
                        "  worker {victim} (dozer-{victim}): asleep, waits for the other half of a join, in a job from outside"
                    ),
                ),
            ];
            expected.sort_unstable();
            for (line, (_, start)) in lines[1..].iter().zip(&expected) {
                assert!(line.starts_with(start), "{start} in {said}");
            }
            assert!(said.contains(&format!(", in a job stolen from {victim}")), "{said}");
            assert_works(&pool);
        }
    });
}

/// Has somebody answer.
fn blocked(question: &Receiver<u32>) {
    let _blocked = mark_blocked_on("an answer");
    assert_eq!(question.recv(), Ok(42));
}

/// The alarm of a pool of two in which one waits for this, and the other is blocked.
#[track_caller]
fn assert_tells(alarm: &Deadlock, what: WaitFor) {
    let waits: Vec<_> =
        alarm.workers.iter().filter(|worker| worker.waits_for == Some(what)).collect();
    assert_eq!(waits.len(), 1, "{what} in {alarm}");
    assert_eq!(waits[0].state, WorkerState::Asleep, "{alarm}");
    assert!(alarm.to_string().contains(&format!("asleep, waits for {what}")), "{alarm}");
}

#[test]
fn it_tells_what_is_waited_for() {
    type Wait = fn(Receiver<u32>);
    let ways: [(WaitFor, Wait); 3] = [
        (WaitFor::Scope, |question| {
            drowse::scope(move |s| {
                let (begun, begins) = mpsc::channel();
                s.spawn(move |_| {
                    begun.send(()).unwrap();
                    blocked(&question);
                });
                begins.recv().unwrap();
            });
        }),
        (WaitFor::Handle, |question| {
            let (begun, begins) = mpsc::channel();
            let handle = drowse::spawn_handle(move || {
                begun.send(()).unwrap();
                blocked(&question);
            });
            begins.recv().unwrap();
            handle.join().unwrap();
        }),
        (WaitFor::Broadcast, |question| {
            let (own, question) = (drowse::current_thread_index(), Mutex::new(question));
            drowse::broadcast(|context| {
                if Some(context.index()) != own {
                    blocked(&question.lock().unwrap());
                }
            });
        }),
    ];
    watchdog(move || {
        for protocol in SleepProtocol::ALL {
            for (what, wait) in ways {
                let (pool, alarms) = pool(protocol, 2);
                let (answer, question) = mpsc::channel();
                pool.spawn(move || wait(question));
                assert_tells(&alarms.recv().unwrap(), what);
                answer.send(42).unwrap();
                assert_works(&pool);
            }
        }
    });
}

#[test]
fn it_tells_who_waits_for_another_pool() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let ((pool, alarms), other) = (pool(protocol, 2), crate::common::pool(1));
            let ((begun, begins), (answer, question)) = (mpsc::channel(), mpsc::channel());
            pool.spawn(move || {
                begun.send(()).unwrap();
                blocked(&question);
            });
            begins.recv().unwrap();
            let (end, ends) = mpsc::channel();
            pool.spawn(move || other.install(move || ends.recv().unwrap()));
            // The first may be about the one that is blocked alone.
            let alarm =
                alarms.iter().find(|alarm| alarm.to_string().contains("waits for a closure"));
            assert_tells(&alarm.unwrap(), WaitFor::Install);
            answer.send(42).unwrap();
            end.send(()).unwrap();
            assert_works(&pool);
        }
    });
}

#[test]
fn jobs_of_its_own_are_not_told_one_by_one() {
    fn nest(left: u32, question: Receiver<u32>) {
        if left == 0 {
            return blocked(&question);
        }
        drowse::scope(|s| s.spawn(move |_| nest(left - 1, question)));
    }
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (pool, alarms) = pool(protocol, 1);
            let (answer, question) = mpsc::channel();
            pool.spawn(move || nest(3, question));
            let alarm = alarms.recv().unwrap();
            let worker = &alarm.workers[0];
            assert_eq!((worker.depth, worker.waits_for), (1, Some(WaitFor::Scope)), "{alarm}");
            let said = alarm.to_string();
            assert!(
                said.ends_with(", while it waits for the jobs of a scope, in a job from outside"),
                "{said}"
            );
            answer.send(42).unwrap();
            assert_works(&pool);
        }
    });
}

/// Those who ask for reports on the standard error. Each test is a process of its own, and sees
/// what it says.
#[cfg(target_os = "linux")]
mod on_standard_error {
    use super::*;
    use crate::common::child::{in_child, this_test};
    use std::fs::File;
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::FromRawFd;

    /// From here on what this process says on its standard error comes out here too.
    fn overhear() -> Receiver<String> {
        let mut ends = [0; 2];
        // SAFETY: room for two numbers. Each descriptor is new, and has one owner.
        let (mut stderr, said) = unsafe {
            let stderr = libc::dup(libc::STDERR_FILENO);
            assert!(stderr >= 0 && libc::pipe(ends.as_mut_ptr()) == 0);
            assert!(libc::dup2(ends[1], libc::STDERR_FILENO) >= 0);
            (File::from_raw_fd(stderr), File::from_raw_fd(ends[0]))
        };
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(said).lines() {
                let line = line.unwrap();
                writeln!(stderr, "{line}").unwrap();
                let _ = sender.send(line);
            }
        });
        lines
    }

    fn block_until_reported(builder: ThreadPoolBuilder) {
        let lines = overhear();
        let pool = builder.num_threads(1).deadlock_after(SOON).build().unwrap();
        for _ in 0..2 {
            let (answer, question) = mpsc::channel();
            pool.spawn(move || blocked(&question));
            let line = lines.recv().unwrap();
            assert!(
                line.starts_with("drowse: no worker of 1 can go on: 0 is blocked on an answer at "),
                "{line}"
            );
            let name = if cfg!(feature = "rayon-names") { "" } else { " (drowse-0)" };
            let worker = format!("  worker 0{name}: blocked on an answer at ");
            assert!(lines.recv().unwrap().starts_with(&worker));
            answer.send(42).unwrap();
            assert_works(&pool);
        }
        assert!(lines.try_recv().is_err(), "one report for each");
    }

    #[test]
    fn by_the_builder() {
        let report = || block_until_reported(ThreadPoolBuilder::new().report_deadlocks());
        in_child(this_test!(), &[], report).assert_done();
    }

    #[test]
    fn by_the_environment() {
        let report = || block_until_reported(ThreadPoolBuilder::new());
        in_child(this_test!(), &[("DROWSE_DEADLOCK", "report")], report).assert_done();
    }

    #[test]
    fn by_the_environment_and_then_the_process_aborts() {
        let ended = in_child(this_test!(), &[("DROWSE_DEADLOCK", "abort")], || {
            block_until_reported(ThreadPoolBuilder::new());
        });
        ended.assert_aborted();
    }

    #[test]
    fn the_builder_comes_before_the_environment() {
        let ended = in_child(this_test!(), &[("DROWSE_DEADLOCK", "abort")], || {
            let (pool, alarms) =
                listen(ThreadPoolBuilder::new().num_threads(1).deadlock_after(SOON));
            let mark = pool.install(drowse::mark_blocked);
            assert_eq!(alarms.recv().unwrap().num_threads, 1);
            drop(mark);
        });
        ended.assert_done();
        assert_eq!(ended.complaints(), [""; 0]);
    }

    #[test]
    fn what_is_no_such_word_is_complained_about() {
        let ended = in_child(this_test!(), &[("DROWSE_DEADLOCK", "shout")], || {
            assert_works(&ThreadPoolBuilder::new().num_threads(1).build().unwrap());
        });
        ended.assert_done();
        assert!(ended.complaints()[0].contains("DROWSE_DEADLOCK=\"shout\""), "{ended:?}");
    }
}
