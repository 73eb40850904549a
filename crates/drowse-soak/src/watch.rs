//! Notices when nothing happens any more, and says where everybody is.

use crate::patience::Patience;
use crate::surroundings::spawn;
use crate::verdict::fail_after_report;
use crate::world::World;
use crate::{actions, patience, stacks, tasks};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often we look.
const GLANCE: Duration = Duration::from_millis(100);

/// After so much time without a job that began or ended, the round hangs.
pub(crate) fn limit() -> Duration {
    Duration::from_secs(20) * patience::patience()
}

/// Counts that time.
pub(crate) fn patience() -> Patience {
    Patience::of(limit())
}

static IS_OVER: AtomicBool = AtomicBool::new(false);

/// From now on nothing is to be seen: all jobs have ended.
pub(crate) fn end() {
    IS_OVER.store(true, Ordering::Relaxed);
}

/// Watches from now on.
pub(crate) fn begin(world: &'static World) {
    spawn("watch", move || {
        let (mut last, mut patience) = (0, patience());
        loop {
            thread::park_timeout(GLANCE);
            if IS_OVER.load(Ordering::Relaxed) {
                continue;
            }
            let now = world.book.progress();
            if now != last {
                (last, patience) = (now, self::patience());
            } else if patience.is_over() {
                report(world);
                fail_after_report(&format!("it hangs, nothing has happened: {patience}"));
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
    stacks::print_all();
}
