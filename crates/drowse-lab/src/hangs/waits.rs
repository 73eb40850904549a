//! Jobs that wait for each other, and threads that wait for their turn.

use super::Ended;
use super::runtime::{Runtime, demand, each, pause, work_for};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// P12.
pub(super) fn mutual_wait<R: Runtime>() -> Ended {
    let (pool, both) = (R::pool(2, None)?, Barrier::new(2));
    for _ in 0..100 {
        let (a, b) =
            R::install(&pool, || R::join(|| both.wait().is_leader(), || both.wait().is_leader()));
        demand(a != b, || "the halves did not meet".to_owned())?;
    }
    Ok(String::new())
}

/// What a task gives its child to do.
pub(super) type Child = Box<dyn FnOnce() + Send>;

/// Spawns the child, and blocks until it has run.
pub(super) fn by_channel<R: Runtime>(child: Child) -> Result<(), String> {
    let (done, end) = mpsc::channel();
    R::spawn(move || {
        child();
        let _ = done.send(());
    });
    end.recv().map_err(|_| "a child was lost".to_owned())
}

/// The same, on drowse, while a spare works in the task's place.
pub(super) fn by_channel_blocking(child: Child) -> Result<(), String> {
    let (done, end) = mpsc::channel();
    drowse::spawn(move || {
        child();
        let _ = done.send(());
    });
    drowse::blocking(|| end.recv()).map_err(|_| "a child was lost".to_owned())
}

/// P13. `wait` spawns a child, and waits until it has run.
pub(super) fn children<R: Runtime>(wait: fn(Child) -> Result<(), String>) -> Ended {
    for (threads, tasks) in [(4, 5), (1, 1)] {
        let pool = R::pool(threads, None)?;
        let (ran, lost) = (Arc::new(AtomicUsize::new(0)), Mutex::new(None));
        R::install(&pool, || {
            R::scope((0..tasks).map(|_| {
                || {
                    let ran = Arc::clone(&ran);
                    let child = Box::new(move || _ = ran.fetch_add(1, Ordering::Relaxed));
                    if let Err(reason) = wait(child) {
                        *lost.lock().expect("nobody panics") = Some(reason);
                    }
                }
            }));
        });
        if let Some(reason) = lost.into_inner().expect("nobody panics") {
            return Err(reason);
        }
        let ran = ran.load(Ordering::Relaxed);
        demand(ran == tasks, || format!("{ran} of {tasks} children have run"))?;
    }
    Ok(String::new())
}

/// P14.
pub(super) fn two_submitters<R: Runtime>() -> Ended {
    const FOLD: Duration = Duration::from_millis(500);
    const THREADS: usize = 2;
    let leaves = THREADS * FOLD.as_millis() as usize;
    let (pool, begun) = (R::pool(THREADS, None)?, Barrier::new(2));
    let (served, folded) = thread::scope(|threads| {
        let fold = threads.spawn(|| {
            R::install(&pool, || {
                begun.wait();
                each::<R>(0..leaves, &|_| work_for(Duration::from_millis(1)));
            });
            Instant::now()
        });
        begun.wait();
        pause(FOLD / 5);
        let asked = Instant::now();
        R::install(&pool, || each::<R>(0..10, &|_| work_for(Duration::from_micros(1))));
        let served = Instant::now();
        let folded = fold.join().map_err(|_| "the fold panicked".to_owned())?;
        Ok::<_, String>((served - asked, folded - asked))
    })?;
    let after = format!("served after {:.0} ms", served.as_secs_f64() * 1e3);
    // Long before the fold has ended, and not just a little.
    demand(served < folded / 2, || format!("{after}, with the fold"))?;
    Ok(after)
}
