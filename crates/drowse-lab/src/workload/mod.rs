//! What is measured: one file per workload.
//!
//! A workload is written once, for any [`Pool`]. It checks its results against plain calls, and
//! says in its [`MeasureSpec`]s what its figures are.

#![allow(clippy::disallowed_methods, reason = "workloads rest by the clock")]

mod await_job;
mod bursts;
mod cold_entry;
mod counters;
mod fib;
mod flood_inside;
mod flood_memory;
mod flood_outside;
mod fork_flood;
mod frames;
mod gang;
mod heavy_pair;
mod hot_entry;
mod idle;
mod inside_wake;
mod mandelbrot;
mod matmul;
mod mutual_wait;
mod nbody;
mod oversubscription;
mod parts;
mod ping_pong;
mod quicksort;
mod ramp_up;
mod region_chain;
mod sieve;
mod skewed;
mod small_tree;
mod submitters;
mod ticks;
mod tree_sum;
mod two_submitters;
mod yield_storm;

pub use await_job::AwaitJob;
pub use bursts::Bursts;
pub use cold_entry::ColdEntry;
pub use fib::Fib;
pub use flood_inside::FloodInside;
pub use flood_memory::FloodMemory;
pub use flood_outside::FloodOutside;
pub use fork_flood::ForkFlood;
pub use frames::Frames;
pub use gang::Gang;
pub use heavy_pair::HeavyPair;
pub use hot_entry::HotEntry;
pub use idle::Idle;
pub use inside_wake::InsideWake;
pub use mandelbrot::Mandelbrot;
pub use matmul::Matmul;
pub use mutual_wait::{MutualWait, MutualWaitAlone, MutualWaitBusy1, MutualWaitBusy2};
pub use nbody::NBody;
pub use oversubscription::Oversubscription;
pub use parts::QUICK;
pub use ping_pong::PingPong;
pub use quicksort::Quicksort;
pub use ramp_up::RampUp;
pub use region_chain::RegionChain;
pub use sieve::Sieve;
pub use skewed::Skewed;
pub use small_tree::SmallTree;
pub use submitters::Submitters;
pub use ticks::Ticks;
pub use tree_sum::{TreeSum, TreeSumLarge, TreeSumLargeChildrenFirst};
pub use two_submitters::TwoSubmitters;
pub use yield_storm::YieldStorm;

use crate::contender::{Can, Contender, DrowseGuests, DrowseUnsteered, Fork, Pool, Reason};
use crate::measure::Budget;
use crate::schema::Measure;
use std::collections::BTreeMap;

/// The samples of a run, by the name of the measure.
pub type Samples = BTreeMap<String, Vec<f64>>;

/// A kind of figure, as the code knows it.
#[derive(Debug, Clone, Copy)]
pub struct MeasureSpec {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub label: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Whether less is better.
    pub less_is_better: bool,
    /// The value at which the measurement stops, if there is one.
    pub cap: Option<f64>,
}

impl MeasureSpec {
    /// One of which less is better.
    pub const fn less(name: &'static str, label: &'static str, unit: &'static str) -> Self {
        Self { name, label, unit, less_is_better: true, cap: None }
    }

    /// One of which more is better.
    pub const fn more(name: &'static str, label: &'static str, unit: &'static str) -> Self {
        Self { name, label, unit, less_is_better: false, cap: None }
    }

    /// The same with a value at which the measurement stops.
    pub const fn up_to(self, cap: f64) -> Self {
        Self { cap: Some(cap), ..self }
    }
}

impl From<&MeasureSpec> for Measure {
    fn from(spec: &MeasureSpec) -> Self {
        Self {
            name: spec.name.to_owned(),
            label: spec.label.to_owned(),
            unit: spec.unit.to_owned(),
            less_is_better: spec.less_is_better,
            cap: spec.cap,
        }
    }
}

/// Something to do.
pub trait Workload {
    /// Its name on the command line.
    const NAME: &'static str;
    /// What it does, in a sentence.
    const ABOUT: &'static str;
    /// The figures it yields; the first is the one to compare.
    const MEASURES: &'static [MeasureSpec];
    /// The widths of pool for which a comparison runs it, besides the number of processors.
    const WIDTHS: &'static [usize] = &[];
    /// Which variants of drowse it says something of: a comparison runs it with those too.
    const VARIANTS: &'static [Variant] = &[];

    /// The abilities that a pool must have for it. Most workloads fork.
    const NEEDS: &'static [Need] = &[Need::Fork];

    /// Returns the reason why this system cannot measure it, if there is one.
    fn is_measurable() -> Can {
        Ok(())
    }

    /// Runs it in this pool, which [has what it needs](can).
    ///
    /// # Errors
    ///
    /// If it turns out that the contender cannot do this: why not, in a sentence.
    ///
    /// # Panics
    ///
    /// If a result is wrong.
    fn run<P: Pool>(pool: &P, budget: Budget) -> Result<Samples, String>;
}

/// An ability of pools that a workload needs.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// It forks.
    Fork,
    /// It has threads that wait for work, and can be entered.
    Enter,
    /// It takes jobs from outside.
    Spawn,
    /// It takes jobs from inside.
    SpawnInside,
    /// It runs two jobs at the same time. The reason to give of a pool that does not.
    Parallel(Reason),
    /// It lets the halves of a join wait for each other.
    WaitInHalves,
    /// It has jobs that can be awaited.
    Await,
    /// It runs futures.
    Poll,
}

impl Need {
    /// Returns the reason why this pool does not have it, if there is one.
    const fn is_met_by<P: Pool>(self) -> Can {
        match self {
            Self::Fork => P::CAN_FORK,
            Self::Enter => P::CAN_ENTER,
            Self::Spawn => P::CAN_SPAWN,
            Self::SpawnInside => <P::Fork as Fork>::CAN_SPAWN,
            Self::Parallel(reason) if !P::IS_PARALLEL => Err(reason),
            Self::Parallel(_) => Ok(()),
            Self::WaitInHalves => P::CAN_WAIT_IN_HALVES,
            Self::Await => P::CAN_AWAIT,
            Self::Poll => P::CAN_POLL,
        }
    }
}

/// Returns the reason why this pool cannot run this workload, if there is one. A constant, so that
/// the compiler compiles no workload for a pool that cannot run it.
///
/// # Errors
///
/// The reason, in a sentence.
pub const fn can<W: Workload, P: Pool>() -> Can {
    let mut index = 0;
    while index < W::NEEDS.len() {
        if let Err(reason) = W::NEEDS[index].is_met_by::<P>() {
            return Err(reason);
        }
        index += 1;
    }
    Ok(())
}

/// drowse, as few would use it, or where few would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Its hand is taken off where woken threads begin.
    Unsteered,
    /// Threads outside work instead of waiting.
    Guests,
}

impl Variant {
    const ALL: [Self; 2] = [Self::Unsteered, Self::Guests];

    /// The variant that this contender is, if it is one.
    pub fn of(contender: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.contender() == contender)
    }

    fn contender(self) -> &'static str {
        match self {
            Self::Unsteered => DrowseUnsteered::NAME,
            Self::Guests => DrowseGuests::NAME,
        }
    }
}

/// What one does with a workload once it is known which.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Called with the workload's type.
    fn visit<W: Workload>(self) -> Self::Output;
}

/// What can be said of a workload without running it.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its figures.
    pub measures: &'static [MeasureSpec],
    /// See [`Workload::WIDTHS`].
    pub widths: &'static [usize],
    /// See [`Workload::VARIANTS`].
    pub variants: &'static [Variant],
}

/// Names each workload once. A new one is one word here.
macro_rules! workloads {
    ($($workload:ident),+ $(,)?) => {
        /// Every workload, in the order of tables.
        pub const ALL: &[Spec] = &[$(Spec {
            name: <$workload as Workload>::NAME,
            about: <$workload as Workload>::ABOUT,
            measures: <$workload as Workload>::MEASURES,
            widths: <$workload as Workload>::WIDTHS,
            variants: <$workload as Workload>::VARIANTS,
        }),+];

        /// Calls the visitor with the workload of this name.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if name == <$workload as Workload>::NAME {
                return Some(visitor.visit::<$workload>());
            })+
            None
        }
    };
}

workloads![
    Fib,
    TreeSum,
    TreeSumLarge,
    TreeSumLargeChildrenFirst,
    ForkFlood,
    HeavyPair,
    Skewed,
    Quicksort,
    Matmul,
    NBody,
    Mandelbrot,
    Sieve,
    Ticks,
    Frames,
    Bursts,
    Idle,
    ColdEntry,
    HotEntry,
    RegionChain,
    InsideWake,
    RampUp,
    FloodOutside,
    FloodInside,
    FloodMemory,
    SmallTree,
    Submitters,
    TwoSubmitters,
    Oversubscription,
    Gang,
    MutualWaitAlone,
    MutualWaitBusy1,
    MutualWaitBusy2,
    AwaitJob,
    PingPong,
    YieldStorm,
];

/// One list of samples under one name.
pub(crate) fn samples(name: &str, values: Vec<f64>) -> Samples {
    Samples::from([(name.to_owned(), values)])
}

/// The samples of rounds that each have one figure of each of these names.
pub(crate) fn by_name<const N: usize>(names: [&str; N], rounds: Vec<[f64; N]>) -> Samples {
    let values = |at: usize| rounds.iter().map(|round| round[at]).collect();
    names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), values(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_rounds_go_to_their_names() {
        let samples = by_name(["b", "a"], vec![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(
            samples,
            Samples::from([("a".into(), vec![2.0, 4.0]), ("b".into(), vec![1.0, 3.0])])
        );
    }
}
