//! One cell of the table, in a process of its own.

use crate::contender::{self, Pool, Reason};
use crate::measure::{Budget, UsageMeter};
use crate::schema::{Figures, Outcome};
use crate::workload::{self, Workload};
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The workload's name.
    pub workload: String,
    /// The contender's name.
    pub contender: String,
    /// How many threads.
    pub threads: usize,
    /// How long.
    pub time: Duration,
}

/// Runs it here. `None` if there is no such workload or contender.
pub fn run(order: &Order) -> Option<Outcome> {
    workload::visit(&order.workload, WithWorkload(order))?
}

/// Why this contender cannot do this workload, as far as that is known without running it.
pub fn cannot(workload: &str, contender: &str) -> Option<Reason> {
    workload::visit(workload, Asked(contender))?
}

struct Asked<'a>(&'a str);

impl workload::Visitor for Asked<'_> {
    type Output = Option<Reason>;

    fn visit<W: Workload>(self) -> Option<Reason> {
        contender::visit(self.0, AskedBoth::<W>(std::marker::PhantomData))?.err()
    }
}

struct AskedBoth<W>(std::marker::PhantomData<W>);

impl<W: Workload> contender::Visitor for AskedBoth<W> {
    type Output = Result<(), Reason>;

    fn visit<P: Pool>(self) -> Result<(), Reason> {
        W::can::<P>()
    }
}

struct WithWorkload<'a>(&'a Order);

impl workload::Visitor for WithWorkload<'_> {
    type Output = Option<Outcome>;

    fn visit<W: Workload>(self) -> Option<Outcome> {
        contender::visit(&self.0.contender, WithBoth::<W>(self.0, std::marker::PhantomData))
    }
}

struct WithBoth<'a, W>(&'a Order, std::marker::PhantomData<W>);

impl<W: Workload> contender::Visitor for WithBoth<'_, W> {
    type Output = Outcome;

    fn visit<P: Pool>(self) -> Outcome {
        measure::<W, P>(self.0).unwrap_or_else(|reason| Outcome::None { reason })
    }
}

fn measure<W: Workload, P: Pool>(order: &Order) -> Result<Outcome, String> {
    W::can::<P>()?;
    let pool = P::new(order.threads)?;
    let meter = UsageMeter::start();
    let run = AssertUnwindSafe(|| W::run(&pool, Budget::of(order.time)));
    let samples = panic::catch_unwind(run).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        format!("it panicked, or its result was wrong: {text}")
    })??;
    let usage = meter.read();
    // A pool's threads end with the process; some contenders have no other way.
    std::mem::forget(pool);
    Ok(Outcome::Figures(Figures::of_process(samples, usage.cpu_percent(), usage.switches_a_second())))
}
