//! Panics of jobs that nobody waits for.

use super::Ended;
use super::runtime::{Runtime, demand, pause};
use std::any::Any;
use std::sync::mpsc;
use std::time::Duration;

/// The payload of a panic, if somebody has it.
pub(super) type Payload = Option<Box<dyn Any + Send>>;

/// Spawns the job, and waits until it has ended, or what comes of its panic must have come.
pub(super) fn spawned<R: Runtime>(job: fn()) -> Payload {
    let (ended, end) = mpsc::channel();
    R::spawn(move || {
        job();
        let _ = ended.send(());
    });
    if end.recv().is_err() {
        // It panics at this very moment. A process that is to end for that has ended by then.
        pause(Duration::from_secs(3));
    }
    None
}

/// P23. `spawn` runs a job later that panics, and has its payload if there is a way.
pub(super) fn panic_in_spawn<R: Runtime>(spawn: fn(fn()) -> Payload) -> Ended {
    let pool = R::pool(2, None)?;
    let payload = R::install(&pool, || spawn(|| panic!("a job of the program")));
    let message = payload.and_then(|payload| payload.downcast_ref::<&str>().copied());
    demand(message == Some("a job of the program"), || "the payload was lost".to_owned())?;
    let alive = R::install(&pool, || R::join(|| 20, || 22));
    demand(alive == (20, 22), || "the pool is of no use any more".to_owned())?;
    Ok(String::new())
}
