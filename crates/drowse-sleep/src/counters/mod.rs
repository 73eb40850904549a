// The same names lead to the sources where the page is read by itself.
#![doc = "[LatchWord]: crate::LatchWord"]
#![doc = "[Idleness]: crate::Idleness"]
#![doc = "[WakeSize]: crate::WakeSize"]
#![doc = "[jec#the-fences]: crate::jec#the-fences"]
#![doc = "[jec]: crate::jec"]
#![doc = "[relay]: crate::relay"]
#![doc = ""]
#![doc = include_str!("README.md")]

use crate::{Heads, Posted, Protocol, Rules, Wake};

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
    /// By its own queue, if a worker posts: enough if the queue was empty, for somebody must have
    /// emptied it. (Never if nobody at all searches.) From outside: by the count.
    LocalQueue,
    /// By the count of those who search, and one more: enough if one is left when each job is
    /// taken.
    KeepOneMore,
}

/// How many sleepers a post wakes when it wakes any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WakeSize {
    /// One for each job that nobody idle will take.
    #[default]
    Needed,
    /// That many, and then up to the next power of two of workers awake, since where one job comes
    /// from more may follow.
    PowerOfTwo,
}

impl Counters {
    /// For how many jobs somebody must be woken.
    fn unattended(self, posted: &Posted, heads: Heads) -> usize {
        match self.idleness {
            Idleness::LocalQueue if posted.by_worker && heads.searching() > 0 => {
                if posted.queue_was_empty {
                    0
                } else {
                    posted.jobs
                }
            }
            Idleness::Counted | Idleness::LocalQueue => posted.jobs.saturating_sub(heads.searching()),
            Idleness::KeepOneMore => (posted.jobs.saturating_add(1)).saturating_sub(heads.searching()),
        }
    }

    /// The name that it is chosen by.
    pub(crate) fn name(self) -> &'static str {
        match (self.idleness, self.wake) {
            (Idleness::Counted, WakeSize::Needed) => "counters",
            (Idleness::LocalQueue, WakeSize::Needed) => "counters:queue",
            (Idleness::KeepOneMore, WakeSize::Needed) => "counters:more",
            (Idleness::Counted, WakeSize::PowerOfTwo) => "counters:blocks",
            (Idleness::LocalQueue, WakeSize::PowerOfTwo) => "counters:queue,blocks",
            (Idleness::KeepOneMore, WakeSize::PowerOfTwo) => "counters:more,blocks",
        }
    }

    /// How many to wake for so many jobs, of `sleeping` out of `workers`.
    fn wake_size(self, unattended: usize, sleeping: usize, workers: usize) -> usize {
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
    fn rules(&self) -> Rules {
        Rules::named(self.name())
    }

    fn post(&self, word: u64, posted: &Posted) -> (u64, Wake) {
        let heads = Heads::of(word);
        let unattended = self.unattended(posted, heads);
        (word, Wake::Any(self.wake_size(unattended, heads.sleeping, posted.workers)))
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
