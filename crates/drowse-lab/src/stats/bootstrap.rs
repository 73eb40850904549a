//! How sure a median is: draw as many samples again, with repetition, many times over, and see where the median lands.
//!
//! This is the percentile bootstrap. It asks nothing of the samples' distribution, which for times on a shared machine is never a
//! bell: a hard floor, a hump, and a long tail. For a handful of samples it is a little too sure of itself; whoever decides by it
//! ([`differ`](super::differ)) asks for more than that the interval is small.

use super::order::{quantile_of_sorted, sorted};
use super::random::Random;

/// How often to draw. The ends of a 95 % interval then rest on 25 draws each.
const DRAWS: usize = 1_000;

/// Any will do; that it is always the same is the point.
const SEED: u64 = 0x5eed_d805;

/// From where to where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether it holds this value.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The middle `confidence` of these values.
    fn of(mut values: Vec<f64>, confidence: f64) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
        Some(Self { low: quantile_of_sorted(&values, tail)?, high: quantile_of_sorted(&values, 1.0 - tail)? })
    }
}

/// Where the median of these samples may be, with this confidence (`0.95`); none if there are no samples. One sample is its own
/// interval: it says nothing about the next.
#[must_use]
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = sorted(samples);
    let mut drawer = Drawer::new(&sorted)?;
    Interval::of((0..DRAWS).map(|_| drawer.median()).collect(), confidence)
}

/// Where the ratio of two medians, `b` over `a`, may be. None if either has no samples, or if a median of `a` may be zero or less.
#[must_use]
pub fn ratio_interval(a: &[f64], b: &[f64], confidence: f64) -> Option<Interval> {
    let (a, b) = (sorted(a), sorted(b));
    if *a.first()? <= 0.0 {
        return None;
    }
    let (mut over, mut under) = (Drawer::new(&b)?, Drawer::new(&a)?);
    // Two sets drawn with the same luck would agree too often.
    over.random = Random::new(!SEED);
    Interval::of((0..DRAWS).map(|_| over.median() / under.median()).collect(), confidence)
}

/// Draws medians. Counts how often each place in the order is drawn, which is cheaper than to sort what was drawn.
struct Drawer<'a> {
    sorted: &'a [f64],
    drawn: Vec<u32>,
    random: Random,
}

impl<'a> Drawer<'a> {
    fn new(sorted: &'a [f64]) -> Option<Self> {
        let drawn = vec![0; sorted.len()];
        (!sorted.is_empty()).then_some(Self { sorted, drawn, random: Random::new(SEED) })
    }

    fn median(&mut self) -> f64 {
        let count = self.sorted.len();
        self.drawn.fill(0);
        for _ in 0..count {
            self.drawn[self.random.below(count as u32) as usize] += 1;
        }
        // The places of the middle one, or of the middle two.
        let (lower, upper) = ((count as u32 - 1) / 2, count as u32 / 2);
        let (mut seen, mut place) = (0, 0);
        while seen + self.drawn[place] <= lower {
            seen += self.drawn[place];
            place += 1;
        }
        let low = self.sorted[place];
        while seen + self.drawn[place] <= upper {
            seen += self.drawn[place];
            place += 1;
        }
        (low + self.sorted[place]) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times as they are on a shared machine: a floor, a hump, a tail.
    fn times(seed: u64, count: usize, middle: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count)
            .map(|_| {
                let tail = if random.unit() < 0.1 { random.unit() } else { 0.0 };
                middle * (0.97 + 0.06 * random.unit() + tail)
            })
            .collect()
    }

    #[test]
    fn it_holds_the_median_of_the_samples() {
        for count in 1..40 {
            let samples = times(count as u64, count, 10.0);
            let interval = median_interval(&samples, 0.95).unwrap();
            assert!(interval.contains(crate::stats::median(&samples).unwrap()), "{interval:?}");
        }
    }

    #[test]
    fn it_holds_the_true_median_nearly_always() {
        // The true median of `times` is a little over 1.0, of a million samples.
        let truth = crate::stats::median(&times(1, 100_000, 1.0)).unwrap();
        let held =
            (0..200).filter(|&s| median_interval(&times(s, 25, 1.0), 0.95).unwrap().contains(truth)).count();
        assert!(held > 180, "{held} of 200");
    }

    #[test]
    fn more_samples_are_surer() {
        let width = |count| {
            let interval = median_interval(&times(3, count, 1.0), 0.95).unwrap();
            interval.high - interval.low
        };
        assert!(width(200) < width(10));
    }

    #[test]
    fn edges() {
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(median_interval(&[f64::NAN], 0.95), None);
        assert_eq!(median_interval(&[4.0], 0.95), Some(Interval { low: 4.0, high: 4.0 }));
        assert_eq!(ratio_interval(&[], &[1.0], 0.95), None);
        assert_eq!(ratio_interval(&[0.0, 1.0], &[1.0], 0.95), None);
        assert_eq!(ratio_interval(&[2.0], &[1.0], 0.95), Some(Interval { low: 0.5, high: 0.5 }));
    }

    #[test]
    fn same_samples_same_interval() {
        let samples = times(5, 30, 2.0);
        assert_eq!(median_interval(&samples, 0.95), median_interval(&samples, 0.95));
    }
}
