//! Does a list of things a few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many models run at a time. Each keeps one core busy.
const WORKERS: usize = 2;

/// Applies `work` to all of the items, some at a time. The results come in the order of the items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..WORKERS.min(items.len()) {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let result = work(item);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        let doubled: Vec<usize> = items.iter().map(|n| n * 2).collect();
        assert_eq!(map(&items, |n| n * 2), doubled);
        assert_eq!(map(&[] as &[usize], |n| n * 2), []);
    }

    #[test]
    fn two_run_at_a_time() {
        let both = Barrier::new(WORKERS);
        map(&[(), ()], |()| both.wait());
    }
}
