//! Work that never ends does not keep other work from its turn.

use crate::common::watchdog;
use drowse::{Scope, ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

/// Pushes two jobs, and waits for the second, which is therefore for others to run: the first
/// answers anyone who asked for one.
fn wait_for_a_private_job() {
    let wait_for_the_other = || {
        let (sender, receiver) = mpsc::channel();
        let (heard, sent) = drowse::join(move || receiver.recv(), move || sender.send(()));
        assert_eq!((heard, sent), (Ok(()), Ok(())));
    };
    drowse::join(wait_for_the_other, || ());
}

/// Takes longer than to spawn a job, so that there is always another one.
fn work() {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_micros(20) {
        std::hint::spin_loop();
    }
}

/// Calls `f` on a worker while a thread outside sees to it that there is always a job in the
/// injector: so many that it may pause for a tenth of a second.
fn in_a_flood(pool: &ThreadPool, f: impl FnOnce() + Send) {
    const WAITING: usize = 5_000;
    let over = AtomicBool::new(false);
    let (start, end) = mpsc::sync_channel(WAITING);
    let (filled, is_filled) = mpsc::channel();
    thread::scope(|s| {
        s.spawn(|| {
            let end = Arc::new(Mutex::new(end));
            for jobs in 0.. {
                start.send(()).unwrap();
                let end = Arc::clone(&end);
                pool.spawn(move || {
                    work();
                    end.lock().unwrap().recv().unwrap();
                });
                if jobs == WAITING {
                    filled.send(()).unwrap();
                }
                if over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        pool.install(move || {
            is_filled.recv().unwrap();
            f();
        });
        over.store(true, Ordering::Relaxed);
    });
}

/// Calls `f` on a worker while another one pushes jobs without end.
fn beside_a_pusher<'s>(s: &Scope<'s>, books: &'s Books, f: impl FnOnce() + Send + 's) {
    s.spawn(move |_| {
        books.until(|| books.run.load(Ordering::Relaxed) > 1_000);
        f();
        books.over.store(true, Ordering::Relaxed);
    });
    s.spawn(move |s| {
        while !books.over.load(Ordering::Relaxed) {
            books.pushed.fetch_add(1, Ordering::Relaxed);
            s.spawn(|_| {
                work();
                books.run.fetch_add(1, Ordering::Relaxed);
            });
            books.until(|| books.backlog() < 500);
        }
    });
}

#[derive(Default)]
struct Books {
    pushed: AtomicUsize,
    run: AtomicUsize,
    over: AtomicBool,
}

impl Books {
    fn backlog(&self) -> usize {
        self.pushed.load(Ordering::Relaxed) - self.run.load(Ordering::Relaxed)
    }

    /// Keeps this thread busy until `done`, or until all is over.
    fn until(&self, done: impl Fn() -> bool) {
        while !done() && !self.over.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }
}

#[test]
fn a_flood_from_outside_does_not_keep_a_private_job_waiting() {
    for threads in [2, 3] {
        watchdog(move || {
            let pool = pool(threads);
            in_a_flood(&pool, || (0..20).for_each(|_| wait_for_a_private_job()));
        });
    }
}

#[test]
fn a_worker_that_pushes_without_end_does_not_keep_a_private_job_waiting() {
    watchdog(|| {
        let (pool, books) = (pool(3), Books::default());
        pool.in_place_scope(|s| {
            beside_a_pusher(s, &books, || (0..50).for_each(|_| wait_for_a_private_job()))
        });
        assert_eq!(books.backlog(), 0);
    });
}

#[test]
fn a_worker_that_pushes_without_end_does_not_keep_a_job_from_outside_waiting() {
    watchdog(|| {
        let (pool, books) = (pool(3), Books::default());
        let (sender, receiver) = mpsc::channel();
        pool.in_place_scope(|s| {
            // One pushes, one waits for what we inject, and one takes what is pushed: it must look
            // our way now and then.
            beside_a_pusher(s, &books, move || assert_eq!(receiver.recv(), Ok(42)));
            books.until(|| books.run.load(Ordering::Relaxed) > 2_000);
            pool.spawn(move || sender.send(42).unwrap());
        });
        assert_eq!(books.backlog(), 0);
    });
}
