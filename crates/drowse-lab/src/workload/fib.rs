//! The smallest fork there is: what a join costs.

use super::parts::size;
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::Budget;
use std::hint::black_box;

/// fib(27), a join per call.
#[derive(Debug)]
pub struct Fib;

const N: u32 = size(27, 12) as u32;

impl Workload for Fib {
    const NAME: &'static str = "fib";
    const ABOUT: &'static str = "fib(27): joins, and no work";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("join", "time a join", "ns")];
    const WIDTHS: &'static [usize] = &[1];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let expected = fib(&mut Serial, N);
        // fib(n) takes fib(n + 1) - 1 joins, and twice as many calls, and one.
        let joins = fib(&mut Serial, N + 1) as f64 - 1.0;
        let round = || {
            let (seconds, result) = Budget::seconds(|| pool.run(|fork| fib(fork, black_box(N))));
            assert_eq!(result, expected, "fib({N})");
            seconds / joins * 1e9
        };
        Ok(samples("join", budget.rounds(round)))
    }
}

pub(super) fn fib<F: Fork>(fork: &mut F, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = fork.join(|fork| fib(fork, n - 1), |fork| fib(fork, n - 2));
    a + b
}
