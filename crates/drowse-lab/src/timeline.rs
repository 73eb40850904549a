//! From a trace to a picture: what each worker was doing when, who woke whom, who stole from whom.

use crate::schema::{Arrow, Span, Timeline};
use drowse::{Trace, TraceEvent, TraceRecord};
use std::ops::Range;
use std::time::Duration;

/// A record, as this file needs it.
#[derive(Debug, Clone, Copy)]
struct Event {
    at: Duration,
    worker: Option<usize>,
    what: TraceEvent,
}

impl From<&TraceRecord> for Event {
    fn from(record: &TraceRecord) -> Self {
        Self { at: record.at, worker: record.worker, what: record.what }
    }
}

/// The stretch of this length in which most happens, after the warm-up: around the record in the
/// middle.
pub fn window(records: &[TraceRecord], warm: Duration, length: Duration) -> Range<Duration> {
    let records = &records[records.partition_point(|record| record.at < warm)..];
    let middle = records.get(records.len() / 2).map_or(warm, |record| record.at);
    let start = middle.saturating_sub(length / 2).max(warm);
    start..start + length
}

/// The records of a stretch, and before them the one that tells each worker's state at its
/// beginning.
pub fn cut(records: &[TraceRecord], window: &Range<Duration>) -> Vec<TraceRecord> {
    let mut last: Vec<Option<TraceRecord>> = Vec::new();
    for record in records.iter().take_while(|record| record.at < window.start) {
        if let (Some(worker), Some(_)) = (record.worker, state_after(record.what)) {
            last.resize(last.len().max(worker + 1), None);
            last[worker] = Some(*record);
        }
    }
    let mut kept: Vec<_> = last.into_iter().flatten().collect();
    kept.sort_by_key(|record| record.at);
    kept.extend(records.iter().filter(|record| window.contains(&record.at)));
    kept
}

/// What happened within a stretch, in a pool of this many workers. Rows: those outside, then the
/// workers.
pub fn timeline(
    trace: &Trace,
    records: &[TraceRecord],
    window: Range<Duration>,
    workers: usize,
    workload: &str,
    protocol: &str,
) -> Timeline {
    let events: Vec<Event> = records.iter().map(Event::from).collect();
    let mut rows = vec!["outside".to_owned()];
    rows.extend((0..workers).map(|worker| trace.worker_name(worker)));
    let (spans, arrows) = drawn(&events, workers).clipped(&window);
    Timeline {
        title: format!("{workload} on {protocol}"),
        workload: workload.to_owned(),
        protocol: protocol.to_owned(),
        rows,
        length_us: micros(window.end.saturating_sub(window.start)),
        spans,
        arrows,
    }
}

fn row_of(worker: Option<usize>) -> usize {
    worker.map_or(0, |worker| worker + 1)
}

fn micros(time: Duration) -> f64 {
    // To the nanosecond, so that files stay small.
    time.as_nanos() as f64 / 1e3
}

/// The state that an event leads to, if it is about states.
fn state_after(what: TraceEvent) -> Option<&'static str> {
    match what {
        TraceEvent::Idle | TraceEvent::Awake => Some("idle"),
        TraceEvent::Sleepy => Some("sleepy"),
        TraceEvent::Asleep => Some("asleep"),
        TraceEvent::Active => Some("active"),
        _ => None,
    }
}

/// A whole trace, drawn. `None` ends with the trace, or later.
#[derive(Debug, Default)]
struct Drawing {
    states: Vec<(usize, &'static str, Duration, Option<Duration>)>,
    jobs: Vec<(usize, Duration, Option<Duration>)>,
    arrows: Vec<Flight>,
}

#[derive(Debug)]
struct Flight {
    kind: &'static str,
    why: &'static str,
    from_row: usize,
    to_row: usize,
    from: Duration,
    to: Option<Duration>,
}

fn drawn(events: &[Event], workers: usize) -> Drawing {
    let mut drawing = Drawing::default();
    // For each row, where its open state is in `states`. A worker is active until it says
    // otherwise.
    let mut open: Vec<Option<usize>> = vec![None];
    for row in 1..=workers {
        open.push(Some(drawing.states.len()));
        drawing.states.push((row, "active", Duration::ZERO, None));
    }
    for &Event { at, worker, what } in events {
        let row = row_of(worker);
        if row > workers {
            continue;
        }
        if let Some(state) = state_after(what) {
            if let Some(index) = open[row] {
                drawing.states[index].3 = Some(at);
            }
            open[row] = Some(drawing.states.len());
            drawing.states.push((row, state, at, None));
        }
        drawing.mark(row, at, what);
    }
    drawing
}

impl Drawing {
    fn mark(&mut self, row: usize, at: Duration, what: TraceEvent) {
        match what {
            TraceEvent::Woke { worker, reason } => self.arrows.push(Flight {
                kind: "wake",
                why: reason.name(),
                from_row: row,
                to_row: row_of(Some(worker)),
                from: at,
                to: None,
            }),
            TraceEvent::Awake => {
                let mut flights = self.arrows.iter_mut().rev();
                let flight = flights.find(|flight| flight.to_row == row && flight.kind == "wake");
                if let Some(to @ None) = flight.map(|flight| &mut flight.to) {
                    *to = Some(at);
                }
            }
            TraceEvent::Stole { from } => self.arrows.push(Flight {
                kind: "steal",
                why: "",
                from_row: row_of(Some(from)),
                to_row: row,
                from: at,
                to: Some(at),
            }),
            TraceEvent::Begin => self.jobs.push((row, at, None)),
            TraceEvent::End => {
                let mut jobs = self.jobs.iter_mut().rev();
                if let Some(job) = jobs.find(|(of, _, end)| *of == row && end.is_none()) {
                    job.2 = Some(at);
                }
            }
            _ => {}
        }
    }

    /// What of it lies within the window, with times from its beginning.
    fn clipped(self, window: &Range<Duration>) -> (Vec<Span>, Vec<Arrow>) {
        let inside = |from: Duration, to: Option<Duration>| {
            let (from, to) = (from.max(window.start), to.unwrap_or(window.end).min(window.end));
            (from < to).then(|| (micros(from - window.start), micros(to - window.start)))
        };
        let span = |row, state: &str, from, to| {
            let (from_us, to_us) = inside(from, to)?;
            Some(Span { row, state: state.to_owned(), from_us, to_us })
        };
        let states =
            self.states.into_iter().filter_map(|(row, state, from, to)| span(row, state, from, to));
        let jobs = self.jobs.into_iter().filter_map(|(row, from, to)| span(row, "job", from, to));
        let spans = states.chain(jobs).collect();
        let begun = |flight: &Flight| window.contains(&flight.from);
        let arrows = self.arrows.into_iter().filter(begun).map(|flight| Arrow {
            kind: flight.kind.to_owned(),
            why: flight.why.to_owned(),
            from_row: flight.from_row,
            to_row: flight.to_row,
            from_us: micros(flight.from - window.start),
            to_us: micros(flight.to.unwrap_or(window.end).min(window.end) - window.start),
        });
        (spans, arrows.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drowse::Reason;

    fn at(micros: u64, worker: impl Into<Option<usize>>, what: TraceEvent) -> Event {
        Event { at: Duration::from_micros(micros), worker: worker.into(), what }
    }

    fn clip(events: &[Event], workers: usize, from: u64, to: u64) -> (Vec<Span>, Vec<Arrow>) {
        drawn(events, workers).clipped(&(Duration::from_micros(from)..Duration::from_micros(to)))
    }

    fn spans(
        events: &[Event],
        workers: usize,
        from: u64,
        to: u64,
    ) -> Vec<(usize, String, f64, f64)> {
        let spans = clip(events, workers, from, to).0;
        spans.into_iter().map(|span| (span.row, span.state, span.from_us, span.to_us)).collect()
    }

    fn row(number: usize, state: &str, from: f64, to: f64) -> (usize, String, f64, f64) {
        (number, state.to_owned(), from, to)
    }

    #[test]
    fn states_follow_each_other_without_a_gap() {
        let events = [
            at(10, 0, TraceEvent::Idle),
            at(20, 0, TraceEvent::Sleepy),
            at(30, 0, TraceEvent::Asleep),
            at(60, 0, TraceEvent::Awake),
            at(65, 0, TraceEvent::Active),
        ];
        let expected = [
            row(1, "active", 0.0, 10.0),
            row(1, "idle", 10.0, 20.0),
            row(1, "sleepy", 20.0, 30.0),
            row(1, "asleep", 30.0, 60.0),
            row(1, "idle", 60.0, 65.0),
            row(1, "active", 65.0, 100.0),
        ];
        assert_eq!(spans(&events, 1, 0, 100), expected);
        let within = [row(1, "sleepy", 0.0, 5.0), row(1, "asleep", 5.0, 15.0)];
        assert_eq!(spans(&events, 1, 25, 40), within, "a window knows what was before it");
    }

    #[test]
    fn jobs_lie_within_jobs() {
        let events = [
            at(1, 0, TraceEvent::Begin),
            at(2, 0, TraceEvent::Begin),
            at(3, 0, TraceEvent::End),
            at(4, 0, TraceEvent::End),
            at(5, 0, TraceEvent::Begin),
        ];
        let jobs: Vec<_> =
            spans(&events, 1, 0, 10).into_iter().filter(|span| span.1 == "job").collect();
        assert_eq!(
            jobs,
            [row(1, "job", 1.0, 4.0), row(1, "job", 2.0, 3.0), row(1, "job", 5.0, 10.0)]
        );
    }

    #[test]
    fn a_wake_up_flies_from_the_waker_to_the_moment_the_other_runs() {
        let events = [
            at(10, None, TraceEvent::Woke { worker: 1, reason: Reason::Job }),
            at(12, None, TraceEvent::Woke { worker: 0, reason: Reason::Job }),
            at(40, 1, TraceEvent::Awake),
            at(45, 1, TraceEvent::Awake),
        ];
        let arrows = clip(&events, 2, 5, 50).1;
        let wake = |to_row, from_us, to_us| Arrow {
            kind: "wake".to_owned(),
            why: "job".to_owned(),
            from_row: 0,
            to_row,
            from_us,
            to_us,
        };
        assert_eq!(arrows, [wake(2, 5.0, 35.0), wake(1, 7.0, 45.0)], "the second has not run yet");
    }

    #[test]
    fn a_steal_points_at_the_thief() {
        let arrows = clip(&[at(10, 1, TraceEvent::Stole { from: 0 })], 2, 0, 50).1;
        assert_eq!(arrows.len(), 1);
        let Arrow { kind, from_row, to_row, from_us, to_us, .. } = &arrows[0];
        assert_eq!(
            (kind.as_str(), *from_row, *to_row, *from_us, *to_us),
            ("steal", 1, 2, 10.0, 10.0)
        );
        assert!(clip(&[at(10, 1, TraceEvent::Stole { from: 0 })], 2, 20, 50).1.is_empty());
    }

    #[test]
    fn nothing_recorded_is_an_active_pool() {
        assert_eq!(spans(&[], 2, 0, 7), [row(1, "active", 0.0, 7.0), row(2, "active", 0.0, 7.0)]);
        assert_eq!(
            window(&[], Duration::ZERO, Duration::from_micros(7)),
            Duration::ZERO..Duration::from_micros(7)
        );
        let whole = timeline(
            &Trace::new(),
            &[],
            Duration::ZERO..Duration::from_micros(7),
            2,
            "ticks",
            "jec",
        );
        assert_eq!((whole.title.as_str(), whole.length_us), ("ticks on jec", 7.0));
        assert_eq!(whole.rows, ["outside", "worker 0", "worker 1"]);
    }
}
