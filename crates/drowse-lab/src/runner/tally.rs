//! What a cell has so far.

use super::process::Answer;
use crate::schema::{Figures, Outcome};
use std::time::Duration;

/// The answers of one cell's processes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The measure to compare by: noisy samples are marked in its list.
    measure: &'static str,
    figures: Option<Figures>,
    reason: Option<String>,
    failed: bool,
    asked: usize,
    processes: usize,
    noisy: usize,
    /// What its last process took.
    pub(super) cost: Duration,
}

impl Tally {
    /// Nothing yet. The workload's first measure is `measure`.
    pub(super) fn of(measure: &'static str) -> Self {
        Self { measure, ..Self::default() }
    }

    /// Counts an answer in. The first process without figures decides: a contender that fails now and then has failed.
    pub(super) fn add(&mut self, answer: Answer, cost: Duration) {
        self.cost = cost;
        self.asked += 1;
        match answer {
            Answer::Figures(figures, noisy) => {
                self.processes += 1;
                self.noisy += usize::from(noisy);
                let all = self.figures.get_or_insert_default();
                append(all, rounded(figures), noisy.then_some(self.measure));
            }
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

    /// How many processes it has had.
    pub(super) fn asked(&self) -> usize {
        self.asked
    }

    /// How many processes gave figures, and how many of them in bad company.
    pub(super) fn processes(&self) -> (usize, usize) {
        (self.processes, self.noisy)
    }

    pub(super) fn outcome(self) -> Outcome {
        match (self.figures, self.reason) {
            (Some(figures), None) => Outcome::Figures(figures),
            (_, reason) => Outcome::None { reason: reason.unwrap_or_else(|| "it was not run".to_owned()) },
        }
    }
}

/// Appends another process. If it was noisy, its samples of this measure are marked.
fn append(all: &mut Figures, more: Figures, noisy: Option<&str>) {
    for (name, samples) in more.samples {
        let list = all.samples.entry(name.clone()).or_default();
        if noisy == Some(name.as_str()) {
            all.noisy.extend(list.len()..list.len() + samples.len());
        }
        list.extend(samples);
    }
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
        let samples =
            BTreeMap::from([("call".to_owned(), values.to_vec()), ("a start".to_owned(), vec![0.5; 7])]);
        let figures =
            Figures { samples, cpu_percent: vec![100.0], switches: vec![[1.0, 2.0]], noisy: Vec::new() };
        Answer::Figures(figures, noisy)
    }

    fn tally(answers: impl IntoIterator<Item = Answer>) -> Tally {
        let mut tally = Tally::of("call");
        answers.into_iter().for_each(|answer| tally.add(answer, Duration::from_secs(1)));
        tally
    }

    #[test]
    fn processes_are_put_in_a_row() {
        let tally = tally([figures(&[1.0, 2.0], false), figures(&[3.0, 4.0], true), figures(&[5.0], false)]);
        assert_eq!(tally.processes(), (3, 1));
        assert!(!tally.is_settled());
        let Outcome::Figures(figures) = tally.outcome() else { panic!("figures") };
        assert_eq!(figures.samples["call"], [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(figures.noisy, [2, 3]);
        assert_eq!((figures.cpu_percent.len(), figures.switches.len()), (3, 3));
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
    fn six_digits() {
        let Outcome::Figures(figures) =
            tally([figures(&[1_234.567_891, 0.000_123_456_789], false)]).outcome()
        else {
            panic!("figures")
        };
        assert_eq!(figures.samples["call"], [1_234.57, 0.000_123_457]);
    }
}
