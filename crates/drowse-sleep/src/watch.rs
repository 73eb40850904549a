//! Who stays awake a little longer than the others.

use crate::{Idle, Sleep};
use drowse_sync::atomic::Ordering;

impl Sleep {
    /// Whether it is worth staying awake for longer: see [`Policy::rounds_on_watch`](crate::Policy::rounds_on_watch).
    pub(crate) fn keeps_watch(&self, idle: &Idle) -> bool {
        let alone = || {
            // ORDERING: relaxed; a guess, on which nothing but patience hangs.
            let word = self.house.word().load(Ordering::Relaxed);
            self.protocol.searching(word) == Some(1)
        };
        idle.watched < self.policy.rounds_on_watch
            && self.house.meters[idle.worker].slept_briefly()
            && alone()
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use crate::{LatchWord, Pause, Policy, Sleep, SleepProtocol};
    use std::time::Duration;

    const POLICY: Policy =
        Policy { rounds_until_sleepy: 2, rounds_while_sleepy: 9, rounds_on_watch: 5, pause: Pause::Spin(0) };

    /// Worker 0 has slept for so long.
    fn after_a_sleep_of(time: Duration, protocol: SleepProtocol) -> Sleep {
        let sleep = Sleep::new(2, protocol, POLICY);
        let begin = Duration::from_secs(1);
        sleep.house.meters[0].park(begin);
        sleep.house.meters[0].unpark(begin, begin + time);
        sleep
    }

    /// Empty searches of worker 0 before the one after which it gets sleepy.
    fn patience(sleep: &Sleep) -> u32 {
        let mut idle = sleep.start_looking(0);
        for searches in 0.. {
            sleep.no_work_found(&mut idle, &LatchWord::new(), &|| false);
            if idle.announcement.is_some() {
                sleep.stop_looking(idle, || false);
                return searches;
            }
        }
        unreachable!("patience has an end");
    }

    #[test]
    fn a_worker_that_slept_briefly_keeps_watch() {
        for protocol in [SleepProtocol::Jec, SleepProtocol::Counters(Default::default())] {
            let brief = after_a_sleep_of(Duration::from_micros(20), protocol);
            assert_eq!(patience(&brief), 2 + 5);
            assert_eq!(patience(&brief), 2 + 5, "until it sleeps again");
        }
    }

    #[test]
    fn a_worker_that_slept_long_or_not_at_all_does_not() {
        assert_eq!(patience(&after_a_sleep_of(Duration::from_millis(1), SleepProtocol::Jec)), 2);
        assert_eq!(patience(&Sleep::new(2, SleepProtocol::Jec, POLICY)), 2);
    }

    #[test]
    fn one_is_enough() {
        let sleep = after_a_sleep_of(Duration::from_micros(20), SleepProtocol::Jec);
        let other = sleep.start_looking(1);
        assert_eq!(patience(&sleep), 2);
        sleep.stop_looking(other, || false);
        assert_eq!(patience(&sleep), 2 + 5);
    }

    #[test]
    fn a_protocol_that_does_not_count_searchers_has_no_watch() {
        assert_eq!(patience(&after_a_sleep_of(Duration::from_micros(20), SleepProtocol::Sleepy)), 2);
    }
}
