//! `child`: one cell, here, for whoever started this process.

use super::{End, Misuse, say_json};
use crate::child::{self, Order};
use crate::cli::ChildArgs;
use crate::schema::Outcome;
use std::time::Duration;

pub(super) fn child(args: &ChildArgs) -> Result<End, Misuse> {
    let order = Order {
        workload: args.workload.clone(),
        contender: args.contender.clone(),
        threads: args.threads,
        time: Duration::from_micros(args.time_us),
    };
    let none = || Misuse(format!("there is no workload {} for {}", order.workload, order.contender));
    say_json(&checked(child::run(&order).ok_or_else(none)?))?;
    Ok(End::Well)
}

/// Only numbers: JSON has no word for others, and a median none either.
fn checked(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Figures(figures) if figures.samples.values().flatten().any(|value| !value.is_finite()) => {
            Outcome::None { reason: "one of its figures is no number".to_owned() }
        }
        other => other,
    }
}
