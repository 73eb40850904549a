//! Models of drowse's lock-free parts, and of the whole pool. Each has at least one mutant that it
//! must catch: see `mutants.txt`, and `cargo xtask mutants`.
//!
//! Under loom, which knows weak memory and tries every interleaving of two or three threads (of
//! three, those with few preemptions; each model says which):
//!
//! | test file | shows |
//! |---|---|
//! | `loom_litmus` | what fences promise, and that the model's promise no more than the real ones |
//! | `loom_block` | a thread that blocks is woken, and sees what was written for it |
//! | `loom_latch` | a set latch wakes its owner, brings the result, and is not touched again |
//! | `loom_inject` | a job from outside is run although workers fall asleep; a pool ends after it |
//! | `loom_local` | a job on a worker's deque is run by another that falls asleep |
//! | `loom_broadcast` | a job that is left for one worker is run by it although it falls asleep |
//! | `loom_baton` | a worker that stops searching sees to the jobs whose posts have counted on it |
//! | `loom_counter` | the counter of `jec` keeps sleepy workers awake, and may come round |
//! | `loom_deadlock` | the pool is suspect when one worker blocks and the other sleeps |
//! | `loom_lookout` | a suspicion is heard out: no alarm if somebody moved, one if nobody did |
//! | `loom_deque` | each item is taken once, by owner or thief, also while the deque grows |
//! | `loom_fences` | light fences that come late, and go, let one side see |
//! | `loom_placement` | a sleeper that is sent elsewhere arrives when it was let go, not before |
//! | `loom_two_sleepers` | one of two workers that fall asleep at once runs the job |
//! | `loom_sentry` | who relied on a sentry that was not to be had is not forgotten |
//! | `loom_defer` | what a worker posts while wakes are deferred is looked after |
//! | `loom_seat` | a guest and a worker have one seat by turns, and what comes meanwhile is done |
//! | `loom_absent` | a worker whose thread leaves misses no news, and gets another thread for it |
//! | `loom_alone` | a worker that sleeps alone wakes for its latch, and when it is called |
//! | `loom_lineage` | whoever looks which job a worker is in the middle of sees no mixture |
//! | `loom_placeholder` | a job that a worker takes before its turn is run once |
//! | `loom_places` | a place is held by one at a time, and whoever waits for it gets it |
//! | `loom_last_look` | a worker whose last look found something leaves its slot |
//! | `loom_stock` | a scope ends when all its jobs have ended, though workers hold counts of it |
//! | `loom_slab` | memory for jobs is freed when all who use it are done, and not before |
//! | `loom_bound` | no more jobs than so many are under way, one after the other in each place |
//! | `loom_cancel` | whoever is told that a scope was cancelled sees what was done before |
//! | `loom_replaceable` | what many use is taken away when nobody uses it |
//! | `loom_engine` | the real engine wakes a worker, brings results and panics, and ends |
//!
//! The models of sleep are made for each protocol: [`for_each_protocol`]. They also show that
//! nobody is counted as searching or asleep when all is over.
//!
//! Under shuttle, which knows no weak memory, but runs the real pool on many threads, in random
//! schedules:
//!
//! | test file | shows |
//! |---|---|
//! | `shuttle_pool` | every job runs once, everyone who waits is woken, every worker ends |
//! | `shuttle_guests` | guests are served and woken, and what they leave is done |
//! | `shuttle_absent` | the same, where threads come when they are needed, and leave |
//! | `shuttle_isolation` | in isolation whoever waits runs descendants only, and is woken |
//! | `shuttle_fifo` | in isolation the jobs of a fifo are run once, and in their order |
//! | `shuttle_places` | workers that block are stood in for, and no two share an index |
//! | `shuttle_one_spare` | what is left in a place is run, where there is one spare for all |
//! | `shuttle_deadlock` | the deadlock handler is called when every worker is stuck |
//!
//! This library is what the models share.

use drowse_sleep::{LatchWord, Reason, Sleep, Waker};
use drowse_sync::atomic::{AtomicU32, Ordering};
use drowse_sync::cell::UnsafeCell;

#[cfg(not(drowse_shuttle))]
mod faulty;
mod protocols;
#[cfg(all(drowse_loom, target_os = "linux", target_pointer_width = "64"))]
mod stacks;

pub use protocols::*;
#[cfg(all(drowse_loom, target_os = "linux", target_pointer_width = "64"))]
pub use stacks::stacks_used_again;

/// Makes a test of each of these models, for each protocol: `sleepy::model`, `jec::model` and so
/// on. A new protocol is one name here and one function in each half of `protocols.rs`. Options are
/// left out: they change whom a post wakes, which the test of all words tries, and no fence or
/// look.
#[macro_export]
macro_rules! for_each_protocol {
    ($($model:ident),+ $(,)?) => {
        $crate::for_protocols!([sleepy, counters, jec, relay] $($model),+);
    };
}

/// As [`for_each_protocol`], for those protocols only.
#[macro_export]
macro_rules! for_protocols {
    ([] $($model:ident),+) => {};
    ([$protocol:ident $(, $others:ident)*] $($model:ident),+) => {
        mod $protocol {
            $(#[test]
            fn $model() {
                super::$model($crate::$protocol);
            })+
        }
        $crate::for_protocols!([$($others),*] $($model),+);
    };
}

/// Something that one thread writes and another takes, with nothing of its own to order the two.
/// Loom fails the model if nothing else orders them either; we do if it is taken twice, or before
/// it is there.
#[derive(Debug)]
pub struct Parcel(UnsafeCell<Option<u32>>);

// SAFETY: it is not, that is the point: the models show that each access comes before or after
// every other.
unsafe impl Sync for Parcel {}

impl Parcel {
    /// A parcel with nothing in it.
    pub fn empty() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// A parcel with a value in it.
    pub fn of(value: u32) -> Self {
        Self(UnsafeCell::new(Some(value)))
    }

    /// Puts a value in.
    pub fn put(&self, value: u32) {
        // SAFETY: loom checks that no other access is under way.
        let old = self.0.with_mut(|slot| unsafe { (*slot).replace(value) });
        assert_eq!(old, None, "the parcel was full");
    }

    /// Takes the value out.
    pub fn take(&self) -> u32 {
        // SAFETY: as above.
        self.0.with_mut(|slot| unsafe { (*slot).take() }).expect("the parcel was empty")
    }
}

/// A worker that has light fences posts what it has pushed just now, as a push does.
pub fn post_pushed(sleep: &Sleep) {
    drowse_sync::light_fence("");
    sleep.post(1, &|| true);
}

/// Jobs that are all alike. As weak as a deque: publishing is a release, looking orders nothing.
#[derive(Debug)]
pub struct Jobs(AtomicU32);

impl Jobs {
    /// None.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Publishes one, and tells nobody.
    pub fn publish(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Publishes one, from outside.
    pub fn post(&self, sleep: &Sleep) {
        self.publish();
        sleep.post_injected(1, &|| true);
    }

    /// Publishes one, as a worker.
    pub fn post_as_worker(&self, sleep: &Sleep) {
        self.publish();
        drowse_sync::full_fence("");
        sleep.post(1, &|| true);
    }

    /// Whether there seem to be any.
    pub fn visible(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Takes one.
    pub fn take(&self) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        let taken =
            || self.0.compare_exchange(seen, seen - 1, Ordering::Acquire, Ordering::Relaxed);
        seen > 0 && taken().is_ok()
    }
}

/// Where the workers of a model look for jobs.
pub trait Board {
    /// What they find.
    type Job;

    /// Takes a job, from wherever this worker may.
    fn find(&self, worker: usize) -> Option<Self::Job>;

    /// Whether there is a job that anyone may take.
    fn work_visible(&self) -> bool;

    /// Whether there is a job that only this worker may take.
    fn has_letter(&self, _worker: usize) -> bool {
        false
    }

    /// Runs a job.
    fn run(&self, worker: usize, job: Self::Job);
}

/// The loop of a worker that waits for a latch: what `WorkerThread::wait_until` does in the engine,
/// in short. `loom_engine` and the models under shuttle run the real one.
pub fn wait_until<B: Board>(sleep: &Sleep, worker: usize, latch: &LatchWord, board: &B) {
    while !latch.probe() {
        let mut idle = sleep.start_looking(worker);
        let mut found = None;
        while found.is_none() && !latch.probe() {
            found = board.find(worker);
            if found.is_none() {
                sleep.no_work_found(&mut idle, latch, &|| {
                    board.work_visible() || board.has_letter(worker)
                });
            }
        }
        sleep.stop_looking(idle, || board.work_visible());
        if let Some(job) = found {
            board.run(worker, job);
        }
    }
}

/// Sets a worker's latch, and wakes the worker if it sleeps on it.
pub fn set_latch(sleep: &Sleep, worker: usize, latch: &LatchWord) {
    // SAFETY: the latch is borrowed, so it is alive.
    let slept = unsafe { LatchWord::set(latch) };
    sleep.latch_set(worker, slept, Reason::Latch, || Waker::MayStop);
}

/// Demands that nobody is counted as inactive or asleep: all workers have come to an end.
pub fn assert_nobody_counted(sleep: &Sleep) {
    assert!(sleep.is_clear(), "somebody is still counted: {sleep:?}");
}

#[cfg(drowse_loom)]
mod explore {
    /// Checks `model` in every interleaving and with every value that a weak memory may show.
    pub fn every_interleaving(model: impl Fn() + Sync + Send + 'static) {
        explore(None, None, model);
    }

    /// As [`every_interleaving`], but only with up to so many preemptions: switches away from a
    /// thread that could have gone on.
    pub fn with_preemptions(bound: usize, model: impl Fn() + Sync + Send + 'static) {
        explore(Some(bound), None, model);
    }

    /// The first of those schedules, and no more than `most`: for models of so many steps that all
    /// would take too long.
    pub fn some_with_preemptions(
        bound: usize,
        most: usize,
        model: impl Fn() + Sync + Send + 'static,
    ) {
        explore(Some(bound), Some(most), model);
    }

    fn explore(
        bound: Option<usize>,
        most: Option<usize>,
        model: impl Fn() + Sync + Send + 'static,
    ) {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        crate::stacks_used_again();
        let mut builder = loom::model::Builder::new();
        builder.max_permutations = most;
        // Not what the environment says: each model knows what it can afford.
        builder.preemption_bound = bound;
        builder.check(move || {
            drowse_sync::LightFences::prepare();
            model();
        });
    }
}
#[cfg(drowse_loom)]
pub use explore::{every_interleaving, some_with_preemptions, with_preemptions};

#[cfg(drowse_shuttle)]
pub use pool::{Gate, mutual_wait, random_schedules, with_pool, with_pool_of};

#[cfg(drowse_shuttle)]
mod pool {
    use crate::Choose;
    use drowse::{ThreadPool, ThreadPoolBuilder};
    use drowse_sync::{Condvar, Mutex, thread};

    /// Runs `model` under so many random schedules, half of them with few preemptions at telling
    /// places.
    pub fn random_schedules(schedules: usize, model: impl Fn() + Clone + Sync + Send + 'static) {
        shuttle::check_random(model.clone(), schedules / 2);
        shuttle::check_pct(model, schedules / 2, 3);
    }

    /// Calls `f` with a pool of so many workers that sleep by that protocol, drops the pool, and
    /// waits until they have ended.
    pub fn with_pool(choose: Choose, workers: usize, f: impl FnOnce(&ThreadPool)) {
        with_pool_of(ThreadPoolBuilder::new().num_threads(workers).sleep_protocol(choose()), f);
    }

    /// As [`with_pool`], with a pool configured otherwise.
    pub fn with_pool_of(builder: ThreadPoolBuilder, f: impl FnOnce(&ThreadPool)) {
        let mut handles = Vec::new();
        let pool = builder
            .spawn_handler(|worker| {
                handles.push(thread::Builder::new().spawn(|| worker.run())?);
                Ok(())
            })
            .build()
            .unwrap();
        f(&pool);
        drop(pool);
        for handle in handles {
            handle.join().unwrap();
        }
    }

    /// Two halves of a join, each of which waits for the other.
    pub fn mutual_wait(pool: &ThreadPool) {
        let (a, b) = (Gate::new(), Gate::new());
        pool.join(
            || {
                a.open();
                b.pass();
            },
            || {
                a.pass();
                b.open();
            },
        );
    }

    /// Lets nobody pass until it was opened.
    #[derive(Debug)]
    pub struct Gate {
        is_open: Mutex<bool>,
        opened: Condvar,
    }

    impl Gate {
        /// A closed gate.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self { is_open: Mutex::new(false), opened: Condvar::new() }
        }

        /// Opens it, for good.
        pub fn open(&self) {
            *self.is_open.lock() = true;
            self.opened.notify_one();
        }

        /// Waits until it is open. For one thread.
        pub fn pass(&self) {
            let mut is_open = self.is_open.lock();
            while !*is_open {
                is_open = self.opened.wait(is_open);
            }
        }
    }
}
