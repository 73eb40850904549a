//! The lookout of a pool: it hears a suspicion out before it raises the alarm. A model knows no
//! time: that it has passed is an event, which may come at any moment.
#![cfg(drowse_loom)]

use drowse_models::{jec, with_preemptions};
use drowse_sleep::{Mark, Moment, Sleep};
use drowse_sync::{Arc, Condvar, Mutex, thread};
use std::time::Duration;

/// What the worker is sent, and what the system knows of its thread.
#[derive(Default)]
struct Channel {
    sent: u32,
    received: u32,
    /// It blocks. With a message there, it could run.
    waits: bool,
}

/// The only worker, which blocks twice, marked the obvious way.
struct Scene {
    channel: Mutex<Channel>,
    news: Condvar,
    /// The time for which a suspicion is heard out is over.
    time_has_passed: Gate,
    /// The alarm, and how often it was raised.
    alarm: Gate,
    alarms: Mutex<u32>,
    /// Messages that the worker has received, and said so.
    turns: Mutex<u32>,
}

struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn new() -> Self {
        Self { is_open: Mutex::new(false), opened: Condvar::new() }
    }

    fn open(&self) {
        *self.is_open.lock() = true;
        self.opened.notify_one();
    }

    fn pass(&self) {
        let mut is_open = self.is_open.lock();
        while !*is_open {
            is_open = self.opened.wait(is_open);
        }
    }
}

impl Scene {
    fn new() -> Self {
        Self {
            channel: Mutex::new(Channel::default()),
            news: Condvar::new(),
            time_has_passed: Gate::new(),
            alarm: Gate::new(),
            alarms: Mutex::new(0),
            turns: Mutex::new(0),
        }
    }

    fn send(&self) {
        self.channel.lock().sent += 1;
        self.news.notify_one();
    }

    /// The obvious way: mark, block, drop the mark.
    fn receive(&self, sleep: &Sleep) {
        let mark = Mark::here(None);
        sleep.mark_blocked(0, mark);
        let mut channel = self.channel.lock();
        while channel.sent == channel.received {
            channel.waits = true;
            channel = self.news.wait(channel);
        }
        channel.waits = false;
        channel.received += 1;
        drop(channel);
        sleep.mark_unblocked(0, &mark);
    }

    /// What the system would tell: how often the worker has run, unless it could.
    fn motion(&self) -> Option<u32> {
        let channel = self.channel.lock();
        (channel.waits && channel.sent == channel.received).then_some(channel.received)
    }
}

/// The sleep of one worker, with a lookout that asks `still`, and calls `raise` with each alarm;
/// and the lookout's thread, once there is one.
fn with_lookout(
    still: impl Fn(Moment) -> Option<u32> + Send + Sync + 'static,
    raise: impl Fn() + Send + Sync + 'static,
) -> (Arc<Sleep>, Keeper) {
    let (keeper, asked) = (Keeper::default(), Arc::new((still, raise)));
    let kept = Arc::clone(&keeper);
    let sleep = jec(1).with_deadlock_detection(Duration::ZERO, move |lookout| {
        let asked = Arc::clone(&asked);
        let watch = move || {
            while lookout.next_alarm(|_, moment| asked.0(moment)).is_some() {
                asked.1();
            }
        };
        let before = kept.lock().unwrap().replace(thread::spawn(watch));
        assert!(before.is_none(), "one lookout is enough");
        true
    });
    (Arc::new(sleep), keeper)
}

/// No part of what is modelled.
type Keeper = Arc<std::sync::Mutex<Option<thread::JoinHandle<()>>>>;

/// Sends the worker a message, lets the time pass, and sends it another when there was an alarm.
/// Returns when all have ended.
fn play(scene: &Arc<Scene>, sleep: Arc<Sleep>, keeper: &Keeper) {
    let worker = thread::spawn({
        let (scene, sleep) = (Arc::clone(scene), Arc::clone(&sleep));
        move || {
            for _ in 0..2 {
                scene.receive(&sleep);
                *scene.turns.lock() += 1;
            }
        }
    });
    scene.send();
    scene.time_has_passed.open();
    scene.alarm.pass();
    scene.send();
    worker.join().unwrap();
    drop(sleep);
    let keeper = keeper.lock().unwrap().take();
    keeper.expect("there was an alarm").join().unwrap();
}

/// The worker is sent its first message by a thread outside, before the time has passed for which
/// it is watched. Whether or not it has run since: no alarm. Then it waits for a message that
/// nobody sends: one alarm.
#[test]
fn whoever_was_unblocked_in_time_raises_no_alarm() {
    with_preemptions(3, || {
        let scene = Arc::new(Scene::new());
        let (seen, alarmed) = (Arc::clone(&scene), Arc::clone(&scene));
        let still = move |moment| {
            if moment == Moment::Ends {
                seen.time_has_passed.pass();
            }
            seen.motion()
        };
        let raise = move || {
            assert_eq!(alarmed.channel.lock().received, 1, "a false alarm");
            alarmed.alarm.open();
            let mut alarms = alarmed.alarms.lock();
            *alarms += 1;
            assert_eq!(*alarms, 1, "one deadlock, one alarm");
        };
        let (sleep, keeper) = with_lookout(still, raise);
        play(&scene, sleep, &keeper);
    });
}

/// Where the system tells nothing, the worker must not have changed its mark meanwhile.
#[test]
fn whoever_said_that_it_moves_raises_no_alarm() {
    with_preemptions(3, || {
        let (scene, turns) = (Arc::new(Scene::new()), Arc::new(Mutex::new((0, 0))));
        let (seen, seen_turns, alarmed) =
            (Arc::clone(&scene), Arc::clone(&turns), Arc::clone(&scene));
        let still = move |moment| {
            if moment == Moment::Ends {
                seen.time_has_passed.pass();
            }
            let now = *seen.turns.lock();
            match moment {
                Moment::Begins => seen_turns.lock().0 = now,
                Moment::Ends => seen_turns.lock().1 = now,
            }
            Some(0)
        };
        let raise = move || {
            let (before, after) = *turns.lock();
            assert_eq!(before, after, "it has gone on meanwhile");
            alarmed.alarm.open();
        };
        let (sleep, keeper) = with_lookout(still, raise);
        play(&scene, sleep, &keeper);
    });
}
