//! `trace`: what the workers do.

use super::files::{prepare, to_text, write};
use super::{End, Misuse};
use crate::cli::TraceArgs;
use crate::plan::{Place, Plan};
use crate::platform::interrupt;
use crate::runner::{self, Captured, Progress, capture};
use crate::say::{say, tell};
use crate::schema::{Results, Timeline};
use crate::timeline::{cut, timeline, window};
use crate::{report, workload};
use drowse::{SleepProtocol, TraceEvent};
use std::time::{Duration, Instant};

/// As many workers as are easily told apart in a picture, and more than most machines need for
/// ticks.
pub(super) const WIDTH: usize = 8;
/// Ten ticks.
const WINDOW: Duration = Duration::from_millis(10);

/// How long the workload runs at least.
const TIME: Duration = Duration::from_millis(200);
/// How many windows a file for Perfetto has.
const IN_FILE: u32 = 10;

/// More arrows than this are a thicket.
const MOST_ARROWS: usize = 400;
/// How often a stretch is halved for that.
const HALVINGS: u32 = 8;

/// One protocol's picture, and its file for Perfetto.
pub(super) struct Traced {
    pub(super) timeline: Timeline,
    pub(super) json: String,
}

/// Runs the workload on each of these protocols, here, and draws it: all of them to the same scale.
pub(super) fn traced(
    workload: &str,
    protocols: &[SleepProtocol],
    threads: usize,
    length: Option<Duration>,
) -> Result<Vec<Traced>, String> {
    let capture = |protocol: &SleepProtocol| {
        if interrupt::stopped().is_some() {
            return Err("the run was stopped".to_owned());
        }
        capture(workload, *protocol, threads, TIME)
            .map_err(|reason| format!("{workload} on {protocol}: {reason}"))
    };
    let all = protocols.iter().map(capture).collect::<Result<Vec<_>, _>>()?;
    let length = length.unwrap_or_else(|| clear(&all));
    let draw = |(Captured { trace, records, warm }, protocol): (&Captured, &SleepProtocol)| {
        let json = trace.to_chrome_json(&cut(records, &window(records, *warm, length * IN_FILE)));
        let shown = window(records, *warm, length);
        Traced {
            timeline: timeline(trace, records, shown, threads, workload, protocol.name()),
            json,
        }
    };
    Ok(all.iter().zip(protocols).map(draw).collect())
}

/// The longest stretch, up to [`WINDOW`], of which no picture is a thicket.
fn clear(all: &[Captured]) -> Duration {
    let is_arrow = |what| matches!(what, TraceEvent::Woke { .. } | TraceEvent::Stole { .. });
    let arrows = |Captured { records, warm, .. }: &Captured, length| {
        let shown = window(records, *warm, length);
        records.iter().filter(|record| shown.contains(&record.at) && is_arrow(record.what)).count()
    };
    let mut halves = (0..HALVINGS).map(|times| WINDOW / (1 << times));
    let fits =
        |length: &Duration| all.iter().all(|captured| arrows(captured, *length) <= MOST_ARROWS);
    halves.find(fits).unwrap_or(WINDOW / (1 << HALVINGS))
}

pub(super) fn trace(args: &TraceArgs) -> Result<End, Misuse> {
    prepare(&args.out, &[])?;
    let asked = |protocol: &SleepProtocol| {
        args.protocol.as_ref().is_none_or(|name| name == protocol.name())
    };
    let protocols: Vec<_> = SleepProtocol::ALL.into_iter().filter(asked).collect();
    let (clock, mut results) = (Instant::now(), empty(args));
    let all = match traced(&args.workload, &protocols, args.threads, args.window) {
        Ok(all) => all,
        Err(reason) => {
            tell(format!("failed: {reason}"));
            return Ok(End::Amiss);
        }
    };
    results.seconds = clock.elapsed().as_secs_f64();
    for Traced { timeline, json } in all {
        let file = args.out.join(format!("trace-{}-{}.json", args.workload, timeline.protocol));
        write(&file, &json)?;
        say(format!("{}: {}\n  {}", timeline.title, file.display(), counted(&timeline)));
        results.timelines.push(timeline);
    }
    let page = args.out.join(format!("trace-{}.html", args.workload));
    write(&page, &report::html(&results))?;
    write(&page.with_extension("results.json"), &to_text(&results)?)?;
    say(format!("Page: {}\nThe traces open in https://ui.perfetto.dev", page.display()));
    Ok(End::Well)
}

/// Results without cells, which hold the pictures.
fn empty(args: &TraceArgs) -> Results {
    let place = Place {
        workload: args.workload.clone(),
        contender: "drowse".to_owned(),
        threads: args.threads,
    };
    let plan = Plan { places: Vec::new(), ..Plan::one(place, TIME) };
    let mut results = runner::run(&plan, &Progress::hidden()).results;
    results.plan = format!("trace --workload {} --threads {}", args.workload, args.threads);
    let spec = workload::ALL.iter().find(|spec| spec.name == args.workload);
    results.workloads = spec.map(runner::described_workload).into_iter().collect();
    results
}

/// What there is to see: `12 wake-ups, 3 steals in 10.0 ms`.
fn counted(timeline: &Timeline) -> String {
    let count = |kind: &str| timeline.arrows.iter().filter(|arrow| arrow.kind == kind).count();
    let length = crate::stats::figure(timeline.length_us, "us");
    format!("{} wake-ups and {} steals within {length}", count("wake"), count("steal"))
}
