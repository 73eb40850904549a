//! What a cell has so far.

use super::process::Answer;
use crate::schema::{Figures, NOT_MEASURED, Outcome};
use std::time::Duration;

/// The answers of one cell's processes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    figures: Option<Figures>,
    reason: Option<String>,
    failed: bool,
    blank: Option<String>,
    asked: usize,
    /// What its last process took.
    pub(super) cost: Duration,
}

impl Tally {
    /// Of a cell that there is no use in running, if this is why.
    pub(super) fn without(reason: Option<String>) -> Self {
        Self { reason, ..Self::default() }
    }

    /// Counts an answer in. A contender that fails now and then has failed. One that can do
    /// something now and then can do it.
    pub(super) fn add(&mut self, answer: Answer, cost: Duration) {
        self.cost = cost;
        self.asked += 1;
        match answer {
            Answer::Figures(figures, noisy) => {
                append(self.figures.get_or_insert_default(), rounded(figures), noisy);
            }
            Answer::Cannot(reason) if self.figures.is_some() => self.blank = Some(reason),
            Answer::Cannot(reason) => self.reason = Some(reason),
            Answer::Failed(reason) => (self.reason, self.failed) = (Some(reason), true),
        }
    }

    /// Whether more rounds would tell nothing more.
    pub(super) fn is_settled(&self) -> bool {
        self.reason.is_some()
    }

    /// Whether it should have had figures.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Why one of its processes had no figures where others had.
    pub(super) fn blank(&self) -> Option<&str> {
        self.blank.as_deref()
    }

    /// How many processes it has had.
    pub(super) fn asked(&self) -> usize {
        self.asked
    }

    /// How many processes gave figures, and how many of them on a busy machine.
    pub(super) fn processes(&self) -> (usize, usize) {
        self.figures.as_ref().map_or((0, 0), |figures| (figures.processes(), figures.noisy.len()))
    }

    pub(super) fn outcome(self) -> Outcome {
        match (self.figures, self.reason) {
            (Some(figures), None) => Outcome::Figures(figures),
            (_, reason) => {
                Outcome::None { reason: reason.unwrap_or_else(|| NOT_MEASURED.to_owned()) }
            }
        }
    }
}

/// Appends another process.
fn append(all: &mut Figures, more: Figures, noisy: bool) {
    let processes = all.processes();
    if noisy {
        all.noisy.push(processes);
    }
    for (name, samples) in more.samples {
        let counts = all.counts.entry(name.clone()).or_default();
        // Processes before this one that had none of these.
        counts.resize(processes, 0);
        counts.push(samples.len());
        all.samples.entry(name).or_default().extend(samples);
    }
    all.counts.values_mut().for_each(|counts| counts.resize(processes + 1, 0));
    all.cpu_percent.extend(more.cpu_percent);
    all.switches.extend(more.switches);
}

/// To six digits, which is more than any clock has to say, and half as much to store.
fn rounded(mut figures: Figures) -> Figures {
    let round = |value: &mut f64| *value = format!("{value:.5e}").parse().unwrap_or(*value);
    figures.samples.values_mut().flatten().for_each(round);
    figures.cpu_percent.iter_mut().for_each(round);
    figures.switches.iter_mut().flatten().for_each(round);
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn figures(values: &[f64], noisy: bool) -> Answer {
        let samples = BTreeMap::from([
            ("call".to_owned(), values.to_vec()),
            ("a start".to_owned(), vec![0.5; 7]),
        ]);
        Answer::Figures(Figures::of_process(samples, 100.0, Some([1.0, 2.0])), noisy)
    }

    fn tally(answers: impl IntoIterator<Item = Answer>) -> Tally {
        let mut tally = Tally::default();
        answers.into_iter().for_each(|answer| tally.add(answer, Duration::from_secs(1)));
        tally
    }

    #[test]
    fn processes_are_put_in_a_row() {
        let tally = tally([
            figures(&[1.0, 2.0], false),
            figures(&[3.0, 4.0], true),
            figures(&[5.0], false),
        ]);
        assert_eq!(tally.processes(), (3, 1));
        assert!(!tally.is_settled());
        let Outcome::Figures(figures) = tally.outcome() else { panic!("figures") };
        assert_eq!(figures.samples["call"], [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(
            (&figures.counts["call"][..], &figures.counts["a start"][..]),
            (&[2, 2, 1][..], &[7; 3][..])
        );
        assert_eq!(figures.noisy, [1]);
        assert_eq!((figures.cpu_percent.len(), figures.switches.len()), (3, 3));
    }

    #[test]
    fn a_process_without_samples_of_a_measure_is_counted_all_the_same() {
        let only = |name: &str| {
            let samples = BTreeMap::from([(name.to_owned(), vec![1.0; 3])]);
            Answer::Figures(Figures::of_process(samples, 1.0, Some([0.0; 2])), false)
        };
        let Outcome::Figures(figures) = tally([only("a"), only("b"), only("a")]).outcome() else {
            panic!("figures")
        };
        assert_eq!(
            (&figures.counts["a"][..], &figures.counts["b"][..]),
            (&[3, 0, 3][..], &[0, 3, 0][..])
        );
    }

    #[test]
    fn one_failure_is_a_failure() {
        let tally = tally([figures(&[1.0], false), Answer::Failed("it died".to_owned())]);
        assert!(tally.is_settled() && tally.has_failed());
        assert_eq!(tally.outcome(), Outcome::None { reason: "it died".to_owned() });
    }

    #[test]
    fn who_cannot_has_not_failed() {
        let tally = tally([Answer::Cannot("too small".to_owned())]);
        assert!(tally.is_settled() && !tally.has_failed());
    }

    #[test]
    fn who_could_before_can() {
        let tally = tally([
            figures(&[1.0], false),
            Answer::Cannot("too late".to_owned()),
            figures(&[2.0], false),
        ]);
        assert!(!tally.is_settled());
        assert_eq!(
            (tally.blank(), tally.processes(), tally.asked()),
            (Some("too late"), (2, 0), 3)
        );
        assert!(
            matches!(tally.outcome(), Outcome::Figures(figures) if figures.samples["call"] == [1.0, 2.0])
        );
    }

    #[test]
    fn six_digits() {
        let Outcome::Figures(figures) =
            tally([figures(&[1_234.567_891, 0.000_123_456_789], false)]).outcome()
        else {
            panic!("figures")
        };
        assert_eq!(figures.samples["call"], [1_234.57, 0.000_123_457]);
    }
}
