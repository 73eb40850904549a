//! Results files, read back.

use crate::schema::{Cell, FORMAT, Outcome, Results};
use serde_json::Value;
use std::error::Error;
use std::path::Path;
use std::{fmt, fs, io};

/// Why a file could not be read, and what to do about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be opened or read.
    Io(String, io::Error),
    /// There is nothing in it.
    Empty(String),
    /// It ends in the middle.
    Truncated(String),
    /// It is not JSON; what is wrong with it.
    NotJson(String, String),
    /// It is JSON, but not one of ours.
    Foreign(String),
    /// It is one of ours, of another format; which.
    Format(String, String),
    /// Something is missing or does not fit; what.
    Part(String, String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(name, error) => write!(
                f,
                "cannot read {name}: {error}; give the path of a results.json that `drowse-lab compare` has written"
            ),
            Self::Empty(name) => {
                write!(
                    f,
                    "{name} is empty; give a results.json that `drowse-lab compare` has written, or measure again"
                )
            }
            Self::Truncated(name) => write!(
                f,
                "{name} ends in the middle: it was cut short, by a full disk or a copy that broke off; copy it again, or \
                 measure again with `drowse-lab compare`"
            ),
            Self::NotJson(name, what) => {
                write!(
                    f,
                    "{name} is not JSON ({what}); give a results.json that `drowse-lab compare` has written"
                )
            }
            Self::Foreign(name) => write!(
                f,
                "{name} is JSON, but no results file of drowse-lab: it has no \"format\" of {FORMAT:?}; give a \
                 results.json that `drowse-lab compare` has written"
            ),
            Self::Format(name, found) => write!(
                f,
                "{name} has the format {found:?}, and this program reads {FORMAT:?} only; use the drowse-lab that wrote \
                 it, or measure again with this one"
            ),
            Self::Part(name, what) => write!(
                f,
                "{name} does not hold what a results file of {FORMAT} must: {what}; was it edited? measure again with \
                 `drowse-lab compare`"
            ),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Reads the results in this file.
///
/// # Errors
///
/// If there is no such file, or if it is not a whole results file of this [`FORMAT`].
pub fn read(path: impl AsRef<Path>) -> Result<Results, ReadError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) if text.trim().is_empty() => Err(ReadError::Empty(name)),
            Ok(text) => parse(&name, &text),
            Err(_) => Err(ReadError::NotJson(name, "it is not even text".to_string())),
        },
        Err(error) => Err(ReadError::Io(name, error)),
    }
}

/// Reads results from text; `name` is what messages call it.
///
/// # Errors
///
/// If the text is not a whole results file of this [`FORMAT`].
pub fn parse(name: &str, text: &str) -> Result<Results, ReadError> {
    let name = || name.to_string();
    if text.trim().is_empty() {
        return Err(ReadError::Truncated(name()));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => ReadError::Truncated(name()),
        _ => ReadError::NotJson(name(), error.to_string()),
    })?;
    match value.get("format").and_then(Value::as_str) {
        Some(FORMAT) => {}
        Some(other) if other.starts_with("drowse-lab/") => {
            return Err(ReadError::Format(name(), other.to_string()));
        }
        _ => return Err(ReadError::Foreign(name())),
    }
    // From the text once more: the message then says in which line.
    let results: Results =
        serde_json::from_str(text).map_err(|error| ReadError::Part(name(), error.to_string()))?;
    check(&results).map_err(|what| ReadError::Part(name(), what))?;
    Ok(results)
}

/// What the types cannot say.
fn check(results: &Results) -> Result<(), String> {
    for workload in &results.workloads {
        if workload.measures.is_empty() {
            return Err(format!("workload {:?} has no measures", workload.name));
        }
    }
    for cell in &results.cells {
        check_cell(results, cell)?;
    }
    for timeline in &results.timelines {
        let rows = timeline.rows.len();
        let used = timeline.spans.iter().map(|s| s.row);
        let used = used.chain(timeline.arrows.iter().flat_map(|a| [a.from_row, a.to_row]));
        if let Some(row) = used.max().filter(|&row| row >= rows) {
            return Err(format!(
                "timeline {:?} has {rows} rows, but mentions row {row}",
                timeline.title
            ));
        }
    }
    Ok(())
}

fn check_cell(results: &Results, cell: &Cell) -> Result<(), String> {
    let place = format!("the cell of {:?} and {:?}", cell.workload, cell.contender);
    if !results.workloads.iter().any(|w| w.name == cell.workload) {
        return Err(format!("{place} is of a workload that is not listed"));
    }
    if !results.contenders.iter().any(|c| c.name == cell.contender) {
        return Err(format!("{place} is of a contender that is not listed"));
    }
    let Outcome::Figures(figures) = &cell.outcome else { return Ok(()) };
    let processes = figures.processes();
    for (name, samples) in &figures.samples {
        let Some(counts) = figures.counts.get(name) else {
            return Err(format!(
                "{place} does not say which processes its samples of {name:?} are from"
            ));
        };
        let counted = counts.iter().fold(0_usize, |sum, count| sum.saturating_add(*count));
        if counted != samples.len() || counts.len() != processes {
            let (samples, counts) = (samples.len(), counts.len());
            return Err(format!(
                "{place} has {samples} samples of {name:?}, but counts {counted} of {counts} processes out of {processes}"
            ));
        }
    }
    match figures.noisy.iter().max() {
        Some(&index) if index >= processes => {
            Err(format!("{place} has {processes} processes, but calls number {index} noisy"))
        }
        _ => Ok(()),
    }
}
