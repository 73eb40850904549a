//! What one worker has for itself.

use super::current::Detour;
use super::in_order::InOrder;
use super::lineage::{Lineage, Origin, Origins, Point};
use super::place::NOWHERE;
use super::places::Ticket;
use super::registry::Registry;
use super::rng::Rng;
use super::start::ThreadBuilderParts;
use super::steal::Unanswered;
use super::stock::{PanicGoes, Stocks};
use crate::deque::{Owner, Pushed};
use crate::job::{JobFifo, JobHeader, JobRef, Slabs};
use crate::metrics::WorkMeter;
use drowse_sleep::{LatchWord, PostedTo};
use drowse_sync::{Arc, heavy_fences_executed, omittable, random_seed};
use std::cell::Cell;
use std::fmt;

/// A worker, as its own thread sees it. The deque comes first: so a `join` needs one register for
/// both of them, and saves one less.
#[repr(C)]
pub(crate) struct WorkerThread {
    pub(super) deque: Owner<JobHeader>,
    index: usize,
    /// Before the registry, which must be there when they are dropped.
    pub(super) stocks: Stocks,
    /// Room for the jobs that it spawns.
    slabs: Slabs,
    pub(super) registry: Arc<Registry>,
    pub(super) rng: Rng,
    /// Jobs from deques that it has run since it last looked into the injector.
    pub(super) deque_streak: Cell<u32>,
    /// Jobs from elsewhere that it has run, one after the other, since it last searched.
    pub(super) streak_elsewhere: Cell<u32>,
    /// Whom it stole from last.
    pub(super) stole_from: Cell<Option<usize>>,
    /// Where it looks first, the next time, for jobs that are in no deque.
    pub(super) next_kind: Cell<u32>,
    /// Jobs from outside that it is in the middle of because somebody insisted.
    pub(super) turns: Cell<u32>,
    /// Whether what it pushes now is posted later.
    pub(super) posts_later: Cell<bool>,
    /// Its requests that other workers have not answered.
    pub(super) unanswered: Unanswered,
    /// Whether what it runs now is isolated; and since which position of its deque, if that is not
    /// the case for the whole pool.
    pub(super) isolated: Cell<bool>,
    pub(super) floor: Cell<i64>,
    /// What it has spawned in isolation, to be run oldest first.
    pub(super) in_order: InOrder,
    /// The earliest point at which something was spawned that the future awaits which is being
    /// polled.
    awaits: Cell<Option<Point>>,
    /// Its index among those who run; or [`NOWHERE`], and perhaps it waits for one.
    pub(super) place: Cell<usize>,
    pub(super) ticket: Cell<Option<Arc<Ticket>>>,
    /// The place that it wants when it comes back, while it is away.
    pub(super) back_to: Cell<usize>,
    /// What to take off the heavy fences of its thread to get those of this worker.
    pub(super) heavy_fences_before: Cell<u64>,
    /// Where the panic of the spawned job goes that begins next.
    pub(super) panic_goes: Cell<PanicGoes>,
    /// How many of its waits, in which it runs other jobs, are on its stack.
    pub(super) waits: Cell<u32>,
    is_adopted: bool,
    pub(super) detour: Detour,
}

impl WorkerThread {
    pub(super) fn new(parts: ThreadBuilderParts, is_adopted: bool) -> Self {
        // What it has executed on other threads counts too.
        let counted = parts.registry.threads[parts.index].meter.heavy_fences.get();
        let detour = Detour::new(&parts.registry);
        Self {
            deque: parts.deque,
            index: parts.index,
            stocks: Stocks::new(is_adopted),
            slabs: Slabs::new(),
            isolated: Cell::new(parts.registry.isolates),
            floor: Cell::new(0),
            in_order: InOrder::default(),
            awaits: Cell::new(None),
            place: Cell::new(if parts.index < parts.registry.num_threads() { parts.index } else { NOWHERE }),
            ticket: Cell::new(None),
            back_to: Cell::new(NOWHERE),
            registry: parts.registry,
            rng: Rng::new(random_seed()),
            deque_streak: Cell::new(0),
            streak_elsewhere: Cell::new(0),
            stole_from: Cell::new(None),
            next_kind: Cell::new(0),
            turns: Cell::new(0),
            posts_later: Cell::new(false),
            unanswered: Unanswered::default(),
            heavy_fences_before: Cell::new(heavy_fences_executed().wrapping_sub(counted)),
            panic_goes: Cell::default(),
            waits: Cell::new(0),
            is_adopted,
            detour,
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

    /// What another thread needs to become this worker, which is not current any more, has rested,
    /// and has no jobs.
    pub(super) fn into_parts(self) -> ThreadBuilderParts {
        debug_assert!(!self.is_current());
        let Self { index, deque, registry, .. } = self;
        ThreadBuilderParts { index, deque, registry, presence: None, was_absent: false }
    }

    /// Whether its thread was there before, and was taken over.
    pub(crate) fn is_adopted(&self) -> bool {
        self.is_adopted
    }

    /// Whether it runs jobs while it waits for something, and so may be in the middle of one.
    pub(crate) fn is_helping(&self) -> bool {
        self.waits.get() > 0
    }

    /// What is set when the pool ends.
    pub(crate) fn end(&self) -> &LatchWord {
        self.registry.threads[self.index].terminate.word()
    }

    /// What is counted about this worker's searches.
    pub(super) fn meter(&self) -> &WorkMeter {
        &self.registry.threads[self.index].meter
    }

    /// How far its deque has got.
    pub(crate) fn position(&self) -> i64 {
        self.deque.position()
    }

    /// How far it has got, with what it has sent.
    pub(crate) fn point(&self) -> Point {
        Point { position: self.position(), moment: self.lineage().moment() }
    }

    /// Its index, and how far it has got.
    pub(crate) fn whereabouts(&self) -> (usize, Point) {
        (self.index, self.point())
    }

    /// A future that it polls awaits a handle of what it spawned at this point. See
    /// [`awaited_since`](Self::awaited_since).
    pub(crate) fn awaits(&self, spawned: Point) {
        let before = self.awaits.get().unwrap_or(spawned);
        let position = before.position.min(spawned.position);
        self.awaits.set(Some(Point { position, moment: before.moment.min(spawned.moment) }));
    }

    /// Calls `poll`, and returns since when what the future awaits may have been spawned, if it
    /// awaits handles.
    pub(crate) fn awaited_since<R>(&self, poll: impl FnOnce() -> R) -> (R, Option<Point>) {
        /// Puts back what was before, also if it panics.
        struct PutBack<'a>(&'a Cell<Option<Point>>, Option<Point>);
        impl Drop for PutBack<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _outer = PutBack(&self.awaits, self.awaits.take());
        (poll(), self.awaits.get())
    }

    /// The same as [`point`](Self::point); if it is isolated, nothing that comes after this is like
    /// it.
    pub(crate) fn take_point(&self) -> Point {
        let point = self.point();
        if self.is_isolated() {
            self.lineage().take_moment();
        }
        point
    }

    /// Where something comes from that it sends now.
    pub(crate) fn sends(&self) -> Origins {
        Origin::sent(self.index, self.lineage().take_moment()).into()
    }

    pub(super) fn lineage(&self) -> &Lineage {
        &self.registry.threads[self.index].lineage
    }

    pub(crate) fn deque_is_empty(&self) -> bool {
        self.deque.is_empty()
    }

    /// Offers a job to everyone, ourselves included.
    ///
    /// # Safety
    ///
    /// The reference must not be in any other queue.
    #[inline]
    pub(crate) unsafe fn push(&self, job: JobRef) {
        // WAKE: a worker that we do not see on its way to sleep sees the job; one that we see has
        // lowered our limit, and `after_slow_push` posts.
        self.deque.push(job.into_word());
    }

    /// Offers jobs to everyone, as [`push`](Self::push) would one by one, but with one post.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push), for each of them.
    pub(crate) unsafe fn push_all(&self, jobs: impl ExactSizeIterator<Item = JobRef>) {
        let count = jobs.len();
        self.posts_later.set(true);
        // Each push has executed a fence of its own, light or full. So the last one speaks for all.
        let last = jobs.map(|job| self.deque.push(job.into_word())).last();
        self.posts_later.set(false);
        let Some(last) = last else { return };
        // WAKE: as for `push`: a worker that we do not see on its way to sleep sees the jobs, and
        // for those that nobody who searches will take, as many are woken.
        omittable!("engine/push-all-no-post", self.registry.sleep.post(count, &PushedAll { last, count }));
    }

    /// Offers a job to everyone, to be run after those offered the same way before.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn push_fifo(&self, job: JobRef) {
        // SAFETY: the fifo is in the registry, which every worker that may execute the reference
        // holds.
        unsafe { self.push_to(&self.registry.threads[self.index].fifo, job) };
    }

    /// Offers a job to everyone, to be run after those that this worker has offered before with
    /// `fifo`. In isolation the fifo does not hold it: its oldest job may be from outside.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push); and the fifo must be there until the job has run.
    pub(crate) unsafe fn push_to(&self, fifo: &JobFifo, job: JobRef) {
        // What was spawned in a region that is over, and is still there, comes first, unless
        // something older is in the fifo.
        if self.is_isolated() || (self.in_order.is_used() && fifo.is_empty()) {
            // SAFETY: the caller's promise.
            return unsafe { self.push_in_order(fifo, job) };
        }
        // SAFETY: the caller's promise.
        let reference = unsafe { fifo.push(job) };
        // SAFETY: a reference that the fifo has made for the job.
        self.without_turns(|| unsafe { self.push(reference) });
    }

    /// Room for the jobs that it spawns.
    #[inline]
    pub(crate) fn slabs(&self) -> &Slabs {
        &self.slabs
    }

    /// The rest of a push to the end of its deque that left the fast path. Where the job is now: it
    /// may have been popped and pushed again, after others.
    #[cold]
    pub(crate) fn pushed_slow(&self) -> i64 {
        self.deque.pushed_slow();
        self.deque.position() - 1
    }

    /// Takes back a job that was pushed, if it is still the newest in the deque.
    #[cold]
    #[must_use]
    pub(crate) fn take_back(&self, job: JobRef) -> bool {
        self.deque.take_back(job.into_word())
    }

    /// The rest of taking a job back that was pushed at this position, and is not private.
    #[cold]
    #[must_use]
    pub(crate) fn take_back_slow(&self, position: i64) -> bool {
        self.deque.pop_slow(position)
    }

    /// Runs a job that was taken from a queue.
    ///
    /// # Safety
    ///
    /// The reference must no longer be in any queue, and must not have been executed.
    pub(super) unsafe fn execute(&self, job: JobRef) {
        // SAFETY: the caller's promise.
        unsafe { job.execute(self) }
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

/// A worker posts what it has pushed, and nothing else: see [`Pushed`]. This is one job, posted as
/// such; for more there is [`PushedAll`].
impl<T> PostedTo for Pushed<T> {
    fn was_empty(&self) -> bool {
        self.owner().len() <= 1
    }

    /// Whoever is woken would have to ask for what is private, and the owner may not push again for
    /// a long time.
    fn expect_thieves(&self) {
        self.owner().share();
    }
}

/// Jobs that a worker has pushed one after the other, to be posted at once.
struct PushedAll<'a, T> {
    last: &'a Pushed<T>,
    count: usize,
}

impl<T> PostedTo for PushedAll<'_, T> {
    /// As far as can be seen: thieves may have taken older ones meanwhile, and then nobody has a
    /// backlog.
    fn was_empty(&self) -> bool {
        self.last.owner().len() <= self.count
    }

    fn expect_thieves(&self) {
        self.last.expect_thieves();
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use crate::deque;
    use drowse_sync::LightFences;
    use std::ptr::NonNull;

    #[test]
    fn a_queue_was_empty_if_it_holds_no_more_than_was_posted() {
        let (owner, _stealer) = deque::new::<u8>(0, 4, LightFences::prepare());
        let push = || owner.push(NonNull::dangling());
        assert!(push().was_empty());
        assert!(!push().was_empty(), "one more than was posted");
        let last = push();
        assert!(!PushedAll { last, count: 1 }.was_empty());
        assert!(!PushedAll { last, count: 2 }.was_empty());
        assert!(PushedAll { last, count: 3 }.was_empty());
    }
}
