//! A pool as its alarms see it.

use super::crew::Role;
use super::recruit::Presence;
#[cfg(any(drowse_loom, drowse_shuttle))]
use super::recruit::Recruiter;
use super::registry::Registry;
use super::worker::WorkerThread;
use crate::diagnose::{Pool, Probe, Watch};
use drowse_sync::{Arc, ThreadId, faulty};
use std::io;

impl Pool for Registry {
    fn probe(&self) -> &Probe {
        &self.probe
    }

    fn num_threads(&self) -> usize {
        self.num_threads()
    }

    fn seats_in_use(&self) -> usize {
        self.sleep.seats_in_use()
    }

    fn most_spares(&self) -> usize {
        self.bench.most_spares()
    }

    fn thread(&self, worker: usize) -> Option<ThreadId> {
        self.thread_of(worker)
    }

    fn is_asleep(&self, worker: usize) -> bool {
        self.sleep.is_asleep(worker)
    }

    fn work_visible(&self) -> bool {
        self.work_visible()
    }

    fn has_letter(&self, worker: usize) -> bool {
        self.has_letter(worker)
    }

    fn has_queued_jobs(&self) -> bool {
        self.work_visible() || self.threads.iter().any(|thread| thread.broadcasts.are_there())
    }

    fn pulse(&self, worker: usize) -> [u64; 6] {
        let (thread, sleep) = (&self.threads[worker], self.sleep.metrics(worker));
        let [top, bottom] = thread.stealer.pulse();
        let meter = &thread.meter;
        let taken = meter.steals.get().wrapping_add(meter.injected.get());
        [meter.searches.get(), taken, sleep.sleeps, sleep.guests, top, bottom]
    }

    fn call_handler(&self, handler: &dyn Fn()) {
        self.call_handler(handler);
    }

    fn start_watch(&self, name: &'static str, run: Box<Watch>) -> io::Result<()> {
        let recruiter = faulty!(
            "alarm/lookout-unaccounted",
            Arc::clone(&self.recruiter),
            Recruiter::new(0, self.recruiter.stack_size())
        );
        // If the pool has ended, there is nothing to watch.
        let Some(presence) = recruiter.expect(Role::Watch(name)) else { return Ok(()) };
        presence.start(Box::new(move |presence: &Presence| {
            run(&|handler| presence.while_busy(handler));
        }))
    }

    fn current_in(pool: usize) -> Option<usize> {
        let is_of = |worker: &&WorkerThread| Arc::as_ptr(worker.registry()).addr() == pool;
        WorkerThread::with_current(|worker| worker.filter(is_of).map(WorkerThread::index))
    }
}
