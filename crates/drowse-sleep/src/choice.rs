//! The protocols by name.

use crate::{Counters, Jec, Pause, Policy, Protocol, Sleepy};
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Which protocol the workers of a pool sleep by.
///
/// ```
/// use drowse_sleep::SleepProtocol;
///
/// assert_eq!("sleepy".parse(), Ok(SleepProtocol::Sleepy));
/// assert_eq!(SleepProtocol::default().to_string(), "counters");
/// let error = "snooze".parse::<SleepProtocol>().unwrap_err();
/// assert!(error.to_string().contains("sleepy, counters, jec"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SleepProtocol {
    /// One sleepy worker at a time; any news wakes everybody. See [`sleepy`](crate::sleepy).
    Sleepy,
    /// Counts of the idle and the sleeping; news wakes as many as it takes. See
    /// [`counters`](crate::counters).
    Counters(Counters),
    /// The same with a jobs event counter, which keeps sleepy workers awake while work comes. See
    /// [`jec`](crate::jec).
    Jec,
}

impl SleepProtocol {
    /// Every protocol, as it comes without options.
    pub const ALL: [Self; 3] = [
        Self::Sleepy,
        Self::Counters(Counters { idleness: crate::Idleness::Counted, wake: crate::WakeSize::Needed }),
        Self::Jec,
    ];

    /// How patient workers are that sleep by this protocol, unless they are told.
    ///
    /// ```
    /// use drowse_sleep::{Pause, Policy, SleepProtocol};
    ///
    /// assert_eq!(SleepProtocol::default().policy(), Policy::default());
    /// assert_eq!(SleepProtocol::Sleepy.policy().pause, Pause::Yield);
    /// ```
    pub fn policy(self) -> Policy {
        match self {
            // As in its documents. One worker at a time gets sleepy, and the others wait for their
            // turn: those who keep their processors meanwhile keep it from the one whose turn it
            // is.
            Self::Sleepy if !cfg!(drowse_shuttle) => Policy { pause: Pause::Yield, ..Policy::default() },
            _ => Policy::default(),
        }
    }

    /// The name that it is chosen by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sleepy => "sleepy",
            Self::Counters(_) => "counters",
            Self::Jec => "jec",
        }
    }

    pub(crate) fn build(self) -> Box<dyn Protocol> {
        match self {
            Self::Sleepy => Box::new(Sleepy),
            Self::Counters(options) => Box::new(options),
            Self::Jec => Box::new(Jec::new()),
        }
    }
}

impl Default for SleepProtocol {
    /// [`Counters`], without options.
    fn default() -> Self {
        Self::Counters(Counters::default())
    }
}

impl fmt::Display for SleepProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SleepProtocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, UnknownProtocol> {
        let chosen = Self::ALL.into_iter().find(|protocol| protocol.name() == name.trim());
        chosen.ok_or_else(|| UnknownProtocol(name.to_owned()))
    }
}

/// There is no sleep protocol of that name. Says which there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProtocol(String);

impl fmt::Display for UnknownProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = SleepProtocol::ALL.map(SleepProtocol::name);
        write!(f, "{:?} is no sleep protocol; there are {}", self.0, names.join(", "))
    }
}

impl Error for UnknownProtocol {}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_called_what_it_calls_itself() {
        for protocol in SleepProtocol::ALL {
            assert_eq!(protocol.build().rules().name, protocol.name());
            assert_eq!(protocol.name().parse(), Ok(protocol));
        }
    }
}
