//! Marks made the obvious way: mark, block, drop. Correct programs raise no alarm; each true
//! deadlock raises one.

use crate::common::deadlocks::{SOON, listen};
use crate::common::{assert_works, watchdog};
use drowse::{
    Deadlock, SleepProtocol, ThreadPool, ThreadPoolBuilder, mark_blocked, mark_blocked_on,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvError};
use std::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long the pools of this file must stand still. Linux tells who could run; elsewhere only time
/// does, and a thread may have to wait for a processor.
const A_WHILE: Duration = if cfg!(target_os = "linux") { SOON } else { Duration::from_millis(200) };

fn pool(protocol: SleepProtocol, width: usize) -> (ThreadPool, Receiver<Deadlock>) {
    listen(
        ThreadPoolBuilder::new()
            .num_threads(width)
            .sleep_protocol(protocol)
            .deadlock_after(A_WHILE),
    )
}

fn receive<T>(channel: &Receiver<T>) -> Result<T, RecvError> {
    let _blocked = mark_blocked();
    channel.recv()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let _blocked = mark_blocked_on("a mutex");
    mutex.lock().unwrap()
}

/// Two halves: one sends, the other receives. Or the other way round, so that the worker that forks
/// blocks, and another must come for the half that unblocks it.
fn halves(round: u32) {
    let (sender, receiver) = mpsc::channel();
    let received = if round % 2 == 0 {
        drowse::join(move || sender.send(round).unwrap(), move || receive(&receiver)).1
    } else {
        drowse::join(move || receive(&receiver), move || sender.send(round).unwrap()).0
    };
    assert_eq!(received, Ok(round));
}

/// Each sends to the other, and waits for the answer.
fn ping_pong() {
    let ((to_b, from_a), (to_a, from_b)) = (mpsc::channel(), mpsc::channel());
    drowse::join(
        move || {
            (0..2).for_each(|n| {
                to_b.send(n).unwrap();
                assert_eq!(receive(&from_b), Ok(n));
            })
        },
        move || {
            (0..2).for_each(|n| {
                assert_eq!(receive(&from_a), Ok(n));
                to_a.send(n).unwrap();
            })
        },
    );
}

/// Many that want one lock.
fn counting(jobs: usize) {
    let count = Mutex::new(0);
    drowse::scope(|s| {
        for _ in 0..jobs {
            s.spawn(|_| *lock(&count) += 1);
        }
    });
    assert_eq!(count.into_inner().unwrap(), jobs);
}

/// One waits for a condition that the other makes come true.
fn condition() {
    let (state, changed) = (Mutex::new(false), Condvar::new());
    drowse::join(
        || {
            let _blocked = mark_blocked_on("a condition");
            let mut state = state.lock().unwrap();
            while !*state {
                state = changed.wait(state).unwrap();
            }
        },
        || {
            *lock(&state) = true;
            changed.notify_one();
        },
    );
}

/// Runs so many rounds of a program on each protocol and two widths, most of them inside of the
/// pool, some from outside.
fn raises_no_alarm(rounds: u32, program: impl Fn(u32) + Copy + Send + Sync + 'static) {
    watchdog(move || {
        for protocol in SleepProtocol::ALL {
            for width in [2, 4] {
                let (pool, alarms) = pool(protocol, width);
                let from_outside = rounds / 5;
                (0..from_outside).for_each(|n| pool.install(|| program(n)));
                pool.install(|| (from_outside..rounds).for_each(program));
                assert_eq!(alarms.try_iter().next(), None, "{protocol} on {width}");
                drop(pool);
                assert_eq!(alarms.iter().count(), 0, "{protocol} on {width}");
            }
        }
    });
}

#[test]
fn halves_of_which_one_sends_raise_no_alarm() {
    raises_no_alarm(2_000, halves);
}

#[test]
fn halves_that_answer_each_other_raise_no_alarm() {
    raises_no_alarm(1_000, |_| ping_pong());
}

#[test]
fn jobs_that_want_one_lock_raise_no_alarm() {
    raises_no_alarm(1_000, |_| counting(4));
}

#[test]
fn halves_that_share_a_condition_raise_no_alarm() {
    raises_no_alarm(1_000, |_| condition());
}

/// One program after the other.
#[test]
fn a_mixture_raises_no_alarm() {
    raises_no_alarm(500, |round| match round % 4 {
        0 => halves(round / 4),
        1 => ping_pong(),
        2 => counting(4),
        _ => condition(),
    });
}

/// As many parents as `tasks`, each of which spawns a child and waits for it. As many of them as
/// there are workers block before the first child can run: rayon hangs. Here the handler does what
/// the children would have done.
fn parents_that_wait_for_children(protocol: SleepProtocol, width: usize, tasks: usize) {
    let in_hand = Arc::new(Mutex::new(Vec::<mpsc::Sender<u32>>::new()));
    let (heard, alarms) = mpsc::channel();
    let (rescued, heard) = (Arc::clone(&in_hand), Mutex::new(heard));
    let pool = ThreadPoolBuilder::new()
        .num_threads(width)
        .sleep_protocol(protocol)
        .deadlock_after(A_WHILE)
        .deadlock_handler(move |deadlock| {
            heard.lock().unwrap().send(deadlock.clone()).unwrap();
            // Once one goes on, children are run too, and some parents are answered by those.
            rescued.lock().unwrap().drain(..).for_each(|parent| _ = parent.send(7));
        })
        .build()
        .unwrap();
    let all_begun = Arc::new(Barrier::new(width));
    let (sender, done) = mpsc::channel();
    let begun = Arc::new(AtomicUsize::new(0));
    for _ in 0..tasks {
        let (sender, in_hand) = (sender.clone(), Arc::clone(&in_hand));
        let (all_begun, begun) = (Arc::clone(&all_begun), Arc::clone(&begun));
        pool.spawn(move || {
            let first = begun.fetch_add(1, Ordering::SeqCst) < width;
            let (child, answer) = mpsc::channel();
            if first {
                all_begun.wait();
                in_hand.lock().unwrap().push(child.clone());
            }
            drowse::spawn(move || _ = child.send(7));
            sender.send(receive(&answer).unwrap()).unwrap();
        });
    }
    let alarm = alarms.recv().unwrap();
    assert_eq!(
        (alarm.num_threads, alarm.blocked.len(), alarm.asleep),
        (width, width, 0),
        "{alarm}"
    );
    // The pool works on.
    assert_eq!(done.iter().take(tasks).collect::<Vec<_>>(), vec![7; tasks]);
    assert_works(&pool);
    drop(pool);
    assert_eq!(alarms.iter().count(), 0, "one deadlock, one alarm");
}

#[test]
fn five_parents_on_four_workers_raise_one_alarm() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            (0..5).for_each(|_| parents_that_wait_for_children(protocol, 4, 5));
        }
    });
}

#[test]
fn one_parent_on_one_worker_raises_one_alarm() {
    watchdog(|| {
        for protocol in SleepProtocol::ALL {
            (0..5).for_each(|_| parents_that_wait_for_children(protocol, 1, 1));
        }
    });
}

/// With nothing chosen, it is the stated time.
#[test]
fn by_default_there_is_an_alarm_too() {
    watchdog(|| {
        let (pool, alarms) = listen(ThreadPoolBuilder::new().num_threads(2));
        let (answer, question) = mpsc::channel();
        let since = Instant::now();
        pool.spawn(move || assert_eq!(receive(&question), Ok(42)));
        let alarm = alarms.recv().unwrap();
        assert!(since.elapsed() >= Duration::from_millis(200));
        assert_eq!((alarm.blocked.len(), alarm.asleep), (1, 1), "{alarm}");
        answer.send(42).unwrap();
        assert_works(&pool);
        assert_eq!(alarms.try_recv().ok(), None);
    });
}
