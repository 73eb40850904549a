//! The fixed part of each program in Rust: std without rayon.

use std::hint::black_box;

fn main() {
    black_box(std::env::args().len());
}
