//! A worker that sleeps alone: until its latch is set, or somebody calls it.
#![cfg(drowse_loom)]

use drowse::model::deque::{self, Owner, Steal, Stealer};
use drowse_models::{
    Board, Jobs, MakeSleep, Parcel, assert_nobody_counted, every_interleaving, for_protocols,
    set_latch, wait_until, with_preemptions,
};
use drowse_sleep::{LatchWord, Sleep};
use drowse_sync::{Arc, thread, without_light_fences};
use std::cell::Cell;
use std::ptr::{self, NonNull};

drowse_sync::thread_local! {
    /// Who pushes on this thread.
    static PUSHER: Cell<*const Pusher> = const { Cell::new(ptr::null()) };
}

/// Worker 0 sleeps alone, and wants what worker 1 pushes.
struct Pusher {
    sleep: Sleep,
    never: LatchWord,
    deque: Stealer<Parcel>,
    job: Parcel,
}

impl Pusher {
    /// What the engine does after a push that left the fast path.
    fn call(_: &Owner<Parcel>, _: bool) -> bool {
        // SAFETY: set by `run`, which holds it.
        let Some(pusher) = (unsafe { PUSHER.with(Cell::get).as_ref() }) else { return false };
        if pusher.sleep.sleeps_alone(0) {
            pusher.sleep.call(0);
        }
        false
    }

    /// `before` is what the pusher does first.
    fn run(make: MakeSleep, before: fn(&Owner<Parcel>)) {
        let (owner, deque) = deque::new(4);
        let owner = owner.with_hook(Self::call);
        let this = Self { sleep: make(2), never: LatchWord::new(), deque, job: Parcel::empty() };
        let this = Arc::new(this);
        let waiter = Arc::clone(&this);
        let waiter = thread::spawn(move || waiter.steal());
        PUSHER.with(|pusher| pusher.set(&raw const *this));
        before(&owner);
        this.job.put(42);
        owner.push(NonNull::from(&this.job));
        waiter.join().unwrap();
        assert!(!this.sleep.sleeps_alone(0));
    }

    fn steal(&self) {
        let has_news = || Stealer::listen_to(|| std::iter::once((&self.deque, 0)));
        loop {
            match self.deque.steal_by_force() {
                // SAFETY: it is ours, and we are alive.
                Steal::Success(job) => return assert_eq!(unsafe { job.as_ref() }.take(), 42),
                Steal::Retry | Steal::Private => {}
                Steal::Empty => self.sleep.sleep_alone(0, &self.never, &has_news, &|| false),
            }
        }
    }
}

/// Nothing but the push tells it that there is something to steal.
fn a_push_wakes_it(make: MakeSleep) {
    with_preemptions(3, move || Pusher::run(make, |_| ()));
}

fn a_push_without_light_fences_wakes_it(make: MakeSleep) {
    with_preemptions(3, move || {
        without_light_fences();
        Pusher::run(make, |owner| owner.warm_up());
    });
}

/// The pusher was asked before, and raises its limit with its push.
fn a_push_that_was_asked_for_wakes_it(make: MakeSleep) {
    with_preemptions(3, move || Pusher::run(make, |owner| owner.share_next()));
}

/// A pool of one worker that waits alone, or of two, where the other one does not. What is done for
/// the first one is in the parcel.
struct Pool {
    sleep: Sleep,
    latch: LatchWord,
    result: Parcel,
    /// For the first worker only.
    news: Jobs,
    /// For the other one.
    jobs: Jobs,
    home: LatchWord,
}

impl Board for Pool {
    type Job = ();

    fn find(&self, _worker: usize) -> Option<()> {
        self.jobs.take().then_some(())
    }

    fn work_visible(&self) -> bool {
        self.jobs.visible()
    }

    fn run(&self, worker: usize, _job: ()) {
        self.finish();
        set_latch(&self.sleep, worker, &self.home);
    }
}

impl Pool {
    fn new(make: MakeSleep, workers: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: make(workers),
            latch: LatchWord::new(),
            result: Parcel::empty(),
            news: Jobs::new(),
            jobs: Jobs::new(),
            home: LatchWord::new(),
        })
    }

    fn start(self: &Arc<Self>, work: fn(&Self)) -> thread::JoinHandle<()> {
        let pool = Arc::clone(self);
        thread::spawn(move || work(&pool))
    }

    /// Sets the latch that the first worker waits for.
    fn finish(&self) {
        self.result.put(42);
        set_latch(&self.sleep, 0, &self.latch);
    }

    /// Leaves something that the first worker alone may do.
    fn call(&self) {
        self.news.publish();
        self.sleep.call(0);
    }

    /// What `WorkerThread::wait_isolated` does, in short. `run` is told that there was news.
    fn wait_alone(&self, run: impl Fn()) {
        while !self.latch.probe() {
            if self.news.take() {
                run();
            } else {
                self.sleep.sleep_alone(0, &self.latch, &|| self.news.visible(), &|| false);
            }
        }
        assert_eq!(self.result.take(), 42);
    }
}

fn a_latch_that_is_set_wakes_it(make: MakeSleep) {
    every_interleaving(move || {
        let pool = Pool::new(make, 1);
        let setter = pool.start(Pool::finish);
        pool.wait_alone(|| unreachable!("there is no news"));
        setter.join().unwrap();
        assert!(!pool.sleep.sleeps_alone(0));
        assert_nobody_counted(&pool.sleep);
    });
}

fn a_call_wakes_it(make: MakeSleep) {
    every_interleaving(move || {
        let pool = Pool::new(make, 1);
        let caller = pool.start(Pool::call);
        pool.wait_alone(|| pool.finish());
        caller.join().unwrap();
        assert!(!pool.sleep.sleeps_alone(0));
        assert_nobody_counted(&pool.sleep);
    });
}

/// One that was called wakes for its latch all the same.
fn a_call_does_not_hide_the_latch(make: MakeSleep) {
    with_preemptions(3, move || {
        let pool = Pool::new(make, 1);
        let (caller, setter) = (pool.start(Pool::call), pool.start(Pool::finish));
        pool.wait_alone(|| ());
        caller.join().unwrap();
        setter.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

/// No post relies on it: the other one is woken.
fn a_job_for_anybody_is_not_left_to_it(make: MakeSleep) {
    with_preemptions(2, move || {
        let pool = Pool::new(make, 2);
        let other = pool.start(|pool| wait_until(&pool.sleep, 1, &pool.home, pool));
        let poster = pool.start(|pool| pool.jobs.post(&pool.sleep));
        pool.wait_alone(|| unreachable!("there is no news"));
        poster.join().unwrap();
        other.join().unwrap();
        assert_nobody_counted(&pool.sleep);
    });
}

// To sleep alone has to do with the protocol only in what its latches are told otherwise.
for_protocols!(
    [sleepy, counters] a_latch_that_is_set_wakes_it,
    a_call_wakes_it,
    a_call_does_not_hide_the_latch,
    a_job_for_anybody_is_not_left_to_it,
    a_push_wakes_it,
    a_push_without_light_fences_wakes_it,
    a_push_that_was_asked_for_wakes_it
);
