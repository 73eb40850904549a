//! How long a worker searches before it sleeps.

use drowse_sync::{has_several_cores, hint, yield_to_others};

/// How long an idle worker searches before it gets sleepy, and how long it stays so before it
/// sleeps.
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
    /// Searches between that announcement and the sleep. Whatever their number, the worker looks at
    /// the queues once more in the very act of falling asleep.
    pub rounds_while_sleepy: u32,
    /// Searches that a worker adds, before it gets sleepy, when it is the only one who searches and
    /// its last sleep was so short that it would have been better to stay awake. So a pool that is
    /// entered again and again finds somebody awake, and one that is entered now and then pays
    /// nothing for it. In the middle of a job it is three times as many, and one other may search
    /// as well: jobs that end one after the other on two workers hand over at once. Only where the
    /// [protocol](crate::Protocol::heads) knows who searches.
    pub rounds_on_watch: u32,
    /// What it does between two searches.
    pub pause: Pause,
}

/// What a worker does between two searches.
///
/// ```
/// use drowse_sleep::{Pause, Policy};
///
/// assert_ne!(Policy::default().pause, Pause::Yield);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pause {
    /// It keeps its processor, for so many `spin_loop` hints.
    Spin(u32),
    /// It lets other threads run first, as the protocols' documents have it. On current Linux
    /// kernels a thread that has yielded is put behind everything else that could run, and its next
    /// wake-up can take milliseconds. Where there are many more workers than processors, and each
    /// waits for its turn to get sleepy, spinning takes longer still.
    Yield,
}

impl Pause {
    pub(crate) fn pause(self) {
        match self {
            Self::Spin(hints) => (0..hints).for_each(|_| hint::spin_loop()),
            Self::Yield => yield_to_others(),
        }
    }
}

/// About as long as a wake-up takes.
pub(crate) const ROUNDS_UNTIL_SLEEPY: u32 = 24;

impl Policy {
    /// The rounds as the Blitz runtime numbers them: 0 to 31 search, 32 announces, 33 searches once
    /// more, 34 sleeps; and a yield between two of them.
    ///
    /// ```
    /// use drowse_sleep::Policy;
    ///
    /// assert_eq!(Policy::BLITZ.rounds_until_sleepy, 32);
    /// assert_eq!(Policy::BLITZ.rounds_until_sleepy + Policy::BLITZ.rounds_while_sleepy, 34);
    /// ```
    pub const BLITZ: Self =
        Self { rounds_until_sleepy: 32, rounds_while_sleepy: 2, rounds_on_watch: 0, pause: Pause::Yield };
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
        // Where there is one processor, whoever keeps watch keeps others from bringing work.
        let rounds_on_watch = if has_several_cores() { 150 } else { 0 };
        Self {
            rounds_until_sleepy: ROUNDS_UNTIL_SLEEPY,
            rounds_while_sleepy: 1,
            rounds_on_watch,
            pause: Pause::Spin(2),
        }
    }
}
