//! Deadlocks: reported when there is one, and only then. More about them is in the tests of that
//! name.

use crate::common::deadlocks::{block, one_rescues_the_other, rescue, with_alarm};
use crate::common::{assert_works, until_all_sleep};
use crate::subject::{Subject, WIDTHS, rounds};
use std::sync::mpsc;

/// Every worker blocks. The jobs come from one of them: while it is at it, it is active, no matter
/// who else blocks.
pub(crate) fn a_deadlock_is_reported(subject: Subject) {
    for width in WIDTHS {
        let (pool, alarms) = with_alarm(subject.builder(width));
        for _ in 0..rounds(width, 60) {
            let (stuck, all_stuck) = mpsc::channel();
            pool.spawn(move || {
                for _ in 0..width {
                    let stuck = stuck.clone();
                    drowse::spawn(move || assert_eq!(block(&stuck), 42));
                }
            });
            // The last one to block raises the alarm.
            let alarm = alarms.recv().unwrap();
            assert_eq!((alarm.num_threads, alarm.blocked.len()), (width, width), "{alarm}");
            rescue(all_stuck.iter().take(width));
        }
        assert_works(&pool);
        assert!(alarms.try_recv().is_err(), "an alarm too many");
    }
}

/// One worker blocks, and then the others find nothing to do.
pub(crate) fn a_deadlock_is_reported_when_the_last_one_sleeps(subject: Subject) {
    for width in [2, 8, 64] {
        let (pool, alarms) = with_alarm(subject.builder(width));
        for _ in 0..rounds(width, 100) {
            let (stuck, all_stuck) = mpsc::channel();
            pool.spawn(move || assert_eq!(block(&stuck), 42));
            let alarm = alarms.recv().unwrap();
            assert_eq!((alarm.num_threads, alarm.blocked.len()), (width, 1), "{alarm}");
            rescue(all_stuck.recv());
            until_all_sleep(&pool);
        }
        assert_works(&pool);
        assert!(alarms.try_recv().is_err(), "an alarm too many");
    }
}

/// Pools that are new, busy, asleep, or whose workers wait for each other in turn.
pub(crate) fn there_are_no_false_alarms(subject: Subject) {
    for width in WIDTHS {
        let (pool, alarms) = with_alarm(subject.builder(width));
        for _ in 0..rounds(width, 100) {
            assert_works(&pool);
            if width > 1 {
                assert_eq!(pool.install(one_rescues_the_other), 42);
            }
            until_all_sleep(&pool);
        }
        drop(pool);
        assert_eq!(alarms.iter().count(), 0);
    }
}
