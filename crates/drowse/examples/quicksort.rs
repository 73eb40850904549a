//! Sorts some millions of numbers with one worker and with all of them, checks the result, and says
//! how much faster the latter was.
//!
//! `cargo run --release --example quicksort [-- <how many numbers>]`

#[macro_use]
mod say;

use std::time::{Duration, Instant};

/// Below this, splitting costs more than it brings.
const SEQUENTIAL: usize = 2_000;
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = match arguments.as_slice() {
        [] => 4_000_000,
        [count] if count.replace('_', "").parse::<usize>().is_ok() => {
            count.replace('_', "").parse().unwrap()
        }
        other => {
            eprintln!(
                "quicksort: {other:?} is not a count\nusage: quicksort [how many numbers, by default 4000000]"
            );
            std::process::exit(2);
        }
    };
    let numbers = random_numbers(count);
    let mut expected = numbers.clone();
    expected.sort_unstable();

    let one = drowse::ThreadPoolBuilder::new().num_threads(1).build().expect("one worker");
    let all = drowse::ThreadPoolBuilder::new().build().expect("as many workers as there are cores");
    let workers = all.current_num_threads();
    say!("sorting {count} numbers, best of {ROUNDS} rounds");

    // In turn, so that a busy machine is unfair to both alike.
    let (mut best_one, mut best_all) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        best_one = best_one.min(sort_in(&one, &numbers, &expected));
        best_all = best_all.min(sort_in(&all, &numbers, &expected));
    }
    say!("{:>3} worker   {best_one:>10.1?}", 1);
    say!("{workers:>3} workers  {best_all:>10.1?}");
    say!(
        "speed-up     {:>9.2}x, results checked (the first split is one worker's; the rest is shared)",
        best_one.as_secs_f64() / best_all.as_secs_f64()
    );
}

fn sort_in(pool: &drowse::ThreadPool, numbers: &[u64], expected: &[u64]) -> Duration {
    let mut sorted = numbers.to_vec();
    let start = Instant::now();
    pool.install(|| quicksort(&mut sorted));
    let time = start.elapsed();
    assert!(sorted == expected, "not sorted");
    time
}

fn quicksort<T: Ord + Copy + Send>(items: &mut [T]) {
    if items.len() <= SEQUENTIAL {
        items.sort_unstable();
        return;
    }
    let middle = partition(items);
    let (low, high) = items.split_at_mut(middle);
    drowse::join(|| quicksort(low), || quicksort(&mut high[1..]));
}

/// Moves what is less than a pivot before it, and returns where the pivot is now.
fn partition<T: Ord + Copy>(items: &mut [T]) -> usize {
    let last = items.len() - 1;
    items.swap(median_of_three(items), last);
    let pivot = items[last];
    let mut middle = 0;
    for i in 0..last {
        if items[i] < pivot {
            items.swap(i, middle);
            middle += 1;
        }
    }
    items.swap(middle, last);
    middle
}

fn median_of_three<T: Ord>(items: &[T]) -> usize {
    let mut candidates = [0, items.len() / 2, items.len() - 1];
    candidates.sort_by(|&a, &b| items[a].cmp(&items[b]));
    candidates[1]
}

/// The same numbers every time, without any order.
fn random_numbers(count: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
    .take(count)
    .collect()
}
