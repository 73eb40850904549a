//! What all threads of a round share.

use crate::book::{Book, Page};
use crate::plan::{Plan, PoolPlan};
use crate::round::until;
use crate::seats::Seats;
use crate::verdict::{demand, fail};
use crate::{tasks, watch};
use drowse::ThreadPool;
use std::any::Any;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicUsize, Ordering};

/// One for each round, and so for each process. It is never freed: who touches it last is nobody's
/// concern.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) book: Book,
    pools: Vec<Standing>,
    /// What each thread outside does: an action, plus 1.
    pub(crate) outside: Vec<AtomicU8>,
    /// How many threads have started that have not ended, by their handlers.
    here: AtomicIsize,
}

/// A pool that lasts for the round.
#[derive(Debug)]
struct Standing {
    /// Null before and after.
    pool: AtomicPtr<ThreadPool>,
    seats: Seats,
    /// Somebody in it blocks until somebody else in it runs. Two at a time could take all of its
    /// workers.
    meeting: AtomicBool,
    /// For jobs that hold it while they wait.
    lock: Mutex<()>,
    /// How many jobs run that were spawned within a bound.
    bounded: AtomicUsize,
}

/// Leave to block in a pool, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Leave {
    meeting: &'static AtomicBool,
    /// Somebody else must be able to work in its place.
    pub(crate) must_lend: bool,
    /// Whether it may be marked as blocked. Who waits for a thread that is not of the pool may not.
    pub(crate) may_mark: bool,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.meeting.store(false, Ordering::Release);
    }
}

/// What a job panics with that is meant to: its number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bomb(pub(crate) Page);

impl World {
    /// A world, with all of its pools.
    pub(crate) fn begin(plan: Plan) -> &'static Self {
        let pages = plan.outsiders * plan.actions * (plan.jobs + 1);
        let standing = |pool: &PoolPlan| Standing {
            pool: AtomicPtr::new(ptr::null_mut()),
            // They count by locked instructions.
            seats: Seats::new(if plan.lean { 0 } else { pool.width }),
            meeting: AtomicBool::new(false),
            lock: Mutex::new(()),
            bounded: AtomicUsize::new(0),
        };
        let world: &Self = Box::leak(Box::new(Self {
            book: Book::new(pages, plan.lean),
            pools: plan.pools.iter().map(standing).collect(),
            outside: (0..plan.outsiders).map(|_| AtomicU8::new(0)).collect(),
            here: AtomicIsize::new(0),
            plan,
        }));
        watch::begin(world);
        for (index, (standing, plan)) in world.pools.iter().zip(&world.plan.pools).enumerate() {
            let pool = Box::new(plan.build(world, format!("pool{index}")));
            standing.pool.store(Box::into_raw(pool), Ordering::Release);
        }
        world
    }

    /// Drops the pools, or shuts them down.
    ///
    /// # Safety
    ///
    /// No job is left, and no thread that uses a pool.
    pub(crate) unsafe fn end(&self) {
        let mut dice = self.plan.dice();
        for (index, standing) in self.pools.iter().enumerate() {
            let pool = standing.pool.swap(ptr::null_mut(), Ordering::AcqRel);
            // SAFETY: it came out of a box, and nobody has a reference any more, by the caller's
            // promise.
            let pool = unsafe { Box::from_raw(pool) };
            if dice.one_in(2) {
                pool.shutdown();
                // The system forgets a thread a moment after it tells that it has ended.
                let left = || !tasks::named(&format!("pool{index}.")).is_empty();
                until("the threads of a pool that was shut down have ended", || {
                    left().then(tasks::table)
                });
            }
        }
    }

    pub(crate) fn pool(&self, index: usize) -> &'static ThreadPool {
        self.pools().nth(index).expect("the pools are there while somebody uses them")
    }

    /// Those that are there.
    pub(crate) fn pools(&self) -> impl Iterator<Item = &'static ThreadPool> {
        let pools = self.pools.iter().map(|standing| standing.pool.load(Ordering::Acquire));
        // SAFETY: they stay until there is no job and no thread that could use them; see `end`.
        pools.filter_map(|pool| unsafe { pool.as_ref() })
    }

    pub(crate) fn has_come(&self) {
        self.here.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn has_left(&self) {
        self.here.fetch_sub(1, Ordering::Relaxed);
    }

    /// Of all pools that have ended.
    pub(crate) fn demand_all_have_left(&self) {
        let here = self.here.load(Ordering::Relaxed);
        demand!(here == 0, "{here} more threads called the start handler than the exit handler");
    }

    pub(crate) fn seats(&self, pool: usize) -> &Seats {
        &self.pools[pool].seats
    }

    /// Leave for a worker of the pool to block until another one runs a job. `None` if the pool has
    /// one worker and nobody who would stand in, or if another one has leave to.
    pub(crate) fn leave_to_block(
        &'static self,
        pool: usize,
        is_asked_by_worker: bool,
    ) -> Option<Leave> {
        let (plan, meeting) = (&self.plan.pools[pool], &self.pools[pool].meeting);
        // In isolation there may be nobody who would run the other one.
        let must_lend = plan.width == 1 || self.plan.isolates;
        let is_possible =
            !must_lend || if self.plan.isolates { self.plan.ample } else { plan.lends() };
        let may_mark = is_asked_by_worker || !plan.has_census();
        let is_granted =
            is_possible && (may_mark || !must_lend) && !meeting.swap(true, Ordering::AcqRel);
        is_granted.then(|| Leave { meeting, must_lend, may_mark })
    }

    pub(crate) fn lock(&'static self, pool: usize) -> &'static Mutex<()> {
        &self.pools[pool].lock
    }

    /// Calls `f` as one of those of which no more than so many run in the pool.
    pub(crate) fn bounded<R>(&self, pool: usize, limit: usize, f: impl FnOnce() -> R) -> R {
        let count = &self.pools[pool].bounded;
        if self.plan.lean {
            return f();
        }
        let others = count.fetch_add(1, Ordering::Relaxed);
        demand!(
            others < limit,
            "{others} jobs run beside another, and no more than {limit} should"
        );
        let result = f();
        count.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// A pool was left with the panic of a job that nobody waits for.
    pub(crate) fn heard(&self, payload: Box<dyn Any + Send>) {
        match payload.downcast() {
            Ok(bomb) => self.book.heard(Bomb::page(&bomb)),
            Err(_) => fail("a panic that nobody meant reached a pool's handler"),
        }
    }
}

impl Bomb {
    fn page(&self) -> Page {
        self.0
    }

    /// The job whose panic this is: it must be one of these.
    pub(crate) fn demand(payload: &(dyn Any + Send), among: &[Page], whose: &str) {
        let Some(bomb) = payload.downcast_ref::<Self>() else {
            fail(&format!("{whose} panicked with what nobody panicked with"));
        };
        demand!(
            among.contains(&bomb.0),
            "{whose} panicked for job {}, not one of {among:?}",
            bomb.0
        );
    }
}
