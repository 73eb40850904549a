//! Locks that are held while their holder waits for others.
//!
//! What goes wrong here by chance in real programs is brought about step by step. Two threads enter
//! a pool of two workers, with requests that want the same lock. The worker that runs the first one
//! joins under the lock, and the other worker takes the second half. While it runs that, the second
//! request comes: a worker that waits for its half, and looks for other work, finds it.

use super::Ended;
use super::runtime::{Runtime, demand, pause};
use std::sync::{Barrier, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

/// Long enough for a worker that waits to find what there is, on a busy machine too.
const LONG: Duration = Duration::from_millis(200);

/// What is done under a lock, and nothing about it.
pub(super) fn plainly(body: &(dyn Fn() + Sync)) {
    body();
}

/// Has `first` run by a worker, with something to call that joins; and `second`, when the worker
/// waits in it.
fn while_it_waits<R: Runtime>(
    first: impl Fn(&(dyn Fn() + Sync)) + Sync,
    second: impl Fn() + Sync,
) -> Result<(), String> {
    let pool = R::pool(2, None)?;
    let (both, (stolen, steals)) = (Barrier::new(2), mpsc::channel());
    let join = || {
        R::join(
            || both.wait(),
            || {
                both.wait();
                // Somebody listens until all of this has ended.
                let _ = stolen.send(());
                pause(LONG);
            },
        );
    };
    let join: &(dyn Fn() + Sync) = &join;
    thread::scope(|threads| {
        threads.spawn(|| R::install(&pool, || first(join)));
        let _ = steals.recv();
        R::install(&pool, &second);
    });
    Ok(())
}

/// P10. `around` calls what waits while it holds the lock.
pub(super) fn lock_across_join<R: Runtime>(around: fn(&(dyn Fn() + Sync))) -> Ended {
    let total = Mutex::new(0);
    let add = |join: &(dyn Fn() + Sync)| {
        around(&|| {
            let mut total = total.lock().expect("nobody panics");
            join();
            *total += 1;
        });
    };
    while_it_waits::<R>(add, || add(&|| ()))?;
    let total = total.into_inner().expect("nobody panics");
    demand(total == 2, || format!("{total} of 2 requests were served"))?;
    Ok(String::new())
}

/// P11. `around` calls what waits while it fills a cell.
pub(super) fn once_cells<R: Runtime>(around: fn(&(dyn Fn() + Sync))) -> Ended {
    let cell = OnceLock::new();
    let get = |join: &(dyn Fn() + Sync)| {
        around(&|| {
            cell.get_or_init(|| {
                join();
                42
            });
        });
    };
    while_it_waits::<R>(get, || get(&|| ()))?;
    demand(cell.get() == Some(&42), || "the cell is empty".to_owned())?;
    Ok(String::new())
}
