//! State word of a task: its stage, its owners, and its references.

use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{faulty, look, mutant};
use std::process;

/// A reference to the task is in a queue, or will be as soon as the running step has ended.
const QUEUED: usize = 1;
/// A thread has the body: it runs a step, or drops it.
const RUNNING: usize = 2;
/// The body is gone, for good. The result belongs to the handle, if there is one.
const DONE: usize = 4;
/// The body must not run any more.
const CANCELLED: usize = 8;
/// There is a handle.
const HANDLE: usize = 16;
/// The waiter is in its place, and belongs to the thread that ends the task. Without this bit, the
/// place belongs to the handle.
const WAITER: usize = 32;
/// One reference: of a queue or of the running step, of the handle, or of a waker.
const REFERENCE: usize = 64;

/// State of a task.
///
/// ```text
///                 wake, while it runs: QUEUED too
///                        +----+
///                        v    |
///   QUEUED --- begin --> RUNNING --- end --> DONE
///     ^                     |
///     +--- wake --- (idle) <+ rest
/// ```
///
/// # Notes on memory ordering
///
/// Every change is a read-modify-write of this word. A thread that takes the body, the result or
/// the waiter acquires, and the thread that has left it there has released. So no fence is needed.
/// `wake` writes the word even if it changes nothing, because the task is queued: the next step
/// must see what the waker has done before.
#[derive(Debug)]
pub(super) struct State(AtomicUsize);

/// Next action for a task that was taken from a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    Step,
    /// Drop the body, because the task was cancelled.
    Drop,
    /// None: the thread that has cancelled the task is about to end it.
    Nothing,
    /// None: the thread that has cancelled the task has ended it early.
    Met,
}

/// Next action for a task whose step has not ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// None. The reference is gone, and the task may be.
    Idle,
    /// Put the reference back into a queue: the task was woken meanwhile.
    Again,
    /// Drop the body: the task was cancelled, or has no handle and no waker left.
    Drop,
}

/// Next action for a task that the caller wants to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancel {
    /// None: it is too late.
    TooLate,
    /// None: the worker that runs a step, or takes the task from a queue, drops the body.
    Told,
    /// Drop the body, at once.
    Claimed,
    /// Put a new reference into a queue: the worker that takes it drops the body.
    Offer,
}

/// Duties of the thread that ends a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// A waiter must be told.
    pub(super) has_waiter: bool,
    /// A handle exists, and owns the result.
    pub(super) has_handle: bool,
    /// A reference is in a queue: the task has ended early, and a worker will get [`Begin::Met`].
    pub(super) is_queued: bool,
}

/// Next action after a reference was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    /// None: there are other references.
    NotLast,
    /// Free the task: it was the last reference.
    Last,
    /// Put a new reference into a queue, as the last one went before the body: the worker that
    /// takes it drops the body.
    Offer,
}

impl State {
    /// Creates the state of a task with a handle, and a reference for a queue.
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(QUEUED | HANDLE | (2 * REFERENCE)))
    }

    fn change<R>(&self, ordering: Ordering, step: impl Fn(usize) -> (usize, R)) -> R {
        // ORDERING: relaxed; the exchange has the caller's ordering.
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let (next, result) = step(seen);
            match self.0.compare_exchange_weak(seen, next, ordering, Ordering::Relaxed) {
                Ok(_) => return result,
                Err(now) => seen = now,
            }
        }
    }

    /// Begins the next step, with a reference from a queue.
    pub(super) fn begin(&self) -> Begin {
        // ORDERING: acquire pairs with the release in `rest`, `wake` and `cancel`: of what the last
        // step has left, and of what those callers did before.
        self.change(mutant::weaken("task/begin-relaxed", Ordering::Acquire), |state| {
            if look!("task/begins-twice", state & (DONE | RUNNING) != 0) {
                let begin = if state & DONE != 0 { Begin::Met } else { Begin::Nothing };
                return (state & !QUEUED, begin);
            }
            let begin = if state & CANCELLED != 0 { Begin::Drop } else { Begin::Step };
            (state & !QUEUED | RUNNING, begin)
        })
    }

    /// Ends a step that has not ended the task.
    pub(super) fn rest(&self) -> Rest {
        // ORDERING: release pairs with the acquire in `begin`, for what the step has left; acquire
        // pairs with the release in `cancel` and `drop_reference`, before the body is dropped.
        self.change(mutant::weaken("task/rest-relaxed", Ordering::AcqRel), |state| {
            if state & CANCELLED != 0 {
                (state, Rest::Drop)
            } else if look!("task/rest-ignores-wake", state & QUEUED != 0) {
                (state & !RUNNING, Rest::Again)
            } else if state < 2 * REFERENCE {
                (state, Rest::Drop)
            } else {
                ((state & !RUNNING) - REFERENCE, Rest::Idle)
            }
        })
    }

    /// Ends a task whose result is in its place. The caller has the body. A task that `begins_once`
    /// is never woken: if QUEUED is set, a reference is in a queue.
    pub(super) fn end(&self, begins_once: bool) -> End {
        // ORDERING: release, of the result, pairs with `is_done`, `leave_waiter`, `take_place` and
        // `let_go`; acquire, of the waiter, with `leave_waiter`.
        self.change(mutant::weaken("task/end-relaxed", Ordering::AcqRel), |state| {
            let end = End {
                has_waiter: state & WAITER != 0,
                has_handle: state & HANDLE != 0,
                is_queued: look!("task/end-looks-not", begins_once && state & QUEUED != 0),
            };
            (state & !(RUNNING | QUEUED) | DONE, end)
        })
    }

    /// Notes a reason to run the next step. Returns `true` if a reference must be put into a queue:
    /// the caller's own if it `gives` it, which it then has no more, and otherwise a new one.
    pub(super) fn wake(&self, gives: bool) -> bool {
        // ORDERING: release, of what the caller did before, pairs with the acquire in `begin` and
        // `rest`; acquire, so that a caller which offers the task sees it constructed.
        self.change(mutant::weaken("task/wake-relaxed", Ordering::AcqRel), |state| {
            if state & (DONE | QUEUED) != 0 {
                (state, false)
            } else if state & RUNNING != 0 {
                (state | QUEUED, false)
            } else {
                ((state | QUEUED) + if gives { 0 } else { REFERENCE }, true)
            }
        })
    }

    /// Cancels the task: its body must not run any more. If it `begins_once`, a body that has not
    /// begun becomes the caller's, which drops it; a body that has begun is not stopped.
    pub(super) fn cancel(&self, begins_once: bool) -> Cancel {
        // ORDERING: release, of what the caller did before, pairs with the acquire in `begin` and
        // `rest`, for the thread that drops the body. (No model shows it: the body's drop would
        // have to read what the canceller has written.)
        self.change(Ordering::Release, |state| {
            if state & (DONE | CANCELLED) != 0 || (begins_once && state & RUNNING != 0) {
                (state, Cancel::TooLate)
            } else if begins_once {
                (state | CANCELLED | faulty!("task/cancel-claims-not", RUNNING, 0), Cancel::Claimed)
            } else if state & (RUNNING | QUEUED) != 0 {
                (state | CANCELLED, Cancel::Told)
            } else {
                ((state | CANCELLED | QUEUED) + REFERENCE, Cancel::Offer)
            }
        })
    }

    /// Returns `true` if the result is there, and all that was done before is visible.
    pub(super) fn is_done(&self) -> bool {
        // ORDERING: acquire pairs with the release in `end`.
        self.0.load(mutant::weaken("task/is-done-relaxed", Ordering::Acquire)) & DONE != 0
    }

    /// Gives the waiter, which the handle has put into its place, to the thread that ends the task.
    /// Returns `false` if the task is done: then the place is still the handle's.
    pub(super) fn leave_waiter(&self) -> bool {
        // ORDERING: release, of the waiter, and acquire, of the result, both pair with `end`.
        self.change(mutant::weaken("task/leave-waiter-relaxed", Ordering::AcqRel), |state| {
            if state & DONE != 0 { (state, false) } else { (state | WAITER, true) }
        })
    }

    /// Takes the waiter's place back for the handle. Returns `false` if the task is done: then the
    /// waiter, if there was one, belongs to the thread that has ended the task.
    pub(super) fn take_place(&self) -> bool {
        // ORDERING: acquire, of the result, pairs with `end`. (The handle wrote the waiter itself.)
        self.change(Ordering::Acquire, |state| {
            let is_ours = look!("task/takes-lost-waiter", state & DONE == 0);
            (if is_ours { state & !WAITER } else { state }, is_ours)
        })
    }

    /// Notes that the handle is gone, except for its reference. Returns `true` if the result is the
    /// caller's, to be dropped.
    pub(super) fn let_go(&self) -> bool {
        // ORDERING: acquire, of the result, pairs with the release in `end`.
        self.change(mutant::weaken("task/let-go-relaxed", Ordering::Acquire), |state| {
            (state & !HANDLE, state & DONE != 0)
        })
    }

    pub(super) fn add_reference(&self) {
        // ORDERING: relaxed; the caller has a reference.
        let old = self.0.fetch_add(REFERENCE, Ordering::Relaxed);
        if old > isize::MAX as usize {
            // The count can only get this high if references are leaked. An overflow would free a
            // task in use.
            process::abort();
        }
    }

    pub(super) fn drop_reference(&self) -> Dropped {
        // ORDERING: release, of all that was done with the reference; acquire, by the last call, of
        // what others released. If weaker, the task could be freed while in use.
        self.change(mutant::weaken("task/drop-relaxed", Ordering::AcqRel), |state| {
            if state >= 2 * REFERENCE {
                (state - REFERENCE, Dropped::NotLast)
            } else if state & DONE != 0 {
                (state - REFERENCE, Dropped::Last)
            } else {
                (state | QUEUED | CANCELLED, Dropped::Offer)
            }
        })
    }
}
