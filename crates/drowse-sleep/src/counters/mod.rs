#![doc = include_str!("README.md")]

use crate::headcount::{Headcount, Snapshot};
use crate::{Announcement, Committed, House, Posted, Protocol, Reason, Recheck, Retreat, Waker};
use drowse_sync::mutant;

/// Counts of the idle and the sleeping. See the [module](self) for how it works and why.
///
/// ```
/// use drowse_sleep::{Counters, Idleness, WakeSize};
///
/// let explorer = Counters { idleness: Idleness::LocalQueue, wake: WakeSize::PowerOfTwo };
/// assert_ne!(explorer, Counters::default());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// How a post finds out whether somebody is idle.
    pub idleness: Idleness,
    /// How many are woken at once.
    pub wake: WakeSize,
}

/// How a post finds out whether enough workers are idle to take its jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Idleness {
    /// By the count of those who search: enough if there is one for each job.
    #[default]
    Counted,
    /// By its own queue, if a worker posts: enough if the queue was empty, for somebody must have emptied it. (Never if
    /// nobody at all searches.) From outside: by the count.
    LocalQueue,
}

/// How many sleepers a post wakes when it wakes any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WakeSize {
    /// One for each job that nobody idle will take.
    #[default]
    Needed,
    /// That many, and then up to the next power of two of workers awake, since where one job comes from more may follow.
    PowerOfTwo,
}

impl Counters {
    const NAME: &str = "counters";

    fn heads<'a>(&self, house: &'a House) -> Headcount<'a> {
        Headcount::of(house, Self::NAME)
    }

    /// For how many jobs somebody must be woken.
    fn unattended(&self, posted: &Posted<'_>, now: Snapshot) -> usize {
        let by_count = posted.jobs.saturating_sub(now.awake_idle());
        let somebody_searches = now.awake_idle() > 0 || mutant::active("counters/queue-judges-alone");
        match self.idleness {
            Idleness::LocalQueue if posted.by_worker && somebody_searches => {
                if posted.queue_was_empty() {
                    0
                } else {
                    posted.jobs
                }
            }
            _ => by_count,
        }
    }

    /// How many to wake for so many jobs, of `sleeping` out of `workers`.
    fn wake_size(&self, unattended: usize, sleeping: usize, workers: usize) -> usize {
        let needed = unattended.min(sleeping);
        match self.wake {
            WakeSize::PowerOfTwo if needed > 0 => {
                let awake = workers.saturating_sub(sleeping);
                ((awake + needed).next_power_of_two() - awake).min(sleeping)
            }
            _ => needed,
        }
    }
}

impl Protocol for Counters {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn tells_latch(&self) -> bool {
        true
    }

    fn start_looking(&self, house: &House, _worker: usize) {
        self.heads(house).start_looking();
    }

    fn searching(&self, word: u64) -> Option<usize> {
        Some(Snapshot::of(word).awake_idle())
    }

    /// Nothing to announce: being counted as sleeping is the announcement, and the re-check follows it.
    fn announce(&self, _house: &House, _worker: usize) -> Option<Announcement> {
        Some(Announcement::remember(0))
    }

    fn commit<'look>(
        &self,
        house: &House,
        _announcement: Announcement,
        recheck: Recheck<'look>,
    ) -> Result<Committed<'look>, Retreat> {
        self.heads(house).commit(|_| true, recheck).ok_or(Retreat::BeforeSleepy)
    }

    fn uncommit(&self, house: &House, _worker: usize) {
        self.heads(house).uncommit();
    }

    fn stop_looking(&self, house: &House, _worker: usize, work_visible: &dyn Fn() -> bool) {
        self.heads(house).stop_looking(work_visible);
    }

    fn post(&self, house: &House, posted: &Posted<'_>) {
        let heads = self.heads(house);
        let now = heads.counts.load();
        let unattended = self.unattended(posted, now);
        heads.wake_for(posted, self.wake_size(unattended, now.sleeping(), house.workers()));
    }

    fn latch_set(&self, house: &House, owner: usize, slept: bool, reason: Reason, waker: Waker) {
        self.heads(house).latch_set(owner, slept, reason, waker);
    }

    fn broadcast(&self, house: &House) {
        self.heads(house).wake_all(Reason::Broadcast);
    }

    fn is_clear(&self, word: u64) -> bool {
        let now = Snapshot::of(word);
        (now.inactive(), now.sleeping()) == (0, 0)
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn blocks_go_up_to_the_next_power_of_two() {
        let blocks = Counters { wake: WakeSize::PowerOfTwo, ..Counters::default() };
        let wakes = |awake: usize, jobs: usize| blocks.wake_size(jobs, 16 - awake, 16);
        // Five awake: three more make eight.
        assert_eq!(wakes(5, 1), 3);
        assert_eq!(wakes(0, 1), 1);
        assert_eq!(wakes(1, 1), 1);
        assert_eq!(wakes(2, 1), 2);
        assert_eq!(wakes(4, 1), 4);
        assert_eq!(wakes(15, 1), 1);
        assert_eq!(wakes(5, 0), 0);
        let ones = Counters::default();
        assert_eq!(ones.wake_size(1, 11, 16), 1);
        assert_eq!(ones.wake_size(30, 11, 16), 11);
        assert_eq!(blocks.wake_size(usize::MAX, 11, 16), 11);
    }
}
