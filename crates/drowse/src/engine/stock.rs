//! Counts that a worker keeps in stock.
//!
//! A scope counts its jobs, and a pool the jobs that nobody waits for: one more when a job is
//! spawned, one less when it has ended. Were each of these steps a step of the shared count, every
//! job would fetch the one word that all workers write. So a worker has a [`Stock`]: counts that it
//! holds and nobody needs at the moment. A job that ends on the worker leaves its count there, and
//! a job that the worker spawns takes one out. Only an empty stock is filled from the shared count,
//! by more than one at a time if the same scope has come before; and a stock is given back as a
//! whole: the worker *settles*.
//!
//! The shared count is thus the sum of the jobs that have not ended and of all stocks. It is never
//! too low, so nobody goes on too early. It is too high as long as somebody has a stock, and
//! whoever waits for zero waits for that one to settle.
//!
//! # Who may hold a count, and until when
//!
//! The rule: **nobody waits for a stock who would not wait for its holder anyway**, but for the few
//! instructions that take a worker from one job to the next.
//!
//! *Scopes.* What a worker holds of a scope S it has got in one of two ways:
//!
//! - A job of S has ended on it.
//! - It has spawned into S. Whoever does that has a `&Scope`, which is lent to the closure of S and
//!   to each of its jobs, each time for that one call. So the spawn is part of one of them, or of
//!   something which that one waits for: half of a `join`, a job of an inner scope, a thread of
//!   [`std::thread::scope`]. S does not end before this has ended: until then it does no harm to
//!   hold counts of S.
//!
//! After that the worker is in one of its loops, between two jobs, and it settles
//!
//! 1. before it runs a job of anything else: every job that is not of a scope does so first thing
//!    (`StackJob::execute`, `spawned_job`, `Registry::job_in`, `PoolHome::run`), and one of another
//!    scope if the stock is not its own (`ScopeBase::begin_job`, `ScopeHome::run`);
//! 2. when it has looked for a job everywhere once, and found none: before it asks for one, uses
//!    force, pauses or sleeps (`find_work`);
//! 3. before a loop returns to the code that called it, which may be of any job (`wait_until`,
//!    `wait_for_half`, `run_one`);
//! 4. before it waits for something that happens on another thread in its place, or for its place
//!    (`Away::begin`): the thread that has the place may be in a job that waits for the count;
//! 5. at once, if a job has ended and all that is left of the count is in the stock: so the last
//!    job of a scope sets its latch, as if there were no stocks, and the worker that waits for it
//!    does not begin another job first.
//!
//! Every function in which a worker blocks asserts that (`assert_settled`), but for `come_back`.
//!
//! The worker that has opened S settles what it holds of S in the very step that counts the closure
//! of S down. Which is why a thread that was *adopted*, and may return from its last loop never to
//! come back to one, takes counts ahead from its own scopes only: there it has that step before it.
//! From others it takes just what it needs.
//!
//! A job that blocks without `blocking`, or comes back from it, keeps its worker's stock from being
//! settled; but it is a job of S, or part of one, so that S waits for it in any case.
//!
//! *Pools.* A worker that runs a job may hold reasons for its pool to live: there is one anyway,
//! since somebody waits for the job, or it is itself a reason. The worker settles by 2 and 3, so a
//! worker without a job holds none. An adopted thread, which is outside of all jobs most of the
//! time, takes none ahead.
//!
//! # Notes on memory ordering
//!
//! What a job does comes before its worker settles, in program order; settling releases, and
//! whoever brings the count to zero acquires. A count that goes from a job that has ended to one
//! that is spawned stays on one thread, and then goes where the new job goes.

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::job::JobRef;
use crate::latch::CountLatch;
use crate::unwind::Payload;
use drowse_sync::{faulty, omittable};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// So many counts are taken at once at most. (A model has few jobs.)
const MOST_AT_ONCE: usize = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { 64 };

/// A count that many hold parts of, with somebody waiting for its end.
pub(crate) trait SharedCount {
    /// So many more. Only for a caller who can tell that the count is not at its end.
    fn add(&self, count: usize);

    /// Whether no more than these are left, as far as can be seen.
    fn is_down_to(&self, count: usize) -> bool;

    /// So many less. At zero, that is the end.
    ///
    /// # Safety
    ///
    /// These must be the caller's. They keep `this` alive: it may be gone when the call returns.
    unsafe fn subtract(this: *const Self, count: usize);
}

/// Counts that its owner holds, all of the same thing. Settles when it is dropped.
#[derive(Debug)]
pub(crate) struct Stock<C: SharedCount> {
    /// What they are counts of. Alive while there are any, since they keep it from its end.
    of: Cell<*const C>,
    count: Cell<usize>,
    /// How many to take when there are none: more each time. So whoever turns from one thing to
    /// another and back with each job takes one at a time, and never has to settle.
    at_once: Cell<usize>,
}

impl<C: SharedCount> Stock<C> {
    pub(crate) fn new() -> Self {
        Self { of: Cell::new(ptr::null()), count: Cell::new(0), at_once: Cell::new(1) }
    }

    /// Takes out a count of `of`, for a job. `may_take_ahead` says whether there may be some left
    /// in the stock afterwards that were not there before.
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
        // One goes to the job.
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
        // SAFETY: alive, since there is a count of it in the stock.
        if unsafe { (*of).is_down_to(count) } {
            // WAKE: nobody else will bring it to its end.
            self.settle();
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.count.get()
    }

    /// Takes out all that there are of `of`.
    #[must_use]
    pub(crate) fn take_all(&self, of: &C) -> usize {
        if self.is_of(of) { self.count.take() } else { 0 }
    }

    /// Gives back what there is.
    #[inline]
    pub(crate) fn settle(&self) {
        let count = self.count.get();
        if count > 0 {
            self.give_back(count);
        }
    }

    /// Gives back what there is, if it is of anything but `of`.
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
        // SAFETY: these were in the stock, and are not any more; so far they have kept it alive.
        unsafe { C::subtract(self.of.get(), count) };
    }

    fn is_of(&self, of: &C) -> bool {
        ptr::eq(self.of.get(), of)
    }

    /// Sets what there is. Also where it was of `of` before: that may have been another one, which
    /// is gone, at the same address, and its pointer is no good for this one.
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

/// Where the panic of a spawned job goes: to the job around it, or by default to the panic handler.
#[derive(Debug, Default)]
pub(crate) struct PanicGoes(Option<NonNull<Option<Payload>>>);

/// What a worker has in stock.
#[derive(Debug)]
pub(super) struct Stocks {
    reasons: Stock<Registry>,
    scopes: Stock<CountLatch>,
    /// Whether its thread was one before it was a worker, and does other things than jobs.
    is_adopted: bool,
}

impl Stocks {
    pub(super) fn new(is_adopted: bool) -> Self {
        Self { reasons: Stock::new(), scopes: Stock::new(), is_adopted }
    }
}

impl WorkerThread {
    /// One more reason for its pool to live: a job that it spawns.
    #[inline]
    pub(crate) fn take_reason(&self) {
        self.stocks.reasons.take(&self.registry, || !self.stocks.is_adopted);
    }

    /// One reason less: a job that has ended on it.
    pub(crate) fn put_reason(&self) {
        // SAFETY: it was the job's. The registry is ours.
        unsafe { self.stocks.reasons.put(&raw const *self.registry) };
    }

    /// Begins a job that is a reason for its pool to live. Returns what its end is to be told.
    pub(crate) fn begin_spawned_job(&self) -> PanicGoes {
        self.begin_other_job();
        self.panic_goes.take()
    }

    /// Ends such a job, which may have panicked.
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

    /// Executes a spawned job in the middle of another one, around it. Returns its panic, of which
    /// the panic handler is not told.
    ///
    /// # Safety
    ///
    /// As for [`JobRef::execute`]; and `job` must begin with
    /// [`begin_spawned_job`](Self::begin_spawned_job).
    pub(crate) unsafe fn execute_inner_job(&self, job: JobRef) -> Option<Payload> {
        let mut panic = None;
        self.panic_goes.set(PanicGoes(Some(NonNull::from(&mut panic))));
        // SAFETY: the caller's promise.
        unsafe { job.execute(self) };
        panic
    }

    /// One more job of a scope, which it spawns.
    pub(crate) fn take_count(&self, latch: &CountLatch) {
        self.stocks.scopes.take(latch, || !self.stocks.is_adopted || latch.is_waited_for_by(self));
    }

    /// One job of a scope less, which has ended on it.
    ///
    /// # Safety
    ///
    /// The count must be the caller's. The scope may be gone when the call returns.
    pub(crate) unsafe fn put_count(&self, latch: *const CountLatch) {
        // SAFETY: the caller's promise.
        unsafe { self.stocks.scopes.put(latch) };
    }

    /// All that it has of a scope's counts: they are the caller's now.
    #[must_use]
    pub(crate) fn take_all_counts(&self, latch: &CountLatch) -> usize {
        self.stocks.scopes.take_all(latch)
    }

    /// Begins a job of this scope.
    #[inline]
    pub(crate) fn begin_job_of(&self, latch: *const CountLatch) {
        self.stocks.scopes.settle_unless_of(latch);
    }

    /// Begins a job that is of no scope.
    #[inline]
    pub(crate) fn begin_other_job(&self) {
        self.stocks.scopes.settle();
    }

    /// Gives back all counts that it holds and does not need.
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
