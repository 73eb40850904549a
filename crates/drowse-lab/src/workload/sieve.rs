//! Primes, a segment at a time: leaves that fill a cache each.

use super::parts::{milliseconds, size, sum, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool};
use crate::measure::Budget;

/// Counts primes.
#[derive(Debug)]
pub struct Sieve;

const BELOW: usize = size(4_000_000, 100_000);
/// How many primes there are below that, from tables.
const PRIMES: u64 = size(283_146, 9_592) as u64;
const SEGMENT: usize = size(32_768, 4_096);

impl Workload for Sieve {
    const NAME: &'static str = "sieve";
    const ABOUT: &'static str =
        "the primes below 4 million, counted in segments of 32 KiB; segments by halving";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("time", "time a count", "ms")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        warm_up(pool);
        Ok(samples(
            "time",
            budget.rounds(|| milliseconds(&PRIMES, || pool.run(|fork| count(fork, BELOW)))),
        ))
    }
}

/// How many primes there are below a number.
fn count<F: Fork>(fork: &mut F, below: usize) -> u64 {
    let small = small_primes(below.isqrt() + 1);
    sum(fork, 0..below.div_ceil(SEGMENT), &|segment| {
        let first = segment * SEGMENT;
        count_segment(&small, first, SEGMENT.min(below - first))
    })
}

fn small_primes(below: usize) -> Vec<usize> {
    let mut primes: Vec<usize> = Vec::new();
    for number in 2..below {
        let mut divisors = primes.iter().take_while(|prime| **prime * **prime <= number);
        if divisors.all(|prime| number % prime != 0) {
            primes.push(number);
        }
    }
    primes
}

fn count_segment(small: &[usize], first: usize, len: usize) -> u64 {
    let mut is_composite = [false; SEGMENT];
    // Neither 0 nor 1 is prime, nor composite.
    let not_prime = 2_usize.saturating_sub(first).min(len);
    is_composite[..not_prime].fill(true);
    for &prime in small.iter().take_while(|&&prime| prime * prime < first + len) {
        let from = (prime * prime).max(first.next_multiple_of(prime));
        (from - first..len).step_by(prime).for_each(|at| is_composite[at] = true);
    }
    is_composite[..len].iter().filter(|is_composite| !**is_composite).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Serial;

    #[test]
    fn it_counts_what_the_tables_say() {
        for (below, primes) in [(2, 0), (3, 1), (100, 25), (10_000, 1_229), (100_000, 9_592)] {
            assert_eq!(count(&mut Serial, below), primes, "below {below}");
        }
    }
}
