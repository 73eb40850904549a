//! Step-by-step tests of the census and its lookout.

use super::lookout::Keeper;
use super::*;
use drowse_sync::ThreadId;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// Creates a detector, and a queue of the lookouts that it starts, which no thread keeps yet.
fn detector(workers: usize) -> (Detector, Receiver<Lookout>) {
    let (sender, lookouts) = mpsc::channel();
    (
        Detector::new(workers, workers, Duration::ZERO, move |lookout| {
            sender.send(lookout).is_ok()
        }),
        lookouts,
    )
}

fn wake(detector: &Detector, worker: usize, claim: Claim) {
    detector.wake(&mut |awake| awake(worker, claim));
}

fn is_suspect(detector: &Detector) -> bool {
    detector.post.census.lock().is_suspect()
}

/// Answers as a system that knows nothing.
fn unseen(_: &Standstill, _: Moment) -> Option<()> {
    Some(())
}

#[test]
fn a_pool_that_merely_sleeps_is_not_suspect() {
    let (detector, lookouts) = detector(2);
    assert!(detector.fall_asleep(0, false, || true));
    assert!(detector.fall_asleep(1, false, || true));
    wake(&detector, 1, Claim::Asleep);
    detector.mark_gone(1);
    assert!(!is_suspect(&detector));
    assert!(lookouts.try_recv().is_err(), "there is nothing to look out for");
}

#[test]
fn the_last_to_block_sleep_or_end_makes_it_suspect() {
    let (detector, lookouts) = detector(3);
    let mark = Mark::here(None);
    assert!(detector.fall_asleep(1, false, || true));
    detector.mark_gone(2);
    assert!(!is_suspect(&detector));
    detector.mark_blocked(0, mark);
    let lookout = lookouts.try_recv().expect("it is wanted now");
    let standstill = lookout.next_alarm(unseen).unwrap();
    assert_eq!(standstill.workers, [Stopped::Blocked(mark), Stopped::Asleep, Stopped::Gone]);

    wake(&detector, 1, Claim::Asleep);
    assert!(!is_suspect(&detector));
    assert!(detector.fall_asleep(1, false, || true));
    assert!(lookout.next_alarm(unseen).is_some(), "again");

    wake(&detector, 1, Claim::Asleep);
    detector.mark_gone(1);
    assert_eq!(lookout.next_alarm(unseen).unwrap().workers[1], Stopped::Gone);
    // A mark that outlives its worker has no effect.
    detector.mark_gone(0);
    assert_eq!(lookout.next_alarm(unseen), None, "nobody is left");
    detector.mark_unblocked(0, &mark);
    assert!(lookouts.try_recv().is_err(), "one lookout is enough");
}

#[test]
fn a_worker_that_does_not_sleep_after_all_stays_active() {
    let (detector, _lookouts) = detector(2);
    detector.mark_blocked(0, Mark::here(None));
    assert!(!detector.fall_asleep(1, false, || false));
    wake(&detector, 1, Claim::Stopped);
    assert!(!is_suspect(&detector));
}

#[test]
fn a_worker_marked_twice_or_asleep_while_marked_counts_once() {
    let (detector, _lookouts) = detector(2);
    let (outer, inner) = (Mark::here(Some("outer")), Mark::here(Some("inner")));
    detector.mark_blocked(0, outer);
    detector.mark_blocked(0, inner);
    assert!(detector.fall_asleep(0, false, || true));
    wake(&detector, 0, Claim::Asleep);
    detector.mark_unblocked(0, &outer);
    detector.mark_unblocked(0, &inner);
    detector.mark_blocked(1, outer);
    assert!(!is_suspect(&detector));
}

#[test]
fn the_same_state_is_told_once() {
    let (detector, lookouts) = detector(1);
    let mark = Mark::here(None);
    detector.mark_blocked(0, mark);
    let lookout = lookouts.try_recv().unwrap();
    assert!(lookout.next_alarm(unseen).is_some());
    let (told, second) = mpsc::channel();
    let keeper = thread::spawn(move || {
        while let Some(standstill) = lookout.next_alarm(unseen) {
            told.send(standstill).unwrap();
        }
    });
    // It rests until something changes.
    while detector.post.census.lock().lookout != Keeper::Rests {
        std::hint::spin_loop();
    }
    assert!(second.try_recv().is_err());
    detector.mark_unblocked(0, &mark);
    detector.mark_blocked(0, mark);
    assert!(second.recv().is_ok());
    drop(detector);
    keeper.join().unwrap();
    assert!(second.recv().is_err());
}

/// A thread that runs at one end of the time, or that has moved in between, postpones the alarm.
#[test]
fn whoever_moves_puts_the_alarm_off() {
    let (detector, lookouts) = detector(1);
    detector.mark_blocked(0, Mark::here(None));
    let (answers, looks) =
        ([None, Some(1), None, Some(1), Some(2), Some(3), Some(3)], AtomicUsize::new(0));
    let standstill = lookouts.try_recv().unwrap().next_alarm(|_, moment| {
        let look = looks.fetch_add(1, Ordering::Relaxed);
        assert_eq!(moment == Moment::Ends, [2, 4, 6].contains(&look));
        answers[look]
    });
    assert!(standstill.is_some());
    assert_eq!(looks.into_inner(), answers.len());
}

#[test]
fn a_change_puts_the_alarm_off() {
    let (detector, lookouts) = detector(1);
    let mark = Mark::here(None);
    detector.mark_blocked(0, mark);
    let changes = AtomicUsize::new(0);
    let standstill = lookouts.try_recv().unwrap().next_alarm(|_, _| {
        if changes.fetch_add(1, Ordering::Relaxed) < 3 {
            detector.mark_unblocked(0, &mark);
            detector.mark_blocked(0, mark);
        }
        Some(())
    });
    assert!(standstill.is_some());
    // Three postponed alarms, one of them at its end, and one that is raised.
    assert_eq!(changes.into_inner(), 5);
}

#[test]
fn if_there_is_no_thread_to_be_had_the_next_suspicion_is_another_chance() {
    let (sender, calls): (Sender<()>, _) = mpsc::channel();
    let detector = Detector::new(1, 1, Duration::ZERO, move |_| sender.send(()).is_err());
    let mark = Mark::here(None);
    for _ in 0..2 {
        detector.mark_blocked(0, mark);
        detector.mark_unblocked(0, &mark);
    }
    assert_eq!(calls.try_iter().count(), 2);
}

#[test]
fn a_pool_whose_workers_wait_is_suspect_once_all_spares_are_there() {
    let (sender, lookouts) = mpsc::channel();
    let detector = Detector::new(2, 3, Duration::ZERO, move |lookout| sender.send(lookout).is_ok());
    let this = ThreadId::current();
    detector.mark_away(0, Some(this));
    assert!(detector.fall_asleep(1, true, || true));
    assert!(!is_suspect(&detector), "there is a spare");
    detector.mark_here(2);
    assert!(!is_suspect(&detector), "it is active");
    assert!(detector.fall_asleep(2, false, || true));
    assert!(is_suspect(&detector));
    let standstill = lookouts.try_recv().unwrap().next_alarm(unseen).unwrap();
    assert_eq!(standstill.workers, [Stopped::Away(this), Stopped::Asleep, Stopped::Asleep]);
    assert!(standstill.is_out_of_spares && !standstill.has_marks());
    detector.mark_away(0, None);
    assert!(!is_suspect(&detector));
    // One worker that sleeps alone is enough.
    assert!(detector.fall_asleep(0, false, || true));
    assert!(is_suspect(&detector));
    wake(&detector, 1, Claim::Alone);
    assert!(detector.fall_asleep(1, false, || true));
    assert!(!is_suspect(&detector), "all sleep, and wait for work");
}

/// A running thread counts as moving, where the system tells.
#[test]
fn a_marked_thread_that_runs_is_in_motion() {
    let (detector, _lookouts) = detector(1);
    detector.mark_blocked(0, Mark::here(None));
    let standstill = detector.post.census.lock().standstill();
    let seen = standstill.motions();
    assert!(seen.is_none() || seen == Some(vec![None]), "{seen:?}");
}
