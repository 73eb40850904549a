//! Random trees of joins, scopes, spawned jobs and broadcasts, from inside and outside: each job
//! runs exactly once.

mod common;

use common::{Dice, watchdog};
use drowse::{Scope, ScopeFifo, ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// A book with a page for each job.
struct Book {
    jobs: AtomicUsize,
    runs: Box<[AtomicU8]>,
}

/// What each job gets: the book, and a sign of life that is dropped when it ends.
#[derive(Clone)]
struct Ticket {
    book: Arc<Book>,
    alive: Sender<()>,
}

impl Ticket {
    /// An empty book of so many pages, and who hears when the last job has ended.
    fn first(pages: usize) -> (Self, Receiver<()>) {
        let (alive, over) = mpsc::channel();
        let runs = (0..pages).map(|_| AtomicU8::new(0)).collect();
        (Self { book: Arc::new(Book { jobs: AtomicUsize::new(0), runs }), alive }, over)
    }

    /// The page of a new job.
    fn job(&self) -> usize {
        self.book.jobs.fetch_add(1, Ordering::Relaxed)
    }

    /// The job of this page runs.
    fn ran(&self, page: usize) {
        self.book.runs[page].fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for the last job, and looks at every page.
    #[track_caller]
    fn assert_each_ran_once(self, over: &Receiver<()>, at_least: usize) {
        drop(self.alive);
        assert!(over.recv().is_err(), "nothing is ever sent");
        let jobs = self.book.jobs.load(Ordering::Relaxed);
        assert!(jobs >= at_least, "only {jobs} jobs: the dice are loaded");
        for (page, runs) in self.book.runs[..jobs].iter().enumerate() {
            assert_eq!(runs.load(Ordering::Relaxed), 1, "job {page} of {jobs}");
        }
        assert!(self.book.runs[jobs..].iter().all(|runs| runs.load(Ordering::Relaxed) == 0));
    }
}

/// Grows a tree of about `budget` jobs, never more.
fn grow(ticket: &Ticket, dice: &mut Dice, budget: usize) {
    if budget < 2 {
        return;
    }
    match dice.below(8) {
        0..=3 => joined(ticket, dice, budget),
        4 => scoped(ticket, dice, budget),
        5 => scoped_in_order(ticket, dice, budget),
        6 => spawned(ticket, dice, budget),
        _ => {
            drowse::yield_now();
            joined(ticket, dice, budget);
        }
    }
}

fn joined(ticket: &Ticket, dice: &mut Dice, budget: usize) {
    let first = dice.below(budget as u64) as usize;
    let (pages, mut other_dice) = ((ticket.job(), ticket.job()), dice.split());
    drowse::join(
        || {
            ticket.ran(pages.0);
            grow(ticket, dice, first.saturating_sub(1));
        },
        || {
            ticket.ran(pages.1);
            grow(ticket, &mut other_dice, (budget - first).saturating_sub(1));
        },
    );
}

fn scoped(ticket: &Ticket, dice: &mut Dice, budget: usize) {
    fn add<'scope>(s: &Scope<'scope>, ticket: &'scope Ticket, mut dice: Dice, budget: usize) {
        let page = ticket.job();
        s.spawn(move |s| {
            ticket.ran(page);
            let more = dice.below(budget as u64) as usize;
            if more > 0 {
                add(s, ticket, dice.split(), more);
            }
            grow(ticket, &mut dice, budget - 1 - more);
        });
    }
    let jobs = 1 + dice.below(budget.min(10) as u64) as usize;
    drowse::scope(|s| (0..jobs).for_each(|_| add(s, ticket, dice.split(), budget / jobs)));
}

fn scoped_in_order(ticket: &Ticket, dice: &mut Dice, budget: usize) {
    fn add<'scope>(s: &ScopeFifo<'scope>, ticket: &'scope Ticket, mut dice: Dice, budget: usize) {
        let page = ticket.job();
        s.spawn_fifo(move |s| {
            ticket.ran(page);
            let more = dice.below(budget as u64) as usize;
            if more > 0 {
                add(s, ticket, dice.split(), more);
            }
            grow(ticket, &mut dice, budget - 1 - more);
        });
    }
    let jobs = 1 + dice.below(budget.min(10) as u64) as usize;
    drowse::in_place_scope_fifo(|s| {
        (0..jobs).for_each(|_| add(s, ticket, dice.split(), budget / jobs))
    });
}

fn spawned(ticket: &Ticket, dice: &mut Dice, budget: usize) {
    let jobs = 1 + dice.below(budget.min(4) as u64) as usize;
    for _ in 0..jobs {
        let (ticket, mut dice, page) = (ticket.clone(), dice.split(), ticket.job());
        let in_order = dice.below(2) == 0;
        let job = move || {
            ticket.ran(page);
            grow(&ticket, &mut dice, budget / jobs - 1);
        };
        if in_order { drowse::spawn_fifo(job) } else { drowse::spawn(job) }
    }
}

/// Waiting workers pile job upon job: they get some room for it.
fn roomy(width: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(width).stack_size(32 << 20).build().unwrap()
}

/// One tree at a time, from outside.
fn alone(width: usize) {
    let pool = roomy(width);
    let (ticket, over) = Ticket::first(200 * 2_000);
    for seed in 0..200 {
        pool.install(|| grow(&ticket, &mut Dice::new(seed), 2_000));
    }
    ticket.assert_each_ran_once(&over, 50_000);
    common::assert_works(&pool);
}

#[test]
fn trees_on_one_thread() {
    watchdog(|| alone(1));
}

#[test]
fn trees_on_two_threads() {
    watchdog(|| alone(2));
}

#[test]
fn trees_on_eight_threads() {
    watchdog(|| alone(8));
}

#[test]
fn trees_on_sixty_four_threads() {
    watchdog(|| alone(64));
}

/// Many threads send trees at once, by every way there is into a pool.
fn crowded(width: usize) {
    const SENDERS: u64 = 16;
    const TREES: u64 = 60;
    let pool = roomy(width);
    let (ticket, over) = Ticket::first((SENDERS * TREES) as usize * (200 + width));
    thread::scope(|threads| {
        for sender in 0..SENDERS {
            let (pool, ticket) = (&pool, ticket.clone());
            threads.spawn(move || {
                for tree in 0..TREES {
                    send(pool, &ticket, Dice::new(sender * TREES + tree), tree);
                }
            });
        }
    });
    ticket.assert_each_ran_once(&over, 20_000);
    common::assert_works(&pool);
}

/// Sends one tree of about 200 jobs.
fn send(pool: &ThreadPool, ticket: &Ticket, mut dice: Dice, way: u64) {
    let page = ticket.job();
    match way % 6 {
        0 => pool.install(|| {
            ticket.ran(page);
            grow(ticket, &mut dice, 199);
        }),
        1 => {
            let ticket = ticket.clone();
            pool.spawn(move || {
                ticket.ran(page);
                grow(&ticket, &mut dice, 199);
            });
        }
        2 => {
            let ticket = ticket.clone();
            pool.spawn_fifo(move || {
                ticket.ran(page);
                grow(&ticket, &mut dice, 199);
            });
        }
        3 => pool.in_place_scope(|s| {
            s.spawn(move |_| {
                ticket.ran(page);
                grow(ticket, &mut dice, 199);
            });
        }),
        4 => {
            pool.scope(|s| {
                ticket.ran(page);
                s.spawn(|_| grow(ticket, &mut dice, 199));
            });
        }
        _ => {
            ticket.ran(page);
            let pages: Vec<_> = (0..pool.current_num_threads()).map(|_| ticket.job()).collect();
            pool.broadcast(|context| ticket.ran(pages[context.index()]));
        }
    }
}

#[test]
fn a_crowd_on_one_thread() {
    watchdog(|| crowded(1));
}

#[test]
fn a_crowd_on_two_threads() {
    watchdog(|| crowded(2));
}

#[test]
fn a_crowd_on_eight_threads() {
    watchdog(|| crowded(8));
}

#[test]
fn a_crowd_on_sixty_four_threads() {
    watchdog(|| crowded(64));
}

#[test]
fn a_flood_of_tiny_jobs_from_four_threads() {
    watchdog(|| {
        for width in [1, 2, 8] {
            let pool = roomy(width);
            let (ticket, over) = Ticket::first(4 * 5_000);
            thread::scope(|threads| {
                for _ in 0..4 {
                    let (pool, ticket) = (&pool, ticket.clone());
                    threads.spawn(move || {
                        for _ in 0..5_000 {
                            let (ticket, page) = (ticket.clone(), ticket.job());
                            pool.spawn(move || ticket.ran(page));
                        }
                    });
                }
            });
            ticket.assert_each_ran_once(&over, 20_000);
        }
    });
}

#[test]
fn trees_that_cross_between_pools() {
    fn cross(pools: &[ThreadPool; 2], ticket: &Ticket, mut dice: Dice, depth: usize) {
        let (page, to) = (ticket.job(), dice.below(2) as usize);
        pools[to].install(|| {
            ticket.ran(page);
            grow(ticket, &mut dice, 20);
            if depth > 0 {
                let mut other = dice.split();
                drowse::join(
                    || cross(pools, ticket, dice.split(), depth - 1),
                    || cross(pools, ticket, other.split(), depth - 1),
                );
            }
        });
    }
    watchdog(|| {
        for widths in [[1, 1], [1, 4], [4, 4]] {
            let pools = widths.map(roomy);
            let (ticket, over) = Ticket::first(8 * 63 * 21);
            thread::scope(|threads| {
                for seed in 0..8 {
                    let (pools, ticket) = (&pools, ticket.clone());
                    threads.spawn(move || cross(pools, &ticket, Dice::new(seed), 5));
                }
            });
            ticket.assert_each_ran_once(&over, 8 * 63);
        }
    });
}
