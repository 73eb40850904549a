//! Stocks: counts that a worker holds and no job needs at the moment.
//!
//! A scope counts its jobs, and a pool the jobs without a waiting caller: one more when a job is
//! spawned, one less when it has ended. If each of these steps changed the shared count, every job
//! would fetch the one word that all workers write. So a worker has a [`Stock`]. A job that ends on
//! the worker puts its count in, and a job that the worker spawns takes one out. Only an empty
//! stock takes from the shared count, more than one at a time if it was for the same scope before.
//! A stock is given back as a whole: the worker *settles*.
//!
//! So the shared count is the sum of the jobs that have not ended and of all stocks. It is never
//! too low, so no waiting thread goes on too early. It is too high while a worker has a stock, and
//! a thread that waits for zero waits for that worker to settle.
//!
//! # Why waiting for a stock does no harm
//!
//! The rule: **a thread waits for a stock only if it would wait for the holder anyway**, except for
//! the few instructions that take a worker from one job to the next.
//!
//! *Scopes.* A worker gets counts of a scope S in one of two ways:
//!
//! - A job of S has ended on it.
//! - It has spawned into S. To do so it needs a `&Scope`, which is lent to the closure of S and to
//!   each of its jobs, for one call each. So the spawn is part of this call, or of something that
//!   the call waits for: half of a `join`, a job of an inner scope, a thread of
//!   [`std::thread::scope`]. S does not end before that: until then, to hold counts does no harm.
//!
//! After that the worker is in one of its loops, between two jobs, and it settles
//!
//! 1. before it runs another job: each job that is of no scope settles first (`StackJob::execute`,
//!    `spawned_job`, `Registry::job_in`, `PoolHome::run`); a job of a scope does so if the stock is
//!    of another scope (`ScopeBase::begin_job`, `ScopeHome::run`);
//! 2. when it has no more jobs of its own, and before it searches for others, pauses or sleeps
//!    (`search`; in isolation and deep in the stack `wait_isolated`, `wait_deep`);
//! 3. when a loop returns to the code that called it, which may be part of any job (`JobLoop`);
//! 4. before it waits for something that happens on another thread in its place, or for its place
//!    (`Away::begin`): the thread that has the place may be in a job that waits for the count;
//! 5. at once, if a job has ended and all that is left of the count is in the stock: so the last
//!    job of a scope sets its latch, as without stocks, and the worker that waits for it does not
//!    begin another job first.
//!
//! Every function in which a worker blocks asserts this (`assert_settled`), except `come_back`.
//!
//! The worker that has opened S settles its counts of S in the step that counts the closure of S
//! down. An *adopted* thread may return from its last loop and never enter one again: so it takes
//! counts ahead from its own scopes only, where that step is still to come.
//!
//! A job that blocks without `blocking`, or comes back from it, keeps its worker from settling; but
//! it is a job of S, or part of one, so S waits for it in any case.
//!
//! *Pools.* A worker that runs a job may hold reasons for its pool to live: there is one anyway,
//! because a thread waits for the job, or the job is itself a reason. The worker settles by 2 and
//! 3, so a worker without a job holds none. An adopted thread, which is outside of all jobs most of
//! the time, takes none ahead.
//!
//! # Notes on memory ordering
//!
//! What a job does comes before its worker settles, in program order; settling releases
//! (`SharedCount::subtract`), and the thread that brings the count to zero acquires. A count that a
//! spawned job takes over from an ended one stays on one thread, and then goes where the job goes.

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::job::JobRef;
use crate::latch::CountLatch;
use crate::unwind::Payload;
use drowse_sync::{faulty, omittable};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// Most counts that are taken at once. (A model has few jobs.)
const MOST_AT_ONCE: usize = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 64 };

/// A count with many holders, whose end, zero, is waited for.
pub(crate) trait SharedCount {
    /// Adds `count`. The caller must know that the count cannot reach zero meanwhile.
    fn add(&self, count: usize);

    /// Returns `true` if no more than `count` seem to be left.
    fn is_down_to(&self, count: usize) -> bool;

    /// Subtracts `count`. At zero, ends what is counted.
    ///
    /// # Safety
    ///
    /// These counts must be the caller's. They keep `this` alive: it may be gone when the call
    /// returns.
    unsafe fn subtract(this: *const Self, count: usize);
}

/// Counts of one thing that a worker holds. Settles when it is dropped.
#[derive(Debug)]
pub(crate) struct Stock<C: SharedCount> {
    /// Thing that is counted. Alive while `count` is not zero: these counts keep it from its end.
    of: Cell<*const C>,
    count: Cell<usize>,
    /// Number to take next from the shared count: doubles each time, and is 1 for another thing. A
    /// worker that alternates between two things takes one at a time, and never has to settle.
    at_once: Cell<usize>,
}

impl<C: SharedCount> Stock<C> {
    pub(crate) fn new() -> Self {
        Self { of: Cell::new(ptr::null()), count: Cell::new(0), at_once: Cell::new(1) }
    }

    /// Takes out a count of `of`, for a job. Only if `may_take_ahead` may it take more from the
    /// shared count than the job needs.
    #[inline]
    pub(crate) fn take(&self, of: &C, may_take_ahead: impl FnOnce() -> bool) {
        let count = self.count.get();
        if count > 0 && self.is_of(of) {
            self.count.set(count - 1);
        } else {
            self.fill(of, may_take_ahead());
        }
    }

    #[cold]
    #[inline(never)]
    fn fill(&self, of: &C, may_take_ahead: bool) {
        if !self.is_of(of) {
            self.settle();
            self.at_once.set(1);
        }
        let count = if may_take_ahead { self.at_once.get() } else { 1 };
        of.add(count);
        self.at_once.set((count * 2).min(MOST_AT_ONCE));
        // One of them goes to the job.
        self.hold(of, faulty!("stock/keeps-what-it-spends", count - 1, count));
    }

    /// Puts in the count of a job of `of` that has ended.
    ///
    /// # Safety
    ///
    /// The count must be the caller's. `of` may be gone when the call returns.
    #[inline]
    pub(crate) unsafe fn put(&self, of: *const C) {
        self.settle_unless_of(of);
        let count = self.count.get() + 1;
        self.hold(of, count);
        // SAFETY: alive, since the caller's count, which is now in the stock, keeps it from its
        // end.
        if unsafe { (*of).is_down_to(count) } {
            // WAKE: a thread that waits for zero may sleep in `CountLatch::wait`. Only this worker
            // has counts left, so no other thread would set the latch.
            self.settle();
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.count.get()
    }

    /// Takes out all counts of `of`, and returns their number.
    #[must_use]
    pub(crate) fn take_all(&self, of: &C) -> usize {
        if self.is_of(of) { self.count.take() } else { 0 }
    }

    /// Gives all counts back.
    #[inline]
    pub(crate) fn settle(&self) {
        let count = self.count.get();
        if count > 0 {
            self.give_back(count);
        }
    }

    /// Gives all counts back, unless they are of `of`.
    #[inline]
    pub(crate) fn settle_unless_of(&self, of: *const C) {
        if !ptr::eq(self.of.get(), of) {
            omittable!("stock/mixes", self.settle());
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back(&self, count: usize) {
        self.count.set(faulty!("stock/settles-twice", 0, 1));
        // SAFETY: these counts have kept it alive so far, and are no longer in the stock: they are
        // given up once.
        unsafe { C::subtract(self.of.get(), count) };
    }

    fn is_of(&self, of: &C) -> bool {
        ptr::eq(self.of.get(), of)
    }

    /// Stores pointer and count. The pointer is stored even if it is equal: an earlier object may
    /// have been freed, with `of` at its address, and its provenance must not be reused.
    fn hold(&self, of: *const C, count: usize) {
        self.of.set(of);
        self.count.set(count);
    }
}

impl<C: SharedCount> Drop for Stock<C> {
    fn drop(&mut self) {
        self.settle();
    }
}

/// Destination of a spawned job's panic: the frame of `execute_inner_job`; `None`: the panic
/// handler.
#[derive(Debug, Default)]
pub(crate) struct PanicGoes(Option<NonNull<Option<Payload>>>);

/// Counts that a worker holds, and what else it keeps for the jobs that are counted.
pub(super) struct Stocks {
    reasons: Stock<Registry>,
    scopes: Stock<CountLatch>,
    /// Destination of the panic of the spawned job that begins next.
    panic_goes: Cell<PanicGoes>,
    /// `true` if the thread was adopted: it existed before, and runs other code than jobs.
    is_adopted: bool,
}

impl Stocks {
    pub(super) fn new(is_adopted: bool) -> Self {
        let (reasons, scopes) = (Stock::new(), Stock::new());
        Self { reasons, scopes, panic_goes: Cell::default(), is_adopted }
    }

    pub(super) fn is_adopted(&self) -> bool {
        self.is_adopted
    }
}

impl WorkerThread {
    /// Takes a reason for the pool to live, for a job that the worker spawns.
    #[inline]
    pub(crate) fn take_reason(&self) {
        self.stocks.reasons.take(&self.registry, || !self.stocks.is_adopted);
    }

    /// Puts back the reason of a job that has ended on the worker.
    pub(crate) fn put_reason(&self) {
        // SAFETY: the reason was the job's. The worker holds the registry.
        unsafe { self.stocks.reasons.put(&raw const **self.registry) };
    }

    /// Begins a job that is a reason for its pool to live. Returns the argument for its end.
    pub(crate) fn begin_spawned_job(&self) -> PanicGoes {
        self.begin_other_job();
        self.stocks.panic_goes.take()
    }

    /// Ends a job that [`begin_spawned_job`](Self::begin_spawned_job) began, and that may have
    /// panicked.
    pub(crate) fn end_spawned_job(&self, panic: Option<Payload>, goes: PanicGoes) {
        match (panic, goes) {
            (None, _) => (),
            (Some(payload), PanicGoes(None)) => self.registry.panicked(payload),
            // SAFETY: it points into the frame of `execute_inner_job`, which is executing this job:
            // `begin_spawned_job` has taken it for this job alone.
            (Some(payload), PanicGoes(Some(kept))) => unsafe { *kept.as_ptr() = Some(payload) },
        }
        self.put_reason();
    }

    /// Executes a spawned job in the middle of another one. Returns its panic, which does not go to
    /// the panic handler.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::execute`]; and `job` must begin with
    /// [`begin_spawned_job`](Self::begin_spawned_job).
    pub(crate) unsafe fn execute_inner_job(&self, job: JobRef) -> Option<Payload> {
        let mut panic = None;
        self.stocks.panic_goes.set(PanicGoes(Some(NonNull::from(&mut panic))));
        // SAFETY: the caller's promise.
        unsafe { job.execute(self) };
        panic
    }

    /// Takes a count of a scope, for a job that the worker spawns into it.
    pub(crate) fn take_count(&self, latch: &CountLatch) {
        self.stocks.scopes.take(latch, || !self.stocks.is_adopted || latch.is_waited_for_by(self));
    }

    /// Puts back the count of a job of a scope, which has ended on the worker.
    ///
    /// # Safety
    ///
    /// The count must be the caller's. The scope may be gone when the call returns.
    pub(crate) unsafe fn put_count(&self, latch: *const CountLatch) {
        // SAFETY: the caller's promise.
        unsafe { self.stocks.scopes.put(latch) };
    }

    /// Takes out all counts of a scope, and returns their number: they are the caller's now.
    #[must_use]
    pub(crate) fn take_all_counts(&self, latch: &CountLatch) -> usize {
        self.stocks.scopes.take_all(latch)
    }

    /// Settles the counts of other scopes, before a job of this scope.
    #[inline]
    pub(crate) fn begin_job_of(&self, latch: *const CountLatch) {
        self.stocks.scopes.settle_unless_of(latch);
    }

    /// Settles the counts of all scopes, before a job that is of no scope.
    #[inline]
    pub(crate) fn begin_other_job(&self) {
        self.stocks.scopes.settle();
    }

    /// Gives back all counts that it holds and does not need.
    #[inline(never)]
    pub(crate) fn settle(&self) {
        self.stocks.scopes.settle();
        self.stocks.reasons.settle();
    }

    /// Checks that the worker holds no count, where it is about to block.
    #[track_caller]
    pub(super) fn assert_settled(&self) {
        debug_assert!(
            self.stocks.scopes.count.get() == 0 && self.stocks.reasons.count.get() == 0,
            "a worker that blocks holds no counts that other threads wait for"
        );
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
