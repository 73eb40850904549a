//! How sure a median is: draw as many samples again, with repetition, many times over, and see
//! where the median lands.
//!
//! Samples come in processes, and those of one have more in common than those of two. So processes
//! are drawn first, as many as there are and with repetition, and then samples within each that was
//! drawn: where processes differ, the interval is as wide as that. Drawn from all alike, samples of
//! one odd process would pass for many witnesses.
//!
//! This is the percentile bootstrap, in clusters. It asks nothing of the samples' distribution,
//! which for times on a shared machine is never a bell: a hard floor, a hump, and a long tail.
//!
//! For a handful of processes it would be too sure of itself, so its ends are [further
//! out](super::few) then. But it never reaches beyond what was seen: where processes differ and
//! their samples do not, three of them hold the true median three times in four at most, whatever
//! the confidence asked for. Those that decide by it ([`differ`](super::differ)) ask for more than
//! that the interval is small.

use super::by_process::ByProcess;
use super::few::expanded_tail;
use super::order::quantile_of_sorted;
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

    /// The middle `confidence` of these draws, which rest on `witnesses`.
    fn of(mut values: Vec<f64>, confidence: f64, witnesses: usize) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let tail = expanded_tail((1.0 - confidence.clamp(0.0, 1.0)) / 2.0, witnesses);
        Some(Self {
            low: quantile_of_sorted(&values, tail)?,
            high: quantile_of_sorted(&values, 1.0 - tail)?,
        })
    }
}

/// Where the median of these samples may be, with this confidence (`0.95`); none if there are no
/// samples. One sample is its own interval: it says nothing about the next.
#[must_use]
pub fn median_interval<'a>(samples: impl Into<ByProcess<'a>>, confidence: f64) -> Option<Interval> {
    let mut drawer = Drawer::new(samples.into(), SEED)?;
    Interval::of((0..DRAWS).map(|_| drawer.median()).collect(), confidence, drawer.witnesses())
}

/// Where the ratio of two medians, `b` over `a`, may be. None if either has no samples, or if a
/// median of `a` may be zero or less.
#[must_use]
pub fn ratio_interval<'a>(
    a: impl Into<ByProcess<'a>>,
    b: impl Into<ByProcess<'a>>,
    confidence: f64,
) -> Option<Interval> {
    // Two sets drawn with the same luck would agree too often.
    let (mut under, mut over) = (Drawer::new(a.into(), SEED)?, Drawer::new(b.into(), !SEED)?);
    if *under.sorted.first()? <= 0.0 {
        return None;
    }
    let witnesses = under.witnesses().min(over.witnesses());
    Interval::of(
        (0..DRAWS).map(|_| over.median() / under.median()).collect(),
        confidence,
        witnesses,
    )
}

/// Draws medians. Counts how often each place in the order is drawn, which is cheaper than to sort
/// what was drawn.
struct Drawer {
    /// All samples, smallest first.
    sorted: Vec<f64>,
    /// For each process, where its samples are among all.
    places: Vec<Vec<u32>>,
    drawn: Vec<u32>,
    random: Random,
}

impl Drawer {
    fn new(samples: ByProcess<'_>, seed: u64) -> Option<Self> {
        let processes = samples.sorted();
        let of_process = |(process, samples): (usize, &Vec<f64>)| {
            samples.iter().map(move |&sample| (sample, process)).collect::<Vec<_>>()
        };
        let mut all: Vec<(f64, usize)> =
            processes.iter().enumerate().flat_map(of_process).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut places = vec![Vec::new(); processes.len()];
        for (place, (_, process)) in all.iter().enumerate() {
            places[*process].push(place as u32);
        }
        let sorted: Vec<f64> = all.into_iter().map(|(sample, _)| sample).collect();
        let drawn = vec![0; sorted.len()];
        (!sorted.is_empty()).then_some(Self { sorted, places, drawn, random: Random::new(seed) })
    }

    /// How many there are that can differ: processes, or the samples of the only one.
    fn witnesses(&self) -> usize {
        if self.places.len() == 1 { self.sorted.len() } else { self.places.len() }
    }

    fn median(&mut self) -> f64 {
        self.drawn.fill(0);
        let mut count = 0;
        for _ in 0..self.places.len() {
            let process = &self.places[self.random.below(self.places.len() as u32) as usize];
            for _ in 0..process.len() {
                self.drawn[process[self.random.below(process.len() as u32) as usize] as usize] += 1;
            }
            count += process.len() as u32;
        }
        // The places of the middle one, or of the middle two.
        let (lower, upper) = ((count - 1) / 2, count / 2);
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
            let interval = median_interval(&samples[..], 0.95).unwrap();
            assert!(interval.contains(crate::stats::median(&samples).unwrap()), "{interval:?}");
        }
    }

    #[test]
    fn it_holds_the_true_median_nearly_always() {
        // The true median of `times` is a little over 1.0, of a million samples.
        let truth = crate::stats::median(&times(1, 100_000, 1.0)).unwrap();
        let held = (0..200)
            .filter(|&s| median_interval(&times(s, 25, 1.0)[..], 0.95).unwrap().contains(truth))
            .count();
        assert!(held > 180, "{held} of 200");
    }

    #[test]
    fn more_samples_are_surer() {
        let width = |count| {
            let interval = median_interval(&times(3, count, 1.0)[..], 0.95).unwrap();
            interval.high - interval.low
        };
        assert!(width(200) < width(10));
    }

    #[test]
    fn edges() {
        let median = |samples: &[f64]| median_interval(samples, 0.95);
        let ratio = |a: &[f64], b: &[f64]| ratio_interval(a, b, 0.95);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(median(&[4.0]), Some(Interval { low: 4.0, high: 4.0 }));
        assert_eq!(ratio(&[], &[1.0]), None);
        assert_eq!(ratio(&[0.0, 1.0], &[1.0]), None);
        assert_eq!(ratio(&[2.0], &[1.0]), Some(Interval { low: 0.5, high: 0.5 }));
    }

    /// Seven processes, each of which agrees with itself and not with the others.
    fn processes(seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..7).flat_map(|_| vec![1.0 + 0.2 * random.unit(); 50]).collect()
    }

    #[test]
    fn processes_that_differ_make_the_interval_wide() {
        let samples = processes(1);
        let width = |interval: Option<Interval>| interval.map(|i| i.high - i.low).unwrap();
        let apart = width(median_interval(ByProcess::new(&samples, &[50; 7]), 0.95));
        let mixed = width(median_interval(&samples[..], 0.95));
        assert!(apart > 3.0 * mixed, "{apart} {mixed}");
    }

    #[test]
    fn by_process_it_holds_the_true_median_of_all_processes_far_more_often() {
        let held = |counts: &[usize]| {
            let holds = |seed: &u64| {
                median_interval(ByProcess::new(&processes(*seed), counts), 0.95)
                    .unwrap()
                    .contains(1.1)
            };
            (0..100).filter(holds).count()
        };
        let (apart, mixed) = (held(&[50; 7]), held(&[]));
        assert!(apart >= 90 && mixed < 30, "{apart} by process, {mixed} without, of 100");
    }

    #[test]
    fn same_samples_same_interval() {
        let samples = times(5, 30, 2.0);
        assert_eq!(median_interval(&samples[..], 0.95), median_interval(&samples[..], 0.95));
    }
}
