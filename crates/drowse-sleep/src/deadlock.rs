//! Who is active, asleep, blocked; and what to do when nobody is active any more.

use crate::slots::Claim;
use drowse_sync::{Mutex, faulty, omittable};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
use std::ptr;

/// The census of one pool, behind a lock that is taken where a worker sleeps, is woken, blocks or
/// is unblocked: never on the hot path.
///
/// For the census a worker is **active** unless it sleeps, is blocked, or has ended: one that
/// searches is active too. It is a deadlock when none is active and at least one is blocked: those
/// that sleep sleep until somebody posts work, and no worker is left who could. (If none is blocked
/// the pool is merely idle.) The check is made where a worker stops being active.
///
/// Falling asleep and being woken happen *under the lock*, slot and census in one step. Otherwise a
/// worker could be woken by a second one that then falls asleep itself, and the pool would look
/// dead between the two. Where one thread wakes many, all of them become active in one step, for
/// the same reason: the first may run and block before the others are woken.
#[derive(Debug)]
pub(crate) struct Detector {
    /// The handler runs with the mutex locked. What it does to the pool comes back here, on the
    /// same thread: hence the cell.
    census: Mutex<RefCell<Census>>,
}

#[derive(Debug)]
struct Census {
    active: usize,
    blocked: usize,
    workers: Box<[Worker]>,
}

#[derive(Debug, Clone, Default)]
struct Worker {
    asleep: bool,
    gone: bool,
    /// Where it was marked as blocked, once for each mark.
    marks: Vec<&'static Location<'static>>,
}

impl Worker {
    fn is_active(&self) -> bool {
        !self.asleep && !self.gone && self.marks.is_empty()
    }

    /// Its mark may outlive it, but a worker that has ended keeps nobody waiting.
    fn is_blocked(&self) -> bool {
        !self.gone && !self.marks.is_empty()
    }
}

drowse_sync::thread_local! {
    /// The detector whose handler this thread is running.
    static IN_HANDLER: Cell<Handling> = const { Cell::new(Handling::NOTHING) };
}

/// A detector, and its census, locked by a frame below on this thread; or null.
#[derive(Clone, Copy)]
struct Handling {
    detector: *const Detector,
    census: *const RefCell<Census>,
}

impl Handling {
    const NOTHING: Self = Self { detector: ptr::null(), census: ptr::null() };
}

const NOT_HERE: &str = "a deadlock handler runs while its pool is locked, so it must not mark workers as blocked or \
     unblocked: let a thread outside the pool do that";

impl Detector {
    /// All workers active.
    pub(crate) fn new(workers: usize) -> Self {
        let workers = vec![Worker::default(); workers].into_boxed_slice();
        Self { census: Mutex::new(RefCell::new(Census { active: workers.len(), blocked: 0, workers })) }
    }

    /// The worker falls asleep if `enter`, its last step, says so.
    pub(crate) fn fall_asleep(
        &self,
        worker: usize,
        enter: impl Fn() -> bool,
        on_deadlock: &dyn Fn(&Deadlock),
    ) -> bool {
        let early = faulty!("detector/enter-unlocked", None, Some(enter()));
        let census = self.census.lock();
        if !early.unwrap_or_else(enter) {
            return false;
        }
        census.borrow_mut().change(worker, |worker| worker.asleep = true);
        omittable!("detector/no-check-asleep", self.check(&census, on_deadlock));
        true
    }

    /// `claim` takes workers out of their slots, and says whom. All that slept become active in one
    /// step.
    pub(crate) fn wake(&self, claim: impl FnOnce(&mut dyn FnMut(usize, Claim))) {
        faulty!(
            "detector/claim-unlocked",
            self.with_census(|census| claim(&mut |worker, claim| count_awake(census, worker, claim))),
            self.wake_unlocked(claim)
        );
    }

    /// The fault: workers are claimed before the census is locked.
    #[cfg(any(drowse_loom, drowse_shuttle))]
    fn wake_unlocked(&self, claim: impl FnOnce(&mut dyn FnMut(usize, Claim))) {
        let mut claimed = Vec::new();
        claim(&mut |worker, claim| claimed.push((worker, claim)));
        self.with_census(|census| claimed.iter().for_each(|(w, c)| count_awake(census, *w, *c)));
    }

    pub(crate) fn mark_blocked(
        &self,
        worker: usize,
        at: &'static Location<'static>,
        on_deadlock: &dyn Fn(&Deadlock),
    ) {
        let census = self.census.lock();
        census.borrow_mut().change(worker, |worker| worker.marks.push(at));
        omittable!("detector/no-check-blocked", self.check(&census, on_deadlock));
    }

    /// The mark goes in any case. In the handler that is a mistake, which is then said.
    pub(crate) fn mark_unblocked(&self, worker: usize, at: &'static Location<'static>) {
        self.with_census(|census| {
            census.borrow_mut().change(worker, |worker| {
                let mark = worker.marks.iter().position(|mark| *mark == at);
                worker.marks.swap_remove(mark.expect("a worker is unmarked as often as it was marked"));
            });
        });
        if !std::thread::panicking() {
            assert!(self.locked_by_handler().is_none(), "{NOT_HERE}");
        }
    }

    pub(crate) fn mark_here(&self, worker: usize) {
        self.with_census(|census| census.borrow_mut().change(worker, |worker| worker.gone = false));
    }

    pub(crate) fn mark_gone(&self, worker: usize, on_deadlock: &dyn Fn(&Deadlock)) {
        let census = self.census.lock();
        census.borrow_mut().change(worker, |worker| worker.gone = true);
        self.check(&census, on_deadlock);
    }

    /// # Panics
    ///
    /// If this thread is running the handler of another detector: both would be locked, in an order
    /// that nobody knows.
    pub(crate) fn assert_not_in_another_handler(&self) {
        assert!(
            !in_handler() || self.locked_by_handler().is_some(),
            "a deadlock handler runs while its pool is locked, so it must not give work to another pool that has a deadlock \
             handler too: let a thread outside the pool do that"
        );
    }

    /// Calls `f` with the census: locked now, or by the handler that this thread is running.
    fn with_census(&self, f: impl FnOnce(&RefCell<Census>)) {
        match self.locked_by_handler() {
            Some(census) => f(census),
            None => f(&self.census.lock()),
        }
    }

    /// The census, if this thread is running our handler.
    fn locked_by_handler(&self) -> Option<&RefCell<Census>> {
        let handling = IN_HANDLER.with(Cell::get);
        // SAFETY: `InHandler` keeps the pointer there only while a frame below this one, on this
        // very thread, holds the census locked and borrowed as shared. Whoever called us returns
        // before that frame goes on.
        ptr::eq(handling.detector, self).then(|| unsafe { &*handling.census })
    }

    /// Calls the handler if the pool is dead. It runs with the census locked: no other thread can
    /// wake, block or unblock a worker meanwhile, so what it is told is true until it returns, or
    /// does something about it itself.
    fn check(&self, census: &RefCell<Census>, on_deadlock: &dyn Fn(&Deadlock)) {
        let report = census.borrow().report_if_dead();
        if let Some(report) = report {
            let _in_handler = InHandler::enter(Handling { detector: self, census });
            on_deadlock(&report);
        }
    }
}

fn count_awake(census: &RefCell<Census>, worker: usize, claim: Claim) {
    if claim.slept() {
        census.borrow_mut().change(worker, |worker| worker.asleep = false);
    }
}

/// Whether this thread is running a deadlock handler, of whichever pool.
pub(crate) fn in_handler() -> bool {
    !IN_HANDLER.with(Cell::get).detector.is_null()
}

/// While it lives, this thread runs a handler with this census locked.
struct InHandler {
    before: Handling,
}

impl InHandler {
    fn enter(handling: Handling) -> Self {
        Self { before: IN_HANDLER.with(|current| current.replace(handling)) }
    }
}

impl Drop for InHandler {
    fn drop(&mut self) {
        IN_HANDLER.with(|current| current.set(self.before));
    }
}

impl Census {
    fn change(&mut self, index: usize, change: impl FnOnce(&mut Worker)) {
        let worker = &mut self.workers[index];
        let before = (worker.is_active(), worker.is_blocked());
        change(worker);
        let after = (worker.is_active(), worker.is_blocked());
        self.active = self.active + usize::from(after.0) - usize::from(before.0);
        self.blocked = self.blocked + usize::from(after.1) - usize::from(before.1);
    }

    fn report_if_dead(&self) -> Option<Deadlock> {
        if self.active > 0 || self.blocked == 0 {
            return None;
        }
        let blocked = |(index, worker): (usize, &Worker)| {
            worker.is_blocked().then(|| BlockedWorker { index, at: worker.marks[worker.marks.len() - 1] })
        };
        Some(Deadlock {
            num_threads: self.workers.len(),
            blocked: self.workers.iter().enumerate().filter_map(blocked).collect(),
            asleep: self.workers.iter().filter(|worker| worker.asleep && !worker.is_blocked()).count(),
        })
    }
}

/// A pool in which nothing moves: no worker is active, and some are blocked in the user's code.
///
/// The others, if any, sleep, or have ended with the pool. `Display` says it in one line:
///
/// ```text
/// no worker of 4 can go on: 0 is blocked at a.rs:12:9, 2 is blocked at b.rs:40:5, 2 sleep
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadlock {
    /// How many workers the pool has.
    pub num_threads: usize,
    /// Those that are blocked.
    pub blocked: Vec<BlockedWorker>,
    /// How many sleep.
    pub asleep: usize,
}

/// A worker that said that it blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedWorker {
    /// Which one.
    pub index: usize,
    /// Where it said so.
    pub at: &'static Location<'static>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no worker of {} can go on:", self.num_threads)?;
        for (position, worker) in self.blocked.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            write!(f, "{comma} {} is blocked at {}", worker.index, worker.at)?;
        }
        match self.asleep {
            0 => Ok(()),
            1 => write!(f, ", one sleeps"),
            others => write!(f, ", {others} sleep"),
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// The one place at which these tests mark.
    fn here() -> &'static Location<'static> {
        Location::caller()
    }

    fn wake(detector: &Detector, worker: usize, claim: Claim) {
        detector.wake(|awake| awake(worker, claim));
    }

    fn message_of(payload: &(dyn std::any::Any + Send)) -> &str {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&str>().copied()).expect("a message")
    }

    /// Counts the calls of the handler during `f`.
    fn alarms(f: impl FnOnce(&dyn Fn(&Deadlock))) -> Vec<String> {
        let alarms = RefCell::new(Vec::new());
        f(&|deadlock| alarms.borrow_mut().push(deadlock.to_string()));
        alarms.into_inner()
    }

    #[test]
    fn a_pool_that_merely_sleeps_is_not_dead() {
        let detector = Detector::new(2);
        let alarms = alarms(|alarm| {
            assert!(detector.fall_asleep(0, || true, alarm));
            assert!(detector.fall_asleep(1, || true, alarm));
            wake(&detector, 1, Claim::Asleep);
            detector.mark_gone(1, alarm);
        });
        assert!(alarms.is_empty(), "{alarms:?}");
    }

    #[test]
    fn the_last_to_block_or_sleep_raises_the_alarm() {
        let detector = Detector::new(2);
        let blocks = alarms(|alarm| {
            assert!(detector.fall_asleep(1, || true, alarm));
            detector.mark_blocked(0, here(), alarm);
        });
        assert_eq!(blocks.len(), 1);
        assert!(blocks[0].starts_with("no worker of 2 can go on: 0 is blocked at "), "{blocks:?}");
        assert!(blocks[0].ends_with(", one sleeps"), "{blocks:?}");

        wake(&detector, 1, Claim::Asleep);
        assert_eq!(alarms(|alarm| assert!(detector.fall_asleep(1, || true, alarm))).len(), 1);
        detector.mark_unblocked(0, here());
        assert_eq!(alarms(|alarm| detector.mark_blocked(0, here(), alarm)).len(), 1);
    }

    #[test]
    fn the_last_to_end_raises_the_alarm_for_those_who_are_left() {
        let detector = Detector::new(2);
        let ends = alarms(|alarm| {
            detector.mark_blocked(0, here(), alarm);
            detector.mark_gone(1, alarm);
        });
        assert_eq!(ends.len(), 1, "{ends:?}");
        assert!(!ends[0].contains(','), "nobody sleeps: {ends:?}");
        // A mark that outlives its worker is nobody's.
        assert!(alarms(|alarm| detector.mark_gone(0, alarm)).is_empty());
        detector.mark_unblocked(0, here());
    }

    #[test]
    fn a_worker_that_does_not_sleep_after_all_stays_active() {
        let detector = Detector::new(2);
        let alarms = alarms(|alarm| {
            detector.mark_blocked(0, here(), alarm);
            assert!(!detector.fall_asleep(1, || false, alarm));
            wake(&detector, 1, Claim::Stopped);
        });
        assert!(alarms.is_empty(), "{alarms:?}");
    }

    #[test]
    fn a_worker_marked_twice_or_asleep_while_marked_counts_once() {
        let detector = Detector::new(2);
        let alarms = alarms(|alarm| {
            detector.mark_blocked(0, here(), alarm);
            detector.mark_blocked(0, here(), alarm);
            assert!(detector.fall_asleep(0, || true, alarm));
            wake(&detector, 0, Claim::Asleep);
            detector.mark_unblocked(0, here());
            detector.mark_unblocked(0, here());
            detector.mark_blocked(1, here(), alarm);
        });
        assert!(alarms.is_empty(), "{alarms:?}");
    }

    #[test]
    fn a_handler_that_marks_gets_a_panic_that_says_so() {
        let detector = Detector::new(1);
        let marks = |_: &Deadlock| detector.mark_unblocked(0, here());
        let payload =
            catch_unwind(AssertUnwindSafe(|| detector.mark_blocked(0, here(), &marks))).unwrap_err();
        let message = message_of(&*payload);
        assert!(message.contains("let a thread outside the pool do that"), "{message}");
        // The mark is gone, and the detector works on.
        assert_eq!(alarms(|alarm| detector.mark_blocked(0, here(), alarm)).len(), 1);
    }
}
