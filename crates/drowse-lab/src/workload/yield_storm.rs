//! Many tasks that let each other go first.

use super::parts::size;
use super::{MeasureSpec, Need, Samples, Workload, by_name};
use crate::contender::Pool;
use crate::measure::Budget;
use futures_lite::future::{block_on, yield_now};

/// Tasks that yield a few times each.
#[derive(Debug)]
pub struct YieldStorm;

/// How often each yields.
const YIELDS: usize = 4;

impl Workload for YieldStorm {
    const NAME: &'static str = "yield_storm";
    const ABOUT: &'static str = "100,000 tasks that yield four times each, and are awaited";
    const MEASURES: &'static [MeasureSpec] = &[MeasureSpec::less("task", "time of a task", "ns")];

    const NEEDS: &'static [Need] = &[Need::Poll];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let count = size(100_000, 1_000);
        let task = |i: usize| async move {
            for _ in 0..YIELDS {
                yield_now().await;
            }
            i
        };
        let round = || {
            let (seconds, sum) = Budget::seconds(|| {
                let tasks: Vec<_> = (0..count).map(|i| pool.spawn_future(task(i))).collect();
                block_on(async {
                    let mut sum = 0;
                    for task in tasks {
                        sum += task.await;
                    }
                    sum
                })
            });
            assert_eq!(sum, count * (count - 1) / 2);
            [seconds * 1e9 / count as f64]
        };
        Ok(by_name(["task"], budget.rounds(round)))
    }
}
