//! Samples that know which process they come from.
//!
//! What is decided by chance once per process, such as where its memory lies and which processor
//! its threads begin on, is the same for all of its samples. A hundred samples of one process say
//! little about the next process, and much about the first.

/// Samples in the order in which they were taken, and how many of them each process gave.
#[derive(Debug, Clone, Copy)]
pub struct ByProcess<'a> {
    samples: &'a [f64],
    counts: &'a [usize],
}

impl<'a> ByProcess<'a> {
    /// These samples: so many of the first process, so many of the second, and so on. What the
    /// counts do not cover is of one more.
    #[must_use]
    pub fn new(samples: &'a [f64], counts: &'a [usize]) -> Self {
        Self { samples, counts }
    }

    /// All of them.
    #[must_use]
    pub fn samples(&self) -> &'a [f64] {
        self.samples
    }

    /// How many processes have samples that are numbers.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.sorted().len()
    }

    /// Those of each process that has samples which are numbers: in order, smallest first.
    pub(super) fn sorted(&self) -> Vec<Vec<f64>> {
        let mut rest = self.samples;
        let mut all = Vec::new();
        for &count in self.counts.iter().chain([&usize::MAX]) {
            let (these, others) = rest.split_at(count.min(rest.len()));
            all.push(super::order::sorted(these));
            rest = others;
        }
        all.retain(|samples| !samples.is_empty());
        all
    }
}

/// The samples of one process.
impl<'a> From<&'a [f64]> for ByProcess<'a> {
    fn from(samples: &'a [f64]) -> Self {
        Self::new(samples, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::ByProcess;

    #[test]
    fn each_process_has_its_own() {
        let of = |counts: &[usize]| ByProcess::new(&[3.0, 1.0, 2.0, 5.0], counts).sorted();
        assert_eq!(of(&[3, 1]), [vec![1.0, 2.0, 3.0], vec![5.0]]);
        assert_eq!(of(&[1, 0, 3]), [vec![3.0], vec![1.0, 2.0, 5.0]]);
        assert_eq!(of(&[]), [vec![1.0, 2.0, 3.0, 5.0]]);
    }

    #[test]
    fn counts_that_do_not_fit_lose_nothing() {
        let of = |counts: &[usize]| ByProcess::new(&[3.0, f64::NAN, 2.0], counts).sorted();
        assert_eq!(of(&[1]), [vec![3.0], vec![2.0]]);
        assert_eq!(of(&[1, 1, 9, 9]), [vec![3.0], vec![2.0]]);
    }
}
