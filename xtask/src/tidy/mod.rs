//! The house rules that no tool of others knows. Each rule is a function from text to problems.

mod code;
mod facade;
mod files;
mod imports;
mod manifests;
mod orderings;
mod source;
mod text;
mod variables;
mod waiting;

use std::fmt;

use crate::context::Context;
use crate::outcome::{Outcome, counted};
use source::Source;

/// Something against the rules, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    line: usize,
    what: String,
}

impl Problem {
    /// A problem on the line of this index: lines are shown from 1.
    fn at(path: &str, index: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_string(), line: index + 1, what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Checks all of the repository's text.
pub(crate) fn run(context: &Context) -> Outcome {
    let root = context.workspace().root();
    let files = match files::texts_in(root) {
        Ok(files) => files,
        Err(error) => return Outcome::failed(format!("cannot read the repository: {error}")),
    };
    let problems = check(&files);
    let detail =
        if problems.is_empty() { counted(files.len(), "file") } else { counted(problems.len(), "problem") };
    let report: Vec<String> = problems.iter().map(|p| format!("  {p}")).collect();
    Outcome::by_failures(problems.len(), detail).with_report(report)
}

/// All problems of these files, given as path and text.
fn check(files: &[(String, String)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in files {
        problems.extend(text::check(path, text));
    }
    let sources: Vec<Source> = files
        .iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(path, text)| Source::new(path, text))
        .collect();
    let test_modules = waiting::test_modules(&sources);
    for source in &sources {
        problems.extend(facade::check(source));
        problems.extend(orderings::check(source));
        problems.extend(waiting::check(source, &test_modules));
    }
    problems.extend(manifests::check(files));
    problems.extend(variables::check(files));
    problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n";

    fn problems_of(path: &str, text: &str) -> Vec<String> {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
            ("crates/drowse/Cargo.toml", MANIFEST),
            (path, text),
        ]
        .map(|(path, text)| (path.to_string(), text.to_string()));
        check(&files).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn clean_files_pass() {
        let text = "//! Docs.\n\n/// Adds.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n";
        assert_eq!(problems_of("crates/drowse/src/lib.rs", text), [""; 0]);
    }

    #[test]
    fn every_rule_takes_part() {
        let path = "crates/drowse/src/lib.rs";
        for (text, part) in [
            ("fn f() {} \n", "whitespace"),
            ("use std::sync::Arc;\n", "drowse-sync"),
            ("fn f() { x.load(Acquire); }\n", "ORDERING"),
            ("fn f() { thread::yield_now(); }\n", "yield_now"),
        ] {
            let problems = problems_of(path, text);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].starts_with("crates/drowse/src/lib.rs:1: "));
            assert!(problems[0].contains(part), "{problems:?}");
        }
        let problems = problems_of("crates/new/Cargo.toml", "[package]\n");
        assert!(problems[0].contains("lints"), "{problems:?}");
        let problems = problems_of("README.md", "| `DROWSE_GONE` | what it was |\n");
        assert!(problems[0].contains("no library reads"), "{problems:?}");
    }
}
