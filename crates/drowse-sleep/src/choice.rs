//! Sleep protocols by name.

use crate::{Counters, Idleness, Jec, Pause, Policy, Protocol, Relay, Sleepy, WakeSize};
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Choice of the protocol that the workers of a pool sleep by.
///
/// A name may be followed by options: see [`VARIANTS`](Self::VARIANTS).
///
/// ```
/// use drowse_sleep::SleepProtocol;
///
/// assert_eq!("sleepy".parse(), Ok(SleepProtocol::Sleepy));
/// assert_eq!(SleepProtocol::default().to_string(), "relay");
/// let in_blocks: SleepProtocol = "counters:blocks,queue".parse().unwrap();
/// assert_eq!(in_blocks.name(), "counters:queue,blocks");
/// let error = "snooze".parse::<SleepProtocol>().unwrap_err();
/// assert!(error.to_string().contains("sleepy, counters, jec, relay"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SleepProtocol {
    /// One sleepy worker at a time; any news wakes all workers. See [`sleepy`](crate::sleepy).
    Sleepy,
    /// Counts of the idle and the sleeping; news wakes as many workers as it needs. See
    /// [`counters`](crate::counters).
    Counters(Counters),
    /// Counts and a jobs event counter, which keeps sleepy workers awake while work comes. See
    /// [`jec`](crate::jec).
    Jec,
    /// Counts, with few searchers and no more workers up than processors. See
    /// [`relay`](crate::relay).
    Relay,
    /// `jec` with the rounds and the yields of the Blitz runtime: [`Policy::BLITZ`].
    JecAsBlitz,
    /// `jec` with a counter of every post: [`Jec::of_every_post`].
    JecOfEveryPost,
}

impl SleepProtocol {
    /// Every protocol, without options.
    pub const ALL: [Self; 4] =
        [Self::Sleepy, Self::counters(Idleness::Counted, WakeSize::Needed), Self::Jec, Self::Relay];

    /// Every protocol, with and without options.
    pub const VARIANTS: [Self; 11] = [
        Self::Sleepy,
        Self::counters(Idleness::Counted, WakeSize::Needed),
        Self::counters(Idleness::LocalQueue, WakeSize::Needed),
        Self::counters(Idleness::KeepOneMore, WakeSize::Needed),
        Self::counters(Idleness::Counted, WakeSize::PowerOfTwo),
        Self::counters(Idleness::LocalQueue, WakeSize::PowerOfTwo),
        Self::counters(Idleness::KeepOneMore, WakeSize::PowerOfTwo),
        Self::Jec,
        Self::JecAsBlitz,
        Self::JecOfEveryPost,
        Self::Relay,
    ];

    const fn counters(idleness: Idleness, wake: WakeSize) -> Self {
        Self::Counters(Counters { idleness, wake })
    }

    /// Returns the default policy of workers that sleep by this protocol.
    ///
    /// ```
    /// use drowse_sleep::{Pause, Policy, SleepProtocol};
    ///
    /// assert_eq!(SleepProtocol::default().policy(), Policy::default());
    /// assert_eq!(SleepProtocol::Sleepy.policy().pause, Pause::Yield);
    /// ```
    pub fn policy(self) -> Policy {
        match self {
            // As rayon's early sleep README has it. One worker at a time gets sleepy, and the
            // others wait for their turn: by spinning they would keep the processor from the worker
            // whose turn it is.
            Self::Sleepy if !cfg!(drowse_shuttle) => {
                Policy { pause: Pause::Yield, ..Policy::default() }
            }
            Self::JecAsBlitz if !cfg!(drowse_shuttle) => Policy::BLITZ,
            _ => Policy::default(),
        }
    }

    /// Returns the name that it is chosen by, with its options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sleepy => "sleepy",
            Self::Counters(options) => options.name(),
            Self::Jec => "jec",
            Self::Relay => "relay",
            Self::JecAsBlitz => "jec:blitz",
            Self::JecOfEveryPost => "jec:every",
        }
    }

    pub(crate) fn build(self) -> Box<dyn Protocol> {
        match self {
            Self::Sleepy => Box::new(Sleepy),
            Self::Counters(options) => Box::new(options),
            Self::Jec => Box::new(Jec::new()),
            Self::Relay => Box::new(Relay),
            Self::JecAsBlitz => Box::new(Jec::new().named("jec:blitz")),
            Self::JecOfEveryPost => Box::new(Jec::of_every_post()),
        }
    }
}

impl Default for SleepProtocol {
    /// Returns [`Relay`].
    fn default() -> Self {
        Self::Relay
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
        let is_wanted = |one: &Self| means(name, one.name());
        let chosen = Self::VARIANTS.into_iter().find(is_wanted);
        chosen.ok_or_else(|| UnknownProtocol(name.to_owned()))
    }
}

/// Returns `true` if the two names are equal, with their options in any order. (The functions of
/// std for text compile to more code.)
fn means(one: &str, other: &str) -> bool {
    let ((one, options), (other, others)) = (split(one, b':'), split(other, b':'));
    one == other && has_all(options, others) && has_all(others, options)
}

/// Returns `true` if each of these options is among the others.
fn has_all(mut options: Option<&str>, others: Option<&str>) -> bool {
    while let Some(some) = options {
        let (mut rest, option);
        (option, options) = split(some, b',');
        rest = others;
        loop {
            let Some(some) = rest else { return false };
            let other;
            (other, rest) = split(some, b',');
            if other == option {
                break;
            }
        }
    }
    true
}

/// Returns what is before the first separator, without spaces around it, and what is after.
#[inline(never)]
fn split(text: &str, separator: u8) -> (&str, Option<&str>) {
    let at = text.bytes().position(|byte| byte == separator);
    (text[..at.unwrap_or(text.len())].trim_ascii(), at.map(|at| &text[at + 1..]))
}

/// Error for a name that no sleep protocol has. Its message lists the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProtocol(String);

impl fmt::Display for UnknownProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (with, without): (Vec<_>, Vec<_>) = SleepProtocol::VARIANTS
            .map(SleepProtocol::name)
            .into_iter()
            .partition(|n| n.contains(':'));
        let (with, without) = (with.join(", "), without.join(", "));
        write!(f, "{:?} is no sleep protocol; there are {without}, and with options {with}", self.0)
    }
}

impl Error for UnknownProtocol {}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_called_what_it_calls_itself() {
        assert!(
            SleepProtocol::ALL.iter().all(|protocol| SleepProtocol::VARIANTS.contains(protocol))
        );
        for protocol in SleepProtocol::VARIANTS {
            assert_eq!(protocol.build().rules().name, protocol.name());
            assert_eq!(protocol.name().parse(), Ok(protocol));
        }
    }

    #[test]
    fn options_have_no_order() {
        let both = SleepProtocol::counters(Idleness::LocalQueue, WakeSize::PowerOfTwo);
        for name in ["counters:queue,blocks", " counters : blocks , queue "] {
            assert_eq!(name.parse(), Ok(both), "{name}");
        }
        for bad in ["", "counters:", "counters:queue,more", "counters,queue", "jec:blitz:every"] {
            assert!(bad.parse::<SleepProtocol>().is_err(), "{bad}");
        }
    }
}
