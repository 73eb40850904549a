//! One cell of the table, in a process of its own.

use crate::contender::{self, Pool, Reason};
use crate::measure::{Budget, UsageMeter};
use crate::schema::{Figures, Outcome};
use crate::workload::{self, Samples, Workload};
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
    visit(&order.workload, &order.contender, Some(order))
}

/// Returns the reason why this contender cannot run this workload, as far as that is known without
/// running it.
pub fn cannot(workload: &str, contender: &str) -> Option<String> {
    if let Some(absent) = contender::find_absent(contender) {
        return Some(absent.reason(workload).to_owned());
    }
    match visit(workload, contender, None)? {
        Outcome::None { reason } => Some(reason),
        Outcome::Figures(_) => None,
    }
}

/// Runs the order, or only asks whether it could be run: then there are figures, but none in them.
/// One function for both, because it is compiled for each workload and pool.
fn visit(workload: &str, contender: &str, order: Option<&Order>) -> Option<Outcome> {
    workload::visit(workload, WithWorkload { contender, order })?
}

struct WithWorkload<'a> {
    contender: &'a str,
    order: Option<&'a Order>,
}

impl workload::Visitor for WithWorkload<'_> {
    type Output = Option<Outcome>;

    fn visit<W: Workload>(self) -> Option<Outcome> {
        contender::visit(self.contender, WithBoth::<W>(self.order, std::marker::PhantomData))
    }
}

struct WithBoth<'a, W>(Option<&'a Order>, std::marker::PhantomData<W>);

impl<W: Workload> contender::Visitor for WithBoth<'_, W> {
    type Output = Outcome;

    fn visit<P: Pool>(self, new: fn(usize) -> Result<P, Reason>) -> Outcome {
        // The compiler compiles no workload for a pool that cannot run it.
        if const { workload::can::<W, P>().is_ok() } {
            return new_and_run::<W, P>(self.0, new)
                .unwrap_or_else(|reason| Outcome::None { reason });
        }
        let reason = const { workload::can::<W, P>() }.err().unwrap_or_default();
        Outcome::None { reason: reason.to_owned() }
    }
}

/// Makes the pool and measures the workload in it.
fn new_and_run<W: Workload, P: Pool>(
    order: Option<&Order>,
    new: fn(usize) -> Result<P, Reason>,
) -> Result<Outcome, String> {
    W::is_measurable()?;
    let Some(order) = order else { return Ok(Outcome::Figures(Figures::default())) };
    let pool = new(order.threads)?;
    let outcome = measure(&mut || W::run(&pool, Budget::of(order.time)));
    // A pool's threads end with the process; some contenders have no other way.
    std::mem::forget(pool);
    outcome
}

/// Measures what `run` does. Not generic: it would be compiled for each workload and pool.
fn measure(run: &mut dyn FnMut() -> Result<Samples, String>) -> Result<Outcome, String> {
    let meter = UsageMeter::start();
    let samples = panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        format!("it panicked, or its result was wrong: {text}")
    })??;
    let usage = meter.read();
    Ok(Outcome::Figures(Figures::of_process(
        samples,
        usage.cpu_percent(),
        usage.switches_a_second(),
    )))
}
