//! The fixed part of each program on rayon: the number of threads, and one `join` of two functions,
//! both behind `black_box`.

use std::hint::black_box;

type Function = fn() -> u64;

fn one() -> u64 {
    1
}

fn two() -> u64 {
    2
}

fn main() {
    let join: fn(Function, Function) -> (u64, u64) = rayon::join;
    black_box(rayon::current_num_threads as fn() -> usize)();
    black_box(join)(black_box(one), black_box(two));
}
