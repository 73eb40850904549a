//! In which order jobs begin: the table in docs/guide/order.md, cell by cell.

use crate::common::{until, watchdog};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder, Waiting};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More than a worker runs before it looks for jobs that are in no deque.
const JOBS: usize = 150;

/// How a job is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Spawn,
    SpawnFifo,
    Handle,
    HandleFifo,
    Scope,
    ScopeFifo,
    Broadcast,
    SpawnBroadcast,
    ScopeBroadcast,
}

impl How {
    const ALL: [Self; 9] = [
        Self::Spawn,
        Self::SpawnFifo,
        Self::Handle,
        Self::HandleFifo,
        Self::Scope,
        Self::ScopeFifo,
        Self::Broadcast,
        Self::SpawnBroadcast,
        Self::ScopeBroadcast,
    ];

    /// Its two cells of the table.
    fn promise(self, runner: Runner) -> Order {
        match (self, runner) {
            (Self::Spawn | Self::Handle | Self::Scope, Runner::Spawner) => Order::NewestFirst,
            _ => Order::OldestFirst,
        }
    }

    fn is_broadcast(self) -> bool {
        matches!(self, Self::Broadcast | Self::SpawnBroadcast | Self::ScopeBroadcast)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    NewestFirst,
    OldestFirst,
}

/// How the worker waits that makes the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Help,
    Region,
    IsolatedPool,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Help, Self::Region, Self::IsolatedPool];

    fn pool(self, protocol: SleepProtocol, threads: usize) -> ThreadPool {
        let waiting = if self == Self::IsolatedPool { Waiting::Isolate } else { Waiting::Help };
        let builder = ThreadPoolBuilder::new().num_threads(threads).sleep_protocol(protocol);
        builder.waiting(waiting).build().unwrap()
    }

    fn call<R>(self, f: impl FnOnce() -> R) -> R {
        if self == Self::Region { drowse::isolate(f) } else { f() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// The worker that has made the jobs.
    Spawner,
    /// The other one of two, while that worker blocks. (Each of the two runs what is broadcast.)
    Thief,
}

/// Which worker has run which job, in the order in which they have begun.
#[derive(Debug, Default)]
struct Log {
    begun: Mutex<Vec<(usize, usize)>>,
    count: AtomicUsize,
}

impl Log {
    /// A new one. (Leaked, and not lost: leaks are looked for.)
    fn for_ever() -> &'static Self {
        static ALL: Mutex<Vec<&Log>> = Mutex::new(Vec::new());
        let log = &*Box::leak(Box::default());
        ALL.lock().unwrap().push(log);
        log
    }

    fn add(&self, job: usize) {
        let worker = drowse::current_thread_index().expect("a worker");
        self.begun.lock().unwrap().push((worker, job));
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    fn len(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// What this worker has run.
    fn of(&self, worker: usize) -> Vec<usize> {
        let begun = self.begun.lock().unwrap();
        begun.iter().filter(|entry| entry.0 == worker).map(|entry| entry.1).collect()
    }
}

/// Makes jobs on a worker, which calls `between` when all are made and it has not waited for any.
/// Returns when it has waited for those that can be waited for.
fn make(how: How, log: &'static Log, between: impl FnOnce() + Send) {
    let jobs = 0..JOBS;
    let note = |job| move || log.add(job);
    match how {
        How::Spawn => jobs.for_each(|job| drowse::spawn(note(job))),
        How::SpawnFifo => jobs.for_each(|job| drowse::spawn_fifo(note(job))),
        How::SpawnBroadcast => jobs.for_each(|job| drowse::spawn_broadcast(move |_| log.add(job))),
        How::Broadcast => jobs.for_each(|job| _ = drowse::broadcast(|_| log.add(job))),
        How::Handle | How::HandleFifo => {
            let spawn = |job| match how {
                How::Handle => drowse::spawn_handle(note(job)),
                _ => drowse::spawn_handle_fifo(note(job)),
            };
            let handles: Vec<_> = jobs.map(spawn).collect();
            between();
            return handles.into_iter().for_each(|handle| handle.join().unwrap());
        }
        How::Scope => {
            return drowse::scope(|s| {
                jobs.for_each(|job| s.spawn(move |_| log.add(job)));
                between();
            });
        }
        How::ScopeFifo => {
            return drowse::scope_fifo(|s| {
                jobs.for_each(|job| s.spawn_fifo(move |_| log.add(job)));
                between();
            });
        }
        How::ScopeBroadcast => {
            return drowse::scope_fifo(|s| {
                jobs.for_each(|job| s.spawn_broadcast(move |_, _| log.add(job)));
                between();
            });
        }
    }
    between();
}

/// One cell of the table, for one protocol.
fn assert_cell(how: How, mode: Mode, runner: Runner, protocol: SleepProtocol) {
    let threads = if runner == Runner::Thief { 2 } else { 1 };
    let (pool, log) = (mode.pool(protocol, threads), Log::for_ever());
    let all = if how.is_broadcast() { threads * JOBS } else { JOBS };
    let spawner = pool.install(|| {
        let others_are_done = || match runner {
            Runner::Thief if how.is_broadcast() => {
                until("the other has run its own", || log.len() >= JOBS)
            }
            Runner::Thief => until("all are stolen", || log.len() == JOBS),
            Runner::Spawner => (),
        };
        mode.call(|| make(how, log, others_are_done));
        drowse::current_thread_index().expect("a worker")
    });
    until("all have run", || log.len() == all);
    let newest_first = how.promise(runner) == Order::NewestFirst;
    let order: Vec<_> = if newest_first { (0..JOBS).rev().collect() } else { (0..JOBS).collect() };
    for worker in 0..threads {
        let runs = how.is_broadcast() || (worker == spawner) == (runner == Runner::Spawner);
        let expected = if runs { &order[..] } else { &[] };
        assert_eq!(log.of(worker), expected, "{how:?}, {mode:?}, {runner:?}, {protocol:?}");
    }
}

fn assert_table(runner: Runner) {
    watchdog(move || {
        for protocol in SleepProtocol::ALL {
            for how in How::ALL {
                Mode::ALL.into_iter().for_each(|mode| assert_cell(how, mode, runner, protocol));
            }
        }
    });
}

#[test]
fn jobs_begin_in_the_promised_order_on_the_worker_that_makes_them() {
    assert_table(Runner::Spawner);
}

#[test]
fn jobs_begin_in_the_promised_order_on_a_thief() {
    assert_table(Runner::Thief);
}

#[test]
fn what_comes_from_outside_begins_oldest_first() {
    watchdog(|| {
        for mode in Mode::ALL {
            for how in [How::Spawn, How::SpawnFifo, How::Scope, How::ScopeFifo] {
                let (pool, log) = (mode.pool(SleepProtocol::Relay, 1), Log::for_ever());
                let add = |job| move || log.add(job);
                mode.call(|| match how {
                    How::Spawn => (0..JOBS).for_each(|job| pool.spawn(add(job))),
                    How::SpawnFifo => (0..JOBS).for_each(|job| pool.spawn_fifo(add(job))),
                    How::Scope => pool.in_place_scope(|s| {
                        (0..JOBS).for_each(|job| s.spawn(move |_| log.add(job)));
                    }),
                    _ => pool.in_place_scope_fifo(|s| {
                        (0..JOBS).for_each(|job| s.spawn_fifo(move |_| log.add(job)));
                    }),
                });
                until("all have run", || log.len() == JOBS);
                assert_eq!(log.of(0), (0..JOBS).collect::<Vec<_>>(), "{how:?}, {mode:?}");
            }
        }
    });
}

/// Where the worker isolates, those jobs are none of what it waits for.
#[test]
fn a_broadcast_comes_after_what_the_worker_has_spawned_unless_it_isolates() {
    watchdog(|| {
        for mode in Mode::ALL {
            let (pool, log) = (mode.pool(SleepProtocol::Relay, 1), Log::for_ever());
            pool.install(|| {
                mode.call(|| {
                    (0..3).for_each(|i| drowse::spawn_fifo(move || log.add(i)));
                    drowse::broadcast(|_| log.add(10));
                });
            });
            until("all have run", || log.len() == 4);
            let expected = if mode == Mode::Help { [0, 1, 2, 10] } else { [10, 0, 1, 2] };
            assert_eq!(log.of(0), expected, "{mode:?}");
        }
    });
}

/// Runs `f` on the worker of pools of one that isolate, and returns what it has noted.
fn noted(f: impl Fn(&'static Log) + Sync) -> Vec<Vec<usize>> {
    let noted = |mode: Mode| {
        let (pool, log) = (mode.pool(SleepProtocol::Relay, 1), Log::for_ever());
        pool.install(|| mode.call(|| f(log)));
        log.of(0)
    };
    [Mode::Region, Mode::IsolatedPool].map(noted).into()
}

#[test]
fn in_isolation_jobs_of_jobs_of_a_fifo_scope_go_breadth_first() {
    watchdog(|| {
        let order = noted(|log| {
            drowse::scope_fifo(|s| {
                for i in 1..=3 {
                    s.spawn_fifo(move |s| {
                        log.add(i);
                        (1..=3).for_each(|j| s.spawn_fifo(move |_| log.add(10 * i + j)));
                    });
                }
            });
        });
        let breadth_first = [1, 2, 3, 11, 12, 13, 21, 22, 23, 31, 32, 33];
        assert_eq!(order, [breadth_first, breadth_first]);
    });
}

/// A worker that waits takes the oldest of those that it may run, and leaves older ones alone.
#[test]
fn in_isolation_the_oldest_first_is_the_oldest_inside() {
    watchdog(|| {
        let order = noted(|log| {
            drowse::scope_fifo(|outer| {
                (0..3).for_each(|i| outer.spawn_fifo(move |_| log.add(i)));
                drowse::join(
                    || {
                        (3..6).for_each(|i| outer.spawn_fifo(move |_| log.add(i)));
                        (6..9).for_each(|i| drowse::spawn_fifo(move || log.add(i)));
                    },
                    || log.add(9),
                );
                log.add(10);
            });
        });
        let order_of_one = [6, 7, 8, 3, 4, 5, 9, 10, 0, 1, 2];
        assert_eq!(order, [order_of_one, order_of_one]);
    });
}

/// What a handle stands for is found where it was spawned, whichever of its fifo was run before.
#[test]
fn in_isolation_handles_are_joined_in_any_order() {
    watchdog(|| {
        for joined in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let order = noted(|log| {
                let spawn = |i| Some(drowse::spawn_handle_fifo(move || log.add(i)));
                let mut handles = [0, 1, 2].map(spawn);
                for i in joined {
                    handles[i].take().unwrap().join().unwrap();
                }
            });
            // Each comes first of those that the worker may run while it waits for it.
            assert_eq!(order, [joined, joined]);
        }
    });
}

/// What a region leaves behind keeps its order.
#[test]
fn what_was_spawned_in_a_region_that_is_over_comes_oldest_first() {
    watchdog(|| {
        let (pool, log) = (Mode::Region.pool(SleepProtocol::Relay, 1), Log::for_ever());
        pool.install(|| {
            drowse::isolate(|| (0..JOBS).for_each(|i| drowse::spawn_fifo(move || log.add(i))));
            (JOBS..2 * JOBS).for_each(|i| drowse::spawn_fifo(move || log.add(i)));
        });
        until("all have run", || log.len() == 2 * JOBS);
        assert_eq!(log.of(0), (0..2 * JOBS).collect::<Vec<_>>());
    });
}

/// What was spawned before a region comes before what is spawned after it.
#[test]
fn what_was_spawned_around_a_region_keeps_its_order() {
    watchdog(|| {
        let (pool, log) = (Mode::Region.pool(SleepProtocol::Relay, 1), Log::for_ever());
        let spawn = |jobs: std::ops::Range<usize>| {
            jobs.for_each(|i| drowse::spawn_fifo(move || log.add(i)));
        };
        pool.install(|| {
            spawn(0..JOBS);
            drowse::isolate(|| spawn(JOBS..2 * JOBS));
            spawn(2 * JOBS..3 * JOBS);
        });
        until("all have run", || log.len() == 3 * JOBS);
        let (inside, around): (Vec<_>, Vec<_>) =
            log.of(0).into_iter().partition(|i| (JOBS..2 * JOBS).contains(i));
        assert_eq!(inside, (JOBS..2 * JOBS).collect::<Vec<_>>());
        assert_eq!(around, (0..JOBS).chain(2 * JOBS..3 * JOBS).collect::<Vec<_>>());
    });
}

/// A worker that comes to the end of a stolen job runs what that has spawned, in its order, and
/// gives the rest back in its order.
#[test]
fn what_a_stolen_job_leaves_comes_oldest_first() {
    watchdog(|| {
        let (pool, log) = (Mode::IsolatedPool.pool(SleepProtocol::Relay, 2), Log::for_ever());
        pool.install(|| {
            drowse::scope_fifo(|s| {
                s.spawn_fifo(move |s| (0..JOBS).for_each(|i| s.spawn_fifo(move |_| log.add(i))));
                until("the thief has run all", || log.len() == JOBS);
            });
            let thief = 1 - drowse::current_thread_index().unwrap();
            assert_eq!(log.of(thief), (0..JOBS).collect::<Vec<_>>());
        });
    });
}

/// Nothing is left in the deque when all jobs have run.
#[test]
fn a_fifo_scope_in_isolation_leaves_nothing_behind() {
    watchdog(|| {
        let pool = Mode::IsolatedPool.pool(SleepProtocol::Relay, 1);
        pool.install(|| {
            drowse::scope_fifo(|s| (0..JOBS).for_each(|_| s.spawn_fifo(|_| ())));
            assert_eq!(drowse::current_thread_has_pending_tasks(), Some(false));
        });
    });
}
