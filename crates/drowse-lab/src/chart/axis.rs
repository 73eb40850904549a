//! Where values go, and which of them are named.

use crate::stats::Scale;

/// How many times the least the largest must be before equal steps leave the small ones without
/// room.
const LOG_FROM: f64 = 12.0;

/// The most values to name: as many labels as fit a phone.
const TICKS: usize = 6;

/// An axis from left to right, in percent of its width.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Whether equal distances are equal ratios.
    pub log: bool,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    unit: String,
}

impl Axis {
    /// The axis that shows all of these values: the medians, which decide what it looks like, and
    /// the rest, which must fit in too.
    #[must_use]
    pub fn of(medians: &[f64], all: &[f64], unit: &str) -> Self {
        let largest =
            |values: &[f64]| values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let least = |values: &[f64]| {
            values
                .iter()
                .copied()
                .filter(|&v| v.is_finite() && v > 0.0)
                .fold(f64::INFINITY, f64::min)
        };
        let top = largest(all).max(largest(medians));
        let bottom = least(medians);
        let positive = medians.iter().all(|&median| median > 0.0);
        let log = positive && bottom.is_finite() && top / bottom > LOG_FROM;
        if log {
            Self::logarithmic(bottom.min(least(all)), top, unit)
        } else {
            Self::linear(top, unit)
        }
    }

    /// Round values from `from` to `to`, with their names: few, for a narrow picture.
    #[must_use]
    pub fn between(from: f64, to: f64, unit: &str) -> Vec<(f64, String)> {
        let (length, scale) = (to - from, Scale::of(to.abs().max(from.abs()), unit));
        if !length.is_finite() || length <= 0.0 {
            return Vec::new();
        }
        let step = nice_at_least(length / scale.factor / (TICKS - 1) as f64) * scale.factor;
        let first = (from / step).ceil() as i64;
        let ticks = (first..).map(|i| i as f64 * step).take_while(|&at| at <= to + step * 1e-6);
        ticks.take(2 * TICKS).map(|at| (at, scale.with_unit(plain(at / scale.factor)))).collect()
    }

    fn linear(top: f64, unit: &str) -> Self {
        let top = if top > 0.0 { top } else { 1.0 };
        // Ticks are round in the unit that is written, which for times is not always the one that
        // was measured.
        let factor = Scale::of(top, unit).factor;
        let step = nice_at_least(top / factor / (TICKS - 1) as f64) * factor;
        let count = (top / step * 1.000_001).floor() as usize;
        let ticks = (0..=count).map(|i| i as f64 * step).collect();
        // It ends where the values do: another tick would be room for nothing.
        Self {
            log: false,
            low: 0.0,
            high: top.max(count as f64 * step),
            ticks,
            unit: unit.to_string(),
        }
    }

    fn logarithmic(bottom: f64, top: f64, unit: &str) -> Self {
        let low = nice_at_most(bottom);
        let high = nice_at_least(top).max(low * 10.0);
        let decades =
            (low.log10().floor() as i32..=high.log10().ceil() as i32).map(|e| 10_f64.powi(e));
        let within = |v: &f64| *v >= low * 0.999 && *v <= high * 1.001;
        let fine: Vec<f64> =
            decades.clone().flat_map(|d| [d, 2.0 * d, 5.0 * d]).filter(within).collect();
        let coarse: Vec<f64> = decades.filter(within).collect();
        let ticks = if fine.len() <= TICKS {
            fine
        } else {
            let step = coarse.len().div_ceil(TICKS);
            coarse.into_iter().step_by(step).collect()
        };
        Self { log: true, low, high, ticks, unit: unit.to_string() }
    }

    /// Where a value goes, in percent. What a logarithm cannot show (nothing, or less) goes to the
    /// left edge.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let part = if !value.is_finite() {
            0.0
        } else if !self.log {
            (value - self.low) / (self.high - self.low)
        } else if value > 0.0 {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            0.0
        };
        (part * 100.0).clamp(0.0, 100.0)
    }

    /// The places of the values to name, and their names.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        let shared = Scale::of(self.high, &self.unit);
        self.ticks.iter().map(move |&tick| {
            // Over many orders of magnitude each has its own unit; else all have the same.
            let scale = if self.log { Scale::of(tick, &self.unit) } else { shared.clone() };
            (self.place(tick), scale.with_unit(plain(tick / scale.factor)))
        })
    }
}

/// A round number without zeros behind the point.
fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The least of 1, 2, 5, 10, 20, ... that is not below the value.
fn nice_at_least(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * decade)
        .find(|&n| n >= value * 0.999_999)
        .unwrap_or(value)
}

/// The largest of them that is not above it.
fn nice_at_most(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .map(|m| m * decade)
        .find(|&n| n <= value * 1.000_001)
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks().map(|(_, label)| label).collect()
    }

    #[test]
    fn near_values_share_a_linear_axis_from_zero() {
        let axis = Axis::of(&[4.0, 9.0], &[3.0, 9.7], "ns");
        assert!(!axis.log);
        assert_eq!(axis.place(0.0), 0.0);
        assert_eq!(labels(&axis), ["0 ns", "2 ns", "4 ns", "6 ns", "8 ns"]);
        assert_eq!(axis.place(9.7), 100.0);
    }

    #[test]
    fn far_values_get_a_logarithmic_axis() {
        let axis = Axis::of(&[10.0, 90_000.0], &[8.0, 120_000.0], "ns");
        assert!(axis.log);
        assert_eq!(labels(&axis), ["10 ns", "100 ns", "1 µs", "10 µs", "100 µs"]);
        assert!(axis.place(8.0) > 0.0 && axis.place(120_000.0) < 100.0);
        assert_eq!(axis.place(0.0), 0.0);
    }

    #[test]
    fn an_outlier_that_would_squeeze_the_rest_makes_it_logarithmic() {
        assert!(Axis::of(&[10.0, 11.0], &[10.0, 11.0, 500.0], "us").log);
    }

    #[test]
    fn a_median_of_nothing_stays_linear() {
        let axis = Axis::of(&[0.0, 100.0], &[0.0, 100.0], "%");
        assert!(!axis.log);
    }

    #[test]
    fn nothing_to_show_is_no_reason_to_panic() {
        for values in [&[][..], &[0.0], &[f64::NAN], &[-3.0], &[f64::INFINITY]] {
            let axis = Axis::of(values, values, "ns");
            assert!(axis.ticks().count() >= 2);
            assert!(axis.place(values.first().copied().unwrap_or(1.0)) >= 0.0);
        }
    }

    #[test]
    fn few_enough_ticks_for_a_phone() {
        for top in [1.3, 17.0, 999.0, 1e4, 1e6, 1e9, 1e13] {
            assert!(Axis::of(&[1.0, top], &[], "ns").ticks().count() <= TICKS + 1, "{top}");
        }
    }
}
