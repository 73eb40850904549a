//! From a fork to its other half's start on another thread.

use super::parts::{let_sleep, warm_up};
use super::{MeasureSpec, Need, Samples, Variant, Workload};
use crate::contender::{Fork, Pool};
use crate::measure::{Budget, Work};
use crate::platform::current_cpu;
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
    const ABOUT: &'static str = "one thread forks while the others sleep: until another has started the other half, 1 ms at most";
    const VARIANTS: &'static [Variant] = &[Variant::Unsteered];
    const MEASURES: &'static [MeasureSpec] = &[
        MeasureSpec::less("start", "time from the fork to the other half's start", "us")
            .up_to(PATIENCE.as_micros() as f64),
        MeasureSpec::more(
            "elsewhere",
            "forks whose other half began on another processor in that time",
            "%",
        ),
    ];

    const NEEDS: &'static [Need] =
        &[Need::Fork, Need::Parallel("one thread: the other half starts when the first has ended")];

    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String> {
        // Before the fork, long enough for those that the entry woke to fall asleep again; and a
        // little, between two looks.
        let (before, look) = (Work::micros(1_000), Work::micros(1));
        warm_up(pool);
        let rounds = budget.rounds(|| {
            let_sleep();
            pool.run(|fork| {
                before.run(1);
                until_start(fork, look)
            })
        });
        let time = |start: &Option<Started>| {
            start.map_or(PATIENCE, |start| start.after).as_secs_f64() * 1e6
        };
        let elsewhere = |start: &Option<Started>| start.is_some_and(|start| start.elsewhere);
        // A round by itself is all or nothing: a tenth of them together has a share.
        let share = |tenth: &[Option<Started>]| {
            100.0 * tenth.iter().filter(|start| elsewhere(start)).count() as f64
                / tenth.len() as f64
        };
        Ok(Samples::from([
            ("start".to_owned(), rounds.iter().map(time).collect()),
            (
                "elsewhere".to_owned(),
                rounds.chunks((rounds.len() / 10).max(1)).map(share).collect(),
            ),
        ]))
    }
}

/// When, on which thread and on which processor a half started.
type Start = OnceLock<(Duration, ThreadId, Option<usize>)>;

/// Both halves have started, on threads of their own.
#[derive(Debug, Clone, Copy)]
struct Started {
    after: Duration,
    /// On different processors, as far as is known.
    elsewhere: bool,
}

/// When both halves had started on threads of their own. Nothing if the half that began gave up
/// first.
///
/// Which half a pool begins with is up to the pool; the one that begins waits for the other.
fn until_start<F: Fork>(fork: &mut F, look: Work) -> Option<Started> {
    let (starts, forked) = ([const { Start::new() }; 2], Instant::now());
    let half = |mine: &Start, other: &Start| {
        _ = mine.set((forked.elapsed(), thread::current().id(), current_cpu()));
        while other.get().is_none() && forked.elapsed() < PATIENCE {
            look.run(1);
        }
    };
    let [a, b] = &starts;
    fork.join(|_| half(a, b), |_| half(b, a));
    let ((a, on, here), (b, other, there)) = (*a.get()?, *b.get()?);
    let started = Started { after: a.max(b), elsewhere: here != there || here.is_none() };
    Some(started).filter(|started| on != other && started.after < PATIENCE)
}
