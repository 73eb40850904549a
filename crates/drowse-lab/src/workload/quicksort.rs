//! A sort in place: forks of unequal size that move memory.

use super::parts::{milliseconds, numbers, size, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool};
use crate::measure::Budget;

/// Sorts a million numbers.
#[derive(Debug)]
pub struct Quicksort;

/// A slice that is at most this long is sorted by the standard library.
const CUT_OFF: usize = size(4_096, 256);

impl Workload for Quicksort {
    const NAME: &'static str = "quicksort";
    const ABOUT: &'static str =
        "a million numbers, a join a partition; the standard library sorts 4,096 and fewer";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("time", "time a sort", "ms")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let data = Data::new(size(1_000_000, 10_000));
        warm_up(pool);
        Ok(samples("time", budget.rounds(|| data.sort_in(pool))))
    }
}

/// What is to be sorted, and the same sorted.
#[derive(Debug)]
pub(super) struct Data {
    given: Vec<u32>,
    sorted: Vec<u32>,
}

impl Data {
    pub(super) fn new(count: usize) -> Self {
        let given: Vec<u32> = numbers(count).map(|number| number as u32).collect();
        let mut sorted = given.clone();
        sorted.sort_unstable();
        Self { given, sorted }
    }

    /// Sorts a copy; the milliseconds it takes.
    pub(super) fn sort_in<P: Pool>(&self, pool: &P) -> f64 {
        let mut items = self.given.clone();
        milliseconds(&self.sorted, || {
            pool.run(|fork| sort(fork, &mut items));
            items
        })
    }
}

fn sort<F: Fork>(fork: &mut F, items: &mut [u32]) {
    if items.len() <= CUT_OFF {
        return items.sort_unstable();
    }
    let middle = partition(items);
    let (left, right) = items.split_at_mut(middle);
    fork.join(|fork| sort(fork, left), |fork| sort(fork, &mut right[1..]));
}

/// Moves the smaller items before a pivot and the others behind it; says where the pivot is.
fn partition(items: &mut [u32]) -> usize {
    let last = items.len() - 1;
    let mut three = [0, last / 2, last];
    three.sort_unstable_by_key(|&at| items[at]);
    items.swap(three[1], last);
    let pivot = items[last];
    let mut smaller = 0;
    for at in 0..last {
        // Without a branch, which no processor could predict: swaps in any case, and counts the
        // smaller.
        items.swap(at, smaller);
        smaller += usize::from(items[smaller] < pivot);
    }
    items.swap(smaller, last);
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Serial;

    #[test]
    fn it_sorts() {
        let data = Data::new(CUT_OFF * 3);
        data.sort_in(&Serial);
        let mut equal = vec![7; CUT_OFF + 1];
        sort(&mut Serial, &mut equal[..CUT_OFF + 1]);
        assert!(equal.iter().all(|item| *item == 7));
    }
}
