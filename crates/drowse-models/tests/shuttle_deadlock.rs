//! Deadlock detection under random schedules: the alarm is raised when every worker is stuck, and
//! at no other time. (That the pool is not even suspect is shown by `loom_deadlock`.)
#![cfg(drowse_shuttle)]

use drowse::{Blocked, ThreadPoolBuilder};
use drowse_models::{Choose, Gate, for_each_protocol, random_schedules, with_pool_of};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Arc, Mutex};

/// Where blocked workers leave what it takes to unblock them.
struct Letterbox(Mutex<Letters>);

struct Letters {
    /// Nobody blocks any more.
    is_over: bool,
    waiting: Vec<(Blocked, Arc<Gate>)>,
}

impl Letterbox {
    fn new() -> Self {
        Self(Mutex::new(Letters { is_over: false, waiting: Vec::new() }))
    }

    /// Blocks the worker that calls this, until somebody empties the box. Tells `is_blocked` when
    /// it is as good as blocked.
    fn block(&self, is_blocked: impl FnOnce()) {
        let gate = Arc::new(Gate::new());
        let mut letters = self.0.lock();
        if letters.is_over {
            return;
        }
        letters.waiting.push((drowse::mark_blocked(), Arc::clone(&gate)));
        drop(letters);
        is_blocked();
        gate.pass();
    }

    /// Unblocks everybody, for good: first the mark, then the gate.
    fn unblock_all(&self) {
        let mut letters = self.0.lock();
        letters.is_over = true;
        for (blocked, gate) in letters.waiting.drain(..) {
            drowse::mark_unblocked(blocked);
            gate.open();
        }
    }
}

/// After some traffic in a pool of two, blocks as many workers as `blocking`, and waits for the
/// alarm.
fn alarm_rings(choose: Choose, blocking: usize) {
    let alarm = Arc::new(Gate::new());
    let rings = Arc::new(AtomicUsize::new(0));
    let builder =
        ThreadPoolBuilder::new().num_threads(2).sleep_protocol(choose()).deadlock_handler({
            let (alarm, rings) = (Arc::clone(&alarm), Arc::clone(&rings));
            move |deadlock| {
                assert!(!deadlock.blocked.is_empty());
                rings.fetch_add(1, Ordering::Relaxed);
                alarm.open();
            }
        });
    with_pool_of(builder, |pool| {
        // Workers that are woken from outside, and fall asleep again.
        for _ in 0..3 {
            pool.spawn(|| ());
        }
        assert_eq!(rings.load(Ordering::Relaxed), 0, "nobody is blocked yet");
        let letters = Arc::new(Letterbox::new());
        for _ in 0..blocking {
            let letters = Arc::clone(&letters);
            pool.spawn(move || letters.block(|| ()));
        }
        alarm.pass();
        letters.unblock_all();
    });
    assert!(rings.load(Ordering::Relaxed) >= 1);
}

fn the_alarm_rings_when_all_are_blocked(choose: Choose) {
    random_schedules(1_000, move || alarm_rings(choose, 2));
}

fn the_alarm_rings_when_one_is_blocked_and_the_other_sleeps(choose: Choose) {
    random_schedules(1_000, move || alarm_rings(choose, 1));
}

/// A half of a join is blocked until the other half unblocks it: somebody is active all the time.
fn the_alarm_is_silent_while_somebody_is_active(choose: Choose) {
    random_schedules(1_000, move || {
        let builder = ThreadPoolBuilder::new().num_threads(3).sleep_protocol(choose());
        let builder = builder.deadlock_handler(|deadlock| panic!("false alarm: {deadlock}"));
        with_pool_of(builder, |pool| {
            let (letters, is_blocked) = (Letterbox::new(), Gate::new());
            pool.join(
                || {
                    is_blocked.pass();
                    letters.unblock_all();
                },
                || letters.block(|| is_blocked.open()),
            );
        });
    });
}

/// A thread outside has given the pool a job, and is waking the workers for it. The job posts
/// another one, which may find that nobody need be woken, since somebody is about to be; and blocks
/// until that one has run.
fn the_alarm_is_silent_while_somebody_is_being_woken(choose: Choose) {
    random_schedules(2_000, move || {
        let builder = ThreadPoolBuilder::new().num_threads(3).sleep_protocol(choose());
        let builder = builder.deadlock_handler(|deadlock| panic!("false alarm: {deadlock}"));
        with_pool_of(builder, |pool| {
            for _ in 0..2 {
                take_long();
                let (letters, done) = (Arc::new(Letterbox::new()), Arc::new(Gate::new()));
                let job_done = Arc::clone(&done);
                pool.spawn(move || {
                    let (is_blocked, rescuer) = (Arc::new(Gate::new()), Arc::clone(&letters));
                    let about_to_rescue = Arc::clone(&is_blocked);
                    drowse::spawn(move || {
                        about_to_rescue.pass();
                        rescuer.unblock_all();
                    });
                    letters.block(|| is_blocked.open());
                    job_done.open();
                });
                done.pass();
            }
        });
    });
}

/// A pool of one worker that blocks on each of two gates, and has a third job to run, with so many
/// spares. `alarm` is called with the gates.
fn blocks_twice(
    choose: Choose,
    spares: usize,
    alarm: impl Fn(&[Arc<Gate>; 2]) + Send + Sync + 'static,
    third: impl Fn(&[Arc<Gate>; 2]) + Send + Sync + 'static,
) {
    let gates = [(); 2].map(|()| Arc::new(Gate::new()));
    let builder = ThreadPoolBuilder::new().num_threads(1).sleep_protocol(choose());
    let builder = builder.max_spare_threads(spares).deadlock_handler({
        let gates = gates.clone();
        move |deadlock| {
            assert!(deadlock.blocked.is_empty() && deadlock.out_of_spares == Some(spares));
            alarm(&gates);
        }
    });
    with_pool_of(builder, |pool| {
        for gate in gates.clone() {
            pool.spawn(move || drowse::blocking(|| gate.pass()));
        }
        pool.spawn(move || third(&gates));
    });
}

/// One thread for two that block, and nobody is left for what is queued.
fn the_alarm_rings_when_spares_have_run_out(choose: Choose) {
    let open = |gates: &[Arc<Gate>; 2]| gates.iter().for_each(|gate| gate.open());
    random_schedules(1_000, move || blocks_twice(choose, 1, open, |_| ()));
}

fn the_alarm_is_silent_while_there_are_spares(choose: Choose) {
    let open = |gates: &[Arc<Gate>; 2]| gates.iter().for_each(|gate| gate.open());
    random_schedules(1_000, move || blocks_twice(choose, 2, |_| panic!("false alarm"), open));
}

/// Takes longer than a worker takes to fall asleep.
fn take_long() {
    for _ in 0..40 {
        drowse_sync::hint::spin_loop();
    }
}

/// The pool is shut down while its handler is being called, or just after.
fn the_end_waits_for_the_handler(choose: Choose) {
    random_schedules(1_000, move || {
        let (alarm, returned) = (Arc::new(Gate::new()), Arc::new(AtomicUsize::new(0)));
        let builder =
            ThreadPoolBuilder::new().num_threads(2).sleep_protocol(choose()).deadlock_handler({
                let (alarm, returned) = (Arc::clone(&alarm), Arc::clone(&returned));
                move |_| {
                    alarm.open();
                    take_long();
                    returned.fetch_add(1, Ordering::Relaxed);
                }
            });
        let pool = builder.build().unwrap();
        let letters = Arc::new(Letterbox::new());
        let blocking = Arc::clone(&letters);
        pool.spawn(move || blocking.block(|| ()));
        alarm.pass();
        letters.unblock_all();
        pool.shutdown();
        assert!(returned.load(Ordering::Relaxed) >= 1, "the handler is still being called");
    });
}

for_each_protocol!(
    the_alarm_rings_when_spares_have_run_out,
    the_alarm_is_silent_while_there_are_spares,
    the_alarm_is_silent_while_somebody_is_being_woken,
    the_alarm_rings_when_all_are_blocked,
    the_alarm_rings_when_one_is_blocked_and_the_other_sleeps,
    the_alarm_is_silent_while_somebody_is_active,
    the_end_waits_for_the_handler,
);
