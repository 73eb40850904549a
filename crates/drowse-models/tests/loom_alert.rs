//! Workers that do not look for sleepers with each push, but when they have been alerted.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Owner, Steal, Stealer};
use drowse_models::{
    Board, MakeSleep, Parcel, assert_nobody_counted, for_each_protocol, set_latch, wait_until,
    with_preemptions,
};
use drowse_sleep::{LatchWord, Posters, Sleep};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, thread, without_light_fences};
use std::cell::Cell;
use std::ptr::{self, NonNull};

drowse_sync::thread_local! {
    /// The sleep of the pool that this thread pushes in.
    static SLEEP: Cell<*const Sleep> = const { Cell::new(ptr::null()) };
}

/// What the engine does after a push that left the fast path.
fn after_slow_push(owner: &Owner<Parcel>, _: bool) -> bool {
    // SAFETY: set by `push`, which holds the pool.
    let Some(sleep) = (unsafe { SLEEP.with(Cell::get).as_ref() }) else { return false };
    sleep.post(1, owner);
    sleep.has_sleepers()
}

#[derive(Debug)]
struct Deques(Stealer<Parcel>);

impl Posters for Deques {
    fn alert(&self, worker: usize) {
        if worker == 0 {
            self.0.alert();
        }
    }
}

/// Worker 0 is active: it pushes jobs. Worker 1 steals them.
struct Pool {
    sleep: Sleep,
    done: LatchWord,
    deque: Stealer<Parcel>,
    jobs: [Parcel; 2],
    /// How many of them have not run.
    left: AtomicUsize,
}

impl Pool {
    fn new(make: MakeSleep, jobs: usize) -> (Owner<Parcel>, Arc<Self>) {
        let (owner, deque) = deque::new(4);
        let sleep = make(2).with_posters(Arc::new(Deques(deque.clone())) as Arc<dyn Posters>);
        let (jobs, left) = ([Parcel::empty(), Parcel::empty()], AtomicUsize::new(jobs));
        let pool = Self { sleep, done: LatchWord::new(), deque, jobs, left };
        (owner.with_hook(after_slow_push), Arc::new(pool))
    }

    fn push(&self, owner: &Owner<Parcel>, job: usize) {
        SLEEP.with(|sleep| sleep.set(&raw const self.sleep));
        self.jobs[job].put(42);
        owner.push(NonNull::from(&self.jobs[job]));
    }

    /// Pushes as a join does.
    fn fork(&self, owner: &Owner<Parcel>, job: usize) {
        SLEEP.with(|sleep| sleep.set(&raw const self.sleep));
        self.jobs[job].put(42);
        let (end, item) = (owner.end(), NonNull::from(&self.jobs[job]));
        // SAFETY: it is the owner's own end.
        let is_pushed = unsafe { !end.push(end.position(), item) || end.pushed_fenced() };
        if !is_pushed {
            owner.pushed_slow(true);
        }
    }

    fn start_thief(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || wait_until(&pool.sleep, 1, &pool.done, &*pool))
    }
}

impl Board for Pool {
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
        // ORDERING: relaxed; the thief alone counts.
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            set_latch(&self.sleep, worker, &self.done);
        }
    }
}

fn run(make: MakeSleep, jobs: usize, before: impl FnOnce(&Pool, &Owner<Parcel>)) {
    let (owner, pool) = Pool::new(make, jobs);
    let thief = pool.start_thief();
    before(&pool, &owner);
    (0..jobs).for_each(|job| pool.push(&owner, job));
    thief.join().unwrap();
    assert_nobody_counted(&pool.sleep);
}

fn a_sleeper_is_seen(make: MakeSleep) {
    with_preemptions(3, move || run(make, 1, |_, _| ()));
}

fn a_sleeper_is_seen_without_light_fences(make: MakeSleep) {
    with_preemptions(3, move || {
        without_light_fences();
        // Once it knows that, its pushes are short.
        run(make, 1, |_, owner| owner.warm_up());
    });
}

fn a_sleeper_is_seen_by_a_join(make: MakeSleep) {
    with_preemptions(3, move || run_fork(make));
}

fn a_sleeper_is_seen_by_a_join_without_light_fences(make: MakeSleep) {
    with_preemptions(3, move || {
        without_light_fences();
        run_fork(make);
    });
}

fn run_fork(make: MakeSleep) {
    let (owner, pool) = Pool::new(make, 1);
    let thief = pool.start_thief();
    owner.warm_up();
    pool.fork(&owner, 0);
    thief.join().unwrap();
    assert_nobody_counted(&pool.sleep);
}

/// The owner rests, and overwrites its limit, as somebody falls asleep.
fn a_sleeper_is_seen_by_one_who_has_rested(make: MakeSleep) {
    with_preemptions(3, move || run(make, 1, |_, owner| owner.rest()));
}

/// The owner was asked for something, and raises its limit again, as somebody falls asleep whom its
/// next push must find.
fn a_sleeper_is_seen_by_one_who_raises_its_limit(make: MakeSleep) {
    with_preemptions(2, move || run(make, 2, |_, owner| owner.share_next()));
}

/// The owner was inactive when somebody fell asleep, who did without a heavy fence.
fn a_sleeper_is_seen_by_one_who_gets_active(make: MakeSleep) {
    with_preemptions(3, move || {
        run(make, 1, |pool, _| {
            let idle = pool.sleep.start_looking(0);
            pool.sleep.stop_looking(idle, || pool.work_visible());
        });
    });
}

for_each_protocol!(
    a_sleeper_is_seen,
    a_sleeper_is_seen_without_light_fences,
    a_sleeper_is_seen_by_a_join,
    a_sleeper_is_seen_by_a_join_without_light_fences,
    a_sleeper_is_seen_by_one_who_has_rested,
    a_sleeper_is_seen_by_one_who_raises_its_limit,
    a_sleeper_is_seen_by_one_who_gets_active,
);
