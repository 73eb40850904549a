//! Counts in stock: a scope ends when all its jobs have ended, and not before.
#![cfg(drowse_loom)]

use drowse::model::{Count, Stock};
use drowse_models::{Parcel, every_interleaving, with_preemptions};
use drowse_sync::{Arc, thread};
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;

/// A scope in the frame of the thread that has opened it, as it were, and what its jobs bring.
struct Frame<const JOBS: usize> {
    count: UnsafeCell<ManuallyDrop<Count>>,
    parcels: [Parcel; JOBS],
}

// SAFETY: the count is made to be shared, and the model shows that it is not when it is gone.
unsafe impl<const JOBS: usize> Sync for Frame<JOBS> {}

impl<const JOBS: usize> Frame<JOBS> {
    /// A scope whose closure has spawned so many jobs.
    fn new(spawned: usize) -> Arc<Self> {
        Arc::new(Self {
            count: UnsafeCell::new(ManuallyDrop::new(Count::new(1 + spawned))),
            parcels: std::array::from_fn(|_| Parcel::empty()),
        })
    }

    fn count(&self) -> *const Count {
        self.count.get().cast()
    }

    /// Spawns a job, as part of another one.
    fn spawn(&self, stock: &Stock) {
        // SAFETY: the other one has not ended.
        unsafe { stock.take(self.count()) };
    }

    /// Runs this job.
    fn run(&self, job: usize, stock: &Stock, body: impl FnOnce()) {
        body();
        self.parcels[job].put(42);
        // SAFETY: the count is the job's, and keeps the scope.
        unsafe { stock.put(self.count()) };
    }

    /// Ends the scope's closure, waits, and demands that every job has run.
    fn complete(&self) {
        // SAFETY: alive until it is dropped below, when all who use it have told us so. The count
        // is that of the closure.
        unsafe {
            Count::count_down(self.count());
            (*self.count()).wait();
            ManuallyDrop::drop(&mut *self.count.get());
        }
        for parcel in &self.parcels {
            assert_eq!(parcel.take(), 42);
        }
    }
}

#[test]
fn a_scope_ends_when_the_jobs_of_two_workers_have() {
    with_preemptions(3, || {
        let frame = Frame::<3>::new(2);
        let workers = [0, 1].map(|job| {
            let frame = Arc::clone(&frame);
            thread::spawn(move || {
                let stock = Stock::new();
                frame.run(job, &stock, || {
                    if job == 0 {
                        frame.spawn(&stock);
                    }
                });
                if job == 0 {
                    frame.run(2, &stock, || ());
                }
                stock.settle();
            })
        });
        frame.complete();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn a_scope_waits_for_jobs_whose_counts_came_from_a_stock() {
    with_preemptions(3, || {
        let frame = Frame::<4>::new(1);
        let worker = thread::spawn({
            let frame = Arc::clone(&frame);
            move || {
                let (stock, mut thief) = (Stock::new(), None);
                frame.run(0, &stock, || {
                    // The first takes one count, the second two, of which it leaves one for the
                    // third.
                    (0..3).for_each(|_| frame.spawn(&stock));
                    let frame = Arc::clone(&frame);
                    thief = Some(thread::spawn(move || {
                        let stock = Stock::new();
                        frame.run(1, &stock, || ());
                        frame.run(2, &stock, || ());
                        stock.settle();
                    }));
                });
                frame.run(3, &stock, || ());
                stock.settle();
                thief.unwrap().join().unwrap();
            }
        });
        frame.complete();
        worker.join().unwrap();
    });
}

#[test]
fn a_worker_does_not_mix_the_counts_of_two_scopes() {
    every_interleaving(|| {
        let frames = [Frame::<2>::new(2), Frame::<2>::new(2)];
        let worker = thread::spawn({
            let frames = frames.clone();
            move || {
                let stock = Stock::new();
                for job in 0..2 {
                    frames.iter().for_each(|frame| frame.run(job, &stock, || ()));
                }
            }
        });
        frames.iter().for_each(|frame| frame.complete());
        worker.join().unwrap();
    });
}
