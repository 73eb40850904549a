//! Where the jobs of floods count, and how one learns that all of them have run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A counter that few threads share.
#[repr(align(128))]
struct Counter(AtomicUsize);

static COUNTERS: [Counter; 64] = [const { Counter(AtomicUsize::new(0)) }; 64];

/// Keeps other floods of this process away while it lives. All of them count in the same place: a
/// job that had to know where would not be empty.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The empty job.
pub(super) fn count() {
    count_by(1);
}

/// The work of a job that brings a number along. Threads count apart, so as not to wait for each
/// other's memory.
pub(super) fn count_by(number: usize) {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static MINE: usize = THREADS.fetch_add(1, Ordering::Relaxed) % COUNTERS.len();
    }
    MINE.with(|mine| COUNTERS[*mine].0.fetch_add(number, Ordering::Relaxed));
}

/// The sum of all that was counted.
pub(super) fn counted() -> usize {
    COUNTERS.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
}

/// Waits until so much is counted, which takes so long from `begin`.
///
/// # Errors
///
/// If it is not there in time: then jobs are lost.
pub(super) fn wait(
    expected: usize,
    begin: Instant,
    patience: Duration,
) -> Result<Duration, String> {
    while counted() != expected {
        if begin.elapsed() > patience {
            return Err(format!("not all of its jobs ran within {} s", patience.as_secs()));
        }
        // Short beside a flood, and leaves the processor to the pool.
        thread::sleep(Duration::from_micros(20));
    }
    Ok(begin.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_adds_up_and_what_is_missing_is_told() {
        let _turn = turn();
        let (begin, before) = (Instant::now(), counted());
        thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(|| count_by(41));
        });
        assert_eq!(counted() - before, 42);
        assert!(wait(before + 42, begin, Duration::from_secs(1)).is_ok());
        let told = wait(before + 43, begin, Duration::ZERO).unwrap_err();
        assert_eq!(told, "not all of its jobs ran within 0 s");
    }
}
