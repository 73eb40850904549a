//! From a fork to its other half's start on another thread.

use super::parts::{let_sleep, warm_up};
use super::{MeasureSpec, Samples, Workload, samples};
use crate::contender::{Fork, Pool, Reason};
use crate::measure::{Budget, Work};
use std::sync::OnceLock;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Forks on a thread of the pool while the others sleep.
#[derive(Debug)]
pub struct InsideWake;

/// So long the first half waits for the other.
const PATIENCE: Duration = Duration::from_millis(1);

impl Workload for InsideWake {
    const NAME: &'static str = "inside_wake";
    const ABOUT: &'static str =
        "one thread forks while the others sleep: until another has started the other half, 1 ms at most";
    const MEASURES: &'static [MeasureSpec] =
        &[MeasureSpec::less("start", "time from the fork to the other half's start (1 ms if later)", "us")];

    fn can<P: Pool>() -> Result<(), Reason> {
        P::can_fork()?;
        if P::is_parallel() {
            Ok(())
        } else {
            Err("one thread: the other half starts when the first has ended")
        }
    }

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        // Before the fork, long enough for those to fall asleep again whom the entry woke; and a little, between two looks.
        let (before, look) = (Work::micros(1_000), Work::micros(1));
        warm_up(pool);
        let rounds = budget.rounds(|| {
            let_sleep();
            pool.run(|fork| {
                before.run(1);
                until_start(fork, look)
            })
        });
        let time = |start: Option<Duration>| start.unwrap_or(PATIENCE).as_secs_f64() * 1e6;
        Ok(samples("start", rounds.into_iter().map(time).collect()))
    }
}

/// When and on which thread a half started.
type Start = OnceLock<(Duration, ThreadId)>;

/// How long it took until both halves had started on threads of their own. Nothing if the half that began gave up first.
///
/// Which half a pool begins with is its own affair; the one that begins waits for the other.
fn until_start<F: Fork>(fork: &mut F, look: Work) -> Option<Duration> {
    let (starts, forked) = ([const { Start::new() }; 2], Instant::now());
    let half = |mine: &Start, other: &Start| {
        _ = mine.set((forked.elapsed(), thread::current().id()));
        while other.get().is_none() && forked.elapsed() < PATIENCE {
            look.run(1);
        }
    };
    let [a, b] = &starts;
    fork.join(|_| half(a, b), |_| half(b, a));
    let ((a, on), (b, other)) = (*a.get()?, *b.get()?);
    Some(a.max(b)).filter(|time| on != other && *time < PATIENCE)
}
