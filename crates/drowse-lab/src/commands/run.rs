//! `run`: one cell.

use super::{End, Misuse};
use crate::cli::RunArgs;
use crate::plan::{Place, Plan};
use crate::platform::interrupt;
use crate::runner::{self, Progress};
use crate::say::{say, say_json, tell};
use crate::schema::{Cell, Outcome, Results};
use crate::stats::{Summary, range_beside};
use crate::{contender, host};

pub(super) fn run(args: &RunArgs) -> Result<End, Misuse> {
    let place = Place {
        workload: args.workload.clone(),
        contender: on_protocol(&args.contender, args.protocol.as_deref())?,
        threads: args.threads.unwrap_or_else(host::cpus),
    };
    let mut plan = Plan::one(place, args.time);
    plan.patience = args.timeout.unwrap_or(plan.patience);
    let watch = interrupt::watch();
    let results = runner::run(&plan, &Progress::hidden()).results;
    drop(watch);
    if let Some(signal) = interrupt::stopped() {
        tell(format!("stopped by {}: nothing was measured", interrupt::name(signal)));
        return Ok(End::Stopped(signal));
    }
    let cell = results.cells.first().ok_or("there was nothing to run")?;
    if args.json {
        say_json(cell)?
    } else {
        say(as_text(&results, cell))
    }
    Ok(if matches!(cell.outcome, Outcome::Figures(_)) { End::Well } else { End::Amiss })
}

/// drowse has a contender for each of its protocols.
fn on_protocol(contender: &str, protocol: Option<&str>) -> Result<String, Misuse> {
    let Some(protocol) = protocol else { return Ok(contender.to_owned()) };
    let name = format!("drowse-{protocol}");
    if contender != "drowse" && contender != name {
        return Err(Misuse(format!(
            "--protocol is for --contender drowse; {contender} has no choice of protocol"
        )));
    }
    let known = contender::ALL.iter().any(|spec| spec.name == name);
    if known {
        Ok(name)
    } else {
        Err(Misuse(format!("there is no contender for the protocol {protocol}")))
    }
}

fn as_text(results: &Results, cell: &Cell) -> String {
    let threads = if cell.threads == 1 { "thread" } else { "threads" };
    let mut text = format!("{} on {}, {} {threads}: ", cell.workload, cell.contender, cell.threads);
    let figures = match &cell.outcome {
        Outcome::None { reason } => return text + "no figure: " + reason,
        Outcome::Figures(figures) => figures,
    };
    let measures = results.workloads.iter().flat_map(|workload| &workload.measures);
    let parts = measures.filter_map(|measure| {
        let summary = Summary::of(figures.measure(&measure.name)?)?;
        let (median, unit) = (measure.figure(summary.median), &measure.unit);
        let interval =
            range_beside(summary.median, summary.interval.low, summary.interval.high, unit);
        let samples = if summary.count == 1 { "sample" } else { "samples" };
        Some(format!("{} {median} ({interval}; {} {samples})", measure.label, summary.count))
    });
    text.push_str(&parts.collect::<Vec<_>>().join(";\n  "));
    if let ([cpu], [[asked, made]]) = (&figures.cpu_percent[..], &figures.switches[..]) {
        text.push_str(&format!(
            ";\n  CPU {cpu:.0} %; switches {asked:.0} voluntary and {made:.0} involuntary a second"
        ));
    }
    if !figures.noisy.is_empty() {
        text.push_str(";\n  noisy: something else used more than a tenth of the machine");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use drowse::SleepProtocol;

    #[test]
    fn each_protocol_has_its_contender() {
        for protocol in SleepProtocol::ALL {
            let name = on_protocol("drowse", Some(protocol.name())).unwrap();
            assert_eq!(name, format!("drowse-{protocol}"));
        }
        assert_eq!(on_protocol("drowse", Some("sleepy")).unwrap(), "drowse-sleepy");
        assert_eq!(on_protocol("drowse-sleepy", Some("sleepy")).unwrap(), "drowse-sleepy");
        assert_eq!(on_protocol("rayon", None).unwrap(), "rayon");
        assert!(on_protocol("rayon", Some("jec")).unwrap_err().0.contains("--contender drowse"));
        assert!(on_protocol("drowse-sleepy", Some("jec")).is_err());
    }
}
