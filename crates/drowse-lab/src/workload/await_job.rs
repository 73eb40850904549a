//! A job there, and its result back here.

use super::{MeasureSpec, Need, Samples, Workload};
use crate::contender::{self, Can, Pool};
use crate::measure::Budget;
#[cfg(feature = "awaited")]
use {
    super::by_name, super::parts::let_sleep, crate::measure::UsageMeter,
    futures_lite::future::block_on, tokio::runtime::Builder,
};

/// Awaits empty jobs, one after the other.
#[derive(Debug)]
pub struct AwaitJob;

/// So many in a row.
#[cfg(feature = "awaited")]
const ROUND: usize = 200;

impl Workload for AwaitJob {
    const NAME: &'static str = "await_job";
    const ABOUT: &'static str =
        "an empty job is awaited, from tokio and from a thread: back to back, and when all sleep";
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("tokio", "there and back, from a task of tokio's, back to back", "us"),
        MeasureSpec::less("thread", "the same from a thread that blocks", "us"),
        MeasureSpec::less("cold", "from a task of tokio's, when all sleep", "us"),
        MeasureSpec::less("cpu", "CPU time of one from tokio, back to back", "us"),
    ];

    const NEEDS: &'static [Need] = &[Need::Await];

    /// Most of its measures are of a thread of tokio's.
    fn is_measurable() -> Can {
        contender::ARE_BUILT
    }

    #[cfg(not(feature = "awaited"))]
    fn run<P: Pool>(_: &P, _: Budget) -> Result<Samples, String> {
        Self::is_measurable().map(|()| Samples::new()).map_err(str::to_owned)
    }

    #[cfg(feature = "awaited")]
    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        let tokio = Builder::new_current_thread().build().map_err(|error| error.to_string())?;
        let all = || async {
            for i in 0..ROUND {
                assert_eq!(pool.spawn_job(move || i).await, i);
            }
        };
        let each = |seconds: f64| seconds * 1e6 / ROUND as f64;
        let round = || {
            let meter = UsageMeter::start();
            let (from_tokio, ()) = Budget::seconds(|| tokio.block_on(all()));
            let cpu = meter.read().cpu.as_secs_f64();
            let (from_thread, ()) = Budget::seconds(|| block_on(all()));
            let_sleep();
            let (cold, result) =
                Budget::seconds(|| tokio.block_on(async { pool.spawn_job(|| 42).await }));
            assert_eq!(result, 42);
            [each(from_tokio), each(from_thread), cold * 1e6, each(cpu)]
        };
        Ok(by_name(["tokio", "thread", "cold", "cpu"], budget.rounds(round)))
    }
}
