//! Whether two sets of samples differ by more than noise.
//!
//! Two runs of the same program differ: another layout in memory, another clock frequency, a
//! neighbour on the same host. Samples *within* a process know nothing of that, so a test of
//! significance alone cries wolf: on a virtual machine with two cores it does so in one cell of
//! ten. A cell has moved only if all of these agree:
//!
//! 1. the ratio of the medians is beyond a *floor*, below which we would not act anyway;
//! 2. the bootstrap interval of that ratio, drawn by process, leaves 1 outside;
//! 3. the middle halves of the two sets lie apart: the slowest of the faster three quarters of one
//!    is faster than the fastest of the slower three quarters of the other. A bootstrap of few
//!    samples is too sure of itself; this asks the samples directly, and an odd burst of noise in
//!    either run widens its middle half instead of moving its median;
//! 4. the step is larger than the noise seen: the wider of the two middle halves, relative to its
//!    median;
//! 5. there are enough samples on both sides, and they come from enough processes. With three
//!    processes per side, all of one side's are slower than all of the other's by chance alone in
//!    one of ten cells, with five in one of 126. Where only this is missing, nothing is said to
//!    have moved, and nothing to have stayed.
//!
//! This misses small changes on purpose. To find one, take more samples on a quiet machine, or
//! count instructions.

use super::bootstrap::{Interval, ratio_interval};
use super::by_process::ByProcess;
use super::order::{quantile_of_sorted, sorted};

/// How much it takes to differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The least relative step that counts: 0.05 for 5 %.
    pub floor: f64,
    /// The least absolute step that counts, in the samples' own unit. For figures that may be
    /// nearly nothing, such as the CPU time of an idle pool: twice nearly nothing is still nearly
    /// nothing.
    pub step: f64,
    /// The confidence of the ratio's interval.
    pub confidence: f64,
    /// The least number of samples on either side.
    pub samples: usize,
    /// The least number of processes on either side.
    pub processes: usize,
}

impl Limits {
    /// For two contenders of one run. Their rounds were interleaved, so that what bothered one
    /// bothered the other.
    pub const ONE_RUN: Self =
        Self { floor: 0.05, step: 0.0, confidence: 0.95, samples: 4, processes: 3 };

    /// For the same cell of two runs. A table has hundreds of cells, so that one false alarm in a
    /// thousand is one too many in five runs: hence 99.9 %, and a floor of 15 %: two runs that are
    /// each up to 4 % off, as on a virtual machine whose host has other guests, are 8 % apart, and
    /// the medians of a handful of samples some more.
    pub const TWO_RUNS: Self =
        Self { floor: 0.15, step: 0.0, confidence: 0.999, samples: 5, processes: 5 };

    /// The same limits for figures of this unit: percentages must differ by a point at least.
    #[must_use]
    pub fn of_unit(self, unit: &str) -> Self {
        Self { step: if unit == "%" { 1.0 } else { self.step }, ..self }
    }
}

/// What came of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within noise.
    Same,
    /// The second set is less, beyond noise.
    Less,
    /// The second set is more, beyond noise.
    More,
    /// They look apart, or there is nothing to look at; too few samples or processes to say.
    Unknown,
}

/// How two sets of samples differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The second median over the first; none if there is no first, if it is zero, or if they are
    /// nearer to each other than the least [step](Limits::step) that counts.
    pub ratio: Option<f64>,
    /// Where that ratio may be.
    pub interval: Option<Interval>,
    /// Whether that is more than noise.
    pub verdict: Verdict,
}

impl Difference {
    /// Whether the second set is better than the first: yes, no, or neither.
    #[must_use]
    pub fn better(&self, less_is_better: bool) -> Option<bool> {
        match self.verdict {
            Verdict::Less => Some(less_is_better),
            Verdict::More => Some(!less_is_better),
            Verdict::Same | Verdict::Unknown => None,
        }
    }
}

/// How `b` differs from `a`, where they are the same cell of [two runs](Limits::TWO_RUNS).
#[must_use]
pub fn differ(a: ByProcess<'_>, b: ByProcess<'_>) -> Difference {
    differ_within(a, b, &Limits::TWO_RUNS)
}

/// How `b` differs from `a`, by these limits.
#[must_use]
pub fn differ_within(a: ByProcess<'_>, b: ByProcess<'_>, limits: &Limits) -> Difference {
    let (of_a, of_b) = (sorted(a.samples()), sorted(b.samples()));
    let samples = of_a.len().min(of_b.len());
    let (Some(of_a), Some(of_b)) = (Middle::of(&of_a), Middle::of(&of_b)) else {
        return Difference { ratio: None, interval: None, verdict: Verdict::Unknown };
    };
    // The ratio of two that are both nearly nothing would be a number without a meaning.
    let apart = limits.step == 0.0 || (of_a.median - of_b.median).abs() > limits.step;
    let ratio = (of_a.median > 0.0 && apart).then(|| of_b.median / of_a.median);
    let interval = ratio_interval(a, b, limits.confidence);
    let processes = a.processes().min(b.processes());
    let enough = samples >= limits.samples.max(2) && processes >= limits.processes;
    let verdict = if !moved(&of_a, &of_b, interval, limits) {
        Verdict::Same
    } else if !enough {
        Verdict::Unknown
    } else if of_b.median < of_a.median {
        Verdict::Less
    } else {
        Verdict::More
    };
    Difference { ratio, interval, verdict }
}

fn moved(a: &Middle, b: &Middle, interval: Option<Interval>, limits: &Limits) -> bool {
    let (less, more) = if a.median < b.median { (a, b) } else { (b, a) };
    let step = more.median - less.median;
    // Of the smaller one, so that a step up and the same step back count alike. Zero or below: any
    // step is beyond it.
    let relative = if less.median > 0.0 { step / less.median } else { f64::INFINITY };
    step > limits.step
        && relative > limits.floor.max(a.spread()).max(b.spread())
        && less.upper < more.lower
        && interval.is_none_or(|i| !i.contains(1.0))
}

/// The median and the quarters around it.
struct Middle {
    lower: f64,
    median: f64,
    upper: f64,
}

impl Middle {
    fn of(sorted: &[f64]) -> Option<Self> {
        let at = |q| quantile_of_sorted(sorted, q);
        Some(Self { lower: at(0.25)?, median: at(0.5)?, upper: at(0.75)? })
    }

    /// How wide the middle half is, relative to the median.
    fn spread(&self) -> f64 {
        if self.median > 0.0 { (self.upper - self.lower) / self.median } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    const PROCESSES: usize = 5;

    /// A run on a noisy machine: its own bias of up to 4 % either way, jitter, bursts that may last
    /// for a third of the run, and processes that differ by some percent.
    fn run(random: &mut Random, count: usize, middle: f64) -> Vec<f64> {
        let bias = 0.96 + 0.08 * random.unit();
        let burst_at = random.below(count as u32) as usize;
        let burst_for = random.below(count as u32 / 3 + 1) as usize;
        let own: Vec<f64> = (0..PROCESSES).map(|_| 1.0 + 0.06 * random.unit()).collect();
        (0..count)
            .map(|i| {
                let burst =
                    if (burst_at..burst_at + burst_for).contains(&i) { random.unit() } else { 0.0 };
                middle * bias * own[i * PROCESSES / count] * (1.0 + 0.05 * random.unit() + burst)
            })
            .collect()
    }

    /// Whose samples are of five processes, as many of each.
    fn five(samples: &[f64]) -> ByProcess<'_> {
        const COUNTS: [[usize; PROCESSES]; 5] = [[0; 5], [1; 5], [2; 5], [3; 5], [4; 5]];
        ByProcess::new(samples, &COUNTS[samples.len() / PROCESSES])
    }

    #[test]
    fn the_same_program_twice_is_the_same() {
        let mut random = Random::new(42);
        for count in [5, 10, 20] {
            for _ in 0..300 {
                let (a, b) = (run(&mut random, count, 7.0), run(&mut random, count, 7.0));
                let difference = differ(five(&a), five(&b));
                assert_eq!(difference.verdict, Verdict::Same, "{a:?} {b:?} {difference:?}");
            }
        }
    }

    #[test]
    fn processes_that_come_in_two_kinds_are_no_step() {
        let mut random = Random::new(44);
        let mut run = || -> Vec<f64> {
            let kinds: Vec<f64> =
                (0..5).map(|_| if random.unit() < 0.5 { 1.0 } else { 1.4 }).collect();
            kinds.into_iter().flat_map(|kind| vec![kind, kind * 1.01, kind * 0.99, kind]).collect()
        };
        let (mut by_process, mut without) = (0, 0);
        for _ in 0..400 {
            let (a, b) = (run(), run());
            let stepped = |verdict| usize::from(matches!(verdict, Verdict::Less | Verdict::More));
            by_process += stepped(differ(five(&a), five(&b)).verdict);
            let (a, b) = (a[..].into(), b[..].into());
            without +=
                stepped(differ_within(a, b, &Limits { processes: 1, ..Limits::TWO_RUNS }).verdict);
        }
        // All five of one kind in one run and of the other in the next: one in 512.
        assert!(
            by_process <= 2 && without > 4,
            "{by_process} by process, {without} without, of 400"
        );
    }

    #[test]
    fn half_as_much_again_is_seen() {
        let mut random = Random::new(43);
        let seen = |random: &mut Random, factor| {
            let verdict = if factor > 1.0 { Verdict::More } else { Verdict::Less };
            (0..200)
                .filter(|_| {
                    let (a, b) = (run(random, 10, 7.0), run(random, 10, 7.0 * factor));
                    differ(five(&a), five(&b)).verdict == verdict
                })
                .count()
        };
        let (up, down) = (seen(&mut random, 1.5), seen(&mut random, 1.0 / 1.5));
        assert!(up > 100 && down > 100, "{up} and {down} of 200");
    }

    #[test]
    fn a_step_has_its_ratio_and_direction() {
        let (a, b) = ([1.0, 1.01, 0.99, 1.0, 1.02], [2.0, 2.02, 1.98, 2.0, 2.01]);
        let (a, b) = (five(&a), five(&b));
        let difference = differ(a, b);
        assert_eq!((difference.ratio, difference.verdict), (Some(2.0), Verdict::More));
        assert_eq!((difference.better(true), difference.better(false)), (Some(false), Some(true)));
        assert_eq!(differ(b, a).verdict, Verdict::Less);
        assert_eq!(differ(a, a).verdict, Verdict::Same);
    }

    #[test]
    fn small_steps_count_within_a_run_only() {
        let (a, b) = ([1.0, 1.001, 0.999, 1.0, 1.002], [1.07, 1.071, 1.069, 1.07, 1.072]);
        assert_eq!(differ(five(&a), five(&b)).verdict, Verdict::Same);
        assert_eq!(differ_within(five(&a), five(&b), &Limits::ONE_RUN).verdict, Verdict::More);
    }

    #[test]
    fn nearly_nothing_is_nearly_nothing() {
        let (a, b) = ([0.0, 0.0, 0.01, 0.0, 0.0], [0.3, 0.4, 0.3, 0.4, 0.3]);
        let hundredfold = b.map(|x| x * 100.0);
        let (a, b) = (five(&a), five(&b));
        let percent = Limits::TWO_RUNS.of_unit("%");
        assert_eq!(differ_within(a, b, &percent).verdict, Verdict::Same);
        assert_eq!(differ_within(a, five(&hundredfold), &percent).verdict, Verdict::More);
        assert_eq!(differ(a, b).verdict, Verdict::More);
        assert_eq!(differ(a, b).ratio, None);
        assert_eq!(differ(five(&[0.0; 5]), five(&[0.0; 5])).verdict, Verdict::Same);
    }

    #[test]
    fn too_few_say_nothing() {
        for (a, b) in [
            (&[][..], &[][..]),
            (&[1.0], &[9.0]),
            (&[f64::NAN; 9], &[1.0; 9]),
            (&[1.0; 4], &[9.0; 9]),
        ] {
            assert_eq!(differ(a.into(), b.into()).verdict, Verdict::Unknown, "{a:?} {b:?}");
        }
        assert_eq!(differ([1.0][..].into(), [9.0][..].into()).ratio, Some(9.0));
    }

    #[test]
    fn many_samples_of_few_processes_say_nothing() {
        let (a, b) = ([1.0; 20], [9.0; 20]);
        for (counts, verdict) in [
            (&[20][..], Verdict::Unknown),
            (&[5; 4], Verdict::Unknown),
            (&[4; 5], Verdict::More),
            (&[16, 1, 1, 1, 1, 0], Verdict::More),
        ] {
            let (a, b) = (ByProcess::new(&a, counts), ByProcess::new(&b, counts));
            assert_eq!(differ(a, b).verdict, verdict, "{counts:?}");
            assert_eq!(differ(a, a).verdict, Verdict::Same);
        }
    }
}
