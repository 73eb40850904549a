//! How many jobs of a kind are under way, where somebody wants no more than so many.

use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{faulty, mutant, omittable};

/// Counts the jobs that have a [`Place`]. Exact, since each of them writes the one word: those who
/// want no bound have no place, and leave it alone. (The counts of scopes and pools are of no use
/// here: a worker in the middle of a long job may hold many of them in stock.)
#[derive(Debug)]
pub(crate) struct Bound(AtomicUsize);

impl Bound {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// A place for one more job, if there are fewer than `limit`.
    ///
    /// # Safety
    ///
    /// The bound must outlive the place.
    pub(crate) unsafe fn enter(&self, limit: usize) -> Option<Place> {
        // ORDERING: relaxed; the exchange decides.
        let mut taken = self.0.load(Ordering::Relaxed);
        while taken < limit {
            // ORDERING: acquire pairs with the release of whoever left the place: what comes now
            // comes after all that the job there has done, and after the end of what it captured.
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

/// A job's place, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place(*const Bound);

// SAFETY: a bound is `Sync`, and by the promise made to `enter` it is there wherever the place is.
unsafe impl Send for Place {}

impl Drop for Place {
    fn drop(&mut self) {
        // ORDERING: release pairs with the acquire in `enter`. A place that is left keeps the
        // releases of those that were left before it: each change is a read-modify-write.
        let ordering = mutant::weaken("bound/leave-relaxed", Ordering::Release);
        // SAFETY: the promise made to `enter`.
        omittable!("bound/stays", unsafe { (*self.0).0.fetch_sub(1, ordering) });
    }
}

/// A closure that has a place until it has run, or is dropped. It goes first, and the place is free
/// only then.
#[derive(Debug)]
pub(crate) struct Bounded<F> {
    func: F,
    place: Place,
}

impl<F> Bounded<F> {
    /// Finds a place for `func`, or gives it back.
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

    /// Has it called.
    pub(crate) fn call(self, call: impl FnOnce(F)) {
        let _place = self.place;
        call(self.func);
    }
}
