//! How a job from outside gets its turn while all workers are in the middle of others.
//!
//! A worker looks into the injector when it has run out of jobs, or of patience with those that it
//! finds in deques. In the middle of a long recursion it does neither: its next job is the other
//! half of a `join`, which it takes back. So a thread that has sent a small job, and waits for it,
//! could wait until the recursion is over.
//!
//! Instead it *insists*: if its job has not begun after a while, it asks the workers for a turn, in
//! the same way in which a thief asks for jobs: their next push leaves the fast path. Whoever comes
//! to that first runs the oldest job from outside, there and then, and goes on. Each time that
//! somebody asks, one job gets its turn; so what the workers are in the middle of goes on too.
//!
//! A turn is given where a `join` forks, and nowhere else: whoever joins must reckon with other
//! jobs on its thread anyway, since it runs some while it waits for a half that was stolen. Whoever
//! spawns need not. Nor need anybody in a pool of one thread, where nobody steals. One who is
//! isolated lets a spare run the job, and waits.
//!
//! Nobody has heard of the second half by then: it is taken back for as long as the turn takes. If
//! somebody had it, that one could wait for the first half, and the job from outside, which runs
//! before that, for the one who waits.

use super::isolate::Found;
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::deque::Owner;
use crate::job::JobHeader;
use crate::latch::LockLatch;
use drowse_sync::{Counter, omittable};
use std::time::Duration;

/// How long a thread waits for its job to begin before it insists; and until it does so again.
const PATIENCE: Duration = Duration::from_micros(250);

/// The same where jobs have begun soon, lately. (Timers that are due sooner than the system's own
/// cost more than such jobs, in a virtual machine.)
const PATIENCE_AT_FIRST: Duration = Duration::from_millis(3);

/// So many jobs must have begun soon.
const LATELY: u64 = 16;

/// How often it insists. (The model checkers know no time, and would insist for ever.)
const MOST_REQUESTS: u32 = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { u32::MAX };

/// So many turns can be given in the middle of one another. Each takes stack.
const MOST_TURNS: u32 = 4;

impl Registry {
    /// Sees to it that the job which sets this latch is begun, and returns then, or when the latch
    /// is set. `begun` counts that.
    pub(super) fn insist(&self, begun: &Counter, latch: &LockLatch) {
        if self.num_threads() == 1 {
            return;
        }
        let has_begun = || begun.get() > 0;
        let slow = self.slow_starts.get();
        let patience = if slow > 0 { PATIENCE } else { PATIENCE_AT_FIRST };
        // Workers read what lies beside these words with each job: they are written only where they
        // change.
        if slow > 0 {
            self.slow_starts.set_mine(slow - 1);
        }
        let mut has_asked = false;
        for _ in 0..MOST_REQUESTS {
            if has_begun() || latch.wait_for(patience) {
                break;
            }
            self.slow_starts.set_mine(LATELY);
            // Whoever sleeps is woken for it, or else a sentry gets up.
            if self.sleep.sleeping() == 0 {
                self.ask_for_a_turn();
                has_asked = true;
            }
        }
        if has_asked {
            // Others who insist will ask again.
            self.overdue.set_mine(0);
        }
    }

    fn ask_for_a_turn(&self) {
        self.overdue.set_mine(1);
        for (worker, thread) in self.threads.iter().enumerate() {
            if !self.sleep.is_asleep(worker) {
                thread.stealer.ask();
            }
        }
    }
}

/// What a worker does after a push that left the fast path. Whether the next one must do so too:
/// somebody sleeps.
pub(super) fn after_slow_push(deque: &Owner<JobHeader>) -> bool {
    WorkerThread::with_current(|worker| {
        let Some(worker) = worker else { return false };
        let registry = worker.registry();
        if registry.has_isolated() {
            registry.call_those_who_wait_for(worker.index());
        }
        if registry.overdue.get() > 0 {
            worker.give_a_turn();
        }
        if !worker.posts_later.get() {
            // WAKE: a worker that fell asleep before our push is seen now, and woken if nobody else
            // searches.
            omittable!("engine/push-no-post", registry.sleep.post(1, deque.pushed()));
        }
        registry.sleep.has_sleepers()
    })
}

impl WorkerThread {
    /// Calls `push`, which is not that of a `join`: nobody gets a turn.
    pub(super) fn without_turns<R>(&self, push: impl FnOnce() -> R) -> R {
        let turns = self.turns.replace(MOST_TURNS);
        let result = push();
        self.turns.set(turns);
        result
    }

    /// Runs a job from outside that somebody insists on.
    #[cold]
    fn give_a_turn(&self) {
        let turns = self.turns.get();
        if turns >= MOST_TURNS {
            return;
        }
        if self.is_isolated() {
            // It must not run the job itself.
            self.registry().overdue.set_mine(0);
            self.let_run(&|| self.take_injected_job().map(Found::from));
            return;
        }
        // What was pushed just now, if nobody has it yet. Whoever has pushed it looks where it is
        // afterwards: what we run meanwhile may take what is further down, or leave something
        // there.
        let Some(pushed) = self.deque.pop() else { return };
        self.registry().overdue.set_mine(0);
        if let Some(job) = self.take_injected_job() {
            self.turns.set(turns + 1);
            self.run_found(job.into());
            self.settle();
            self.turns.set(turns);
        }
        // WAKE: our caller posts it, as if it had been pushed just now.
        self.posts_later.set(true);
        self.without_turns(|| self.deque.push(pushed));
        self.posts_later.set(false);
    }
}
