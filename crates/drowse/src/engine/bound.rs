//! Bound on the number of jobs that are under way: see `try_spawn`.

use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{faulty, mutant, omittable};

/// Counter of the jobs that have a [`Place`]; exact, since each of them changes this one word. Jobs
/// without a bound leave it alone. (The counts of scopes and pools are not exact: a worker in the
/// middle of a long job may hold many of them in stock.)
#[derive(Debug)]
pub(crate) struct Bound(AtomicUsize);

impl Bound {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Takes a place for one more job if fewer than `limit` are taken.
    ///
    /// # Safety
    ///
    /// The bound must outlive the place.
    pub(crate) unsafe fn enter(&self, limit: usize) -> Option<Place> {
        // ORDERING: relaxed; the compare-exchange below decides.
        let mut taken = self.0.load(Ordering::Relaxed);
        while taken < limit {
            // ORDERING: acquire pairs with the release in `Place::drop`: the new job sees what the
            // one that left the place has done, and the end of what it captured.
            let acquire = mutant::weaken("bound/enter-relaxed", Ordering::Acquire);
            let from = faulty!("bound/enter-blindly", taken, self.0.load(Ordering::Relaxed));
            match self.0.compare_exchange_weak(from, from + 1, acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Place(self)),
                Err(now) => taken = now,
            }
        }
        None
    }
}

/// The place of a job. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place(*const Bound);

// SAFETY: `Bound` is `Sync`, and by the promise made to `Bound::enter` outlives the place.
unsafe impl Send for Place {}

impl Drop for Place {
    fn drop(&mut self) {
        // ORDERING: release pairs with the acquire in `Bound::enter`, which also sees what was
        // released by places left earlier: each change is a read-modify-write.
        let ordering = mutant::weaken("bound/leave-relaxed", Ordering::Release);
        // SAFETY: the caller of `Bound::enter` has promised that the bound is still there.
        omittable!("bound/stays", unsafe { (*self.0).0.fetch_sub(1, ordering) });
    }
}

/// A closure with a place, which is free only after the closure has run or been dropped.
#[derive(Debug)]
pub(crate) struct Bounded<F> {
    func: F,
    place: Place,
}

impl<F> Bounded<F> {
    /// Takes a place for `func`, or returns `func` if there is none.
    ///
    /// # Safety
    ///
    /// The bound must outlive what is returned.
    pub(crate) unsafe fn new(bound: &Bound, limit: usize, func: F) -> Result<Self, F> {
        // SAFETY: the caller's promise.
        match unsafe { bound.enter(limit) } {
            Some(place) => Ok(Self { func, place }),
            None => Err(func),
        }
    }

    /// Passes the closure to `call`, and then frees the place.
    pub(crate) fn call(self, call: impl FnOnce(F)) {
        let _place = self.place;
        call(self.func);
    }
}
