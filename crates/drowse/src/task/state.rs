//! The one word that says where a task is, and who has it.

use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{faulty, look, mutant};
use std::process;

/// A reference to the task is in a queue, or will be as soon as the step that runs has ended.
const QUEUED: usize = 1;
/// Somebody has the body: runs a step of it, or drops it.
const RUNNING: usize = 2;
/// The body is gone, for good. The result is the handle's, if there is one.
const DONE: usize = 4;
/// The body is not to be run any more.
const CANCELLED: usize = 8;
/// There is a handle.
const HANDLE: usize = 16;
/// The waiter is in its place, for whoever ends the task. Without this, the place is the handle's.
const WAITER: usize = 32;
/// One reference: of a queue or of the step that runs, of the handle, of a waker.
const REFERENCE: usize = 64;

/// Where a task is.
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
/// Every change is a read-modify-write of this word, and those who take the body, the result or the
/// waiter acquire what those released who left it. So no fence is needed. A wake-up that changes
/// nothing, because the task is queued, is written all the same: the step to come must see what the
/// waker has done before.
#[derive(Debug)]
pub(super) struct State(AtomicUsize);

/// What to do with a task that was taken from a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// The next step.
    Step,
    /// Drop the body, on behalf of whoever has cancelled it.
    Drop,
    /// Nothing: somebody else is about to end it.
    Nothing,
    /// Nothing: somebody else has ended it, early.
    Met,
}

/// What to do with a task whose step has not ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing. The reference is gone, and the task may be.
    Idle,
    /// It was woken meanwhile: back to a queue, with the same reference.
    Again,
    /// Drop the body: it was cancelled, or nobody is left who could wake it, or would know.
    Drop,
}

/// What has to be done about a task that somebody wants to be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancel {
    /// Nothing: it is too late.
    TooLate,
    /// Nothing: whoever has it, or gets it next, drops the body.
    Told,
    /// Drop the body, here and now.
    Claimed,
    /// Put a new reference into a queue: whoever gets it drops the body.
    Offer,
}

/// What whoever ends a task has to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// There is somebody to be told.
    pub(super) has_waiter: bool,
    /// There is somebody to whom the result belongs.
    pub(super) has_handle: bool,
    /// There is a reference in a queue: it has ended early, and somebody will meet that.
    pub(super) is_queued: bool,
}

/// What has to be done when a reference is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    /// There are others.
    NotLast,
    /// It was the last: free the task.
    Last,
    /// It was the last, and the body is still there. There is a new reference, to be put into a
    /// queue: whoever gets it drops the body.
    Offer,
}

impl State {
    /// In a queue, with a handle.
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(QUEUED | HANDLE | (2 * REFERENCE)))
    }

    /// Changes it by what `step` makes of it.
    fn change<R>(&self, ordering: Ordering, step: impl Fn(usize) -> (usize, R)) -> R {
        // ORDERING: relaxed; the exchange has the caller's.
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let (next, result) = step(seen);
            match self.0.compare_exchange_weak(seen, next, ordering, Ordering::Relaxed) {
                Ok(_) => return result,
                Err(now) => seen = now,
            }
        }
    }

    /// With a reference from a queue: begins the next step.
    pub(super) fn begin(&self) -> Begin {
        // ORDERING: acquire, of what the step before has left, and of what those did who woke it.
        self.change(mutant::weaken("task/begin-relaxed", Ordering::Acquire), |state| {
            if look!("task/begins-twice", state & (DONE | RUNNING) != 0) {
                let begin = if state & DONE != 0 { Begin::Met } else { Begin::Nothing };
                return (state & !QUEUED, begin);
            }
            let begin = if state & CANCELLED != 0 { Begin::Drop } else { Begin::Step };
            (state & !QUEUED | RUNNING, begin)
        })
    }

    /// The step that runs has not ended the task.
    pub(super) fn rest(&self) -> Rest {
        // ORDERING: release, of what the step has left, for the next one; acquire, of what those
        // did who have cancelled it, or were the last to let go of it.
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

    /// Whoever has the body has put the result into its place. One that `begins_once` is not woken:
    /// if it is still said to be queued, it is.
    pub(super) fn end(&self, begins_once: bool) -> End {
        // ORDERING: release, of the result; acquire, of the waiter.
        self.change(mutant::weaken("task/end-relaxed", Ordering::AcqRel), |state| {
            let end = End {
                has_waiter: state & WAITER != 0,
                has_handle: state & HANDLE != 0,
                is_queued: look!("task/end-looks-not", begins_once && state & QUEUED != 0),
            };
            (state & !(RUNNING | QUEUED) | DONE, end)
        })
    }

    /// There is a reason to run the next step. Whether a reference has to be put into a queue: a
    /// new one, or, if the caller `gives` its own, that one; which then is not the caller's any
    /// more.
    pub(super) fn wake(&self, gives: bool) -> bool {
        // ORDERING: release, of what the caller did before; acquire, so that one who offers the
        // task has seen it made.
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

    /// The body is not to be run any more. One that `begins_once` can be dropped by the caller, if
    /// it has not; and is not stopped, if it has.
    pub(super) fn cancel(&self, begins_once: bool) -> Cancel {
        // ORDERING: release, of what the caller did before, for whoever drops the body. (No model
        // shows it: a body that cares would be an odd one.)
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

    /// Whether the result is there, and all that was done before is visible.
    pub(super) fn is_done(&self) -> bool {
        // ORDERING: acquire pairs with the release in `end`.
        self.0.load(mutant::weaken("task/is-done-relaxed", Ordering::Acquire)) & DONE != 0
    }

    /// Handle: the waiter is in its place. False if the task is done: then the place is still the
    /// handle's.
    pub(super) fn leave_waiter(&self) -> bool {
        // ORDERING: release, of the waiter; acquire, of the result.
        self.change(mutant::weaken("task/leave-waiter-relaxed", Ordering::AcqRel), |state| {
            if state & DONE != 0 { (state, false) } else { (state | WAITER, true) }
        })
    }

    /// Handle: wants the waiter's place for itself. False if the task is done: then the waiter, if
    /// there was one, belongs to whoever has ended it.
    pub(super) fn take_place(&self) -> bool {
        // ORDERING: acquire, of the result. (The waiter is the caller's own.)
        self.change(Ordering::Acquire, |state| {
            let is_ours = look!("task/takes-lost-waiter", state & DONE == 0);
            (if is_ours { state & !WAITER } else { state }, is_ours)
        })
    }

    /// Handle: there is none any more, but for its reference. Whether the result is the caller's,
    /// to be dropped.
    pub(super) fn let_go(&self) -> bool {
        // ORDERING: acquire, of the result.
        self.change(mutant::weaken("task/let-go-relaxed", Ordering::Acquire), |state| {
            (state & !HANDLE, state & DONE != 0)
        })
    }

    /// One more reference: of a waker.
    pub(super) fn add_reference(&self) {
        // ORDERING: relaxed; the caller has one.
        let old = self.0.fetch_add(REFERENCE, Ordering::Relaxed);
        if old > isize::MAX as usize {
            // As many as that are leaked, and to go on would free what is in use.
            process::abort();
        }
    }

    /// One less.
    pub(super) fn drop_reference(&self) -> Dropped {
        // ORDERING: release, of all that was done with it; acquire, by the last, of what all others
        // did.
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
