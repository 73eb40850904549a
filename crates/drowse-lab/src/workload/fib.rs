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
    const ABOUT: &'static str = "fib(27) with a join a call: all overhead, no work";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("call", "time a call", "ns")];
    const WIDTHS: &'static [usize] = &[1];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let expected = fib(&mut Serial, N);
        let calls = f64::from(2 * expected as u32 - 1);
        let round = || {
            let (seconds, result) = Budget::seconds(|| pool.run(|fork| fib(fork, black_box(N))));
            assert_eq!(result, expected, "fib({N})");
            seconds / calls * 1e9
        };
        Ok(samples("call", budget.rounds(round)))
    }
}

pub(super) fn fib<F: Fork>(fork: &mut F, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = fork.join(|fork| fib(fork, n - 1), |fork| fib(fork, n - 2));
    a + b
}
