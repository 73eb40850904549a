//! An application on rayon that knows nothing of drowse: it sorts, bridges, nests and configures,
//! and checks what comes out.
//!
//! ```sh
//! cargo run --release --manifest-path shim/Cargo.toml -p rayon-app
//! DROWSE_LOG=1 DROWSE_SLEEP=counters RAYON_NUM_THREADS=3 \
//!     cargo run --release --manifest-path shim/Cargo.toml -p rayon-app
//! ```

use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::mpsc::sync_channel;

fn main() {
    // As a program would that wants to name its threads. Their number comes from the environment.
    rayon::ThreadPoolBuilder::new()
        .thread_name(|index| format!("app-{index}"))
        .build_global()
        .expect("nothing has used the global pool yet");
    println!("core: drowse {} under rayon", rayon_core::drowse::VERSION);
    println!("threads: {}", rayon::current_num_threads());

    let primes = (2..200_000_u32).into_par_iter().filter(|n| is_prime(*n)).count();
    report("primes below 200,000, by par_iter", primes, 17_984);

    let mut numbers: Vec<u32> = (0..1_000_000_u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    numbers.par_sort_unstable();
    report("a million numbers in order, by par_sort", numbers.is_sorted(), true);

    let (sender, receiver) = sync_channel(16);
    let lines = std::thread::spawn(move || {
        for n in 0..1_000 {
            sender.send(format!("line {n} of a file")).expect("somebody reads them");
        }
    });
    let words: usize = receiver.into_iter().par_bridge().map(|line| line.split(' ').count()).sum();
    lines.join().expect("the reader does not panic");
    report("words of 1,000 lines from a channel, by par_bridge", words, 5_000);

    let histogram = numbers
        .par_iter()
        .fold(HashMap::<u32, usize>::new, |mut counts, n| {
            *counts.entry(n % 10).or_default() += 1;
            counts
        })
        .reduce(HashMap::new, |mut a, b| {
            for (digit, count) in b {
                *a.entry(digit).or_default() += count;
            }
            a
        });
    report(
        "numbers by last digit, by fold and reduce",
        histogram.values().sum::<usize>(),
        1_000_000,
    );

    let on_named_thread = rayon::join(thread_is_named, || rayon::scope(|_| thread_is_named()));
    report("runs on the threads it named", on_named_thread, (true, true));
}

fn is_prime(n: u32) -> bool {
    (2..).take_while(|d| d * d <= n).all(|d| n % d != 0)
}

fn thread_is_named() -> bool {
    std::thread::current().name().is_some_and(|name| name.starts_with("app-"))
}

fn report<T: PartialEq + std::fmt::Debug>(what: &str, result: T, expected: T) {
    assert_eq!(result, expected, "{what}");
    println!("{what}: {result:?}");
}
