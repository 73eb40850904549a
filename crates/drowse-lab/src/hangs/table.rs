//! What came of the programs, side by side.

use super::{Program, Run, Verdict, Who};
use crate::say::COLUMNS;
use serde_json::{Value, json};
use std::fmt::{self, Write as _};

/// All that has been run. Prints as a table for a terminal of 80 columns.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<(&'static Program, Vec<Run>)>,
}

/// The widths of the columns, but for the last.
const PROGRAM: usize = 20;
const RUNTIME: usize = 10;

impl Table {
    /// One more.
    pub fn add(&mut self, program: &'static Program, run: Run) {
        match self.rows.iter_mut().find(|(other, _)| other.name == program.name) {
            Some((_, runs)) => runs.push(run),
            None => self.rows.push((program, vec![run])),
        }
    }

    /// Whether drowse has come to the end of all that it must.
    pub fn is_well(&self) -> bool {
        self.all().all(|(program, run)| run.verdict.is_well() || !program.must_finish(run.who))
    }

    fn all(&self) -> impl Iterator<Item = (&'static Program, &Run)> {
        self.rows.iter().flat_map(|(program, runs)| runs.iter().map(|run| (*program, run)))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |f: &mut fmt::Formatter<'_>, [program, rayon, drowse, cured, by]: [&str; 5]| {
            let line = format!(
                "{program:PROGRAM$} {rayon:RUNTIME$} {drowse:RUNTIME$} {cured:RUNTIME$} {by}"
            );
            writeln!(f, "{}", line.trim_end())
        };
        row(f, ["program", "rayon", "drowse", "cured", "by"])?;
        for (program, runs) in &self.rows {
            let of = |who| runs.iter().find(|run| run.who == who).map(|run| run.verdict.short());
            let (rayon, drowse) =
                (of(Who::Rayon).unwrap_or_default(), of(Who::Drowse).unwrap_or_default());
            let mut first = Some([program.name, &rayon, &drowse]);
            for run in runs {
                let Some(cure) = program.cure(run.who) else { continue };
                let [name, rayon, drowse] = first.take().unwrap_or_default();
                row(f, [name, rayon, drowse, &run.verdict.short(), cure.how])?;
            }
            if let Some([name, rayon, drowse]) = first {
                row(f, [name, rayon, drowse, "", ""])?;
            }
        }
        let notes: Vec<_> = self.all().filter_map(|(program, run)| note(program, run)).collect();
        if !notes.is_empty() {
            write!(f, "\n{}", notes.join("\n"))?;
        }
        Ok(())
    }
}

/// What else there is to say of a run. That it hangs is in the table.
fn note(program: &Program, run: &Run) -> Option<String> {
    let note = run.verdict.note();
    if note.is_empty() || matches!(run.verdict, Verdict::Hangs { .. }) {
        return None;
    }
    let mut text = format!("{} on {}", program.name, run.who.name());
    if let Some(cure) = program.cure(run.who) {
        // Writing to a string cannot fail.
        let _ = write!(text, " ({})", cure.how);
    }
    let _ = write!(text, ": {note}");
    // Messages of others may be long; who wants all of it runs the program.
    let most = 2 * COLUMNS;
    if text.chars().count() > most {
        text = text.chars().take(most - 3).chain("...".chars()).collect();
    }
    Some(text)
}

/// All of it, for machines.
#[must_use]
pub fn as_json(table: &Table) -> Value {
    let run = |program: &Program, run: &Run| {
        let mut value = serde_json::to_value(&run.verdict).unwrap_or_default();
        value["runtime"] = run.who.name().into();
        value["cure"] = program.cure(run.who).map(|cure| cure.how).into();
        value
    };
    let rows = table.rows.iter().map(|(program, runs)| {
        let runs: Vec<_> = runs.iter().map(|each| run(program, each)).collect();
        json!({"program": program.name, "about": program.about, "runs": runs})
    });
    json!({"well": table.is_well(), "programs": rows.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::super::ALL;
    use super::*;

    fn program(name: &str) -> &'static Program {
        ALL.iter().find(|program| program.name == name).unwrap()
    }

    fn hangs() -> Verdict {
        Verdict::Hangs { note: "not done after 5 s".to_owned() }
    }

    fn finished(note: &str) -> Verdict {
        Verdict::Finished { ms: 12.0, note: note.to_owned() }
    }

    #[test]
    fn a_table_has_a_row_for_each_program_and_a_note_where_there_is_something_to_say() {
        let mut table = Table::default();
        let aborts = Verdict::Aborted { note: "SIGABRT: stack overflow".to_owned() };
        for (name, who, verdict) in [
            ("lock_across_join", Who::Rayon, hangs()),
            ("lock_across_join", Who::Drowse, hangs()),
            ("lock_across_join", Who::Cured(0), finished("")),
            (
                "two_submitters",
                Who::Rayon,
                Verdict::Wrong { note: "served after 800 ms".to_owned() },
            ),
            ("two_submitters", Who::Drowse, finished("served after 1 ms")),
            ("stacks", Who::Rayon, aborts),
        ] {
            table.add(program(name), Run { who, verdict });
        }
        let text = table.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "program              rayon      drowse     cured      by");
        assert_eq!(
            lines[1],
            "lock_across_join     hangs      hangs      12.0 ms    DROWSE_WAITING=isolate"
        );
        assert_eq!(lines[2], "two_submitters       wrong      12.0 ms");
        assert_eq!(lines[3], "stacks               aborts");
        assert_eq!(
            lines[4..],
            [
                "",
                "two_submitters on rayon: served after 800 ms",
                "two_submitters on drowse: served after 1 ms",
                "stacks on rayon: SIGABRT: stack overflow"
            ]
        );
        assert!(table.is_well());
        let json = as_json(&table);
        assert_eq!(json["programs"][0]["runs"][2]["cure"], "DROWSE_WAITING=isolate");
        assert_eq!(json["programs"][0]["runs"][0]["outcome"], "hangs");
        assert_eq!(json["programs"][1]["runs"][1]["ms"], 12.0);
    }

    #[test]
    fn it_is_not_well_if_drowse_hangs_where_it_must_not() {
        for (name, who, well) in [
            ("lock_across_join", Who::Rayon, true),
            ("lock_across_join", Who::Drowse, true),
            ("lock_across_join", Who::Cured(0), false),
            ("mutual_wait", Who::Drowse, false),
        ] {
            let mut table = Table::default();
            table.add(program(name), Run { who, verdict: hangs() });
            assert_eq!(table.is_well(), well, "{name} {who:?}");
        }
    }

    #[test]
    fn every_row_fits() {
        let mut table = Table::default();
        for program in ALL {
            for who in program.all() {
                let verdict = Verdict::Panicked { note: "x ".repeat(200) };
                table.add(program, Run { who, verdict });
            }
        }
        let text = table.to_string();
        let rows = text.lines().take_while(|line| !line.is_empty());
        assert_eq!(
            rows.clone().count(),
            1 + ALL.len().max(ALL.iter().map(|p| p.cures.len().max(1)).sum())
        );
        assert!(rows.map(|line| line.chars().count()).max().unwrap() <= COLUMNS, "{text}");
    }
}
