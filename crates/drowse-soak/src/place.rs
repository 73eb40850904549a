//! Where jobs are sent: the current pool by drowse's functions, or another one by its methods.

use crate::dice::Dice;
use crate::verdict::{demand, fail};
use crate::world::World;
use drowse::{BroadcastContext, JoinHandle, Scope, ScopeFifo, ThreadPool, TrySpawnError};

/// Where a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// On a thread that is in no pool.
    Outside,
    Global,
    /// A pool that lasts for the round, by its index.
    Pool(usize),
    /// A pool that comes and goes.
    Passing,
    /// Such a pool with a worker that leaves without waiting for what was broadcast.
    TakenOver,
}

/// Where a job is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// `None`: to the current pool.
    pub(crate) pool: Option<&'static ThreadPool>,
    /// Where it then runs.
    pub(crate) home: Home,
}

impl Home {
    /// A job is here: is this here? Calls `f`, which does nothing that drowse could know of, and
    /// sees to it that nobody else has our index.
    pub(crate) fn hold<R>(self, world: &'static World, f: impl FnOnce() -> R) -> R {
        if self == Self::Outside {
            return f();
        }
        let index = drowse::current_thread_index();
        demand!(
            drowse::current_thread_has_pending_tasks().is_some(),
            "a job runs outside any pool"
        );
        let width = drowse::current_num_threads();
        demand!(index.is_none_or(|index| index < width), "index {index:?} of {width}");
        let Self::Pool(number) = self else { return f() };
        let pool = world.pool(number);
        let is_here = pool.current_thread_has_pending_tasks().is_some();
        demand!(is_here, "a job runs in another pool than {number}");
        match index {
            Some(index) => world.seats(number).hold(index, f),
            // Somebody may have its place for a while longer.
            None if world.plan.pools[number].lends() => f(),
            None => fail("a worker without an index, where nobody can have taken it"),
        }
    }

    /// Whether all that waits here is isolated.
    pub(crate) fn isolates(self, world: &World) -> bool {
        matches!(self, Self::Pool(pool) if world.plan.all_is_isolated_in(pool))
    }

    /// Its place in the order in which pools may wait for each other.
    fn level(self) -> usize {
        match self {
            Self::Outside => 0,
            Self::Pool(index) => index + 1,
            Self::Global | Self::Passing | Self::TakenOver => usize::MAX,
        }
    }
}

impl Place {
    pub(crate) fn here(home: Home) -> Self {
        Self { pool: None, home }
    }

    pub(crate) fn random(world: &'static World, home: Home, dice: &mut Dice) -> Self {
        let stays = match home {
            // From outside, the current pool is the global one.
            Home::Outside if world.plan.global && dice.one_in(3) => {
                return Self::here(Home::Global);
            }
            Home::Outside => false,
            _ => !dice.one_in(5),
        };
        let lowest = if world.plan.upward { home.level() } else { 0 };
        let pools = world.plan.pools.len();
        if stays || lowest >= pools {
            return Self::here(home);
        }
        Self::there(world, lowest + dice.below(pools - lowest))
    }

    pub(crate) fn there(world: &'static World, index: usize) -> Self {
        Self { pool: Some(world.pool(index)), home: Home::Pool(index) }
    }

    pub(crate) fn install<R: Send>(self, op: impl FnOnce() -> R + Send) -> R {
        match self.pool {
            Some(pool) => pool.install(op),
            // There is no function for it.
            None => drowse::scope(|_| op()),
        }
    }

    pub(crate) fn join<A: Send, B: Send>(
        self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self.pool {
            Some(pool) => pool.join(a, b),
            None => drowse::join(a, b),
        }
    }

    pub(crate) fn scope<'scope, R: Send>(self, op: impl FnOnce(&Scope<'scope>) -> R + Send) -> R {
        match self.pool {
            Some(pool) => pool.scope(op),
            None => drowse::scope(op),
        }
    }

    pub(crate) fn scope_fifo<'scope, R: Send>(
        self,
        op: impl FnOnce(&ScopeFifo<'scope>) -> R + Send,
    ) -> R {
        match self.pool {
            Some(pool) => pool.scope_fifo(op),
            None => drowse::scope_fifo(op),
        }
    }

    pub(crate) fn in_place_scope<'scope, R>(self, op: impl FnOnce(&Scope<'scope>) -> R) -> R {
        match self.pool {
            Some(pool) => pool.in_place_scope(op),
            None => drowse::in_place_scope(op),
        }
    }

    pub(crate) fn in_place_scope_fifo<'scope, R>(
        self,
        op: impl FnOnce(&ScopeFifo<'scope>) -> R,
    ) -> R {
        match self.pool {
            Some(pool) => pool.in_place_scope_fifo(op),
            None => drowse::in_place_scope_fifo(op),
        }
    }

    pub(crate) fn spawn(self, op: impl FnOnce() + Send + 'static) {
        match self.pool {
            Some(pool) => pool.spawn(op),
            None => drowse::spawn(op),
        }
    }

    pub(crate) fn try_spawn<F: FnOnce() + Send + 'static>(
        self,
        limit: usize,
        op: F,
    ) -> Result<(), TrySpawnError<F>> {
        match self.pool {
            Some(pool) => pool.try_spawn(limit, op),
            None => drowse::try_spawn(limit, op),
        }
    }

    pub(crate) fn spawn_fifo(self, op: impl FnOnce() + Send + 'static) {
        match self.pool {
            Some(pool) => pool.spawn_fifo(op),
            None => drowse::spawn_fifo(op),
        }
    }

    pub(crate) fn spawn_all<F: FnOnce() + Send + 'static>(self, jobs: impl IntoIterator<Item = F>) {
        match self.pool {
            Some(pool) => pool.spawn_all(jobs),
            None => drowse::spawn_all(jobs),
        }
    }

    pub(crate) fn spawn_handle<T: Send + 'static>(
        self,
        op: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        match self.pool {
            Some(pool) => pool.spawn_handle(op),
            None => drowse::spawn_handle(op),
        }
    }

    pub(crate) fn spawn_future<T: Send + 'static>(
        self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        match self.pool {
            Some(pool) => pool.spawn_future(future),
            None => drowse::spawn_future(future),
        }
    }

    pub(crate) fn broadcast<R: Send>(
        self,
        op: impl Fn(BroadcastContext<'_>) -> R + Sync,
    ) -> Vec<R> {
        match self.pool {
            Some(pool) => pool.broadcast(op),
            None => drowse::broadcast(op),
        }
    }

    pub(crate) fn spawn_broadcast(self, op: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static) {
        match self.pool {
            Some(pool) => pool.spawn_broadcast(op),
            None => drowse::spawn_broadcast(op),
        }
    }

    /// How many workers there are.
    pub(crate) fn width(self) -> usize {
        self.pool.map_or_else(drowse::current_num_threads, ThreadPool::current_num_threads)
    }
}
