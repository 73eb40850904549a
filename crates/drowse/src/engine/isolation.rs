//! State of isolation: of a worker, and of a pool. See [`isolate`](super::isolate).

use super::lineage::Point;
use super::parcels::Parcels;
use super::placeholders::Placeholders;
use drowse_sync::{Counter, hint};
use std::cell::Cell;

/// Number of jobs, spawned by a stolen one, that its thief runs before it gives back the rest.
pub(super) const MOST_OF_REST: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 64 };

/// Thefts that are followed, from thief to victim.
pub(super) const MOST_THEFTS: u32 = 16;

/// Isolation of the code that a worker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// Waits run any job.
    Off,
    /// Every job of the pool is isolated. Waits run descendants; `yield_now` runs any job.
    Pool,
    /// The code is in a region. Waits run descendants; `yield_now` runs what the region has made.
    Region,
}

/// Isolation of a worker: of what it runs now, and of what it has spawned there.
#[derive(Debug)]
pub(super) struct Isolated {
    pub(super) isolation: Cell<Isolation>,
    /// Position of its deque at which the job began that it runs now, or the region in it.
    pub(super) floor: Cell<i64>,
    /// Jobs that it has spawned in isolation, to be run oldest first.
    pub(super) in_order: Placeholders,
    /// Earliest point at which a task was spawned that the future being polled awaits.
    pub(super) awaits: Cell<Option<Point>>,
}

impl Isolated {
    pub(super) fn new(in_isolated_pool: bool) -> Self {
        let isolation = if in_isolated_pool { Isolation::Pool } else { Isolation::Off };
        let (isolation, floor) = (Cell::new(isolation), Cell::new(0));
        Self { isolation, floor, in_order: Placeholders::default(), awaits: Cell::new(None) }
    }
}

/// Isolation in a pool.
#[derive(Debug)]
pub(super) struct PoolIsolation {
    /// `true` if every job runs in isolation.
    pub(super) everywhere: bool,
    /// Number of workers in an isolated region.
    pub(super) regions: Counter,
    /// Number of running jobs that have [ancestors](super::ancestry) in other pools.
    pub(super) with_ancestors: Counter,
    /// Jobs that were stolen by mistake, or left for a worker that waits in isolation.
    pub(super) returned: Parcels,
}

impl PoolIsolation {
    pub(super) fn new(everywhere: bool) -> Self {
        let (regions, with_ancestors) = (Counter::new(), Counter::new());
        Self { everywhere, regions, with_ancestors, returned: Parcels::new() }
    }
}

/// Lets shuttle switch where a thief may begin another job, or its victim fall asleep: random
/// schedules seldom do so by themselves.
pub(super) fn let_others_in() {
    if cfg!(drowse_shuttle) {
        hint::spin_loop();
    }
}
