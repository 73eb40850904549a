//! Turns: a job from outside is begun while all workers are in the middle of other jobs.
//!
//! A worker looks into the injector when it has run out of jobs, or after many jobs from deques. In
//! the middle of a long recursion it does neither: its next job is the other half of a `join`,
//! which it takes back. So a thread that has sent a small job, and waits for it, could wait until
//! the recursion is over.
//!
//! Instead it *insists*: if its job has not begun after a while, it asks the workers for a turn, as
//! a thief asks for jobs: their next push leaves the fast path. The first worker that pushes runs
//! the oldest job from outside at once, and then goes on. Each request gives one job a turn, so
//! that the workers' own jobs go on too.
//!
//! A turn is given only where a `join` forks (`WorkerThread::pushed_half_slow`): code that joins
//! must expect other jobs on its thread anyway, since the worker runs some while it waits for a
//! stolen half. Code that spawns need not expect this, nor does any code in a pool of one thread,
//! where there are no thieves. An isolated worker lets a spare run the job, and waits.
//!
//! The second half is popped before the job from outside runs, and pushed again afterwards. If a
//! thief held it, the thief could wait for the first half, which cannot start until the job from
//! outside returns, and that job could wait for the thief.

use super::lineage::Found;
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::latch::LockLatch;
use drowse_sync::Counter;
use std::time::Duration;

/// Time before a thread insists, and between its requests, if a job has recently begun late.
const PATIENCE: Duration = Duration::from_micros(250);

/// Time before a thread insists, if the last jobs have begun soon. (In a virtual machine, timers
/// that are due sooner than the system's own cost more than such jobs.)
const PATIENCE_AT_FIRST: Duration = Duration::from_millis(3);

/// Number of jobs that `PATIENCE` holds for, after one that has begun late.
const LATELY: u64 = 16;

/// Most requests for one job. (A model has no clock, and would insist for ever.)
const MOST_REQUESTS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { u32::MAX };

/// Most turns that are given in the middle of one another. Each takes stack.
const MOST_TURNS: u32 = 4;

impl Registry {
    /// Makes sure that the job which sets `latch` begins: returns when `begun` is not zero, or when
    /// the latch is set.
    pub(super) fn insist(&self, begun: &Counter, latch: &LockLatch) {
        if self.num_threads() == 1 {
            return;
        }
        let has_begun = || begun.get() > 0;
        let slow = self.callers.slow_starts.get();
        let patience = if slow > 0 { PATIENCE } else { PATIENCE_AT_FIRST };
        // Workers read the cache line of these words with each job: write only what changes.
        if slow > 0 {
            self.callers.slow_starts.set_mine(slow - 1);
        }
        let mut has_asked = false;
        for _ in 0..MOST_REQUESTS {
            if has_begun() || latch.wait_for(patience) {
                break;
            }
            self.callers.slow_starts.set_mine(LATELY);
            // A sleeping worker is woken for the job, or a sentry gets up: no need to ask then.
            if self.sleep.sleeping() == 0 {
                self.ask_for_a_turn();
                has_asked = true;
            }
        }
        if has_asked {
            // Other threads that insist will ask again.
            self.callers.overdue.set_mine(0);
        }
    }

    fn ask_for_a_turn(&self) {
        self.callers.overdue.set_mine(1);
        for (worker, thread) in self.threads.iter().enumerate() {
            if !self.sleep.is_asleep(worker) {
                thread.stealer.ask();
            }
        }
    }
}

impl WorkerThread {
    /// Runs a job from outside, for a thread that insists, after a join's push that has left the
    /// fast path. Returns `true` if it has pushed the second half again, and so has ended the push.
    #[cold]
    pub(super) fn give_a_turn(&self) -> bool {
        let turns = self.depth.turns.get();
        if turns >= MOST_TURNS {
            return false;
        }
        if self.is_isolated() {
            // The worker must not run the job itself. It may have to wait: so the second half is
            // posted before.
            self.deque.pushed_slow(true);
            self.registry().callers.overdue.set_mine(0);
            self.let_run(|worker| worker.take_injected_job().map(Found::from));
            return true;
        }
        // The caller asks for the position of the second half afterwards: the job that runs here
        // may take items below it, or leave some there.
        let Some(pushed) = self.deque.pop() else { return false };
        self.registry().callers.overdue.set_mine(0);
        if let Some(job) = self.take_injected_job() {
            self.depth.turns.set(turns + 1);
            let turn = self.begin_loop();
            self.run_found(job.into());
            drop(turn);
            self.depth.turns.set(turns);
        }
        self.deque.push(pushed);
        true
    }
}
