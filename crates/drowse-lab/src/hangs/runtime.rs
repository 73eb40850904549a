//! What the programs need of a runtime.

use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

/// rayon or drowse, as far as they agree.
pub trait Runtime: 'static {
    /// A pool of its own.
    type Pool: Send + Sync;

    /// A pool of so many threads, with stacks of so many bytes, or as usual.
    ///
    /// # Errors
    ///
    /// If it cannot be had.
    fn pool(threads: usize, stack: Option<usize>) -> Result<Self::Pool, String>;

    /// Runs a closure in the pool, and waits.
    fn install<R: Send>(pool: &Self::Pool, f: impl FnOnce() -> R + Send) -> R;

    /// Runs both in the current pool, perhaps in parallel.
    fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send)
    -> (A, B);

    /// Spawns these jobs, and waits for all of them.
    fn scope<J: FnOnce() + Send>(jobs: impl Iterator<Item = J> + Send);

    /// Runs a closure later, in the current pool.
    fn spawn(job: impl FnOnce() + Send + 'static);
}

/// Both have the same names for it all.
macro_rules! runtimes {
    ($($(#[$doc:meta])* $name:ident: $library:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl Runtime for $name {
            type Pool = $library::ThreadPool;

            fn pool(threads: usize, stack: Option<usize>) -> Result<Self::Pool, String> {
                let builder = $library::ThreadPoolBuilder::new().num_threads(threads);
                let builder = match stack {
                    Some(size) => builder.stack_size(size),
                    None => builder,
                };
                builder.build().map_err(|error| format!("the pool could not be built: {error}"))
            }

            fn install<R: Send>(pool: &Self::Pool, f: impl FnOnce() -> R + Send) -> R {
                pool.install(f)
            }

            fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
                $library::join(a, b)
            }

            fn scope<J: FnOnce() + Send>(jobs: impl Iterator<Item = J> + Send) {
                $library::scope(|scope| jobs.for_each(|job| scope.spawn(move |_| job())));
            }

            fn spawn(job: impl FnOnce() + Send + 'static) {
                $library::spawn(job);
            }
        }
    )+};
}

runtimes! {
    /// rayon, as it is published.
    Rayon: rayon;
    /// drowse, on its default sleep protocol.
    Drowse: drowse;
}

/// A parallel loop, with a join for each half.
pub(super) fn each<R: Runtime>(range: Range<usize>, body: &(impl Fn(usize) + Sync)) {
    if range.len() <= 1 {
        range.for_each(body);
        return;
    }
    let middle = range.start + range.len() / 2;
    R::join(|| each::<R>(range.start..middle, body), || each::<R>(middle..range.end, body));
}

/// A parallel sum, with a join for each half, and a little work for each number.
pub(super) fn sum<R: Runtime>(range: Range<u64>) -> u64 {
    if range.end - range.start <= 1 {
        work_for(Duration::from_micros(1));
        return range.sum();
    }
    let middle = range.start + (range.end - range.start) / 2;
    let (a, b) = R::join(|| sum::<R>(range.start..middle), || sum::<R>(middle..range.end));
    a + b
}

/// Keeps the processor busy.
pub(super) fn work_for(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Leaves the processor to others, as a program does that is slow.
#[allow(clippy::disallowed_methods, reason = "time itself is meant")]
pub(super) fn pause(time: Duration) {
    thread::sleep(time);
}

/// Fails with this sentence unless it is so.
pub(super) fn demand(so: bool, or: impl FnOnce() -> String) -> Result<(), String> {
    if so { Ok(()) } else { Err(or()) }
}
