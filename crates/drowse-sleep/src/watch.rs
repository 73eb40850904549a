//! Watch: one searcher stays awake a little longer than the others.

use crate::policy::ROUNDS_UNTIL_SLEEPY;
use crate::{Idle, Sleep};

impl Sleep {
    /// Returns `true` if the worker should search on before it becomes sleepy: see
    /// [`Policy::rounds_on_watch`](crate::Policy::rounds_on_watch).
    pub(crate) fn keeps_watch(&self, idle: &Idle) -> bool {
        let rounds = self.policy.rounds_on_watch;
        // In the middle of a job it waits for another worker, which may have to be woken first and
        // may then wait for this one.
        let (rounds, company) =
            if idle.in_a_job { (rounds.saturating_mul(3), 2) } else { (rounds, 1) };
        idle.watched < rounds && self.expects_a_brief_wait(idle.worker, idle.in_a_job, company)
    }

    /// Returns `true` if this active worker would keep watch if it had to wait now, in the middle
    /// of a job. Then it goes on running, and a worker that it wakes must not be placed on its
    /// processor.
    pub fn would_keep_watch(&self, worker: usize) -> bool {
        self.policy.rounds_on_watch > 0 && self.expects_a_brief_wait(worker, true, 1)
    }

    /// Returns `true` if the last sleep of this kind was brief and at most `company` workers
    /// search.
    fn expects_a_brief_wait(&self, worker: usize, in_a_job: bool, company: usize) -> bool {
        let few_search = || self.word.heads().is_some_and(|heads| heads.searching() <= company);
        self.seats[worker].meter.slept_briefly(in_a_job) && few_search()
    }

    /// Returns the number of searches that the worker may skip before it becomes sleepy: the
    /// default number if it has never slept.
    ///
    /// While a pool starts, its workers have nothing to find, and searching would keep a processor
    /// from the thread that starts the others. One search shows what came meanwhile.
    pub(crate) fn head_start(&self, worker: usize) -> u32 {
        let is_new = self.seats[worker].meter.sleeps.get() == 0;
        if is_new { self.policy.rounds_until_sleepy.min(ROUNDS_UNTIL_SLEEPY) } else { 0 }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use crate::meter::{MS, US};
    use crate::{Idle, LatchWord, Pause, Policy, Sleep, SleepProtocol};

    const POLICY: Policy = Policy {
        rounds_until_sleepy: 2,
        rounds_while_sleepy: 9,
        rounds_on_watch: 5,
        pause: Pause::Spin(0),
    };

    /// Returns a pool whose worker 0 has just slept for `time`.
    fn after_a_sleep_of(time: u64, protocol: SleepProtocol) -> Sleep {
        let sleep = Sleep::new(2, protocol, POLICY);
        let begin = 1_000 * MS;
        sleep.seats[0].meter.park(begin);
        sleep.seats[0].meter.unpark(begin, begin + time, false);
        sleep.seats[0].meter.unpark(begin, begin + time, true);
        sleep
    }

    /// Returns the number of empty searches of worker 0 before the one after which it becomes
    /// sleepy.
    fn patience(sleep: &Sleep) -> u32 {
        patience_of(sleep, sleep.start_looking(0))
    }

    fn patience_of(sleep: &Sleep, mut idle: Idle) -> u32 {
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
            let brief = after_a_sleep_of(20 * US, protocol);
            assert_eq!(patience(&brief), 2 + 5);
            assert_eq!(patience(&brief), 2 + 5, "until it sleeps again");
        }
    }

    #[test]
    fn a_worker_that_slept_long_does_not() {
        assert_eq!(patience(&after_a_sleep_of(MS, SleepProtocol::Jec)), 2);
    }

    #[test]
    fn a_worker_that_never_slept_looks_once() {
        assert_eq!(patience(&Sleep::new(2, SleepProtocol::Jec, POLICY)), 0);
    }

    #[test]
    fn a_worker_in_the_middle_of_a_job_keeps_watch_for_longer_also_with_one_other() {
        let sleep = after_a_sleep_of(100 * US, SleepProtocol::Jec);
        assert_eq!(patience(&sleep), 2, "not brief for one with nothing to do");
        let patience_in_a_job = || patience_of(&sleep, sleep.start_looking(0).in_a_job());
        assert_eq!(patience_in_a_job(), 2 + 15);
        let other = sleep.start_looking(1);
        assert_eq!(patience_in_a_job(), 2 + 15);
        sleep.stop_looking(other, || false);
    }

    #[test]
    fn who_would_keep_watch_in_a_job_is_known_beforehand() {
        let briefly = |policy| {
            let sleep = Sleep::new(2, SleepProtocol::Jec, policy);
            sleep.seats[0].meter.unpark(0, 100 * US, true);
            sleep
        };
        assert!(briefly(POLICY).would_keep_watch(0));
        assert!(!briefly(POLICY).would_keep_watch(1), "it has not slept in a job");
        assert!(!briefly(Policy { rounds_on_watch: 0, ..POLICY }).would_keep_watch(0));
    }

    #[test]
    fn one_is_enough() {
        let sleep = after_a_sleep_of(20 * US, SleepProtocol::Jec);
        let other = sleep.start_looking(1);
        assert_eq!(patience(&sleep), 2);
        sleep.stop_looking(other, || false);
        assert_eq!(patience(&sleep), 2 + 5);
    }

    #[test]
    fn a_protocol_that_does_not_count_searchers_has_no_watch() {
        assert_eq!(patience(&after_a_sleep_of(20 * US, SleepProtocol::Sleepy)), 2);
    }
}
