//! Generic call sites of rayon. Each `N` makes a separate one: its closures have types of their own
//! and compute something else than those of another `N`, so that neither the compiler nor the
//! linker merges them.

use std::env;
use std::hint::black_box;

use rayon::prelude::*;

/// Returns numbers that the compiler does not know.
pub(crate) fn numbers() -> Vec<u64> {
    (0..1_000 + env::args().len() as u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// Calls `join` with closures that borrow from the stack frame and have work of their own.
#[inline(never)]
pub(crate) fn join<const N: u64>(numbers: &[u64], salt: u64) -> u64 {
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (a, b) = rayon::join(
        || left.iter().fold(salt, |sum, n| sum.rotate_left(5) ^ n.wrapping_mul(N)),
        || {
            right
                .iter()
                .fold(N, |sum, n| if sum & n & 1 == 0 { sum / 3 + n } else { sum ^ (n * N) ^ salt })
        },
    );
    a ^ b
}

/// Sums a mapped parallel iterator.
#[inline(never)]
pub(crate) fn par_iter<const N: u64>(numbers: &[u64], salt: u64) -> u64 {
    numbers.par_iter().map(|n| (n ^ salt).wrapping_mul(N) >> (N % 7)).sum()
}

/// Instantiates and calls the function with each of these constants.
macro_rules! at_each {
    ($site:ident, $numbers:expr, [$($n:literal)*]) => {
        [$($crate::sites::$site::<$n>($numbers, $n + $numbers.len() as u64)),*].into_iter().fold(0, u64::wrapping_add)
    };
}

pub(crate) use at_each;

/// Uses the result, so that the compiler keeps what computes it.
pub(crate) fn finish(result: u64) {
    black_box(result);
}
