//! Bench of a pool: its [places](super::place) and their holders, the workers that wait for one,
//! and the [spares](super::spare). All behind one lock, so a place that is given up and a spare
//! that becomes free cannot miss each other.

use super::lineage::Found;
use crate::metrics::LoanMetrics;
use drowse_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drowse_sync::{Counter, Mutex, MutexGuard, Outlined, Table, WaitWord, look, omittable};
use std::time::Duration;

/// Values of the word that a thread on the bench blocks on.
const QUIET: u32 = 0;
const RUNG: u32 = 1;

/// The bench of one pool.
#[derive(Debug)]
pub(super) struct Bench {
    lists: Mutex<Outlined<Lists>>,
    /// Words that spares without a place and workers that wait for one block on, one a seat.
    bells: Table<WaitWord>,
    /// Number of waiting workers, and of free places. Changed with the lock held.
    wanted: AtomicUsize,
    free: AtomicUsize,
    /// Number of places whose holder sleeps alone, and does nothing for others.
    alone: AtomicUsize,
    /// Spare threads started; duties given to spares, free places included; attempts to give a
    /// place away for which there was no thread.
    pub(super) started: Counter,
    pub(super) calls: Counter,
    pub(super) refused: Counter,
    pub(super) has_complained: AtomicBool,
}

/// Contents of a bench, behind its lock.
#[derive(Debug)]
pub(super) struct Lists {
    places: Box<[Place]>,
    /// One for each spare seat that was made: at least as many as were ever in use at once.
    pub(super) spares: Vec<Spare>,
    /// Number of times that a spare has become idle, or its seat empty.
    pub(super) freed: u64,
    /// `true` once the pool ends: no more spares are needed.
    pub(super) is_closed: bool,
}

#[derive(Debug)]
struct Place {
    /// Seat of the holder; `None` if the place is free.
    holder: Option<usize>,
    /// Seats of the workers that wait for it.
    waiters: Vec<usize>,
}

/// State of a spare seat.
#[derive(Debug)]
pub(super) enum Spare {
    /// No thread.
    Empty,
    /// A thread that waits for a duty.
    Idle,
    /// A thread that was given a duty, and has not begun.
    Called(Duty),
    Busy,
}

/// Task of a spare.
#[derive(Debug)]
pub(super) struct Duty {
    /// Index that it runs with meanwhile.
    pub(super) place: usize,
    /// First job to run.
    pub(super) first: Option<Found>,
}

/// Next step of a spare.
#[derive(Debug)]
pub(super) enum NextStep {
    /// Begin the duty that a worker has called it to.
    Called(Duty),
    /// Begin in a free place, which it has taken.
    FreePlace(Duty),
    /// Wait until its bell rings.
    Wait,
    End,
}

/// Treatment of a blocking worker's place if no thread takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoTaker {
    Keep,
    /// Give it up, unless it is the last one that is held.
    GiveUpUnlessLast,
    GiveUp,
}

/// Answer to a worker that asks for a place.
#[derive(Debug)]
pub(super) enum Asked {
    Here,
    /// The worker in this seat holds it. Wait until [`Bench::is_granted`].
    Wait(usize),
}

/// The locked lists, with the bells and counts that follow them.
pub(super) struct Locked<'b> {
    pub(super) lists: MutexGuard<'b, Outlined<Lists>>,
    bench: &'b Bench,
}

impl Bench {
    /// Creates one place per worker, held by it, and room for `spares` spares. They are made when
    /// they are needed.
    pub(super) fn new(workers: usize, spares: usize) -> Self {
        let place = |worker| Place { holder: Some(worker), waiters: Vec::new() };
        Self {
            lists: Mutex::new(Outlined::new(Lists {
                places: (0..workers).map(place).collect(),
                spares: Vec::new(),
                freed: 0,
                is_closed: false,
            })),
            bells: Table::new(workers, workers + spares, |_| WaitWord::new(QUIET)),
            wanted: AtomicUsize::new(0),
            free: AtomicUsize::new(0),
            alone: AtomicUsize::new(0),
            started: Counter::new(),
            calls: Counter::new(),
            refused: Counter::new(),
            has_complained: AtomicBool::new(false),
        }
    }

    #[inline(never)]
    pub(super) fn lock(&self) -> Locked<'_> {
        Locked { lists: self.lists.lock(), bench: self }
    }

    pub(super) fn metrics(&self) -> LoanMetrics {
        LoanMetrics {
            made: self.calls.get(),
            refused: self.refused.get(),
            threads_started: self.started.get(),
        }
    }

    /// Returns `true` if a worker waits for any place.
    pub(super) fn are_wanted(&self) -> bool {
        // ORDERING: relaxed hint. `ask_for` increments it, and `come_back` then calls the holder by
        // `Sleep::call`, whose full fence makes it visible to the holder.
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Returns `true` if a worker waits for this place.
    #[inline(never)]
    pub(super) fn is_wanted(&self, place: usize) -> bool {
        self.are_wanted() && !self.lock().lists.places[place].waiters.is_empty()
    }

    /// Returns `true` if this place is free.
    #[inline(never)]
    pub(super) fn is_free(&self, place: usize) -> bool {
        // ORDERING: relaxed; a first look. A stale 0 is no loss: after `give_up`,
        // `call_to_free_place` calls the sleepers, by a fence.
        self.free.load(Ordering::Relaxed) > 0 && self.lock().lists.places[place].holder.is_none()
    }

    /// Takes this place for this seat, if it is free.
    #[inline(never)]
    pub(super) fn take_if_free(&self, place: usize, seat: usize) -> bool {
        // ORDERING: relaxed; a first look, as in `is_free`.
        if self.free.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut bench = self.lock();
        let is_free = bench.lists.places[place].holder.is_none();
        if is_free {
            bench.take(place, seat);
        }
        is_free
    }

    /// Returns `true` if a place that was asked for from this seat has been granted.
    pub(super) fn is_granted(&self, seat: usize) -> bool {
        // ORDERING: acquire pairs with the release in `ring`: with relaxed, the new holder might
        // not see what the old one did with the index.
        self.bells[seat].load(Ordering::Acquire) == RUNG
    }

    /// Waits until this seat's bell rings. Returns `false` if the time is up before.
    pub(super) fn wait_for(&self, seat: usize, time: Duration) -> bool {
        // WAKE: `ring`, with the lock held, after it has changed what this thread waits for.
        !self.bells[seat].wait_while_for(QUIET, time)
    }

    /// Waits until this seat's bell rings. For the models, which have no clock.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn wait(&self, seat: usize) {
        self.bells[seat].wait_while(QUIET);
    }

    /// Counts a holder that is going to sleep alone. Returns `true` if there are holders that do
    /// not, and so do the other work.
    pub(super) fn begin_alone(&self, places: usize) -> bool {
        // ORDERING: acquire and release: the last one sees what the others have left. (Workers that
        // give a place up call all that sleep alone, by a fence.)
        let alone = self.alone.fetch_add(1, Ordering::AcqRel) + 1;
        // ORDERING: relaxed; that fence orders it. (No model shows what is lost without a last one;
        // the soak does.)
        alone + self.free.load(Ordering::Relaxed) < places
    }

    /// Counts a holder that no longer sleeps alone.
    pub(super) fn end_alone(&self) {
        // ORDERING: relaxed; this worker does the other work again.
        self.alone.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the most spares that there can be.
    pub(super) fn most_spares(&self) -> usize {
        self.bells.most() - self.lock().lists.places.len()
    }

    /// Returns `true` if a spare is idle, or could be started.
    pub(super) fn has_spare(&self) -> bool {
        let is_busy = |spare: &Spare| matches!(spare, Spare::Busy | Spare::Called(_));
        let lists = self.lock().lists;
        lists.places.len() + lists.spares.len() < self.bells.most()
            || !lists.spares.iter().all(is_busy)
    }

    /// Returns how often a spare has become free: a call that was refused may be repeated when this
    /// has changed.
    pub(super) fn freed(&self) -> u64 {
        self.lock().lists.freed
    }

    /// Closes the bench at the end of the pool: no more spares are needed.
    pub(super) fn close(&self) {
        let mut bench = self.lock();
        bench.lists.is_closed = true;
        let workers = bench.lists.places.len();
        for (number, spare) in bench.lists.spares.iter().enumerate() {
            if matches!(spare, Spare::Idle) {
                // WAKE: idle spares, in `next_duty`. A spare that becomes idle after this sees
                // `is_closed`.
                bench.ring(workers + number);
            }
        }
    }

    /// Returns `true` if no worker waits, and `free` places are free: at the end of a model.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    pub(super) fn is_at_rest(&self, free: usize) -> bool {
        let lists = self.lock().lists;
        // ORDERING: relaxed; all threads of the model have ended.
        !self.are_wanted()
            && self.free.load(Ordering::Relaxed) == free
            && self.alone.load(Ordering::Relaxed) == 0
            && lists.places.iter().filter(|place| place.holder.is_none()).count() == free
            && lists.places.iter().all(|place| place.waiters.is_empty())
    }
}

impl Locked<'_> {
    /// Rings the bell of a seat, after its thread was given something.
    fn ring(&self, seat: usize) {
        // ORDERING: release pairs with the acquire in `is_granted`. Not needed for what is behind
        // the lock.
        self.bench.bells[seat].store(RUNG, Ordering::Release);
        // WAKE: a worker in `come_back`, or a spare in `next_duty`.
        omittable!("place/not-told", self.bench.bells[seat].wake());
    }

    /// Makes a seat's bell ready for its thread to wait for it.
    fn quieten(&self, seat: usize) {
        // ORDERING: relaxed; it is rung with the lock held.
        self.bench.bells[seat].store(QUIET, Ordering::Relaxed);
    }

    /// Gives a place to this seat.
    fn take(&mut self, place: usize, seat: usize) {
        if self.lists.places[place].holder.replace(seat).is_none() {
            // ORDERING: relaxed; a guess for others.
            self.bench.free.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Gives a place to the worker that has waited longest. Returns its seat; `None` if none waits.
    #[must_use]
    pub(super) fn pass_on(&mut self, place: usize) -> Option<usize> {
        let waiters = &mut self.lists.places[place].waiters;
        if waiters.is_empty() {
            return None;
        }
        let seat = waiters.remove(0);
        // ORDERING: relaxed; a hint.
        self.bench.wanted.fetch_sub(1, Ordering::Relaxed);
        self.take(place, seat);
        self.ring(seat);
        Some(seat)
    }

    /// Leaves a place free that no worker waits for, as far as `no_taker` permits.
    pub(super) fn give_up(&mut self, place: usize, no_taker: NoTaker) -> bool {
        // ORDERING: relaxed; changed with the lock held.
        let free = self.bench.free.load(Ordering::Relaxed);
        let is_given_up = match no_taker {
            NoTaker::Keep => false,
            NoTaker::GiveUpUnlessLast => free + 1 < self.lists.places.len(),
            NoTaker::GiveUp => true,
        };
        if is_given_up {
            self.lists.places[place].holder = None;
            // ORDERING: relaxed; `call_to_free_place` executes a fence.
            self.bench.free.store(free + 1, Ordering::Relaxed);
        }
        is_given_up
    }

    /// Asks for a place for this seat, now or later.
    pub(super) fn ask_for(&mut self, place: usize, seat: usize) -> Asked {
        let Some(holder) = self.lists.places[place].holder else {
            self.take(place, seat);
            return Asked::Here;
        };
        self.quieten(seat);
        self.lists.places[place].waiters.push(seat);
        // ORDERING: relaxed; the caller, `come_back`, then calls the holder, by a fence.
        self.bench.wanted.fetch_add(1, Ordering::Relaxed);
        Asked::Wait(holder)
    }

    /// Withdraws a request. Returns `false` if it has been granted.
    pub(super) fn withdraw(&mut self, place: usize, seat: usize) -> bool {
        let waiters = &mut self.lists.places[place].waiters;
        let Some(at) = waiters.iter().position(|waiter| *waiter == seat) else { return false };
        waiters.remove(at);
        // ORDERING: relaxed; a hint.
        self.bench.wanted.fetch_sub(1, Ordering::Relaxed);
        true
    }

    /// Returns a free place, which a worker gave up when there was no spare.
    pub(super) fn free_place(&self) -> Option<usize> {
        let is_free = |place: &Place| look!("place/free-overlooked", place.holder.is_none());
        self.lists.places.iter().position(is_free)
    }

    /// Adds a spare seat. Returns its number; `None` if there can be no more.
    pub(super) fn add_spare(&mut self) -> Option<usize> {
        let number = self.lists.spares.len();
        let seat = self.lists.places.len() + number;
        if seat == self.bench.bells.most() {
            return None;
        }
        self.bench.bells.get_or_grow(seat, |_| WaitWord::new(QUIET));
        self.lists.spares.push(Spare::Empty);
        Some(number)
    }

    /// Gives a place to a spare, with the first job to run there.
    pub(super) fn call(&mut self, number: usize, place: usize, first: Option<Found>) {
        let seat = self.lists.places.len() + number;
        self.take(place, seat);
        self.lists.spares[number] = Spare::Called(Duty { place, first });
        self.bench.calls.add(1);
        self.ring(seat);
    }

    /// Takes the duty of a spare; without one, it takes a free place, or becomes idle, or ends if
    /// it `may_end` or the pool does.
    pub(super) fn next_step(&mut self, number: usize, may_end: bool) -> NextStep {
        let seat = self.lists.places.len() + number;
        let before = std::mem::replace(&mut self.lists.spares[number], Spare::Busy);
        if let Spare::Called(duty) = before {
            return NextStep::Called(duty);
        }
        if may_end || self.lists.is_closed {
            return NextStep::End;
        }
        if let Some(place) = self.free_place() {
            self.take(place, seat);
            self.bench.calls.add(1);
            return NextStep::FreePlace(Duty { place, first: None });
        }
        self.lists.spares[number] = Spare::Idle;
        self.lists.freed += 1;
        self.quieten(seat);
        NextStep::Wait
    }
}
