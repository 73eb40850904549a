//! Threads that are started when they are needed, and leave when they are not.

use crate::common::{assert_works, fib, mutual_wait, occupy, sleeping, until, watchdog};
use drowse::{SleepProtocol, Start, ThreadPoolBuilder};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// So soon that it happens all the time.
const SOON: Duration = Duration::from_micros(50);

/// How many threads a pool has had, and has.
#[derive(Clone, Default)]
struct Count {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Count {
    fn watch(&self, builder: ThreadPoolBuilder) -> ThreadPoolBuilder {
        let (started, ended) = (Arc::clone(&self.started), Arc::clone(&self.ended));
        builder
            .start_handler(move |_| _ = started.fetch_add(1, Ordering::Relaxed))
            .exit_handler(move |_| _ = ended.fetch_add(1, Ordering::Relaxed))
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    fn there(&self) -> usize {
        self.started() - self.ended.load(Ordering::Relaxed)
    }
}

/// Each protocol, with and without guests and a census.
fn every_kind(mut test: impl FnMut(ThreadPoolBuilder)) {
    for protocol in SleepProtocol::ALL {
        for (guests, census) in [(false, false), (true, false), (false, true), (true, true)] {
            let builder = ThreadPoolBuilder::new().sleep_protocol(protocol).guests(guests);
            test(if census { builder.deadlock_handler(|_| ()) } else { builder });
        }
    }
}

#[test]
fn threads_come_when_they_are_needed() {
    watchdog(|| {
        every_kind(|builder| {
            let count = Count::default();
            let pool = count.watch(builder.num_threads(8).start(Start::OnDemand)).build().unwrap();
            assert_eq!(pool.current_num_threads(), 8);
            until("the first one is there", || count.there() == 1);
            assert!(sleeping(&pool) >= 7, "the others count as asleep");
            mutual_wait(&pool);
            assert!(count.started() >= 2);
            assert_works(&pool);
            assert_eq!(count.started(), 8, "a broadcast needs all");
            pool.shutdown();
            assert_eq!((count.started(), count.there()), (8, 0));
        });
    });
}

#[test]
fn as_many_come_as_there_are_jobs_that_wait_for_each_other() {
    watchdog(|| {
        every_kind(|builder| {
            let pool = builder.num_threads(5).start(Start::OnDemand).build().unwrap();
            // Each keeps a thread; one that nobody runs would never begin.
            drop(occupy(&pool, 5));
            pool.shutdown();
        });
    });
}

#[test]
fn a_pool_that_ends_starts_nobody() {
    watchdog(|| {
        every_kind(|builder| {
            let count = Count::default();
            let pool = count.watch(builder.num_threads(8).start(Start::OnDemand)).build().unwrap();
            pool.shutdown();
            assert_eq!(count.started(), 1);
        });
    });
}

#[test]
fn whoever_has_nothing_to_do_leaves_and_comes_back() {
    watchdog(|| {
        every_kind(|builder| {
            let count = Count::default();
            let pool = count.watch(builder.num_threads(4).idle_timeout(SOON)).build().unwrap();
            for _ in 0..3 {
                assert_works(&pool);
                until("all but the first have left", || count.there() == 1);
                mutual_wait(&pool);
            }
            assert!(count.started() > 4);
            pool.shutdown();
            assert_eq!(count.there(), 0);
        });
    });
}

#[test]
fn nothing_is_lost_while_threads_come_and_go() {
    watchdog(|| {
        every_kind(|builder| {
            let pool = Arc::new(builder.num_threads(3).idle_timeout(SOON).build().unwrap());
            let ran = Arc::new(AtomicUsize::new(0));
            let outside = [0_u64, 1].map(|seed| {
                let (pool, ran) = (Arc::clone(&pool), Arc::clone(&ran));
                thread::spawn(move || {
                    let mut dice = crate::common::Dice::new(seed);
                    for _ in 0..300 {
                        let ran = Arc::clone(&ran);
                        match dice.below(4) {
                            0 => pool.spawn(move || _ = ran.fetch_add(1, Ordering::Relaxed)),
                            1 => {
                                assert_eq!(pool.install(|| fib(5)), 5);
                                ran.fetch_add(1, Ordering::Relaxed);
                            }
                            2 => {
                                assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);
                                ran.fetch_add(1, Ordering::Relaxed);
                            }
                            _ => {
                                mutual_wait(&pool);
                                ran.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        thread::park_timeout(Duration::from_micros(dice.below(150)));
                    }
                })
            });
            outside.into_iter().for_each(|thread| thread.join().unwrap());
            Arc::into_inner(pool).unwrap().shutdown();
            assert_eq!(ran.load(Ordering::Relaxed), 600);
        });
    });
}

#[test]
fn pools_end_while_threads_come_and_go() {
    watchdog(|| {
        for round in 0..20 {
            every_kind(|builder| {
                let builder = builder.num_threads(3).start(Start::OnDemand).idle_timeout(SOON);
                let pool = builder.build().unwrap();
                let (sender, receiver) = mpsc::channel();
                pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
                if round % 2 == 0 {
                    assert_eq!(receiver.iter().count(), 3);
                    pool.shutdown();
                } else {
                    drop(pool);
                    assert_eq!(receiver.iter().count(), 3);
                }
            });
        }
    });
}

#[test]
fn names_and_indices_stay() {
    watchdog(|| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .thread_name(|index| format!("dozer {index}"))
            .start(Start::OnDemand)
            .idle_timeout(SOON)
            .build()
            .unwrap();
        for _ in 0..20 {
            let names = pool.broadcast(|_| thread::current().name().map(str::to_owned));
            assert!(names.into_iter().eq((0..3).map(|index| Some(format!("dozer {index}")))));
        }
    });
}

#[test]
fn handlers_may_use_the_pool() {
    watchdog(|| {
        let (sender, receiver) = mpsc::channel();
        let sender = Arc::new(Mutex::new(sender));
        let tell = move || {
            let sender = Arc::clone(&sender);
            drowse::spawn(move || sender.lock().unwrap().send(fib(5)).unwrap());
            assert_eq!(drowse::join(|| fib(4), || fib(3)), (3, 2));
        };
        let at_start = tell.clone();
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .idle_timeout(SOON)
            .start_handler(move |_| at_start())
            .exit_handler(move |_| tell())
            .build()
            .unwrap();
        for _ in 0..20 {
            assert_works(&pool);
        }
        pool.shutdown();
        let told: Vec<_> = receiver.iter().collect();
        assert!(told.len() >= 6 && told.iter().all(|number| *number == 5), "{told:?}");
    });
}

#[test]
fn a_spawn_handler_cannot_do_that() {
    let run =
        |worker: drowse::ThreadBuilder| thread::Builder::new().spawn(|| worker.run()).map(drop);
    let on_demand = ThreadPoolBuilder::new().start(Start::OnDemand).spawn_handler(run).build();
    let idle_timeout = ThreadPoolBuilder::new().spawn_handler(run).idle_timeout(SOON).build();
    for pool in [on_demand, idle_timeout] {
        let said = pool.unwrap_err().to_string();
        assert!(said.contains("spawn handler"), "{said}");
    }
}

/// Workers that have no thread keep nothing of a pool that has ended.
#[test]
fn a_pool_that_ends_without_all_its_threads_is_freed() {
    watchdog(|| {
        every_kind(|builder| {
            let token = Arc::new(());
            let lives = Arc::downgrade(&token);
            let builder = builder.num_threads(3).start(Start::OnDemand);
            let pool = builder.panic_handler(move |_| drop(Arc::clone(&token))).build().unwrap();
            assert_eq!(pool.install(|| fib(3)), 2);
            drop(pool);
            until("the pool is gone, and all that it had", || lives.strong_count() == 0);
        });
    });
}
