//! Spares: threads that stand in for workers that block.
//!
//! A spare has the [place](super::place) of a worker that does not run, and so its index and its
//! letters, and does whatever there is to do. What it does not have is the worker's deque: that
//! belongs to the frames on the worker's stack, as does its seat in the sleep protocol. A spare has
//! both of its own. It is started when it is needed, and ends when it was not for a while.

use super::bench::{Duty, Locked, NextStep, Spare};
use super::crew::Role;
use super::lineage::Found;
use super::place::{First, Stand};
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::deque::ANY;
use crate::unwind;
use drowse_sync::atomic::Ordering;
use drowse_sync::{Arc, Stopwatch, hint, omittable, say};
use std::time::Duration;

/// Time after which an idle spare ends.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Time that a spare, after its first job, waits for the worker whose place it has to come back.
const A_MOMENT: Duration = Duration::from_micros(100);

/// Cause for which there is no spare.
#[derive(Debug, Clone, Copy)]
pub(super) enum NoSpare {
    AllInUse,
    Refused,
    PoolEnds,
}

impl Registry {
    /// Finds a spare for this place, and gives it the place.
    pub(super) fn call_spare(
        self: &Arc<Self>,
        bench: &mut Locked<'_>,
        place: usize,
        first: Option<First<'_>>,
    ) -> Result<(), NoSpare> {
        if bench.lists.is_closed {
            return Err(NoSpare::PoolEnds);
        }
        let spares = &bench.lists.spares;
        let idle = spares.iter().position(|spare| matches!(spare, Spare::Idle));
        let unused = || spares.iter().position(|spare| matches!(spare, Spare::Empty));
        let number = match idle.or_else(unused) {
            Some(number) => number,
            None => bench.add_spare().ok_or(NoSpare::AllInUse)?,
        };
        let seat = self.num_threads() + number;
        self.make_seat(seat);
        if matches!(bench.lists.spares[number], Spare::Empty) && !self.start_spare(number) {
            return Err(NoSpare::Refused);
        }
        self.sleep.open_seat(seat);
        bench.call(number, place, first.and_then(|(worker, first)| first(worker)));
        Ok(())
    }

    /// Prints once that another spare is needed and there is none. Not if the user has chosen to
    /// have none.
    #[cold]
    pub(super) fn report_no_spare(&self, cause: NoSpare) {
        let (most, of) = (self.bench.most_spares(), self.num_threads());
        let is_expected = match cause {
            NoSpare::AllInUse => most == 0,
            NoSpare::Refused => false,
            NoSpare::PoolEnds => true,
        };
        // ORDERING: relaxed; only the printed line depends on it.
        if is_expected || self.bench.has_complained.swap(true, Ordering::Relaxed) {
            return;
        }
        if matches!(cause, NoSpare::Refused) {
            say(format_args!(
                "drowse: a worker blocks, and the system lets its pool, of {of} threads, start no spare thread: if it waits \
                 for a job of this pool that has not begun, it may wait for ever"
            ));
        } else {
            say(format_args!(
                "drowse: a worker blocks, and all {most} spare threads of its pool, of {of} threads, are in use: if it waits \
                 for a job of this pool that has not begun, it may wait for ever \
                 (ThreadPoolBuilder::max_spare_threads raises the bound)"
            ));
        }
    }

    /// Starts the thread of a spare, which waits for the bench's lock first. Returns `false` if the
    /// system refuses it.
    fn start_spare(self: &Arc<Self>, number: usize) -> bool {
        let Some(presence) = self.recruiter.expect(Role::Spare(number)) else { return false };
        let registry = Arc::clone(self);
        let started = presence.start(Box::new(move |_| run_spare(&registry, number))).is_ok();
        self.bench.started.add(u64::from(started));
        started
    }

    /// Waits for a duty, on a spare's thread. Returns `None` if there is none for a long time, or
    /// the pool ends.
    fn next_duty(&self, number: usize) -> Option<Duty> {
        let seat = self.num_threads() + number;
        let mut has_waited = false;
        loop {
            let next = self.bench.lock().next_step(number, has_waited);
            match next {
                // `call_spare` has opened the seat.
                NextStep::Called(duty) => return Some(duty),
                NextStep::FreePlace(duty) => {
                    self.sleep.open_seat(seat);
                    return Some(duty);
                }
                NextStep::Wait => (),
                NextStep::End => return None,
            }
            // WAKE: workers that sleep, and could not lend their places.
            self.sleep.call_all();
            has_waited = !self.bench.wait_for(seat, KEEP_ALIVE);
        }
    }

    /// Leaves a spare seat without a thread. If there is a free place, a spare is called there:
    /// since this spare's last look, a worker may have needed one and could not get this one.
    fn leave_spare(self: &Arc<Self>, number: usize) {
        let mut bench = self.bench.lock();
        bench.lists.spares[number] = Spare::Empty;
        bench.lists.freed += 1;
        if let Some(place) = bench.free_place() {
            // If that fails, the place stays free.
            let _ = self.call_spare(&mut bench, place, None);
        }
        drop(bench);
        // WAKE: workers that sleep, and could not lend their places.
        omittable!("spare/no-call-at-its-end", self.sleep.call_all());
    }
}

/// Runs a spare, on its thread.
fn run_spare(registry: &Arc<Registry>, number: usize) {
    let index = registry.num_threads() + number;
    // SAFETY: `start_spare` has started this thread for a seat that was empty.
    let worker = unsafe { registry.core(index) };
    // SAFETY: the registry is borrowed for longer than `current` lives.
    let current = unsafe { WorkerThread::make_current(worker) };
    worker.begin_thread();
    registry.probe.begin_search(index);
    unwind::or_abort(|| {
        // Its handlers are told of one index, whichever it has meanwhile.
        let mut first_place = None;
        while let Some(duty) = registry.next_duty(number) {
            worker.stand.set(Stand::At(duty.place));
            if first_place.is_none() {
                first_place = Some(duty.place);
                registry.sleep.take_over_seat(index);
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
    registry.leave_spare(number);
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
        // Until `mind_place` has left the place.
        self.work_until_end(None);
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
