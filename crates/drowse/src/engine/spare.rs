//! Spares: threads that stand in for workers that block.
//!
//! A spare has the [place](super::place) of a worker that does not run, and so its index and its
//! letters, and does whatever there is to do. What it does not have is the worker's deque: that
//! belongs to the frames on the worker's stack, as does its seat in the sleep protocol. A spare has
//! both of its own. It is started when it is needed, and ends when it was not for a while.

use super::crew::Role;
use super::isolation::let_others_in;
use super::lineage::Found;
use super::places::GivenUp;
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::deque::ANY;
use crate::diagnose::WaitFor;
use crate::metrics::LoanMetrics;
use crate::unwind;
use drowse_sleep::LatchWord;
use drowse_sync::atomic::{AtomicBool, Ordering};
use drowse_sync::{
    Arc, Counter, Mutex, Outlined, Stopwatch, Table, WaitWord, hint, omittable, say,
};
use std::mem;
use std::time::Duration;

/// Time after which an idle spare ends.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Time that a spare, after its first job, waits for the worker whose place it has to come back.
const A_MOMENT: Duration = Duration::from_micros(100);

/// Values of the word that an idle spare blocks on.
const QUIET: u32 = 0;
const RUNG: u32 = 1;

/// The spares of one pool.
#[derive(Debug)]
pub(super) struct Spares {
    roster: Mutex<Outlined<Roster>>,
    /// Words that idle spares block on, one a seat.
    bells: Table<WaitWord>,
    /// Threads started; spares called; calls that found no spare.
    started: Counter,
    calls: Counter,
    refused: Counter,
    has_complained: AtomicBool,
}

#[derive(Debug)]
struct Roster {
    /// One for each spare seat that was made: at least as many as were ever in use at once.
    seats: Vec<SpareSeat>,
    /// Number of times that a seat has become idle or empty.
    freed: u64,
    is_closed: bool,
}

#[derive(Debug)]
enum SpareSeat {
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
struct Duty {
    /// Index that it runs with meanwhile.
    place: usize,
    /// First job to run.
    first: Option<Found>,
}

impl Spares {
    /// Returns room for `most` spares. They are made when they are needed.
    pub(super) fn new(most: usize) -> Self {
        Self {
            bells: Table::new(0, most, |_| WaitWord::new(QUIET)),
            roster: Mutex::new(Outlined::new(Roster {
                seats: Vec::new(),
                freed: 0,
                is_closed: false,
            })),
            started: Counter::new(),
            calls: Counter::new(),
            refused: Counter::new(),
            has_complained: AtomicBool::new(false),
        }
    }

    /// Returns the most spares that there can be.
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

    /// Counts a call that found no spare.
    pub(super) fn count_refused(&self) {
        self.refused.add(1);
    }

    /// Returns `true` if a spare is idle, or could be started.
    pub(super) fn can_be_had(&self) -> bool {
        let is_busy = |seat: &SpareSeat| matches!(seat, SpareSeat::Busy | SpareSeat::Called(_));
        let roster = self.roster.lock();
        roster.seats.len() < self.most() || !roster.seats.iter().all(is_busy)
    }

    /// Returns how often a spare has become free: a call that was refused may be repeated when this
    /// has changed.
    pub(super) fn freed(&self) -> u64 {
        self.roster.lock().freed
    }

    fn ring(&self, number: usize) {
        // ORDERING: release pairs with the acquire of the wait in `next_duty`. Not needed for the
        // duty, which is behind the lock.
        self.bells[number].store(RUNG, Ordering::Release);
        // WAKE: the spare, in `next_duty`. No model shows what is lost without: the spare would
        // look by itself, but only after ten seconds.
        self.bells[number].wake();
    }

    /// Closes the roster at the end of the pool: no more spares are needed.
    pub(super) fn close(&self) {
        self.roster.lock().is_closed = true;
        // WAKE: idle spares, in `next_duty`. A spare that becomes idle after this sees `is_closed`.
        (0..self.bells.iter().count()).for_each(|number| self.ring(number));
    }
}

impl Registry {
    /// Finds a spare for this place and gives it the job of `first` to begin with. Returns its
    /// seat; `None` if there is no spare.
    pub(super) fn call_spare(
        self: &Arc<Self>,
        place: usize,
        first: &dyn Fn() -> Option<Found>,
    ) -> Option<usize> {
        let number = self.find_spare(place, first)?;
        self.spares.calls.add(1);
        Some(self.num_threads() + number)
    }

    fn find_spare(
        self: &Arc<Self>,
        place: usize,
        first: &dyn Fn() -> Option<Found>,
    ) -> Option<usize> {
        let mut roster = self.spares.roster.lock();
        if roster.is_closed {
            return None;
        }
        let find = |is_fit: fn(&SpareSeat) -> bool| roster.seats.iter().position(is_fit);
        let idle = find(|seat| matches!(seat, SpareSeat::Idle));
        let unused = || find(|seat| matches!(seat, SpareSeat::Empty));
        let Some(number) = idle.or_else(unused).or_else(|| self.make_spare_seat(&mut roster))
        else {
            drop(roster);
            self.report_shortage_of_spares();
            return None;
        };
        let seat = &mut roster.seats[number];
        if matches!(seat, SpareSeat::Empty) && !self.start_spare(number) {
            drop(roster);
            self.report_refused_spare();
            return None;
        }
        self.sleep.open_seat(self.num_threads() + number);
        *seat = SpareSeat::Called(Duty { place, first: first() });
        drop(roster);
        // WAKE: the spare may wait in `next_duty`.
        self.spares.ring(number);
        Some(number)
    }

    /// Prints once that another spare is needed and all are in use. Not if the user has chosen to
    /// have none.
    pub(super) fn report_shortage_of_spares(&self) {
        let most = self.spares.most();
        // ORDERING: relaxed; only the printed line depends on it.
        if most > 0 && !self.spares.has_complained.swap(true, Ordering::Relaxed) {
            say(format_args!(
                "drowse: a worker blocks, and all {most} spare threads of its pool, of {} threads, are in use: if it waits \
                 for a job of this pool that has not begun, it may wait for ever \
                 (ThreadPoolBuilder::max_spare_threads raises the bound)",
                self.num_threads()
            ));
        }
    }

    /// Prints once that the system has refused a thread for a spare.
    #[cold]
    fn report_refused_spare(&self) {
        // ORDERING: relaxed; only the printed line depends on it.
        if !self.spares.has_complained.swap(true, Ordering::Relaxed) {
            say(format_args!(
                "drowse: a worker blocks, and the system lets its pool, of {} threads, start no spare thread: if it waits \
                 for a job of this pool that has not begun, it may wait for ever",
                self.num_threads()
            ));
        }
    }

    /// Makes a further spare seat. Returns its number; `None` if there can be no more.
    fn make_spare_seat(self: &Arc<Self>, roster: &mut Roster) -> Option<usize> {
        let number = roster.seats.len();
        if number == self.spares.most() {
            return None;
        }
        self.spares.bells.get_or_grow(number, |_| WaitWord::new(QUIET));
        self.make_seat(self.num_threads() + number);
        roster.seats.push(SpareSeat::Empty);
        Some(number)
    }

    /// Starts the thread of a spare, which waits for the roster first. Returns `false` if the
    /// system refuses it.
    fn start_spare(self: &Arc<Self>, number: usize) -> bool {
        let Some(presence) = self.recruiter.expect(Role::Spare(number)) else { return false };
        let registry = Arc::clone(self);
        let started = presence.start(Box::new(move |_| run_spare(&registry, number))).is_ok();
        self.spares.started.add(u64::from(started));
        started
    }

    /// Waits for a duty, on a spare's thread. Returns `None` if there is none for a long time, or
    /// the pool ends.
    fn next_duty(&self, number: usize) -> Option<Duty> {
        let mut has_waited = false;
        loop {
            let mut roster = self.spares.roster.lock();
            let is_over = roster.is_closed || has_waited;
            let seat = &mut roster.seats[number];
            let before =
                mem::replace(seat, if is_over { SpareSeat::Busy } else { SpareSeat::Idle });
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
            // WAKE: `call_spare` stores the duty with the lock held, and then rings.
            has_waited = bell.wait_while_for(QUIET, KEEP_ALIVE);
            // ORDERING: relaxed; the duty is looked for next, with the lock held.
            bell.store(QUIET, Ordering::Relaxed);
        }
    }
}

impl Registry {
    /// Takes a free place, for an idle spare: a worker may have needed a spare before this one was
    /// idle.
    fn next_duty_of_the_refused(&self, number: usize) -> Option<Duty> {
        // WAKE: workers that sleep, and could not lend their places. (In models a spare ends at
        // once, and `start_for_the_refused` calls them.)
        self.sleep.call_all();
        let seat = self.num_threads() + number;
        let place = self.places.take_any_free(seat)?;
        let_others_in();
        let mut roster = self.spares.roster.lock();
        match mem::replace(&mut roster.seats[number], SpareSeat::Busy) {
            // `call_spare` was quicker.
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

    /// Gives a free place away when a spare's thread is about to end, and has left its seat: since
    /// the spare's last look, a worker may have needed a spare and could not get this one.
    fn start_for_the_refused(self: &Arc<Self>, seat: usize) {
        // WAKE: workers that sleep, and could not lend their places.
        omittable!("spare/no-call-at-its-end", self.sleep.call_all());
        if let Some(place) = self.places.take_any_free(seat) {
            if !self.give_away(place, &|| None) {
                self.give_up_free_place(place);
            }
        }
    }
}

/// Runs a spare, on its thread.
fn run_spare(registry: &Arc<Registry>, number: usize) {
    let index = registry.num_threads() + number;
    // SAFETY: `start_spare` has started this thread for a seat that was empty.
    let worker = unsafe { registry.core(index) };
    // SAFETY: the registry is borrowed for longer than `current` lives.
    let current = unsafe { WorkerThread::make_current(worker) };
    worker.take_core();
    worker.begin_thread();
    registry.probe.begin_search(index);
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
    let mut roster = registry.spares.roster.lock();
    roster.seats[number] = SpareSeat::Empty;
    roster.freed += 1;
    drop(roster);
    registry.start_for_the_refused(index);
}

impl WorkerThread {
    /// Returns `true` if it has no place of its own.
    pub(super) fn is_spare(&self) -> bool {
        self.index() >= self.registry().num_threads()
    }

    /// Works in the place of another worker until the place is wanted, and the spare is between two
    /// jobs.
    fn stand_in(&self, first: Option<Found>) {
        let registry = self.registry();
        registry.acquire_thread();
        registry.probe.end_search(self.index());
        if let Some(first) = first {
            self.run_found(first);
            self.settle();
            self.linger();
        }
        // Set by `mind_place`.
        let end = LatchWord::new();
        self.wait_until(&end, WaitFor::Home, self.point());
        self.hand_over_jobs();
        self.tidy_up();
        self.assert_settled();
        registry.probe.begin_search(self.index());
        registry.release_own_thread();
        registry.sleep.leave_seat(self.index());
    }

    /// Spins briefly after the first job: it may have unblocked the worker whose place this is,
    /// which can then come back before the spare starts a long job.
    fn linger(&self) {
        let clock = Stopwatch::start();
        while !self.place_is_wanted() && self.deque_is_empty() && clock.elapsed() < A_MOMENT {
            hint::spin_loop();
            if cfg!(any(drowse_loom, drowse_shuttle)) {
                break;
            }
        }
    }

    /// Leaves the jobs of its own deque to other workers.
    fn hand_over_jobs(&self) {
        while let Some(job) = self.pop_in_order(ANY) {
            // SAFETY: the reference has left the deque, and was not run.
            unsafe { self.registry().inject(job) };
        }
    }
}
