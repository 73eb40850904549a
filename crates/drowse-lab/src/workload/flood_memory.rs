//! What a flood of jobs leaves behind in memory.

use super::counters::{count, counted, turn, wait};
use super::parts::{size, warm_up};
use super::{MeasureSpec, Need, Samples, Workload, by_name};
use crate::contender::{Can, Fork, Pool, Reason};
use crate::measure::{Budget, Memory};
use std::thread;
use std::time::{Duration, Instant};

/// Floods a pool from inside, once, and looks at the memory of the process.
#[derive(Debug)]
pub struct FloodMemory;

const JOBS: usize = size(10_000_000, 20_000);
/// Jobs that have not run by then are lost.
const PATIENCE: Duration = Duration::from_secs(20);
/// From the end of the last job to the first look, until everybody has fallen asleep.
const SETTLE: Duration = Duration::from_millis(300);
/// How often we look, and how long we wait between.
const LOOKS: usize = 5;
const BETWEEN: Duration = Duration::from_millis(10);

impl Workload for FloodMemory {
    const NAME: &'static str = "flood_memory";
    const ABOUT: &'static str = "10,000,000 empty jobs that nobody waits for, given by one thread of the pool: what the process has in memory \
        0.3 s after the last of them, while the pool lives";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("growth", "resident memory afterwards, more than before", "MB"),
        MeasureSpec::less("after", "resident memory afterwards", "MB"),
        MeasureSpec::less("most", "resident memory when it was most", "MB"),
    ];
    // Alone, the thread that gives the jobs runs them when it has given all: the most that can be
    // waiting at once. With others it depends on how fast they take them.
    const WIDTHS: &'static [usize] = &[1];

    const NEEDS: &'static [Need] = &[Need::Fork, Need::SpawnInside];

    fn is_measurable() -> Can {
        Memory::read().map(drop).ok_or("the system does not tell how much memory a process has")
    }

    // One flood, whatever the budget: what the first leaves behind, a second would use again. The
    // looks are samples of the same moment, and say whether it is one of rest.
    fn run<P: Pool>(pool: &P, _budget: Budget) -> Result<Samples, String> {
        let _turn = turn();
        warm_up(pool);
        thread::sleep(SETTLE);
        let look =
            || Memory::read().ok_or("the system no longer tells how much memory a process has");
        let before = look()?;
        let (begin, expected) = (Instant::now(), counted() + JOBS);
        pool.run(|fork| (0..JOBS).try_for_each(|_| fork.spawn(count)))?;
        wait(expected, begin, PATIENCE)?;
        thread::sleep(SETTLE);
        let looks = (0..LOOKS).map(|_| {
            thread::sleep(BETWEEN);
            let after = look()?;
            // A process may have less than before: then it has not grown.
            let growth = after.resident.saturating_sub(before.resident);
            Ok([growth, after.resident, after.most].map(|bytes| bytes as f64 / 1e6))
        });
        Ok(by_name(["growth", "after", "most"], looks.collect::<Result<_, Reason>>()?))
    }
}
