//! A timeline as numbers for the page's script: short, because there are thousands.

use crate::schema::Timeline;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a row is doing. The order is that of drawing: later ones lie on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// On the futex.
    Asleep,
    /// About to be.
    Sleepy,
    /// Searching.
    Idle,
    /// Working.
    Active,
    /// A state that this program does not know.
    Other,
    /// A job, within one of the others.
    Job,
}

impl State {
    /// All of them, in the order of drawing.
    pub const ALL: [Self; 6] =
        [Self::Asleep, Self::Sleepy, Self::Idle, Self::Active, Self::Other, Self::Job];

    /// By the schema's name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.name() == name).unwrap_or(Self::Other)
    }

    /// The schema's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Asleep => "asleep",
            Self::Sleepy => "sleepy",
            Self::Idle => "idle",
            Self::Active => "active",
            Self::Other => "other",
            Self::Job => "job",
        }
    }

    /// How high its bar is, in pixels: the more awake, the higher, so that the picture can be read
    /// without its colours.
    #[must_use]
    pub fn height(self) -> f64 {
        match self {
            Self::Asleep => 3.0,
            Self::Sleepy => 8.0,
            Self::Idle | Self::Other => 14.0,
            Self::Active => 20.0,
            Self::Job => 10.0,
        }
    }
}

/// The timeline as JSON, in whole nanoseconds. Spans come by state, three numbers each: row, begin,
/// length. Arrows six: kind and reason as indices into `words`, the rows of tail and head, begin,
/// length. Begins are told as the distance from the one before.
#[must_use]
pub fn timeline_data(timeline: &Timeline) -> Value {
    let mut spans: BTreeMap<State, Vec<[i64; 3]>> = BTreeMap::new();
    for span in &timeline.spans {
        let (from, to) = (nanos(span.from_us), nanos(span.to_us));
        spans.entry(State::of(&span.state)).or_default().push([
            span.row as i64,
            from,
            (to - from).max(0),
        ]);
    }
    let mut by_state = Map::new();
    for (state, mut list) in spans {
        list.sort_by_key(|span| span[1]);
        by_state.insert(state.name().to_string(), json!(flat(list, 1)));
    }
    let mut words: Vec<&str> = Vec::new();
    let mut word = |text| match words.iter().position(|w| *w == text) {
        Some(at) => at as i64,
        None => {
            words.push(text);
            words.len() as i64 - 1
        }
    };
    let mut arrows: Vec<[i64; 6]> = Vec::new();
    for arrow in &timeline.arrows {
        let (from, to) = (nanos(arrow.from_us), nanos(arrow.to_us));
        let rows = (arrow.from_row as i64, arrow.to_row as i64);
        arrows.push([word(&arrow.kind), word(&arrow.why), rows.0, rows.1, from, to - from]);
    }
    arrows.sort_by_key(|arrow| arrow[4]);
    json!({ "rows": timeline.rows, "spans": by_state, "arrows": flat(arrows, 4), "words": words })
}

fn nanos(micros: f64) -> i64 {
    (micros * 1e3).round() as i64
}

/// All in one list, with the number at `begin` told as the distance from the one before.
fn flat<const N: usize>(list: Vec<[i64; N]>, begin: usize) -> Vec<i64> {
    let mut last = 0;
    let mut out = Vec::with_capacity(list.len() * N);
    for mut item in list {
        let at = item[begin];
        item[begin] = at - last;
        last = at;
        out.extend(item);
    }
    out
}
