//! The protocols that the models are made for.

#[cfg(not(drowse_shuttle))]
pub use alone::*;
#[cfg(drowse_shuttle)]
pub use in_a_pool::*;

/// For loom: the protocol alone.
#[cfg(not(drowse_shuttle))]
mod alone {
    use crate::faulty::{FaultyCounters, FaultyJec, FaultyRelay, FaultySleepy};
    use drowse_sleep::{Counters, Idleness, Pause, Policy, Relay, Sleep, Sleepy, WakeSize};

    /// Makes the sleep of so many workers, by the protocol that a model is about.
    pub type MakeSleep = fn(usize) -> Sleep;

    /// Sleepy after the first empty search, asleep after the second: the shortest way to bed.
    const EAGER: Policy = Policy {
        rounds_until_sleepy: 0,
        rounds_while_sleepy: 1,
        rounds_on_watch: 0,
        pause: Pause::Spin(0),
    };

    /// By the protocol of the one sleepy worker.
    pub fn sleepy(workers: usize) -> Sleep {
        Sleep::with(workers, Box::new(FaultySleepy(Sleepy)), EAGER)
    }

    /// The same by a worker that does not search again once it is sleepy: all that it has is the
    /// re-check.
    pub fn sleepy_at_once(workers: usize) -> Sleep {
        let policy = Policy { rounds_while_sleepy: 0, ..EAGER };
        Sleep::with(workers, Box::new(FaultySleepy(Sleepy)), policy)
    }

    /// By counting heads.
    pub fn counters(workers: usize) -> Sleep {
        Sleep::with(workers, Box::new(FaultyCounters(Counters::default())), EAGER)
    }

    /// By counting heads, with both of its options.
    pub fn counters_explored(workers: usize) -> Sleep {
        let options = Counters { idleness: Idleness::LocalQueue, wake: WakeSize::PowerOfTwo };
        Sleep::with(workers, Box::new(FaultyCounters(options)), EAGER)
    }

    /// By few searchers, and with room for one worker: others come when a sentry gets up.
    pub fn relay(workers: usize) -> Sleep {
        Sleep::with(workers, Box::new(FaultyRelay(Relay)), EAGER).with_room(1)
    }

    /// By few searchers, and with room for all.
    pub fn roomy_relay(workers: usize) -> Sleep {
        Sleep::with(workers, Box::new(FaultyRelay(Relay)), EAGER).with_room(workers)
    }

    /// By a jobs event counter, of two bits, so that it comes round after two posts.
    pub fn jec(workers: usize) -> Sleep {
        Sleep::with(workers, Box::new(FaultyJec::new()), EAGER)
    }
}

/// For shuttle: a pool chooses it.
#[cfg(drowse_shuttle)]
mod in_a_pool {
    use drowse_sleep::{Counters, SleepProtocol};

    /// Chooses the protocol that a model is about.
    pub type Choose = fn() -> SleepProtocol;

    /// The protocol of the one sleepy worker.
    pub fn sleepy() -> SleepProtocol {
        SleepProtocol::Sleepy
    }

    /// Counting heads.
    pub fn counters() -> SleepProtocol {
        SleepProtocol::Counters(Counters::default())
    }

    /// Few searchers, and no more workers than processors: of which there is one.
    pub fn relay() -> SleepProtocol {
        SleepProtocol::Relay
    }

    /// The jobs event counter.
    pub fn jec() -> SleepProtocol {
        SleepProtocol::Jec
    }
}
