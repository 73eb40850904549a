// The README defines these link names too, as paths to the sources, for readers outside rustdoc.
#![doc = "[LatchWord]: crate::LatchWord"]
#![doc = "[Idleness]: crate::Idleness"]
#![doc = "[WakeSize]: crate::WakeSize"]
#![doc = "[jec#the-fences]: crate::jec#the-fences"]
#![doc = "[jec]: crate::jec"]
#![doc = "[relay]: crate::relay"]
#![doc = ""]
#![doc = include_str!("README.md")]

use crate::{Heads, Posted, Protocol, Rules, Wake};

/// Counts of idle and sleeping workers. See the [module](self) for the protocol and its proof.
///
/// ```
/// use drowse_sleep::{Counters, Idleness, WakeSize};
///
/// let explorer = Counters { idleness: Idleness::LocalQueue, wake: WakeSize::PowerOfTwo };
/// assert_ne!(explorer, Counters::default());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Way in which a post finds out whether a worker is idle.
    pub idleness: Idleness,
    /// Number of sleepers that a post wakes at once.
    pub wake: WakeSize,
}

/// Way in which a post finds out whether enough workers are idle to take its jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Idleness {
    /// By the count of searching workers: enough if there is one for each job.
    #[default]
    Counted,
    /// By the poster's own queue, if a worker posts: enough if the queue was empty, for thieves
    /// must have emptied it. (Never enough if no worker searches.) From outside: by the count.
    LocalQueue,
    /// By the count of searching workers: enough if one is left when each job is taken.
    KeepOneMore,
}

/// Number of sleepers that a post wakes when it wakes any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WakeSize {
    /// One for each job that no idle worker will take.
    #[default]
    Needed,
    /// As `Needed`, then up to the next power of two of workers awake, as more jobs may follow.
    PowerOfTwo,
}

impl Counters {
    /// Returns the number of jobs that no idle worker will take.
    fn unattended(self, posted: &Posted, heads: Heads) -> usize {
        match self.idleness {
            Idleness::LocalQueue if posted.by_worker && heads.searching() > 0 => {
                if posted.queue_was_empty { 0 } else { posted.jobs }
            }
            Idleness::Counted | Idleness::LocalQueue => {
                posted.jobs.saturating_sub(heads.searching())
            }
            Idleness::KeepOneMore => {
                (posted.jobs.saturating_add(1)).saturating_sub(heads.searching())
            }
        }
    }

    /// Returns the name that it is chosen by.
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

    /// Returns the number of workers to wake, out of `sleeping`.
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
