//! Programs of parallel iterators, timed. Built on drowse here, and on the original core elsewhere,
//! they can be compared.
//!
//! ```sh
//! cargo run --release --manifest-path shim/Cargo.toml -p rayon-programs -- sum 20
//! ```
//!
//! Prints the nanoseconds of each round, a line per round, once all are over. With `-` for the
//! number of rounds it reads numbers from the standard input, a line each, and runs so many rounds
//! for each: so two builds can take turns, and a machine that is slow for a while is slow for both.
//! With `PIN=1` in the environment, worker `i` runs on processor `i` alone: where the system puts a
//! woken thread beside its waker, although another processor is idle, that is the only way to
//! compare the pools themselves.

use rayon::prelude::*;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// A program: makes its data, and returns what a round does with it.
type Program = fn() -> Box<dyn FnMut() -> u64>;

const PROGRAMS: [(&str, Program); 8] = [
    ("sum", sum),
    ("small-sums", small_sums),
    ("sort", sort),
    ("sort-unstable", sort_unstable),
    ("collect", collect),
    ("flat-map", flat_map),
    ("par-bridge", par_bridge),
    ("nested", nested),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen =
        arguments.first().and_then(|name| PROGRAMS.iter().find(|(program, _)| program == name));
    let (Some((_, program)), Some(batches)) = (chosen, batches(arguments.get(1))) else {
        let names = PROGRAMS.map(|(name, _)| name).join(", ");
        eprintln!("usage: rayon-programs PROGRAM [ROUNDS | -]\nprograms: {names}");
        return ExitCode::from(2);
    };
    if std::env::var_os("PIN").is_some() {
        let pool = rayon::ThreadPoolBuilder::new().start_handler(pin_to);
        pool.build_global().expect("nothing has used the global pool yet");
    }
    let mut round = program();
    let expected = round();
    for rounds in batches {
        let mut times = String::new();
        for _ in 0..rounds {
            let start = Instant::now();
            let result = black_box(round());
            times.push_str(&format!("{}\n", start.elapsed().as_nanos()));
            assert_eq!(result, expected, "a round that comes to another result");
        }
        print!("{times}");
    }
    ExitCode::SUCCESS
}

/// How many rounds to run without a break: the number in the argument, or each of those in the
/// input.
fn batches(argument: Option<&String>) -> Option<Box<dyn Iterator<Item = u32>>> {
    match argument.map(String::as_str) {
        None => Some(Box::new(std::iter::once(10))),
        Some("-") => {
            Some(Box::new(std::io::stdin().lines().map_while(|line| line.ok()?.parse().ok())))
        }
        Some(number) => Some(Box::new(std::iter::once(number.parse().ok()?))),
    }
}

/// Keeps the calling thread on one processor, as far as there are enough.
fn pin_to(processor: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: a plain struct of bits, which is filled in before the system reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor % libc::CPU_SETSIZE as usize, &mut set);
        // It may not be ours to use; then the thread runs where it may.
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = processor;
}

/// Numbers that look random, the same each time.
fn numbers(count: u64) -> Vec<u64> {
    (0..count).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).collect()
}

fn sum() -> Box<dyn FnMut() -> u64> {
    let numbers = numbers(8_000_000);
    Box::new(move || numbers.par_iter().map(|n| n ^ (n >> 3)).sum())
}

fn small_sums() -> Box<dyn FnMut() -> u64> {
    let numbers = numbers(1_000);
    Box::new(move || {
        (0..200).map(|_| numbers.par_iter().map(|n| n ^ (n >> 3)).sum::<u64>() & 1).sum()
    })
}

fn sort() -> Box<dyn FnMut() -> u64> {
    let numbers = numbers(1_000_000);
    Box::new(move || {
        let mut numbers = numbers.clone();
        numbers.par_sort();
        numbers[numbers.len() / 2]
    })
}

fn sort_unstable() -> Box<dyn FnMut() -> u64> {
    let numbers = numbers(1_000_000);
    Box::new(move || {
        let mut numbers = numbers.clone();
        numbers.par_sort_unstable();
        numbers[numbers.len() / 2]
    })
}

fn collect() -> Box<dyn FnMut() -> u64> {
    Box::new(|| {
        let squares: Vec<u64> =
            (0..4_000_000_u64).into_par_iter().map(|n| n.wrapping_mul(n)).collect();
        squares[squares.len() - 1]
    })
}

fn flat_map() -> Box<dyn FnMut() -> u64> {
    Box::new(|| {
        let pairs = (0..2_000_u64)
            .into_par_iter()
            .flat_map(|a| (0..1_000_u64).into_par_iter().map(move |b| a ^ b));
        pairs.filter(|n| n % 3 == 0).count() as u64
    })
}

fn par_bridge() -> Box<dyn FnMut() -> u64> {
    Box::new(|| {
        (0..20_000_u64)
            .par_bridge()
            .map(|n| (0..100).fold(n, |x, k| x.rotate_left(5) ^ k))
            .sum::<u64>()
            & 0xff
    })
}

fn nested() -> Box<dyn FnMut() -> u64> {
    Box::new(|| {
        let row = |a: u64| (0..500_u64).into_par_iter().map(|b| a.wrapping_mul(b) % 7).sum::<u64>();
        (0..500_u64).into_par_iter().map(row).sum()
    })
}
