//! Export of a trace as a file that Perfetto and Chrome show.
//!
//! The format is a JSON object with a list of events. Of its kinds we use: `X`, a slice of time on
//! a thread; `i`, an instant; `s` and `f`, the two ends of an arrow; `M`, the name of a thread.
//!
//! Slices of one row must nest, and the end of an arrow is shown only inside a slice. So each
//! moment of a worker is drawn as a short slice, its states are one row, and its jobs are another
//! row, because they go on while the worker searches for more.

use super::names::{Names, escaped};
use super::{TraceEvent, TraceRecord};
use std::fmt::{self, Write as _};
use std::time::Duration;

/// Row of the threads outside the pool, the first one.
const OUTSIDE: usize = 0;

/// First of the rows of jobs, which come after all others.
const JOBS: usize = 1 << 20;

/// Length of the slice that stands for a moment.
const MOMENT: Duration = Duration::from_nanos(100);

/// Content of a row at one time: a state, or the job that runs.
#[derive(Debug, Clone, Copy)]
struct Open {
    since: Duration,
    name: &'static str,
}

/// Open states and jobs of one worker, or of the threads outside.
#[derive(Default)]
struct Row {
    state: Option<Open>,
    /// Start times of the jobs that have not ended, the innermost last.
    jobs: Vec<Duration>,
    /// Arrow of the last wake-up, until the worker's `Awake` event.
    woken: Option<u64>,
}

/// Returns a row, and creates it if needed.
fn open_row(rows: &mut Vec<Row>, row: usize) -> &mut Row {
    if row >= rows.len() {
        rows.resize_with(row + 1, Row::default);
    }
    &mut rows[row]
}

pub(super) fn to_json(records: &[TraceRecord], names: &Names) -> String {
    let mut out = Writer::new(names);
    let mut rows = Vec::new();
    let mut arrows = 0;
    let begin = records.first().map_or(Duration::ZERO, |record| record.at);
    for record in records {
        let row = row_of(record.worker);
        out.thread(row);
        if let Some(name) = state_after(record.what) {
            let state = &mut open_row(&mut rows, row).state;
            if let Some(open) = state.replace(Open { since: record.at, name }) {
                out.slice(row, open.name, open.since, record.at);
            }
        }
        match record.what {
            TraceEvent::Woke { worker, reason } => {
                arrows += 1;
                out.moment(row, &format!("wakes {worker} ({})", reason.name()), record.at);
                out.arrow('s', "wake", arrows, row, record.at);
                open_row(&mut rows, row_of(Some(worker))).woken = Some(arrows);
            }
            TraceEvent::Awake => {
                if let Some(arrow) = open_row(&mut rows, row).woken.take() {
                    out.arrow('f', "wake", arrow, row, record.at);
                }
            }
            TraceEvent::Stole { from } => {
                arrows += 1;
                // A worker without an event so far has been active all the time.
                let victim = row_of(Some(from));
                out.thread(victim);
                let state = &mut open_row(&mut rows, victim).state;
                state.get_or_insert(Open { since: begin, name: "active" });
                out.moment(row, &format!("steals from {from}"), record.at);
                out.arrow('s', "steal", arrows, victim, record.at);
                out.arrow('f', "steal", arrows, row, record.at);
            }
            TraceEvent::TookInjected => out.instant(row, "takes an injected job", record.at),
            TraceEvent::Begin => open_row(&mut rows, row).jobs.push(record.at),
            TraceEvent::End => {
                if let Some(since) = open_row(&mut rows, row).jobs.pop() {
                    out.job(row, since, record.at);
                }
            }
            TraceEvent::Blocked => out.instant(row, "blocks", record.at),
            TraceEvent::Unblocked { worker } => {
                out.instant(row, &format!("unblocks {worker}"), record.at)
            }
            TraceEvent::Idle | TraceEvent::Sleepy | TraceEvent::Asleep | TraceEvent::Active => {}
        }
    }
    // States and jobs that have not ended are drawn until the end of the trace.
    let end = records.last().map_or(Duration::ZERO, |record| record.at);
    for (row, open) in rows.iter().enumerate() {
        if let Some(open) = open.state {
            out.slice(row, open.name, open.since, end);
        }
    }
    for (row, open) in rows.iter().enumerate() {
        for since in &open.jobs {
            out.job(row, *since, end);
        }
    }
    out.finish()
}

fn row_of(worker: Option<usize>) -> usize {
    worker.map_or(OUTSIDE, |worker| worker + 1)
}

/// Returns the state that an event leads to, if it changes the state.
fn state_after(what: TraceEvent) -> Option<&'static str> {
    match what {
        TraceEvent::Idle | TraceEvent::Awake => Some("idle"),
        TraceEvent::Sleepy => Some("sleepy"),
        TraceEvent::Asleep => Some("asleep"),
        TraceEvent::Active => Some("active"),
        _ => None,
    }
}

struct Writer<'a> {
    json: String,
    names: &'a Names,
    named: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(names: &'a Names) -> Self {
        Self { json: String::from("{\"traceEvents\":["), names, named: Vec::new() }
    }

    fn event(&mut self, fields: fmt::Arguments<'_>) {
        if !self.json.ends_with('[') {
            self.json.push_str(",\n");
        }
        // Writing to a string cannot fail.
        let _ = write!(self.json, "{{{fields}}}");
    }

    /// Names a row when it is first used.
    fn thread(&mut self, row: usize) {
        if self.named.contains(&row) {
            return;
        }
        self.named.push(row);
        let name = match row {
            OUTSIDE => "outside".to_owned(),
            JOBS.. => self.names.get(row - JOBS - 1) + ": jobs",
            _ => self.names.get(row - 1),
        };
        let name = escaped(&name);
        self.event(format_args!(
            r#""ph":"M","name":"thread_name","pid":1,"tid":{row},"args":{{"name":"{name}"}}"#
        ));
    }

    fn slice(&mut self, row: usize, name: &str, since: Duration, until: Duration) {
        let (start, length) = (Micros(since), Micros(until.saturating_sub(since)));
        self.event(format_args!(
            r#""ph":"X","name":"{name}","cat":"worker","pid":1,"tid":{row},"ts":{start},"dur":{length}"#
        ));
    }

    /// Writes a slice that is just long enough for an arrow to begin in.
    fn moment(&mut self, row: usize, name: &str, at: Duration) {
        self.slice(row, name, at, at + MOMENT);
    }

    /// Writes a job that the worker of this row has run.
    fn job(&mut self, row: usize, since: Duration, until: Duration) {
        self.thread(JOBS + row);
        self.slice(JOBS + row, "job", since, until);
    }

    fn instant(&mut self, row: usize, name: &str, at: Duration) {
        let at = Micros(at);
        self.event(format_args!(
            r#""ph":"i","name":"{name}","cat":"worker","pid":1,"tid":{row},"ts":{at},"s":"t""#
        ));
    }

    fn arrow(&mut self, end: char, name: &str, id: u64, row: usize, at: Duration) {
        let (at, binding) = (Micros(at), if end == 'f' { r#","bp":"e""# } else { "" });
        self.event(format_args!(
            r#""ph":"{end}","name":"{name}","cat":"arrow","id":{id},"pid":1,"tid":{row},"ts":{at}{binding}"#
        ));
    }

    fn finish(mut self) -> String {
        self.json.push_str("],\"displayTimeUnit\":\"ns\"}");
        self.json
    }
}

/// A time in microseconds, with its nanoseconds as decimals.
struct Micros(Duration);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.subsec_nanos();
        let micros = self.0.as_secs() * 1_000_000 + u64::from(nanos / 1_000);
        write!(f, "{micros}.{:03}", nanos % 1_000)
    }
}
