//! A picture whose rows take unequal time.

use super::parts::{milliseconds, pieces, size, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool, Serial};
use crate::measure::Budget;

/// Draws the Mandelbrot set, a row per leaf.
#[derive(Debug)]
pub struct Mandelbrot;

const WIDTH: usize = size(384, 32);
const HEIGHT: usize = size(256, 16);
/// A point that has not escaped after so many steps never will.
const MOST: u16 = size(256, 64) as u16;

impl Workload for Mandelbrot {
    const NAME: &'static str = "mandelbrot";
    const ABOUT: &'static str =
        "a picture of 384 by 256 points, up to 256 steps each; rows by halving";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("time", "time a picture", "ms")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let expected = picture(&mut Serial);
        warm_up(pool);
        Ok(samples("time", budget.rounds(|| milliseconds(&expected, || pool.run(picture)))))
    }
}

fn picture<F: Fork>(fork: &mut F) -> Vec<[u16; WIDTH]> {
    let mut rows = vec![[0; WIDTH]; HEIGHT];
    pieces(fork, &mut rows, 0, 1, &|first, rows| {
        for (row, points) in rows.iter_mut().enumerate() {
            let y = ((first + row) as f64 / HEIGHT as f64 - 0.5) * 2.4;
            for (column, point) in points.iter_mut().enumerate() {
                *point = steps((column as f64 / WIDTH as f64) * 3.2 - 2.2, y);
            }
        }
    });
    rows
}

/// How many steps it takes a point to escape.
fn steps(x: f64, y: f64) -> u16 {
    let (mut real, mut imaginary) = (0.0, 0.0);
    for step in 0..MOST {
        let squares = (real * real, imaginary * imaginary);
        if squares.0 + squares.1 > 4.0 {
            return step;
        }
        (real, imaginary) = (squares.0 - squares.1 + x, 2.0 * real * imaginary + y);
    }
    MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_inside_stay_and_points_outside_flee() {
        assert_eq!(steps(0.0, 0.0), MOST);
        assert_eq!(steps(-1.0, 0.0), MOST);
        assert_eq!(steps(2.0, 2.0), 1);
    }
}
