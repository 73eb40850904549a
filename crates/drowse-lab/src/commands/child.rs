//! `child`: one cell, here, for the one that started this process.

use super::{End, Misuse};
use crate::child::{self, Order};
use crate::cli::ChildArgs;
use crate::platform::interrupt;
use crate::runner::external;
use crate::say::say_json;
use crate::schema::Outcome;
use std::time::Duration;

pub(super) fn child(args: &ChildArgs) -> Result<End, Misuse> {
    interrupt::end_with_parent();
    let order = Order {
        workload: args.workload.clone(),
        contender: args.contender.clone(),
        threads: args.threads,
        time: Duration::from_micros(args.time_us),
    };
    if let Some(reason) = stranger(args) {
        say_json(&Outcome::None { reason })?;
        return Ok(End::Well);
    }
    let none =
        || Misuse(format!("there is no workload {} for {}", order.workload, order.contender));
    say_json(&checked(child::run(&order).ok_or_else(none)?))?;
    Ok(End::Well)
}

/// Why the one that asks cannot use this program: it was built from other sources.
fn stranger(args: &ChildArgs) -> Option<String> {
    let theirs = args.sources.as_ref().filter(|theirs| *theirs != external::SOURCES)?;
    let again =
        external::find(&args.contender).map_or(String::new(), |external| external.how_to_build());
    Some(format!("built from other sources ({} than {theirs}): {again} anew", external::SOURCES))
}

/// Only numbers: JSON has no word for others, and neither has a median.
fn checked(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Figures(figures)
            if figures.samples.values().flatten().any(|value| !value.is_finite()) =>
        {
            Outcome::None { reason: "one of its figures is no number".to_owned() }
        }
        other => other,
    }
}
