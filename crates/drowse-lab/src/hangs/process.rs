//! What a process does to its pools: it forks, lets them go, and has no room for them.

use super::Ended;
use super::runtime::{Runtime, demand, sum};
use crate::platform;
use std::fs;

/// The sum of these numbers, in the current pool, and what it must be.
fn global_sum<R: Runtime>() -> Result<(), String> {
    let sum = sum::<R>(0..200);
    demand(sum == 19_900, || format!("the sum is {sum}"))
}

/// P18.
pub(super) fn fork<R: Runtime>() -> Ended {
    global_sum::<R>()?;
    platform::fork_and_wait(global_sum::<R>)?;
    Ok(String::new())
}

/// How many threads this process has.
fn threads() -> Result<usize, String> {
    let tasks = fs::read_dir("/proc/self/task");
    tasks.map(Iterator::count).map_err(|error| format!("threads cannot be counted here: {error}"))
}

/// P19. `end` lets a pool go.
pub(super) fn shutdown<R: Runtime>(end: fn(R::Pool)) -> Ended {
    let before = threads()?;
    let mut most = 0;
    for _ in 0..50 {
        let pool = R::pool(4, None)?;
        R::install(&pool, global_sum::<R>)?;
        end(pool);
        most = most.max(threads()?.saturating_sub(before));
    }
    demand(most == 0, || format!("up to {most} threads are still there"))?;
    Ok(String::new())
}

/// P20. There are to be 8 threads, of 64 MiB each. A limit on the number of threads would be no
/// limit for the system's administrator; one on memory is, and the error is the same.
pub(super) fn few_threads<R: Runtime>() -> Ended {
    platform::leave_room_for(3 * (64 << 20) + (48 << 20))?;
    global_sum::<R>()?;
    Ok(String::new())
}
