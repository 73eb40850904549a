//! An environment variable, and the values that it takes.

use drowse_sync::{OnceLock, say};
use std::env;
use std::fmt;
use std::time::Duration;

/// Environment variable that chooses for pools whose builder does not.
pub(crate) struct Setting<T> {
    pub(crate) variable: Variable,
    /// Parses a value, trimmed and in lower case. `None`: not a value of this variable.
    pub(crate) parse: fn(&str) -> Option<T>,
}

/// Part of a setting that does not depend on the type of its values.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// Names the accepted values, for the complaint about another one.
    pub(crate) values: &'static str,
    /// Names the value that is used in place of an invalid one, for the complaint.
    pub(crate) otherwise: &'static str,
    /// Value as [`Setting::parse`] takes it, once it was read; `None` if not set, or invalid.
    chosen: OnceLock<Option<String>>,
}

impl<T> Setting<T> {
    pub(crate) const fn new(
        name: &'static str,
        parse: fn(&str) -> Option<T>,
        values: &'static str,
        otherwise: &'static str,
    ) -> Self {
        Self { variable: Variable { name, values, otherwise, chosen: OnceLock::new() }, parse }
    }

    /// Returns the value of the variable, if it is set and valid. The first call reads the
    /// variable, and complains about an invalid value.
    pub(crate) fn get(&self) -> Option<T> {
        (self.parse)(self.variable.get(&|value| (self.parse)(value).is_some())?)
    }
}

impl Variable {
    #[inline(never)]
    fn get(&self, is_known: &dyn Fn(&str) -> bool) -> Option<&str> {
        let read = || {
            let value = value_of(self.name)?;
            let chosen = value.trim_ascii().to_ascii_lowercase();
            if is_known(&chosen) {
                return Some(chosen);
            }
            complain(self.name, &value, &self.values, &self.otherwise);
            None
        };
        self.chosen.get_or_init(read).as_deref()
    }
}

/// Message that is printed at most once in a process.
pub(crate) struct Once(OnceLock<()>);

impl Once {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Calls `say` the first time. Other threads wait until that call has returned.
    pub(crate) fn call(&self, say: fn()) {
        self.0.get_or_init(say);
    }
}

/// Returns the value of a variable, if it is set. An empty value counts as not set: scripts and
/// container files clear variables that way.
pub(crate) fn value_of(name: &str) -> Option<String> {
    let value = env::var_os(name)?.to_string_lossy().into_owned();
    (!value.trim_ascii().is_empty()).then_some(value)
}

/// Prints that a variable has an invalid value, which values it takes, and what is used instead.
#[cold]
pub(crate) fn complain(
    name: &str,
    value: &str,
    values: &dyn fmt::Display,
    using: &dyn fmt::Display,
) {
    say(format_args!("drowse: {name}={value:?} is not {values}; using {using}"));
}

/// Parses a value that is on or off.
pub(crate) fn switch(value: &str) -> Option<bool> {
    match value {
        "off" | "false" | "no" | "0" => Some(false),
        "on" | "true" | "yes" | "1" => Some(true),
        _ => None,
    }
}

/// Parses a time: a number of seconds or milliseconds (`5s`, `500ms`); a number without a unit,
/// which counts in `unit`; or a switch, where on is `if_on`. Off and zero are no time:
/// `Some(None)`.
pub(crate) fn time(value: &str, unit: Duration, if_on: Duration) -> Option<Option<Duration>> {
    let (number, unit) = if let Some(number) = value.strip_suffix("ms") {
        (number, Duration::from_millis(1))
    } else if let Some(number) = value.strip_suffix('s') {
        (number, Duration::from_secs(1))
    } else {
        (value, unit)
    };
    let number = number.trim_ascii_end();
    if !number.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return switch(value).map(|on| on.then_some(if_on));
    }
    let time = times(unit, number)?;
    Some((!time.is_zero()).then_some(time))
}

/// Returns `unit`, of a second at most, multiplied by a decimal number.
fn times(unit: Duration, number: &str) -> Option<Duration> {
    let unit = u64::from(unit.subsec_nanos()) + unit.as_secs() * 1_000_000_000;
    let (mut nanos, mut digit_of) = (0_u64, None);
    for digit in number.bytes() {
        match digit {
            b'.' if digit_of.is_none() => digit_of = Some(unit),
            b'0'..=b'9' => {
                let digit = u64::from(digit - b'0');
                match &mut digit_of {
                    None => nanos = nanos.checked_mul(10)?.checked_add(digit.checked_mul(unit)?)?,
                    Some(place) => {
                        *place /= 10;
                        nanos = nanos.checked_add(digit * *place)?;
                    }
                }
            }
            _ => return None,
        }
    }
    number.bytes().any(|c| c.is_ascii_digit()).then_some(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_on_or_off() {
        assert!(["on", "true", "yes", "1"].iter().all(|value| switch(value) == Some(true)));
        assert!(["off", "false", "no", "0"].iter().all(|value| switch(value) == Some(false)));
        assert!(["", "2", "onn", "-"].iter().all(|value| switch(value).is_none()));
    }

    #[test]
    fn a_time_has_a_unit_or_that_of_its_variable() {
        let read = |value| time(value, Duration::from_millis(1), Duration::from_secs(9));
        for (value, milliseconds) in [
            ("5s", 5_000),
            ("500ms", 500),
            ("1.5 s", 1_500),
            (".25s", 250),
            ("2.", 2),
            ("250", 250),
            ("1", 1),
            ("on", 9_000),
            ("yes", 9_000),
        ] {
            assert_eq!(read(value), Some(Some(Duration::from_millis(milliseconds))), "{value}");
        }
        for off in ["0", "0s", "0ms", "0.0", "off", "no", "false"] {
            assert_eq!(read(off), Some(None), "{off}");
        }
        for bad in [
            "-1",
            ".",
            "1.2.3",
            "99999999999999999999",
            "soon",
            "nan",
            "inf",
            "infs",
            "1e300",
            "s",
            "ms",
            "5 minutes",
            "5m",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
