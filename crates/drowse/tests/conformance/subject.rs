//! What the suite is run on.

use drowse::{SleepPolicy, SleepProtocol, ThreadPool, ThreadPoolBuilder, Waiting};

/// Pools of one worker, of two, of a few, and of many more than there are cores.
pub(crate) const WIDTHS: [usize; 4] = [1, 2, 8, 64];

/// A protocol and how patient its workers are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) protocol: SleepProtocol,
    policy: Option<SleepPolicy>,
    guests: bool,
    isolated: bool,
}

impl Subject {
    pub(crate) fn new(protocol: SleepProtocol) -> Self {
        Self { protocol, policy: None, guests: false, isolated: false }
    }

    /// The same, where threads outside work instead of waiting.
    pub(crate) fn with_guests(self) -> Self {
        Self { guests: true, ..self }
    }

    /// The same, where whoever waits runs nothing but what it waits for.
    pub(crate) fn isolated(self) -> Self {
        Self { isolated: true, ..self }
    }

    /// The same with another policy.
    pub(crate) fn with(self, policy: SleepPolicy) -> Self {
        Self { policy: Some(policy), ..self }
    }

    pub(crate) fn builder(self, width: usize) -> ThreadPoolBuilder {
        let builder = ThreadPoolBuilder::new().num_threads(width).sleep_protocol(self.protocol);
        let mut builder = builder.guests(self.guests);
        if self.isolated {
            builder = builder.waiting(Waiting::Isolate);
        }
        match self.policy {
            Some(policy) => builder.sleep_policy(policy),
            None => builder,
        }
    }

    #[track_caller]
    pub(crate) fn pool(self, width: usize) -> ThreadPool {
        let pool = self.builder(width).build().expect("a pool");
        assert_eq!(pool.metrics().protocol, self.protocol.name());
        pool
    }
}

/// How many rounds a pool of this width gets, where a pool of one gets `most`. A protocol may wake
/// everybody each time, so wide pools get fewer; but each gets some.
pub(crate) fn rounds(width: usize, most: usize) -> usize {
    (most / width).max(3)
}
