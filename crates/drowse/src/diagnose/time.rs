//! Times as reports and `DROWSE_LOG` write them.
//! fractions, or a `Duration`, is larger than all of the reports.

use std::fmt;
use std::time::Duration;

/// A time in the largest unit of which there is at least one, with all of its digits: `5s`,
/// `1.5ms`.
pub(crate) struct Exact(pub(crate) Duration);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.as_secs(), self.0.subsec_nanos());
        let (whole, unit, mut rest, mut scale) = match nanos {
            _ if seconds > 0 => (seconds, "s", nanos, 1_000_000_000),
            1_000_000.. => ((nanos / 1_000_000).into(), "ms", nanos % 1_000_000, 1_000_000),
            1_000.. => ((nanos / 1_000).into(), "µs", nanos % 1_000, 1_000),
            _ => (nanos.into(), "ns", 0, 1),
        };
        write!(f, "{whole}")?;
        let mut point = ".";
        while rest > 0 {
            scale /= 10;
            write!(f, "{point}{}", rest / scale)?;
            (rest, point) = (rest % scale, "");
        }
        f.write_str(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_time_is_written_as_std_does() {
        for nanos in [
            0,
            1,
            999,
            1_000,
            1_500,
            1_001,
            20_000,
            999_999,
            1_000_000,
            1_050_000,
            200_000_000,
            1_000_000_000,
            1_500_000_000,
            5_000_000_001,
            60_000_000_000,
        ] {
            let time = Duration::from_nanos(nanos);
            assert_eq!(Exact(time).to_string(), format!("{time:?}"));
        }
    }
}
