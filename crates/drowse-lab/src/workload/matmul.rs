//! A product of matrices, by quarters.

use super::parts::{milliseconds, numbers, size, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool};
use crate::measure::Budget;

/// Multiplies two matrices.
#[derive(Debug)]
pub struct Matmul;

/// Rows and columns: a power of two.
const SIDE: usize = size(256, 32);
/// A block that is at most this large is multiplied by plain loops.
const BLOCK: usize = size(32, 8);

impl Workload for Matmul {
    const NAME: &'static str = "matmul";
    const ABOUT: &'static str =
        "the product of two matrices of 256 by 256 floats, by quarters, down to 32 by 32";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("time", "time a product", "ms")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let (a, b) = (matrix(0), matrix(SIDE));
        let expected = plainly(&a, &b);
        warm_up(pool);
        let round = || {
            let mut result = vec![0.0; SIDE * SIDE];
            milliseconds(&expected, || {
                pool.run(|fork| add_product(fork, &mut result, &a, &b));
                result
            })
        };
        Ok(samples("time", budget.rounds(round)))
    }
}

/// Small whole numbers, so that the sums are exact in whatever order they are made.
fn matrix(skip: usize) -> Vec<f32> {
    numbers(skip + SIDE * SIDE).skip(skip).map(|number| (number % 8) as f32).collect()
}

/// Where an item is: the quarters of a matrix lie one after the other, and so do theirs, down to
/// blocks of rows.
fn place(row: usize, column: usize) -> usize {
    let (mut side, mut first, mut row, mut column) = (SIDE, 0, row, column);
    while side > BLOCK {
        side /= 2;
        first += (row / side * 2 + column / side) * side * side;
        (row, column) = (row % side, column % side);
    }
    first + row * side + column
}

/// The product, by its definition.
fn plainly(a: &[f32], b: &[f32]) -> Vec<f32> {
    let mut result = vec![0.0; SIDE * SIDE];
    let columns: Vec<Vec<f32>> =
        (0..SIDE).map(|column| (0..SIDE).map(|row| b[place(row, column)]).collect()).collect();
    for row in 0..SIDE {
        let items: Vec<f32> = (0..SIDE).map(|column| a[place(row, column)]).collect();
        for (number, column) in columns.iter().enumerate() {
            result[place(row, number)] = items.iter().zip(column).map(|(a, b)| a * b).sum();
        }
    }
    result
}

fn add_product<F: Fork>(fork: &mut F, to: &mut [f32], a: &[f32], b: &[f32]) {
    if to.len() <= BLOCK * BLOCK {
        return add_block(to, a, b);
    }
    let quarter = to.len() / 4;
    let part = |matrix: usize| matrix * quarter..(matrix + 1) * quarter;
    for k in 0..2 {
        let (above, below) = to.split_at_mut(2 * quarter);
        let (first, second) = above.split_at_mut(quarter);
        let (third, fourth) = below.split_at_mut(quarter);
        let [upper, lower] = [&a[part(k)], &a[part(2 + k)]];
        let [left, right] = [&b[part(2 * k)], &b[part(2 * k + 1)]];
        fork.join(
            |fork| {
                fork.join(
                    |fork| add_product(fork, first, upper, left),
                    |fork| add_product(fork, second, upper, right),
                )
            },
            |fork| {
                fork.join(
                    |fork| add_product(fork, third, lower, left),
                    |fork| add_product(fork, fourth, lower, right),
                )
            },
        );
    }
}

fn add_block(to: &mut [f32], a: &[f32], b: &[f32]) {
    for (to, a) in to.chunks_exact_mut(BLOCK).zip(a.chunks_exact(BLOCK)) {
        for (a, b) in a.iter().zip(b.chunks_exact(BLOCK)) {
            to.iter_mut().zip(b).for_each(|(to, b)| *to += a * b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_item_has_a_place_of_its_own() {
        let places: BTreeSet<usize> =
            (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| place(row, column))).collect();
        assert_eq!(places, (0..SIDE * SIDE).collect());
    }
}
