//! Spares: threads that stand in for workers that block.
//!
//! A spare has the [place](super::place) of a worker that does not run, and so its index and its
//! letters, and does whatever there is to do. What it does not have is the worker's deque: that
//! belongs to the frames on the worker's stack, as does its seat in the sleep protocol. A spare has
//! both of its own. It is started when it is needed, and ends when it was not for a while.

use super::isolate::{Found, Since, let_others_in};
use super::places::GivenUp;
use super::registry::{Registry, ThreadInfo};
use super::start::{Limits, ThreadBuilderParts, new_deque};
use super::steal::ANY;
use super::trail::WaitFor;
use super::worker::WorkerThread;
use crate::deque::Owner;
use crate::job::JobHeader;
use crate::metrics::LoanMetrics;
use crate::unwind;
use drowse_sleep::LatchWord;
use drowse_sync::atomic::{AtomicBool, Ordering};
use drowse_sync::{
    Arc, Counter, Mutex, Outlined, Prepared, Stopwatch, Table, WaitWord, hint, omittable, say,
};
use std::mem;
use std::time::Duration;

/// How long a spare that nobody needs waits for somebody who does.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// How long a spare waits for the worker to come back that it did something for.
const A_MOMENT: Duration = Duration::from_micros(100);

/// What a spare that waits for something to do blocks on.
const QUIET: u32 = 0;
const RUNG: u32 = 1;

/// The spares of one pool.
#[derive(Debug)]
pub(super) struct Spares {
    roster: Mutex<Outlined<Roster>>,
    /// For those who have nothing to do: one a seat.
    bells: Table<WaitWord>,
    /// The thieves' ends of all deques.
    limits: Arc<Limits>,
    prepared: Prepared,
    /// How many threads were started; how often one was needed; and how often there was none.
    started: Counter,
    calls: Counter,
    refused: Counter,
    has_complained: AtomicBool,
}

#[derive(Debug)]
struct Roster {
    /// One for each spare seat that was made: as many as were ever needed at once, or some more.
    seats: Vec<SpareSeat>,
    /// How often a seat has become idle, or empty.
    freed: u64,
    is_closed: bool,
}

#[derive(Debug)]
enum SpareSeat {
    /// There is no thread. The deque waits for one.
    Empty(Owner<JobHeader>),
    /// A thread that waits for something to do.
    Idle,
    /// A thread that was told what to do, and has not begun.
    Called(Duty),
    Busy,
}

/// What a spare has to do.
#[derive(Debug)]
struct Duty {
    /// The index that it has meanwhile.
    place: usize,
    /// A job to begin with.
    first: Option<Found>,
}

impl Spares {
    /// Room for so many at most. None is there yet, and what it needs is made when it is called.
    pub(super) fn new(most: usize, limits: Arc<Limits>, prepared: Prepared) -> Self {
        Self {
            bells: Table::new([], most),
            limits,
            prepared,
            roster: Mutex::new(Outlined::new(Roster { seats: Vec::new(), freed: 0, is_closed: false })),
            started: Counter::new(),
            calls: Counter::new(),
            refused: Counter::new(),
            has_complained: AtomicBool::new(false),
        }
    }

    /// How many there can be.
    pub(super) fn most(&self) -> usize {
        self.bells.most()
    }

    pub(super) fn metrics(&self) -> LoanMetrics {
        LoanMetrics {
            made: self.calls.get(),
            refused: self.refused.get(),
            threads_started: self.started.get(),
        }
    }

    /// Somebody has needed one, and there was none.
    pub(super) fn count_refused(&self) {
        self.refused.add(1);
    }

    /// Whether somebody waits for something to do, or could be started.
    pub(super) fn can_be_had(&self) -> bool {
        let is_busy = |seat: &SpareSeat| matches!(seat, SpareSeat::Busy | SpareSeat::Called(_));
        let roster = self.roster.lock();
        roster.seats.len() < self.most() || !roster.seats.iter().all(is_busy)
    }

    /// Returns how often a spare has become free: one that was refused may try again when this has
    /// changed.
    pub(super) fn freed(&self) -> u64 {
        self.roster.lock().freed
    }

    fn ring(&self, number: usize) {
        // ORDERING: release pairs with the acquire of the wait. Belt and braces: what it is about
        // is behind the lock.
        self.bells[number].store(RUNG, Ordering::Release);
        // WAKE: the spare. No model shows what is lost without: it would look by itself, but only
        // after ten seconds.
        self.bells[number].wake();
    }

    /// The pool ends: nobody will be needed.
    pub(super) fn close(&self) {
        self.roster.lock().is_closed = true;
        // WAKE: those who wait for something to do. Whoever comes to wait after this sees that it
        // is closed.
        (0..self.bells.iter().count()).for_each(|number| self.ring(number));
    }
}

impl Registry {
    /// Finds a spare for this place, and tells it, with what `first` gives to begin with. Its seat;
    /// `None` if there is none to be had.
    pub(super) fn call_spare(
        self: &Arc<Self>,
        place: usize,
        first: &dyn Fn() -> Option<Found>,
    ) -> Option<usize> {
        let number = self.find_spare(place, first)?;
        self.spares.calls.add(1);
        Some(self.num_threads() + number)
    }

    fn find_spare(self: &Arc<Self>, place: usize, first: &dyn Fn() -> Option<Found>) -> Option<usize> {
        let mut roster = self.spares.roster.lock();
        if roster.is_closed {
            return None;
        }
        let find = |is_fit: fn(&SpareSeat) -> bool| roster.seats.iter().position(is_fit);
        let idle = find(|seat| matches!(seat, SpareSeat::Idle));
        let unused = || find(|seat| matches!(seat, SpareSeat::Empty(_)));
        let Some(number) = idle.or_else(unused).or_else(|| self.make_spare_seats(&mut roster)) else {
            drop(roster);
            self.report_shortage_of_spares();
            return None;
        };
        let seat = &mut roster.seats[number];
        if let SpareSeat::Empty(deque) = mem::replace(seat, SpareSeat::Busy) {
            if let Err(deque) = self.start_spare(number, deque) {
                *seat = SpareSeat::Empty(deque);
                drop(roster);
                self.report_refused_spare();
                return None;
            }
        }
        self.sleep.open_seat(self.num_threads() + number);
        *seat = SpareSeat::Called(Duty { place, first: first() });
        drop(roster);
        // WAKE: the spare, if it waits for this.
        self.spares.ring(number);
        Some(number)
    }

    /// All spares are in use, and another one is needed: says so, once. Not where the user has
    /// chosen to have none.
    pub(super) fn report_shortage_of_spares(&self) {
        let most = self.spares.most();
        // ORDERING: relaxed; nothing but the line depends on it.
        if most > 0 && !self.spares.has_complained.swap(true, Ordering::Relaxed) {
            say(format_args!(
                "drowse: a worker blocks, and all {most} spare threads of its pool, of {} threads, are in use: if it waits \
                 for a job of this pool that has not begun, it may wait for ever \
                 (ThreadPoolBuilder::max_spare_threads raises the bound)",
                self.num_threads()
            ));
        }
    }

    /// The system lets a spare have no thread: says so, once.
    #[cold]
    fn report_refused_spare(&self) {
        // ORDERING: relaxed; nothing but the line depends on it.
        if !self.spares.has_complained.swap(true, Ordering::Relaxed) {
            say(format_args!(
                "drowse: a worker blocks, and the system lets its pool, of {} threads, start no spare thread: if it waits \
                 for a job of this pool that has not begun, it may wait for ever",
                self.num_threads()
            ));
        }
    }

    /// Makes what further spares need. Returns the number of the first of them; `None` if there can
    /// be no more.
    fn make_spare_seats(&self, roster: &mut Roster) -> Option<usize> {
        let Spares { bells, limits, prepared, .. } = &self.spares;
        let number = roster.seats.len();
        if number == self.spares.most() {
            return None;
        }
        let seat = self.num_threads() + number;
        bells.get_or_grow(number, |_| WaitWord::new(QUIET));
        limits.0.get_or_grow(seat, |seat| {
            let (owner, stealer) = new_deque(seat, *prepared);
            roster.seats.push(SpareSeat::Empty(owner));
            stealer
        });
        // The tables grow alike, so there is a thieves' end for each.
        self.threads.get_or_grow(seat, |seat| ThreadInfo::new(limits.0[seat].clone()));
        Some(number)
    }

    /// Starts the thread of a spare, which waits for the roster first. `Err` if the system does not
    /// let us.
    fn start_spare(self: &Arc<Self>, number: usize, deque: Owner<JobHeader>) -> Result<(), Owner<JobHeader>> {
        // A closure that is not run is dropped, with all that it has.
        let kept = Arc::new(Mutex::new(Some(deque)));
        let (registry, deque) = (Arc::clone(self), Arc::clone(&kept));
        let run = move || {
            let deque = deque.lock().take();
            if let Some(deque) = deque {
                run_spare(&registry, number, deque);
            }
        };
        let started = self.recruiter.start_spare(&format!("drowse-spare-{number}"), Box::new(run));
        self.spares.started.add(u64::from(started.is_ok()));
        started.or_else(|_| kept.lock().take().map_or(Ok(()), Err))
    }

    /// Waits for something to do, on a spare's thread. `None` if there is nothing for a long time,
    /// or the pool ends.
    fn next_duty(&self, number: usize) -> Option<Duty> {
        let mut has_waited = false;
        loop {
            let mut roster = self.spares.roster.lock();
            let is_over = roster.is_closed || has_waited;
            let seat = &mut roster.seats[number];
            let before = mem::replace(seat, if is_over { SpareSeat::Busy } else { SpareSeat::Idle });
            if let SpareSeat::Called(duty) = before {
                *seat = SpareSeat::Busy;
                return Some(duty);
            }
            if is_over {
                return None;
            }
            roster.freed += 1;
            drop(roster);
            if let Some(duty) = self.next_duty_of_the_refused(number) {
                return Some(duty);
            }
            let bell = &self.spares.bells[number];
            // WAKE: whoever needs a spare says so with the lock held, and then rings.
            has_waited = bell.wait_while_for(QUIET, KEEP_ALIVE);
            // ORDERING: relaxed; whatever it rang for is looked for next, with the lock held.
            bell.store(QUIET, Ordering::Relaxed);
        }
    }
}

impl Registry {
    /// On a spare's thread, which counts as idle: somebody may have needed one before it did.
    fn next_duty_of_the_refused(&self, number: usize) -> Option<Duty> {
        // WAKE: those who sleep, and could not lend their places. (In models a spare ends at once,
        // and `start_for_the_refused` calls them.)
        self.sleep.call_all();
        let seat = self.num_threads() + number;
        let place = self.places.take_any_free(seat)?;
        let_others_in();
        let mut roster = self.spares.roster.lock();
        match mem::replace(&mut roster.seats[number], SpareSeat::Busy) {
            // Somebody was quicker.
            SpareSeat::Called(duty) => {
                drop(roster);
                self.give_up_free_place(place);
                Some(duty)
            }
            _ => {
                drop(roster);
                self.sleep.open_seat(seat);
                self.spares.calls.add(1);
                Some(Duty { place, first: None })
            }
        }
    }
}

impl Registry {
    /// Gives up a place again that was free.
    fn give_up_free_place(&self, place: usize) {
        match self.places.give_up(place, true) {
            GivenUp::To(seat) => self.call_to_place(seat),
            // WAKE: its worker may have looked in between, and sleep without a place.
            _ => omittable!("spare/no-call-to-free-place", self.call_to_free_place()),
        }
    }

    /// A spare's thread is about to end, and has left its seat: another worker may have needed one
    /// since the spare has looked for the last time, and could not be given this one.
    fn start_for_the_refused(self: &Arc<Self>, seat: usize) {
        // WAKE: those who sleep, and could not lend their places.
        omittable!("spare/no-call-at-its-end", self.sleep.call_all());
        if let Some(place) = self.places.take_any_free(seat) {
            if !self.give_away(place, &|| None) {
                self.give_up_free_place(place);
            }
        }
    }
}

/// The life of a spare's thread.
fn run_spare(registry: &Arc<Registry>, number: usize, deque: Owner<JobHeader>) {
    let index = registry.num_threads() + number;
    let parts = ThreadBuilderParts {
        index,
        deque,
        registry: Arc::clone(registry),
        presence: None,
        was_absent: false,
    };
    let worker = WorkerThread::new(parts, false);
    // SAFETY: it stays in this frame, in its place, until this is dropped.
    let current = unsafe { WorkerThread::make_current(&worker) };
    worker.trail().begin();
    worker.trail().begin_search();
    unwind::or_abort(|| {
        // Its handlers are told of one index, whichever it has meanwhile.
        let mut first_place = None;
        while let Some(duty) = registry.next_duty(number) {
            worker.place.set(duty.place);
            if first_place.is_none() {
                first_place = Some(duty.place);
                registry.call_start_handler(duty.place);
            }
            worker.stand_in(duty.first);
        }
        if let Some(place) = first_place {
            registry.call_exit_handler(place);
        }
        worker.run_local_jobs();
        worker.tidy_up();
    });
    drop(current);
    let deque = worker.into_parts().deque;
    let mut roster = registry.spares.roster.lock();
    roster.seats[number] = SpareSeat::Empty(deque);
    roster.freed += 1;
    drop(roster);
    registry.start_for_the_refused(index);
}

impl WorkerThread {
    /// Whether it has no place of its own.
    pub(super) fn is_spare(&self) -> bool {
        self.index() >= self.registry().num_threads()
    }

    /// Spare: works in the place of another until somebody wants that, and it is between two jobs.
    fn stand_in(&self, first: Option<Found>) {
        let registry = self.registry();
        registry.acquire_thread();
        self.trail().end_search();
        if let Some(first) = first {
            self.run_found(first);
            self.settle();
            self.linger();
        }
        // Set by `mind_place`.
        let end = LatchWord::new();
        self.wait_until(&end, WaitFor::Home, Since::Now);
        self.hand_over_jobs();
        self.tidy_up();
        self.assert_settled();
        self.trail().begin_search();
        registry.release_thread();
        registry.sleep.leave_seat(self.index());
    }

    /// What it began with may be what the worker has waited for, whose place it has. Gives it the
    /// time to come back, before it takes something that may take long.
    fn linger(&self) {
        let clock = Stopwatch::start();
        while !self.place_is_wanted() && self.deque_is_empty() && clock.elapsed() < A_MOMENT {
            hint::spin_loop();
            if cfg!(any(drowse_loom, drowse_shuttle)) {
                break;
            }
        }
    }

    /// Leaves the jobs of its own to others.
    fn hand_over_jobs(&self) {
        while let Some(job) = self.pop_in_order(ANY) {
            // SAFETY: it has left the deque, and was not run.
            unsafe { self.registry().inject(job) };
        }
    }
}
