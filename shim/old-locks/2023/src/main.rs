//! A program on rayon that has not been updated for years.

use rayon::prelude::*;

fn main() {
    let sum: u64 = (1..=1_000_u64).into_par_iter().sum();
    println!("{sum}");
}
