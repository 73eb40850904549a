//! Jobs on a worker's own deque against the sleep of the others.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Owner, Steal, Stealer};
use drowse_models::{
    Board, MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_each_protocol,
    for_protocols, set_latch, wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::{Arc, thread, without_light_fences};
use std::ptr::NonNull;

/// Worker 0 is active: it posts jobs on its own deque. The others steal them.
struct Local {
    sleep: Sleep,
    /// Set when the job is done: worker 1 may go home.
    done: LatchWord,
    deque: Stealer<Parcel>,
    job: Parcel,
}

impl Local {
    fn new(make: MakeSleep) -> (Owner<Parcel>, Arc<Self>) {
        let (owner, deque) = deque::new(2);
        let pool = Self { sleep: make(2), done: LatchWord::new(), deque, job: Parcel::empty() };
        (owner, Arc::new(pool))
    }

    /// What `WorkerThread::push` does.
    fn push(&self, owner: &Owner<Parcel>) {
        self.job.put(42);
        owner.push(NonNull::from(&self.job));
        self.sleep.post(1, owner);
    }

    fn start_thief(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || wait_until(&pool.sleep, 1, &pool.done, &*pool))
    }
}

impl Board for Local {
    type Job = NonNull<Parcel>;

    fn find(&self, _worker: usize) -> Option<NonNull<Parcel>> {
        loop {
            match self.deque.steal_by_force() {
                Steal::Success(job) => return Some(job),
                Steal::Retry | Steal::Private => {}
                Steal::Empty => return None,
            }
        }
    }

    fn work_visible(&self) -> bool {
        !self.deque.is_empty()
    }

    fn run(&self, worker: usize, job: NonNull<Parcel>) {
        // SAFETY: the job is part of the pool, which the thread holds.
        assert_eq!(unsafe { job.as_ref() }.take(), 42);
        set_latch(&self.sleep, worker, &self.done);
    }
}

fn mutual_wait(make: MakeSleep) {
    let (owner, pool) = Local::new(make);
    let thief = pool.start_thief();
    pool.push(&owner);
    thief.join().unwrap();
    assert_nobody_counted(&pool.sleep);
}

fn a_sleeper_runs_a_job_that_its_poster_never_takes_back(make: MakeSleep) {
    every_interleaving(move || mutual_wait(make));
}

/// The poster had light fences before it rested, and gets new ones with this very push.
fn a_sleeper_runs_the_job_of_a_poster_that_has_rested(make: MakeSleep) {
    with_preemptions(2, move || {
        let (owner, pool) = Local::new(make);
        owner.rest();
        let thief = pool.start_thief();
        pool.push(&owner);
        thief.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

fn a_sleeper_runs_the_job_without_light_fences(make: MakeSleep) {
    every_interleaving(move || {
        without_light_fences();
        mutual_wait(make);
    });
}

/// The poster becomes inactive: nobody is active any more, and a worker that falls asleep does
/// without the heavy fence that would go with the light one of the post.
fn a_sleeper_runs_the_job_of_a_poster_that_became_inactive(make: MakeSleep) {
    with_preemptions(6, move || {
        let (owner, pool) = Local::new(make);
        let thief = pool.start_thief();
        pool.push(&owner);
        let idle = pool.sleep.start_looking(0);
        thief.join().unwrap();
        pool.sleep.stop_looking(idle, || pool.work_visible());
        assert_nobody_counted(&pool.sleep);
    });
}

/// A `join` whose first half has spawned a job asks for its second half and finds the spawned job
/// in its place. While it looks it must not hide that job from a worker that falls asleep.
fn a_job_that_a_failed_take_back_uncovers_is_not_lost(make: MakeSleep) {
    with_preemptions(3, move || {
        let (owner, pool) = Local::new(make);
        let thief = pool.start_thief();
        pool.push(&owner);
        let other = Parcel::empty();
        assert!(!owner.take_back(NonNull::from(&other)));
        thief.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// Those who fall asleep pass by the deques of sleepers. One of those is woken, and posts a job.
fn a_job_of_one_who_slept_is_not_passed_by(make: MakeSleep) {
    with_preemptions(2, move || {
        let (owner, deque) = deque::new(2);
        let local = Local { sleep: make(2), done: LatchWord::new(), deque, job: Parcel::empty() };
        let pool = Arc::new(PassesSleepers { local, wake: LatchWord::new() });
        let thief = thread::spawn({
            let pool = Arc::clone(&pool);
            move || wait_until(&pool.local.sleep, 1, &pool.local.done, &*pool)
        });
        let sleeper = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                let mut idle = pool.local.sleep.start_looking(0);
                while !pool.wake.probe() {
                    pool.local.sleep.no_work_found(&mut idle, &pool.wake, &|| false);
                }
                pool.local.sleep.stop_looking(idle, || false);
                pool.local.push(&owner);
            }
        });
        set_latch(&pool.local.sleep, 0, &pool.wake);
        sleeper.join().unwrap();
        thief.join().unwrap();
    });
}

struct PassesSleepers {
    local: Local,
    /// Worker 0 sleeps until this is set.
    wake: LatchWord,
}

impl Board for PassesSleepers {
    type Job = NonNull<Parcel>;

    fn find(&self, worker: usize) -> Option<NonNull<Parcel>> {
        if self.local.sleep.is_asleep(0) { None } else { self.local.find(worker) }
    }

    fn work_visible(&self) -> bool {
        !self.local.sleep.is_asleep(0) && self.local.work_visible()
    }

    fn run(&self, worker: usize, job: NonNull<Parcel>) {
        self.local.run(worker, job);
    }
}

for_each_protocol!(
    a_sleeper_runs_a_job_that_its_poster_never_takes_back,
    a_sleeper_runs_the_job_of_a_poster_that_has_rested,
    a_sleeper_runs_the_job_without_light_fences,
    a_sleeper_runs_the_job_of_a_poster_that_became_inactive,
    a_job_that_a_failed_take_back_uncovers_is_not_lost
);
for_protocols!([counters_explored] a_sleeper_runs_a_job_that_its_poster_never_takes_back);

mod passing_by {
    use super::a_job_of_one_who_slept_is_not_passed_by;
    use drowse_models::for_protocols;
    for_protocols!([counters] a_job_of_one_who_slept_is_not_passed_by);
}
