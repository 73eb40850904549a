//! The knobs of a sleep protocol.

/// How long an idle worker searches before it gets sleepy.
///
/// A search costs CPU time but finds new work within nanoseconds; a sleep costs nothing but takes
/// microseconds to end. The default searches for about as long as a wake-up takes.
///
/// Between two searches the worker pauses with `spin_loop` hints. It never yields to the operating system: a
/// thread that has yielded is put behind every other runnable thread, and on current Linux kernels its
/// next wake-up can take milliseconds.
///
/// ```
/// use drowse_sleep::Policy;
///
/// let eager_to_sleep = Policy { rounds_until_sleepy: 0, ..Policy::default() };
/// assert!(eager_to_sleep.rounds_until_sleepy < Policy::default().rounds_until_sleepy);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Searches that must come back empty before the worker announces that it is sleepy. One more search
    /// follows the announcement, then the worker sleeps.
    pub rounds_until_sleepy: u32,
    /// `spin_loop` hints between two of those searches.
    pub spins_per_round: u32,
}

impl Default for Policy {
    fn default() -> Self {
        if cfg!(drowse_shuttle) {
            // A random schedule would hardly ever let a worker search for long enough to fall asleep.
            return Self { rounds_until_sleepy: 1, spins_per_round: 1 };
        }
        Self { rounds_until_sleepy: 24, spins_per_round: 2 }
    }
}
