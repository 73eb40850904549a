//! What a process does to its pools: it forks, lets them go, and has no room for them.

use super::Ended;
use super::runtime::{Runtime, demand, sum};
use std::fs;
use std::io;

/// The sum of these numbers, in the current pool, and what it must be.
fn global_sum<R: Runtime>() -> Result<(), String> {
    let sum = sum::<R>(0..200);
    demand(sum == 19_900, || format!("the sum is {sum}"))
}

/// P18.
pub(super) fn fork<R: Runtime>() -> Ended {
    global_sum::<R>()?;
    // SAFETY: the child goes on with a copy of this thread alone. That is what the program is
    // about; it ends without coming back here.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(format!("no fork: {}", io::Error::last_os_error())),
        0 => {
            // SAFETY: a call with a number. Whatever becomes of those who would end it, it ends.
            unsafe { libc::alarm(60) };
            let code = i32::from(global_sum::<R>().is_err());
            // SAFETY: ends the child, without what the parent wants done at its own end.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = 0;
            // SAFETY: it may write to the number, and does.
            let ended = unsafe { libc::waitpid(child, &mut status, 0) };
            demand(ended == child, || "the child was lost".to_owned())?;
            demand(libc::WIFEXITED(status), || format!("signal {} ended the child", libc::WTERMSIG(status)))?;
            let code = libc::WEXITSTATUS(status);
            demand(code == 0, || format!("the child ended with code {code}"))?;
            Ok(String::new())
        }
    }
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

/// The most of the address space that this process may use, from what it uses now.
fn leave_room_for(bytes: u64) -> Result<(), String> {
    let status = fs::read_to_string("/proc/self/statm").map_err(|error| format!("no /proc: {error}"))?;
    let pages: Option<u64> = status.split_whitespace().next().and_then(|word| word.parse().ok());
    let pages = pages.ok_or("/proc makes no sense")?;
    // SAFETY: a call with a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let most = pages * page + bytes;
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: it reads the struct.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    demand(set == 0, || format!("no limit can be set: {}", io::Error::last_os_error()))
}

/// P20. There are to be 8 threads, of 64 MiB each. A limit on the number of threads would be no
/// limit for the system's administrator; one on memory is, and the error is the same.
pub(super) fn few_threads<R: Runtime>() -> Ended {
    leave_room_for(3 * (64 << 20) + (48 << 20))?;
    global_sum::<R>()?;
    Ok(String::new())
}
