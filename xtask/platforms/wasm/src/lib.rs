//! drowse, and rayon on it, where there are no threads and no clock: the caller does all of it.
//!
//! `run.mjs` calls [`check`] for each number below [`CHECKS`] and asks what went wrong.

use rayon::prelude::*;
use std::cell::RefCell;
use std::future::ready;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// What the last panic said.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

const CHECKS: [(&str, fn()); 12] = [
    ("join", || assert_eq!(fib(15), 610)),
    ("join_context", || assert_eq!(drowse::join_context(|a| a.migrated(), |b| b.migrated()), (false, false))),
    ("scope", a_scope),
    ("scope_fifo", || drowse::scope_fifo(|s| s.spawn_fifo(|_| ()))),
    ("spawn", a_spawn),
    ("spawn_handle", || assert_eq!(drowse::spawn_handle(|| 6 * 7).join().unwrap(), 42)),
    ("spawn_future", || assert_eq!(drowse::spawn_future(ready(42)).join().unwrap(), 42)),
    ("block_on", || assert_eq!(drowse::block_on(async { drowse::spawn_handle(|| 1).await.unwrap() }), 1)),
    ("broadcast", || assert_eq!(drowse::broadcast(|context| context.num_threads()), [1])),
    ("one thread", || assert_eq!((drowse::current_num_threads(), rayon::current_num_threads()), (1, 1))),
    ("par_iter", || assert_eq!((0..10_000_u64).into_par_iter().map(|x| x * x).sum::<u64>(), 333_283_335_000)),
    ("pools", pools_are_refused),
];

fn fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = drowse::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn a_scope() {
    let count = AtomicUsize::new(0);
    drowse::scope(|s| {
        for _ in 0..100 {
            s.spawn(|s| s.spawn(|_| _ = count.fetch_add(1, Ordering::Relaxed)));
        }
    });
    assert_eq!(count.into_inner(), 100);
}

/// It is run at the latest when the caller comes to a point where it waits.
fn a_spawn() {
    static DONE: AtomicUsize = AtomicUsize::new(0);
    drowse::spawn(|| _ = DONE.fetch_add(1, Ordering::Relaxed));
    while DONE.load(Ordering::Relaxed) == 0 {
        assert!(drowse::yield_now().is_some());
    }
    assert_eq!(DONE.load(Ordering::Relaxed), 1);
}

/// As rayon does: a pool of its own would need threads, and says so; one of the caller does not.
fn pools_are_refused() {
    let error = drowse::ThreadPoolBuilder::new().num_threads(2).build().unwrap_err();
    assert!(error.to_string().contains("thread could not be started"), "{error}");
}

/// How many checks there are.
#[unsafe(no_mangle)]
pub extern "C" fn checks() -> usize {
    panic::set_hook(Box::new(|info| SAID.set(info.to_string())));
    CHECKS.len()
}

/// Where the name of a check is, and how long it is: two words.
#[unsafe(no_mangle)]
pub extern "C" fn name(check: usize) -> *const (*const u8, usize) {
    let name = CHECKS[check].0;
    Box::leak(Box::new((name.as_ptr(), name.len())))
}

/// Does one of the checks. If it does not come back, it has panicked.
#[unsafe(no_mangle)]
pub extern "C" fn check(check: usize) {
    (CHECKS[check].1)();
}

/// What the last panic said: two words, as for a name.
#[unsafe(no_mangle)]
pub extern "C" fn said() -> *const (*const u8, usize) {
    let said = SAID.take().leak();
    Box::leak(Box::new((said.as_ptr(), said.len())))
}
