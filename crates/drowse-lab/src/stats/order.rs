//! Samples in order.

use super::bootstrap::{Interval, median_interval};
use super::by_process::ByProcess;

/// The samples that are numbers, smallest first.
pub(super) fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The quantile `q`, from 0 to 1, of samples in order: between two of them, a mixture of both.
pub(super) fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (high - low) * part)
}

/// The quantile `q`, from 0 to 1, of these samples; none if there are none.
#[must_use]
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(samples), q)
}

/// The middle one; of an even number, the mean of the middle two; none if there are none.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// What a report says about one set of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many samples counted.
    pub count: usize,
    /// How many processes they are from.
    pub processes: usize,
    /// The middle one.
    pub median: f64,
    /// Where the median may be, with a confidence of 95 %.
    pub interval: Interval,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// The summary of these samples; none if there are none.
    #[must_use]
    pub fn of<'a>(samples: impl Into<ByProcess<'a>>) -> Option<Self> {
        let samples = samples.into();
        let sorted = sorted(samples.samples());
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Self {
            count: sorted.len(),
            processes: samples.sorted().len(),
            median: quantile_of_sorted(&sorted, 0.5)?,
            interval: median_interval(samples, 0.95)?,
            min,
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Summary, median, quantile};

    #[test]
    fn the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn what_is_no_number_does_not_count() {
        assert_eq!(median(&[f64::NAN, 1.0, f64::INFINITY, 3.0]), Some(2.0));
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(Summary::of(&[f64::NAN, 5.0][..]).unwrap().count, 1);
    }

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        let samples = [10.0, 0.0, 30.0, 20.0];
        assert_eq!(quantile(&samples, 0.0), Some(0.0));
        assert_eq!(quantile(&samples, 0.25), Some(7.5));
        assert_eq!(quantile(&samples, 1.0), Some(30.0));
        assert_eq!(quantile(&samples, 9.0), Some(30.0));
    }

    #[test]
    fn a_summary_keeps_the_outliers() {
        let summary = Summary::of(&[1.0, 1.1, 0.9, 50.0][..]).unwrap();
        assert_eq!((summary.count, summary.min, summary.max), (4, 0.9, 50.0));
        assert!(Summary::of(&[][..]).is_none());
    }
}
