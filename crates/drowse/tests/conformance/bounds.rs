//! Spawns with a bound: never more than so many, no fewer than there is room for, and what is
//! refused comes back whole.

use crate::common::ledger::Ledger;
use crate::common::{assert_works, caught, occupy, until};
use crate::panics::{Oops, oops};
use crate::subject::{Subject, WIDTHS, rounds};
use drowse::Scope;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const LIMIT: usize = 3;
const JOBS: usize = 300;

/// The bound is exact where nobody gets on, and there is room again where somebody does.
pub(crate) fn what_is_too_much_comes_back_whole(subject: Subject) {
    for width in WIDTHS {
        let (pool, ledger) = (subject.pool(width), Ledger::default());
        let busy = occupy(&pool, width);
        let (done, ends) = mpsc::channel();
        let job = || {
            let (item, done) = (ledger.item(), done.clone());
            move || {
                item.touch();
                done.send(()).unwrap();
            }
        };
        (0..LIMIT).for_each(|_| pool.try_spawn(LIMIT, job()).expect("there is room"));
        let refused = pool.try_spawn(LIMIT, job()).expect_err("there is none");
        assert!(pool.try_spawn(0, job()).is_err(), "nor ever is");
        pool.try_spawn(LIMIT + 1, job()).expect("this one wants less");
        assert!(ends.try_recv().is_err(), "nobody can have run any");
        refused.into_inner()();
        assert_eq!(ends.try_recv(), Ok(()), "it is as good as new");
        drop(busy);
        (0..LIMIT + 1).for_each(|_| ends.recv().unwrap());
        until("all places are free", || pool.try_spawn(1, || ()).is_ok());
        until("the last capture is gone", || ledger.dropped() == LIMIT + 3);
        ledger.assert_settled(LIMIT + 3);
        assert_works(&pool);
    }
}

/// The same for scopes, which each have their own.
pub(crate) fn what_is_too_much_for_a_scope_comes_back_whole(subject: Subject) {
    macro_rules! kind {
        ($kind:ident $try_spawn:ident $pool:ident) => {
            let (ledger, runs) = (Ledger::default(), AtomicUsize::new(0));
            let busy = occupy(&$pool, $pool.current_num_threads());
            $pool.$kind(|s| {
                let runs = &runs;
                let job = || {
                    let item = ledger.item();
                    move |_: &_| {
                        item.touch();
                        runs.fetch_add(1, Ordering::SeqCst);
                    }
                };
                (0..LIMIT).for_each(|_| s.$try_spawn(LIMIT, job()).expect("there is room"));
                let refused = s.$try_spawn(LIMIT, job()).expect_err("there is none");
                assert!($pool.try_spawn(1, || ()).is_ok(), "that of the pool is another");
                refused.into_inner()(s);
                assert_eq!(runs.load(Ordering::SeqCst), 1);
                drop(busy);
                until("there is room again", || s.$try_spawn(1, |_| ()).is_ok());
                s.cancel();
                s.$try_spawn(usize::MAX, job())
                    .expect("a scope that is called off takes and drops it");
            });
            assert_eq!(runs.into_inner(), LIMIT + 1);
            ledger.assert_settled(LIMIT + 2);
            until("the pool has room again", || $pool.try_spawn(1, || ()).is_ok());
        };
    }
    for width in WIDTHS {
        let pool = subject.pool(width);
        kind!(in_place_scope try_spawn pool);
        kind!(in_place_scope_fifo try_spawn_fifo pool);
        assert_works(&pool);
    }
}

/// Counts those that are under way, and demands that they are never too many.
struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        let before = count.fetch_add(1, Ordering::SeqCst);
        assert!(before < LIMIT, "{before} besides this one");
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What the jobs of a scope leave behind.
#[derive(Default)]
struct Books {
    ledger: Ledger,
    under_way: AtomicUsize,
    runs: AtomicUsize,
}

/// Spawns so many jobs, and waits as told where there is no room.
fn produce<'scope>(s: &Scope<'scope>, jobs: usize, books: &'scope Books, wait: &dyn Fn()) {
    for _ in 0..jobs {
        let item = books.ledger.item();
        let mut job = move |_: &Scope<'scope>| {
            let _this = UnderWay::new(&books.under_way);
            item.touch();
            books.runs.fetch_add(1, Ordering::SeqCst);
        };
        while let Err(refused) = s.try_spawn(LIMIT, job) {
            job = refused.into_inner();
            wait();
        }
    }
}

/// From several threads at once, inside and outside, nothing is lost, and no more than so many run.
pub(crate) fn nothing_is_lost_and_no_more_than_so_many_run(subject: Subject) {
    for width in WIDTHS {
        let (pool, books, jobs) = (subject.pool(width), Books::default(), rounds(width, JOBS));
        pool.in_place_scope(|s| {
            let books = &books;
            // A worker runs other jobs until there is room; a thread outside has nothing to do.
            s.spawn(move |s| produce(s, jobs, books, &|| _ = drowse::yield_now()));
            thread::scope(|threads| {
                for _ in 0..2 {
                    threads.spawn(|| {
                        produce(s, jobs, books, &|| thread::park_timeout(Duration::from_micros(50)))
                    });
                }
            });
        });
        assert_eq!(books.runs.into_inner(), 3 * jobs);
        books.ledger.assert_settled(3 * jobs);
        assert_works(&pool);
    }
}

/// A place is free again, however its job ends: by a panic, or as one that never began.
pub(crate) fn however_a_job_ends_its_place_is_free(subject: Subject) {
    for width in WIDTHS {
        let panics = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&panics);
        let builder = subject.builder(width).panic_handler(move |payload| {
            heard.lock().unwrap().push(payload.downcast::<Oops>().unwrap().0);
        });
        let pool = builder.build().unwrap();
        for round in 0..rounds(width, 40) {
            until("there is room", || pool.try_spawn(1, move || oops(round)).is_ok());
            let scope = || {
                pool.in_place_scope(|s| {
                    s.try_spawn(1, |_| oops(7)).unwrap();
                    until("there is room", || s.try_spawn(1, |_| ()).is_ok());
                    s.cancel();
                    until("there is room", || s.try_spawn(1, |_| unreachable!()).is_ok());
                    until("there is room", || s.try_spawn(1, |_| unreachable!()).is_ok());
                });
            };
            assert_eq!(caught::<Oops, _>(scope), Oops(7));
        }
        until("each panic was heard", || panics.lock().unwrap().len() == rounds(width, 40));
        let mut heard = panics.lock().unwrap().clone();
        heard.sort_unstable();
        assert!(heard.into_iter().eq(0..rounds(width, 40)));
        assert_works(&pool);
    }
}
