//! What several workloads share.

use crate::contender::{Fork, Pool};
use crate::measure::{Budget, Work};
use std::fmt::Debug;
use std::ops::Range;
use std::thread;
use std::time::Duration;

/// Whether workloads are small: so that tests are quick, a debug build goes through everything but
/// measures nothing worth knowing.
pub const QUICK: bool = cfg!(debug_assertions);

/// The size of something: the first to measure, the second where workloads are [`QUICK`].
pub(super) const fn size(full: usize, quick: usize) -> usize {
    if QUICK { quick } else { full }
}

/// The sum of what `leaf` returns for each number, by halving.
pub(super) fn sum<F: Fork>(
    fork: &mut F,
    range: Range<usize>,
    leaf: &(impl Fn(usize) -> u64 + Sync),
) -> u64 {
    let Range { start, end } = range;
    match end - start {
        0 => 0,
        1 => leaf(start),
        len => {
            let middle = start + len / 2;
            let (a, b) = fork
                .join(|fork| sum(fork, start..middle, leaf), |fork| sum(fork, middle..end, leaf));
            a.wrapping_add(b)
        }
    }
}

/// Calls `leaf` with pieces of at most so many items, and the place of their first, by halving.
pub(super) fn pieces<F: Fork, T: Send>(
    fork: &mut F,
    items: &mut [T],
    first: usize,
    most: usize,
    leaf: &(impl Fn(usize, &mut [T]) + Sync),
) {
    if items.len() <= most {
        return leaf(first, items);
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at_mut(middle);
    fork.join(
        |fork| pieces(fork, left, first, most, leaf),
        |fork| pieces(fork, right, first + middle, most, leaf),
    );
}

/// Gives each thread of the pool something to do once, so that all are started and the first round
/// is like the others.
pub(super) fn warm_up<P: Pool>(pool: &P) {
    let work = Work::micros(size(20, 2) as u64);
    let expected = sum(&mut crate::contender::Serial, 0..128, &|seed| work.run(seed as u64));
    let result = pool.run(|fork| sum(fork, 0..128, &|seed| work.run(seed as u64)));
    assert_eq!(result, expected, "the sum of the warm-up");
}

/// Waits until the threads of an idle pool sleep: longer than any contender searches.
pub(super) fn let_sleep() {
    thread::sleep(Duration::from_millis(2));
}

/// The milliseconds that `f` takes. Its result is checked.
pub(super) fn milliseconds<R: PartialEq + Debug>(expected: &R, f: impl FnOnce() -> R) -> f64 {
    let (seconds, result) = Budget::seconds(f);
    assert!(result == *expected, "the result is another than that of plain calls");
    seconds * 1e3
}

/// How many times faster than `serial` the `parallel` one is. Both run now, one after the other.
pub(super) fn speed_up<R: PartialEq + Debug>(
    serial: impl FnOnce() -> R,
    parallel: impl FnOnce() -> R,
) -> f64 {
    let (serial_seconds, expected) = Budget::seconds(serial);
    serial_seconds * 1e3 / milliseconds(&expected, parallel)
}

/// Numbers that look random and are the same each time.
pub(super) fn numbers(count: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Serial;

    #[test]
    fn a_sum_has_each_number_once() {
        assert_eq!(sum(&mut Serial, 0..0, &|n| n as u64), 0);
        assert_eq!(sum(&mut Serial, 3..4, &|n| n as u64), 3);
        assert_eq!(sum(&mut Serial, 0..101, &|n| n as u64), 5_050);
    }

    #[test]
    fn pieces_cover_all_and_know_their_place() {
        let mut items = vec![0; 77];
        pieces(&mut Serial, &mut items, 0, 5, &|first, piece| {
            assert!(piece.len() <= 5);
            piece.iter_mut().enumerate().for_each(|(at, item)| *item += first + at);
        });
        assert!(items.iter().enumerate().all(|(at, item)| at == *item), "{items:?}");
    }
}
