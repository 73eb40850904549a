//! Patience of workers: the number of searches before they sleep.

use drowse_sync::{has_several_cores, hint, yield_to_others};

/// Number of searches of an idle worker before it gets sleepy, and before it sleeps.
///
/// A search costs CPU time but finds new work within nanoseconds; a sleep costs nothing but takes
/// microseconds to end. The default searches for about as long as a wake-up takes.
///
/// Between two searches the worker [pauses](Pause).
///
/// ```
/// use drowse_sleep::Policy;
///
/// let eager_to_sleep = Policy { rounds_until_sleepy: 0, ..Policy::default() };
/// assert!(eager_to_sleep.rounds_until_sleepy < Policy::default().rounds_until_sleepy);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Searches that must come back empty before the worker announces that it is sleepy.
    pub rounds_until_sleepy: u32,
    /// Searches between that announcement and the sleep. In addition, the worker always takes a
    /// last look at the queues while it falls asleep.
    pub rounds_while_sleepy: u32,
    /// Additional searches of a worker before it gets sleepy, if no other worker searches and its
    /// last sleep was so short that staying awake would have been better. So a pool that is entered
    /// again and again has a worker awake, and a pool that is entered now and then pays nothing for
    /// it. In the middle of a job the number is three times as high, and one other worker may
    /// search as well: so two workers whose jobs end alternately hand over at once. Only with
    /// protocols whose word [counts](crate::Rules::counts_heads) the searchers.
    pub rounds_on_watch: u32,
    /// Pause between two searches.
    pub pause: Pause,
}

/// Pause of a worker between two searches.
///
/// ```
/// use drowse_sleep::{Pause, Policy};
///
/// assert_ne!(Policy::default().pause, Pause::Yield);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pause {
    /// Keep the processor, for this number of `spin_loop` hints.
    Spin(u32),
    /// Let other threads run first, as the texts that describe the protocols do. On current Linux
    /// kernels a thread that has yielded is put behind everything else that could run, and its next
    /// wake-up can take milliseconds. With many more workers than processors, each waiting for its
    /// turn to get sleepy, spinning takes longer still.
    Yield,
}

impl Pause {
    #[inline(never)]
    pub(crate) fn pause(self) {
        match self {
            Self::Spin(hints) => (0..hints).for_each(|_| hint::spin_loop()),
            Self::Yield => yield_to_others(),
        }
    }
}

/// Rounds that take about as long as a wake-up.
pub(crate) const ROUNDS_UNTIL_SLEEPY: u32 = 24;

impl Policy {
    /// Rounds as the Blitz runtime numbers them: 0 to 31 search, 32 announces, 33 searches once
    /// more, 34 sleeps; with a yield between two rounds.
    ///
    /// ```
    /// use drowse_sleep::Policy;
    ///
    /// assert_eq!(Policy::BLITZ.rounds_until_sleepy, 32);
    /// assert_eq!(Policy::BLITZ.rounds_until_sleepy + Policy::BLITZ.rounds_while_sleepy, 34);
    /// ```
    pub const BLITZ: Self = Self {
        rounds_until_sleepy: 32,
        rounds_while_sleepy: 2,
        rounds_on_watch: 0,
        pause: Pause::Yield,
    };
}

impl Default for Policy {
    fn default() -> Self {
        if cfg!(drowse_shuttle) {
            // A random schedule would hardly ever let a worker search for long enough to fall
            // asleep.
            return Self {
                rounds_until_sleepy: 1,
                rounds_while_sleepy: 1,
                rounds_on_watch: 0,
                pause: Pause::Spin(1),
            };
        }
        // With one processor, a worker on watch keeps other threads from bringing work.
        let rounds_on_watch = if has_several_cores() { 150 } else { 0 };
        Self {
            rounds_until_sleepy: ROUNDS_UNTIL_SLEEPY,
            rounds_while_sleepy: 1,
            rounds_on_watch,
            pause: Pause::Spin(2),
        }
    }
}
