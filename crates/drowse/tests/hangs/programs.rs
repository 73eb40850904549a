//! The programs, each written once.

use crate::common::watchdog;
use drowse::{SleepProtocol, ThreadPoolBuilder};

/// Runs a test on each protocol, with a watchdog of its own.
#[track_caller]
pub(crate) fn on_every_protocol(test: impl Fn(SleepProtocol) + Clone + Send + 'static) {
    for protocol in SleepProtocol::ALL {
        let test = test.clone();
        watchdog(move || test(protocol));
    }
}

/// A pool of this width on this protocol, to be built.
pub(crate) fn builder(protocol: SleepProtocol, width: usize) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().sleep_protocol(protocol).num_threads(width)
}

/// A parallel sum, with a join for each number.
pub(crate) fn sum(numbers: &[u64]) -> u64 {
    match numbers {
        [] => 0,
        [number] => *number,
        _ => {
            let (left, right) = numbers.split_at(numbers.len() / 2);
            let (left, right) = drowse::join(|| sum(left), || sum(right));
            left + right
        }
    }
}

/// Calls `f` with each item, in parallel.
pub(crate) fn for_each(items: std::ops::Range<usize>, f: &(impl Fn(usize) + Sync)) {
    match items.len() {
        0 => (),
        1 => f(items.start),
        count => {
            let middle = items.start + count / 2;
            drowse::join(|| for_each(items.start..middle, f), || for_each(middle..items.end, f));
        }
    }
}
