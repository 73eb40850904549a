//! A tree that leans: most of the work is on one side of every fork.

use super::parts::{size, speed_up, warm_up};
use super::{MeasureSpec, Samples, Variant, Workload};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::{Budget, Work};

/// Leaves of equal length on a tree whose forks put an eighth to the left and the rest to the
/// right.
#[derive(Debug)]
pub struct Skewed;

impl Workload for Skewed {
    const NAME: &'static str = "skewed";
    const ABOUT: &'static str = "10 ms of work on a tree that puts an eighth to the left of each fork: 100 leaves of 100 µs, or 10,000 of 1 µs";
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::more("coarse", "speed-up over plain calls, leaves of 100 µs", "x"),
        MeasureSpec::more("fine", "speed-up over plain calls, leaves of 1 µs", "x"),
    ];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let (coarse, fine) = (Tree::coarse(), Tree::fine());
        warm_up(pool);
        let measure =
            |tree: Tree| speed_up(|| tree.sum(&mut Serial), || pool.run(|fork| tree.sum(fork)));
        let (coarse, fine) = budget.rounds(|| (measure(coarse), measure(fine))).into_iter().unzip();
        Ok(Samples::from([("coarse".to_owned(), coarse), ("fine".to_owned(), fine)]))
    }
}

/// So many leaves, each with so much work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree {
    leaves: usize,
    work: Work,
}

impl Tree {
    pub(super) fn coarse() -> Self {
        Self { leaves: size(100, 10), work: Work::micros(100) }
    }

    pub(super) fn fine() -> Self {
        Self { leaves: size(10_000, 1_000), work: Work::micros(1) }
    }

    pub(super) fn sum<F: Fork>(self, fork: &mut F) -> u64 {
        if self.leaves == 1 {
            return self.work.run(1);
        }
        let left = self.leaves.div_ceil(8).min(self.leaves - 1);
        let [left, right] = [left, self.leaves - left].map(|leaves| Self { leaves, ..self });
        let (left, right) = fork.join(|fork| left.sum(fork), |fork| right.sum(fork));
        left.wrapping_add(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leaf_is_there_once() {
        let work = Work::micros(0);
        for leaves in [1, 2, 3, 8, 9, 100] {
            let expected = work.run(1).wrapping_mul(leaves as u64);
            assert_eq!(Tree { leaves, work }.sum(&mut Serial), expected, "{leaves}");
        }
    }
}
