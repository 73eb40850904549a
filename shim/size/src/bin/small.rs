//! A small program: the sum of a parallel iterator, and a `join`.

use rayon::prelude::*;

fn main() {
    let numbers: Vec<u64> = (0..1_000).collect();
    let sum: u64 = numbers.par_iter().map(|n| n * n).sum();
    let (least, largest) = rayon::join(|| numbers.iter().min(), || numbers.iter().max());
    println!("{sum} {least:?} {largest:?}");
}
