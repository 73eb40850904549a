//! Core of a seat: the state that only the thread in the seat uses.

use super::current::Detour;
use super::isolation::Isolated;
use super::lineage::{Lineage, Origin, Origins, Point};
use super::place::Stand;
use super::registry::{CorePlan, Registry};
use super::rng::Rng;
use super::stock::Stocks;
use crate::deque::Owner;
use crate::job::{JobHeader, Slabs};
use crate::metrics::WorkMeter;
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, ThreadId, random_seed};
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;

/// Jobs from deques after which a worker first looks at queues that are no deques: its letters, the
/// injector, returned jobs. So these do not starve behind work that never ends.
const DEQUE_STREAK: u32 = 64;

/// Jobs from elsewhere in a row after which a worker searches anew: workers that it has not looked
/// at may need help, and sleepers may have to be woken for the rest.
const STREAK_ELSEWHERE: u32 = 64;

/// The core of a seat: the state that a thread needs to run jobs there. It is made with the seat
/// and lives as long as the pool; one thread at a time has it. The deque comes first, so that a
/// `join` needs, and saves, one register for both.
#[repr(C)]
pub(crate) struct WorkerThread {
    pub(super) deque: Owner<JobHeader>,
    index: usize,
    pub(super) stocks: Stocks,
    /// Memory for the jobs that it spawns.
    slabs: Slabs,
    /// Not counted: the registry owns the core. A thread that has the core holds the registry.
    pub(super) registry: ManuallyDrop<Arc<Registry>>,
    pub(super) thief: Thief,
    pub(super) fairness: Fairness,
    pub(super) depth: Depth,
    pub(super) isolated: Isolated,
    /// Place, whose number is the index that it runs with.
    pub(super) stand: Cell<Stand>,
    pub(super) detour: Detour,
}

/// Jobs that a worker has begun on top of one another.
#[derive(Debug, Default)]
pub(super) struct Depth {
    /// Number of loops on its stack in which it runs jobs.
    pub(super) waits: Cell<u32>,
    /// Number of turns, given to jobs from outside, on its stack.
    pub(super) turns: Cell<u32>,
}

/// Counts by which no queue starves behind another.
#[derive(Debug, Default)]
pub(super) struct Fairness {
    /// Jobs from deques since the worker last looked into the queues that are no deques.
    deque_streak: Cell<u32>,
    /// Jobs from elsewhere, one after the other, since the worker last searched.
    streak_elsewhere: Cell<u32>,
    /// Kind of queue, other than deques, to begin with the next time.
    next_kind: Cell<u32>,
}

impl Fairness {
    /// Counts a job from a deque. Returns `false` instead if it is the turn of queues that are no
    /// deques.
    pub(super) fn try_count_deque_job(&self) -> bool {
        let may_take = self.deque_streak.get() < DEQUE_STREAK;
        if may_take {
            self.count_deque_job();
        }
        may_take
    }

    pub(super) fn count_deque_job(&self) {
        self.deque_streak.set(self.deque_streak.get().saturating_add(1));
    }

    /// Counts a job from elsewhere. Returns `false` instead if the worker must search anew.
    pub(super) fn try_count_job_elsewhere(&self) -> bool {
        let streak = self.streak_elsewhere.get();
        let may_take = streak < STREAK_ELSEWHERE;
        if may_take {
            self.streak_elsewhere.set(streak + 1);
        }
        may_take
    }

    /// Notes that the worker has searched.
    pub(super) fn record_search(&self) {
        self.streak_elsewhere.set(0);
    }

    /// Returns `true` if it is the turn of queues that are no deques.
    pub(super) fn take_turn_of_others(&self) -> bool {
        let is_due = self.deque_streak.get() >= DEQUE_STREAK;
        if is_due {
            self.deque_streak.set(0);
        }
        is_due
    }

    /// Returns the kind of queue to begin with, and goes on to the next kind.
    pub(super) fn advance_kind(&self) -> u32 {
        self.next_kind.replace((self.next_kind.get() + 1) % 3)
    }
}

/// Memory of a worker as a thief.
#[derive(Debug)]
pub(super) struct Thief {
    pub(super) rng: Rng,
    /// Worker that it stole from last.
    pub(super) stole_from: Cell<Option<usize>>,
    /// Rounds with a request, whether the owner has answered it or not. Counted since the thief
    /// last used force, or made a round in which it got no job and met no private jobs.
    pub(super) rounds: Cell<u32>,
    /// Worker that was asked last.
    pub(super) asked: Cell<usize>,
}

impl Thief {
    fn new() -> Self {
        let rng = Rng::new(random_seed());
        Self { rng, stole_from: Cell::new(None), rounds: Cell::new(0), asked: Cell::new(0) }
    }
}

impl WorkerThread {
    /// Makes the core of a seat.
    pub(super) fn new(index: usize, deque: Owner<JobHeader>, plan: &CorePlan) -> Self {
        let is_adopted = plan.adopts_caller && index == 0;
        // SAFETY: it comes from `Weak::as_ptr` or `Arc::as_ptr`, and the `Arc` is neither dropped
        // nor used before the registry is complete, which owns the core.
        let registry = ManuallyDrop::new(unsafe { Arc::from_raw(plan.registry) });
        Self {
            deque,
            index,
            stocks: Stocks::new(is_adopted),
            slabs: Slabs::new(),
            thief: Thief::new(),
            fairness: Fairness::default(),
            depth: Depth::default(),
            isolated: Isolated::new(plan.isolates),
            stand: Cell::new(if index < plan.num_threads {
                Stand::At(index)
            } else {
                Stand::Nowhere
            }),
            registry,
            detour: Detour::new(plan.has_context),
        }
    }

    #[inline(always)]
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    #[inline(always)]
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Returns `true` if its thread existed before the pool, and was adopted.
    pub(crate) fn is_adopted(&self) -> bool {
        self.stocks.is_adopted()
    }

    /// Returns the latch that is set when the pool ends.
    pub(crate) fn end(&self) -> &LatchWord {
        &self.registry.threads[self.index].terminate
    }

    /// Records that the calling thread begins to be this worker.
    pub(super) fn begin_thread(&self) {
        let thread = &self.registry.threads[self.index].thread;
        thread.set_mine(ThreadId::current().to_bits().into());
        self.registry.probe.begin_thread(self.index);
    }

    pub(super) fn meter(&self) -> &WorkMeter {
        &self.registry.threads[self.index].meter
    }

    /// Returns the position of the next item in its deque.
    pub(crate) fn position(&self) -> i64 {
        self.deque.position()
    }

    /// Returns the position of its deque and the moment of what it sends next.
    pub(crate) fn point(&self) -> Point {
        Point { position: self.position(), moment: self.lineage().moment() }
    }

    /// Returns the point from which on all jobs descend from the one at this position.
    pub(super) fn point_at(&self, position: i64) -> Point {
        Point { position, ..self.point() }
    }

    /// Returns its index and its [`point`](Self::point).
    pub(crate) fn whereabouts(&self) -> (usize, Point) {
        (self.index, self.point())
    }

    /// Returns [`point`](Self::point). In isolation also uses up its moment, so that no later point
    /// is equal.
    pub(crate) fn take_point(&self) -> Point {
        let point = self.point();
        if self.is_isolated() {
            self.lineage().take_moment();
        }
        point
    }

    /// Uses up a moment, and returns the origin of what the worker sends now.
    pub(crate) fn sends(&self) -> Origins {
        Origin::sent(self.index, self.lineage().take_moment()).into()
    }

    pub(super) fn lineage(&self) -> &Lineage {
        &self.registry.threads[self.index].lineage
    }

    pub(crate) fn deque_is_empty(&self) -> bool {
        self.deque.is_empty()
    }

    #[inline]
    pub(crate) fn slabs(&self) -> &Slabs {
        &self.slabs
    }
}

impl fmt::Debug for WorkerThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerThread")
            .field("pool", &self.registry.id())
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
