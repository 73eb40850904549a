//! A post counts on those who are searching. When one of them stops, and nobody else searches, it
//! passes the baton: somebody is woken if there is work. All counts here are exact: a gate holds
//! those who were woken, so that they neither find anything nor go back to sleep until the test
//! says so.

use crate::common::books::{assert_wakes, at_rest, since};
use crate::common::{until, watchdog};
use drowse::{
    Counters, Idleness, Metrics, Reason, SleepProtocol, ThreadPool, ThreadPoolBuilder, WakeSize,
};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Condvar, Mutex};

const WIDTH: usize = 8;

const fn counters(idleness: Idleness, wake: WakeSize) -> SleepProtocol {
    SleepProtocol::Counters(Counters { idleness, wake })
}

const COUNTERS: [SleepProtocol; 4] = [
    counters(Idleness::Counted, WakeSize::Needed),
    counters(Idleness::Counted, WakeSize::PowerOfTwo),
    counters(Idleness::LocalQueue, WakeSize::Needed),
    counters(Idleness::LocalQueue, WakeSize::PowerOfTwo),
];

/// Where a worker comes through when it was woken, before it searches.
#[derive(Default)]
struct Gate {
    closed: Mutex<bool>,
    moved: Condvar,
}

impl Gate {
    fn set(&self, closed: bool) {
        *self.closed.lock().unwrap() = closed;
        self.moved.notify_all();
    }

    fn pass(&self) {
        drop(self.moved.wait_while(self.closed.lock().unwrap(), |closed| *closed).unwrap());
    }
}

fn gated(protocol: SleepProtocol) -> (Arc<ThreadPool>, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let at_gate = Arc::clone(&gate);
    let builder = ThreadPoolBuilder::new().num_threads(WIDTH).sleep_protocol(protocol);
    (Arc::new(builder.acquire_thread_handler(move || at_gate.pass()).build().unwrap()), gate)
}

/// Three jobs from outside, posted before anybody who is woken can take one; and they all run at
/// once.
#[track_caller]
fn three_jobs(protocol: SleepProtocol) -> Metrics {
    let ((pool, gate), (sender, done)) = (gated(protocol), mpsc::channel());
    let before = at_rest(&pool, WIDTH);
    gate.set(true);
    let all_three = Arc::new(Barrier::new(3));
    for _ in 0..3 {
        let (all_three, sender) = (Arc::clone(&all_three), sender.clone());
        pool.spawn(move || {
            all_three.wait();
            sender.send(()).unwrap();
        });
    }
    gate.set(false);
    assert_eq!(done.iter().take(3).count(), 3);
    since(&pool, &before)
}

/// The first job wakes one, who will search: enough, by the count, for the second and the third.
/// But it finds one job only, and wakes the next as it stops searching, and that one the third.
#[test]
fn where_one_is_counted_on_by_all_it_passes_the_baton() {
    watchdog(|| {
        for protocol in COUNTERS {
            assert_wakes(&three_jobs(protocol), &[(Reason::Job, 1), (Reason::Baton, 2)]);
        }
    });
}

/// The second and the third see that there is a backlog, and wake one each. So there is no baton to
/// pass.
#[test]
fn where_a_backlog_counts_each_job_wakes_its_own() {
    watchdog(|| assert_wakes(&three_jobs(SleepProtocol::Jec), &[(Reason::Job, 3)]));
}

/// The first job wakes everybody; then there is nobody left to wake.
#[test]
fn where_everybody_is_woken_the_first_job_does_it() {
    watchdog(|| assert_wakes(&three_jobs(SleepProtocol::Sleepy), &[(Reason::Job, WIDTH as u64)]));
}

/// A joiner was woken because its latch is set, and has not noticed yet: it counts as one who
/// searches. A job is posted, and nobody is woken for it. Then the joiner goes its way, and
/// somebody else must be woken.
#[test]
fn a_joiner_that_leaves_passes_the_baton() {
    watchdog(|| {
        for protocol in COUNTERS.into_iter().chain([SleepProtocol::Jec]) {
            let (pool, gate) = gated(protocol);
            at_rest(&pool, WIDTH);
            let (go, gone) = mpsc::channel::<()>();
            let (report, reports) = mpsc::channel();
            let (sender, ran) = mpsc::channel();
            let (inside, inner_gate) = (Arc::clone(&pool), Arc::clone(&gate));
            pool.spawn(move || {
                // Until the thread outside has counted those it woke for us.
                gone.recv().unwrap();
                let (started, starts) = mpsc::channel();
                drowse::join(
                    move || starts.recv().unwrap(),
                    move || {
                        started.send(()).unwrap();
                        report.send(at_rest(&inside, WIDTH - 1)).unwrap();
                        inner_gate.set(true);
                    },
                );
                // We do not take the job; someone else does.
                ran.recv().unwrap();
            });
            go.send(()).unwrap();
            let before: Metrics = reports.recv().unwrap();
            until("the joiner is at the gate", || {
                pool.metrics().since(&before).total().sleep.wakes(Reason::Latch) == 1
            });
            at_rest(&pool, WIDTH - 1);
            pool.spawn(move || sender.send(()).unwrap());
            assert_wakes(&pool.metrics().since(&before), &[(Reason::Latch, 1)]);
            gate.set(false);
            let work = at_rest(&pool, WIDTH).since(&before);
            assert_wakes(&work, &[(Reason::Latch, 1), (Reason::Baton, 1)]);
        }
    });
}
