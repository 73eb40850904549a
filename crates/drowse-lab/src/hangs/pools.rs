//! One pool that waits for another.

use super::Ended;
use super::runtime::{Runtime, demand, pause};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

thread_local! {
    /// What a job borrows on its thread.
    static NOTES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Runs a closure in the other pool, and waits.
type Enter<R> = fn(&<R as Runtime>::Pool, &(dyn Fn() -> usize + Sync)) -> usize;

/// P16.
pub(super) fn cross_pool_cell<R: Runtime>(enter: Enter<R>) -> Ended {
    const JOBS: usize = 1_000;
    let (here, there) = (R::pool(2, None)?, R::pool(1, None)?);
    let (noted, clashes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    R::install(&here, || {
        R::scope((0..JOBS).map(|job| {
            let (noted, clashes, there) = (&noted, &clashes, &there);
            move || {
                NOTES.with(|notes| match notes.try_borrow_mut() {
                    Ok(mut notes) => {
                        notes.push(enter(there, &|| job));
                        noted.fetch_add(1, Ordering::Relaxed);
                    }
                    // Where a program borrows without asking, it panics.
                    Err(_) => _ = clashes.fetch_add(1, Ordering::Relaxed),
                });
            }
        }));
    });
    let clashes = clashes.into_inner();
    demand(clashes == 0, || format!("{clashes} of {JOBS} jobs find it borrowed"))?;
    demand(noted.into_inner() == JOBS, || "jobs were lost".to_owned())?;
    Ok(String::new())
}

/// P15. The waits are those for another pool, which takes its time at first: so each job that is
/// run meanwhile waits, too, and is one more on the stack.
pub(super) fn stacks<R: Runtime>(enter: Enter<R>) -> Ended {
    const JOBS: usize = 3_000;
    let (here, there) = (R::pool(1, Some(256 << 10))?, R::pool(1, None)?);
    let done = AtomicUsize::new(0);
    let work = || {
        let before = done.fetch_add(1, Ordering::Relaxed);
        if before == 0 {
            pause(Duration::from_millis(300));
        }
        before
    };
    R::install(&here, || R::scope((0..JOBS).map(|_| || _ = enter(&there, &work))));
    let done = done.into_inner();
    demand(done == JOBS, || format!("{done} of {JOBS} jobs were done"))?;
    Ok(String::new())
}
