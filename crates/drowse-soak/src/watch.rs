//! Notices when nothing happens any more, and says where everybody is.

use crate::surroundings::spawn;
use crate::verdict::fail_after_report;
use crate::world::World;
use crate::{actions, tasks};
use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often we look.
const GLANCE: Duration = Duration::from_millis(500);

/// After so long without a job that began or ended, the round hangs.
pub(crate) fn limit() -> Duration {
    let patience = std::env::var("DROWSE_TEST_PATIENCE").map_or(1, |times| times.parse().expect("a number"));
    Duration::from_secs(20) * patience
}

static IS_OVER: AtomicBool = AtomicBool::new(false);

/// From now on nothing is to be seen: all jobs have ended.
pub(crate) fn end() {
    IS_OVER.store(true, Ordering::Relaxed);
}

/// Watches from now on.
pub(crate) fn begin(world: &'static World) {
    spawn("watch", move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            thread::park_timeout(GLANCE);
            if IS_OVER.load(Ordering::Relaxed) {
                continue;
            }
            let now = world.book.progress();
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > limit() {
                report(world);
                fail_after_report(&format!("it hangs: nothing has happened for {:?}", limit()));
            }
        }
    });
}

/// Says all that there is to say about a process that hangs.
pub(crate) fn report(world: &'static World) {
    eprintln!("threads:\n{}", tasks::table());
    for (index, outside) in world.outside.iter().enumerate() {
        let kind = usize::from(outside.load(Ordering::Relaxed)).checked_sub(1);
        eprintln!("outside{index}: {}", kind.map_or("nothing", actions::name));
    }
    eprintln!("the first job that has not ended: {:?}", world.book.first_open());
    for (index, pool) in world.pools().enumerate() {
        eprintln!("pool{index}: {pool:?}\n{}", pool.metrics());
    }
    backtraces();
}

static IS_DONE: AtomicBool = AtomicBool::new(false);

/// Has each thread say where it is.
fn backtraces() {
    // Not what a signal handler should do: it allocates, and locks. But this process is about to
    // end anyway, and who hangs in drowse does not hang in malloc.
    extern "C" fn say(_signal: libc::c_int) {
        let name = thread::current().name().unwrap_or("?").to_owned();
        let trace = Backtrace::force_capture().to_string();
        let lines: Vec<&str> = trace.lines().collect();
        // Two lines for each frame: the function, and where that is in its file.
        let frames = lines.iter().filter(|line| !line.contains(" at /rustc/")).take(60);
        let text: String = frames.map(|line| format!("{line}\n")).collect();
        eprintln!("thread {} {name}:\n{text}", tasks::own_id());
        IS_DONE.store(true, Ordering::Release);
    }
    tasks::on_signal(libc::SIGUSR2, say);
    for thread in tasks::ids().into_iter().filter(|thread| *thread != tasks::own_id()) {
        IS_DONE.store(false, Ordering::Relaxed);
        tasks::signal(thread, libc::SIGUSR2);
        let since = Instant::now();
        while !IS_DONE.load(Ordering::Acquire) && since.elapsed() < Duration::from_secs(1) {
            thread::park_timeout(Duration::from_millis(1));
        }
    }
}
