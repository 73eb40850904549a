//! Worker: the state that only its own thread uses.

use super::current::Detour;
use super::in_order::InOrder;
use super::isolate::Isolation;
use super::lineage::{Lineage, Origin, Origins, Point};
use super::place::NOWHERE;
use super::places::Ticket;
use super::registry::{CorePlan, Registry};
use super::rng::Rng;
use super::steal::Requests;
use super::stock::{PanicGoes, Stocks};
use crate::deque::Owner;
use crate::job::{JobHeader, Slabs};
use crate::metrics::WorkMeter;
use drowse_sleep::LatchWord;
use drowse_sync::{Arc, ThreadId, heavy_fences_executed, random_seed};
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;

/// The core of a seat: the state that a thread needs to run jobs there. It is made with the seat and
/// lives as long as the pool; one thread at a time [has](Self::take_core) it. The deque comes first,
/// so that a `join` needs, and saves, one register for both.
#[repr(C)]
pub(crate) struct WorkerThread {
    pub(super) deque: Owner<JobHeader>,
    index: usize,
    pub(super) stocks: Stocks,
    /// Memory for the jobs that it spawns.
    slabs: Slabs,
    /// Not counted: the registry owns the core. A thread that has the core holds the registry.
    pub(super) registry: ManuallyDrop<Arc<Registry>>,
    pub(super) rng: Rng,
    /// Jobs from deques that it has run since it last looked into the injector.
    pub(super) deque_streak: Cell<u32>,
    /// Jobs from elsewhere that it has run, one after the other, since it last searched.
    pub(super) streak_elsewhere: Cell<u32>,
    /// Worker that it stole from last.
    pub(super) stole_from: Cell<Option<usize>>,
    /// Kind of queue, other than deques, that it looks into first the next time.
    pub(super) next_kind: Cell<u32>,
    /// Number of turns, given to jobs from outside, on its stack.
    pub(super) turns: Cell<u32>,
    /// Requests to other workers to publish private jobs.
    pub(super) requests: Requests,
    /// Isolation of what it runs now: since the position `floor` of its deque, if it is a region.
    pub(super) isolated: Cell<Isolation>,
    pub(super) floor: Cell<i64>,
    /// Jobs that it has spawned in isolation, to be run oldest first.
    pub(super) in_order: InOrder,
    /// Earliest point at which a task was spawned that the future being polled awaits.
    awaits: Cell<Option<Point>>,
    /// Index that it runs with, or [`NOWHERE`]; then `ticket` may wait for one.
    pub(super) place: Cell<usize>,
    pub(super) ticket: Cell<Option<Arc<Ticket>>>,
    /// Place that it wants again when it comes back, while it is away.
    pub(super) back_to: Cell<usize>,
    /// Number to subtract from the heavy fences of its thread to get those of this worker.
    pub(super) heavy_fences_before: Cell<u64>,
    /// Destination of the panic of the spawned job that begins next.
    pub(super) panic_goes: Cell<PanicGoes>,
    /// Number of waits on its stack in which it runs other jobs.
    pub(super) waits: Cell<u32>,
    is_adopted: bool,
    pub(super) detour: Detour,
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
            isolated: Cell::new(if plan.isolates { Isolation::Pool } else { Isolation::Off }),
            floor: Cell::new(0),
            in_order: InOrder::default(),
            awaits: Cell::new(None),
            place: Cell::new(if index < plan.num_threads { index } else { NOWHERE }),
            ticket: Cell::new(None),
            back_to: Cell::new(NOWHERE),
            registry,
            rng: Rng::new(random_seed()),
            deque_streak: Cell::new(0),
            streak_elsewhere: Cell::new(0),
            stole_from: Cell::new(None),
            next_kind: Cell::new(0),
            turns: Cell::new(0),
            requests: Requests::default(),
            heavy_fences_before: Cell::new(0),
            panic_goes: Cell::default(),
            waits: Cell::new(0),
            is_adopted,
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

    /// Begins to count the calling thread's heavy fences as this worker's. For a thread that takes
    /// the core, and for one whose core a guest may have had.
    pub(super) fn take_core(&self) {
        let counted = self.meter().heavy_fences.get();
        self.heavy_fences_before.set(heavy_fences_executed().wrapping_sub(counted));
    }

    /// Returns `true` if its thread existed before the pool, and was adopted.
    pub(crate) fn is_adopted(&self) -> bool {
        self.is_adopted
    }

    /// Returns `true` if it runs jobs while it waits, and so may be in the middle of a job.
    pub(crate) fn is_helping(&self) -> bool {
        self.waits.get() > 0
    }

    /// Returns the latch that is set when the pool ends.
    pub(crate) fn end(&self) -> &LatchWord {
        self.registry.threads[self.index].terminate.word()
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

    /// Records that the future being polled awaits a task that was spawned at this point, for
    /// [`awaited_since`](Self::awaited_since).
    pub(crate) fn awaits(&self, spawned: Point) {
        let before = self.awaits.get().unwrap_or(spawned);
        let position = before.position.min(spawned.position);
        self.awaits.set(Some(Point { position, moment: before.moment.min(spawned.moment) }));
    }

    /// Calls `poll`. Also returns the earliest point at which a task was spawned that the future
    /// awaits, if it awaits any.
    pub(crate) fn awaited_since<R>(&self, poll: impl FnOnce() -> R) -> (R, Option<Point>) {
        /// Restores the outer value, also on a panic.
        struct PutBack<'a>(&'a Cell<Option<Point>>, Option<Point>);
        impl Drop for PutBack<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _outer = PutBack(&self.awaits, self.awaits.take());
        (poll(), self.awaits.get())
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
