//! The handlers that are called before a thread runs in a pool and before it blocks there: taken
//! together they count who runs, and can limit it.

use crate::common::child::{in_child, this_test};
use crate::common::{self, assert_works, fib, until_all_sleep, watchdog};
use drowse::{SleepProtocol, ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

thread_local! {
    /// The tokens that this thread holds.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Tokens for a number of threads, like those of a job server.
struct Tokens {
    all: usize,
    free: Mutex<usize>,
    freed: Condvar,
    acquired: AtomicUsize,
    released: AtomicUsize,
}

impl Tokens {
    /// So many, one of which this thread holds.
    fn new(all: usize) -> Arc<Self> {
        HELD.set(1);
        let counts = || AtomicUsize::new(0);
        let (free, freed) = (Mutex::new(all - 1), Condvar::new());
        Arc::new(Self { all, free, freed, acquired: counts(), released: counts() })
    }

    fn acquire(&self) {
        let free = self.free.lock().unwrap();
        *self.freed.wait_while(free, |free| *free == 0).unwrap() -= 1;
        HELD.set(HELD.get() + 1);
        self.acquired.fetch_add(1, Ordering::SeqCst);
    }

    fn release(&self) {
        HELD.set(HELD.get() - 1);
        self.released.fetch_add(1, Ordering::SeqCst);
        let mut free = self.free.lock().unwrap();
        *free += 1;
        assert!(*free <= self.all, "more tokens came back than there were");
        self.freed.notify_one();
    }

    /// Waits without a token.
    fn without<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.release();
        let result = wait();
        self.acquire();
        result
    }

    /// A pool whose threads need a token to run; and somebody who hears when the last of them has
    /// ended.
    fn pool(self: &Arc<Self>, protocol: SleepProtocol, width: usize) -> (ThreadPool, Receiver<()>) {
        let (acquire, release, (alive, end)) =
            (Arc::clone(self), Arc::clone(self), mpsc::channel::<()>());
        let builder = ThreadPoolBuilder::new()
            .num_threads(width)
            .sleep_protocol(protocol)
            .acquire_thread_handler(move || acquire.acquire())
            .release_thread_handler(move || {
                let _alive = &alive;
                release.release();
            });
        (builder.build().unwrap(), end)
    }

    /// Ends a pool. This thread has no token during that: the workers need one to leave.
    #[track_caller]
    fn end(&self, pool: ThreadPool, end: &Receiver<()>) {
        drop(pool);
        self.without(|| {
            assert!(end.recv().is_err(), "nothing is sent; it ends with the last thread")
        });
        assert_eq!(*self.free.lock().unwrap(), self.all - 1, "ours alone is out");
        let counts = [&self.acquired, &self.released].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counts[0], counts[1], "acquired and released");
    }
}

/// How many jobs run at this moment, and how many did at most.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Running {
    /// A piece of work, of a thread that has a token.
    fn work(&self) {
        assert_eq!(HELD.get(), 1, "who runs has one token");
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        (0..500).for_each(|_| std::hint::spin_loop());
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    /// A tree of joins with work in its leaves.
    fn tree(&self, depth: u32) {
        if depth == 0 {
            return self.work();
        }
        drowse::join(|| self.tree(depth - 1), || self.tree(depth - 1));
    }
}

#[test]
fn they_are_balanced_when_all_threads_have_ended() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for width in [1, 2, 8] {
                // More than enough: nobody waits for one.
                let tokens = Tokens::new(100);
                for _ in 0..20 {
                    let (pool, end) = tokens.pool(protocol, width);
                    assert_works(&pool);
                    until_all_sleep(&pool);
                    assert_works(&pool);
                    assert_eq!(HELD.get(), 1, "a thread outside has its own again");
                    tokens.end(pool, &end);
                }
            }
        }
    });
}

#[test]
fn they_are_balanced_for_pools_that_end_at_once() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let tokens = Tokens::new(100);
            for _ in 0..100 {
                let (pool, end) = tokens.pool(protocol, 4);
                tokens.end(pool, &end);
            }
        }
    });
}

#[test]
fn a_pool_that_sleeps_has_none() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let tokens = Tokens::new(100);
            let (pool, end) = tokens.pool(protocol, 8);
            for _ in 0..20 {
                assert_works(&pool);
                until_all_sleep(&pool);
                common::until("all tokens are back", || *tokens.free.lock().unwrap() == 99);
            }
            tokens.end(pool, &end);
        }
    });
}

#[test]
fn a_thread_outside_gives_up_its_own_while_it_waits() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            // The only one there is: the thread that runs has it.
            let tokens = Tokens::new(1);
            let (pool, end) = tokens.pool(protocol, 4);
            for round in 0..200 {
                assert_eq!(pool.install(|| (HELD.get(), round)), (1, round));
                assert_eq!(HELD.get(), 1);
            }
            tokens.end(pool, &end);
        }
    });
}

#[test]
fn fewer_tokens_than_workers_limit_what_runs() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            for all in [1, 2, 3] {
                let (tokens, running) = (Tokens::new(all), Running::default());
                let (pool, end) = tokens.pool(protocol, 8);
                for _ in 0..10 {
                    pool.install(|| running.tree(6));
                    pool.scope(|s| (0..32).for_each(|_| s.spawn(|_| running.work())));
                    assert_eq!(pool.install(|| fib(8)), 21);
                }
                tokens.end(pool, &end);
                let most = running.most.into_inner();
                assert!((1..=all).contains(&most), "{most} ran at once, with {all} tokens");
            }
        }
    });
}

#[test]
fn fewer_tokens_than_workers_and_spawned_jobs() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (tokens, running) = (Tokens::new(2), Arc::new(Running::default()));
            let (pool, end) = tokens.pool(protocol, 8);
            let (sender, done) = mpsc::channel();
            for _ in 0..200 {
                let (running, sender) = (Arc::clone(&running), sender.clone());
                pool.spawn(move || {
                    running.work();
                    sender.send(()).unwrap();
                });
            }
            // The pool does not know that this thread waits.
            assert_eq!(tokens.without(|| done.iter().take(200).count()), 200);
            tokens.end(pool, &end);
            assert!(running.most.load(Ordering::SeqCst) <= 2);
        }
    });
}

#[test]
fn two_pools_share_the_tokens() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (tokens, running) = (Tokens::new(2), Running::default());
            let ((a, a_end), (b, b_end)) = (tokens.pool(protocol, 4), tokens.pool(protocol, 4));
            for _ in 0..20 {
                // A worker that waits for the other pool sleeps in its own, without a token.
                a.install(|| {
                    running.tree(3);
                    b.install(|| running.tree(3));
                    running.work();
                });
            }
            drop((a, b));
            tokens.without(|| assert!(a_end.recv().is_err() && b_end.recv().is_err()));
            assert!((1..=2).contains(&running.most.into_inner()));
        }
    });
}

#[test]
fn several_threads_outside_share_the_tokens() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (tokens, running) = (Tokens::new(2), Running::default());
            let (pool, end) = tokens.pool(protocol, 4);
            let caller = || {
                tokens.acquire();
                for _ in 0..50 {
                    pool.install(|| running.work());
                    running.work();
                }
                tokens.release();
            };
            tokens.without(|| {
                thread::scope(|threads| (0..4).for_each(|_| _ = threads.spawn(caller)))
            });
            tokens.end(pool, &end);
            assert!((1..=2).contains(&running.most.into_inner()));
        }
    });
}

#[test]
fn panics_of_both_go_to_the_panic_handler_and_do_no_harm() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            let (sender, panics) = mpsc::channel();
            let sender = Mutex::new(sender);
            let pool = ThreadPoolBuilder::new()
                .num_threads(3)
                .sleep_protocol(protocol)
                .acquire_thread_handler(|| resume_unwind(Box::new("acquire")))
                .release_thread_handler(|| resume_unwind(Box::new("release")))
                .panic_handler(move |payload| {
                    let what = *payload.downcast::<&str>().unwrap();
                    sender.lock().unwrap().send((thread::current().id(), what)).unwrap();
                })
                .build()
                .unwrap();
            assert_works(&pool);
            until_all_sleep(&pool);
            assert_works(&pool);
            drop(pool);
            let heard: Vec<_> = panics.iter().collect();
            let of = |what: &str| heard.iter().filter(|(_, heard)| *heard == what).count();
            assert_eq!(of("acquire"), of("release"));
            // Three workers, and this thread, where it waited.
            let threads: HashSet<_> = heard.iter().map(|(thread, _)| *thread).collect();
            assert!(threads.len() == 4 && threads.contains(&thread::current().id()), "{heard:?}");
        }
    });
}

#[test]
fn a_panic_without_a_handler_aborts() {
    let ended = in_child(this_test!(), &[], || {
        let builder =
            ThreadPoolBuilder::new().num_threads(2).acquire_thread_handler(|| panic!("no token"));
        let pool = builder.build().unwrap();
        loop {
            pool.install(|| ());
        }
    });
    ended.assert_aborted();
    assert!(ended.stderr.contains("no token"), "{}", ended.stderr);
    assert!(
        ended.complaints().iter().any(|line| line.contains("no panic handler")),
        "{}",
        ended.stderr
    );
}
