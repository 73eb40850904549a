//! Counts what makes the project heavy to read, and compares the counts with budgets that only
//! fall.
//!
//! The rules are those of CONTRIBUTING.md, *English*. A script cannot see whether a sentence is
//! clear. It can see the words that unclear sentences are made of.

mod code;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::outcome::{Outcome, Status};

/// The path of the budget file in the repository.
const FILE: &str = "xtask/house-budget.txt";

/// The crates that a user's program is built from.
const RUNTIME: [&str; 3] =
    ["crates/drowse-sync/src/", "crates/drowse-sleep/src/", "crates/drowse/src/"];

/// The page that defines the project's words.
const GLOSSARY: &str = "docs/internals/glossary.md";

/// The heading above words that do not count, because they go with the files that use them.
const GOING: &str = "## Words of files that are about to be rebuilt";

/// Persons without a noun. A reader cannot tell which thread is meant.
const PERSONS: [&str; 12] = [
    "whoever",
    "whomever",
    "whom",
    "somebody",
    "someone",
    "nobody",
    "anybody",
    "anyone",
    "everybody",
    "those who",
    "the one who",
    "that one",
];

/// The beginnings of doc comments that name neither an action nor a thing.
const RIDDLES: [&str; 11] = [
    "The same", "What", "Who", "Whose", "Whether", "Where", "How", "When", "Why", "That of",
    "As above",
];

/// A term of the glossary that has one of the words in it.
const TERM: &str = "nobody's deque";

/// The widest line.
const COLUMNS: usize = 100;

const TIME_LIMIT: Duration = Duration::from_secs(60);

/// One figure: the places that it counts, and how many lines were looked at.
#[derive(Debug, Default)]
struct Count {
    places: Vec<String>,
    of: usize,
}

/// All figures, by the names in the budget file.
type Counts = BTreeMap<&'static str, Count>;

/// Counts, and fails if a figure is above its budget. With a filter, lists the places of the
/// figures whose names contain it.
pub(crate) fn run(context: &Context) -> Result<Outcome, Outcome> {
    let read = |path: &str| {
        fs::read_to_string(context.root.join(path))
            .map_err(|error| format!("{path} cannot be read: {error}"))
    };
    let budgets = budgets(&read(FILE)?).map_err(|error| format!("{FILE}: {error}"))?;
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "--", "*.rs", "*.md"]);
    git.current_dir(&context.root);
    let listed = context.run_stdout_apart(git, TIME_LIMIT)?.stdout;
    let mut counts = Counts::new();
    let mut imports = code::Imports::default();
    for path in listed.lines() {
        // A file that was deleted and not committed yet.
        if context.root.join(path).exists() {
            let text = read(path)?;
            count(&mut counts, path, &text);
            if let Some(path) = path.strip_prefix(code::LAYERED) {
                imports.read(path, &text);
            }
        }
    }
    let cycles = counts.entry("cycle/engine").or_default();
    cycles.of = imports.len();
    cycles.places.extend(imports.in_cycles().into_iter().map(String::from));
    Ok(judge(&counts, &budgets, context.filter.as_deref()))
}

/// Reads lines of a name and a number, with comments after `#`.
fn budgets(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let mut budgets = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> =
            line.split('#').next().unwrap_or_default().split_whitespace().collect();
        match words[..] {
            [] => {}
            [name, limit] => {
                let limit =
                    limit.parse().map_err(|_| format!("line {number}: `{limit}` is no number"))?;
                budgets.insert(name.to_string(), limit);
            }
            _ => return Err(format!("line {number}: it is not a name and a number")),
        }
    }
    Ok(budgets)
}

/// Adds the counts of one file.
fn count(counts: &mut Counts, path: &str, text: &str) {
    let in_runtime = RUNTIME.iter().any(|crate_of| path.starts_with(crate_of));
    let is_page = path.ends_with(".md") && (path.starts_with("docs/") || !path.contains('/'));
    // It records what was said at the time.
    if path == "CHANGELOG.md" {
        return;
    }
    let mut was_doc = false;
    for (number, line) in (1..).zip(text.lines()) {
        let mut see = |name, is_looked_at: bool, is_found: bool| {
            let count: &mut Count = counts.entry(name).or_default();
            count.of += usize::from(is_looked_at);
            if is_looked_at && is_found {
                count.places.push(format!("{path}:{number}: {}", line.trim()));
            }
        };
        if is_page {
            see("persons/docs", true, has_person(line));
        }
        if path.ends_with(".rs") {
            see("columns", true, line.chars().count() > COLUMNS);
        }
        if in_runtime {
            let comment = if path.ends_with(".md") { Some(line) } else { comment_of(line) };
            see("persons/runtime", comment.is_some(), comment.is_some_and(has_person));
            let doc =
                comment.and_then(|text| text.strip_prefix("///").or(text.strip_prefix("//!")));
            see("riddles/runtime", doc.is_some() && !was_doc, doc.is_some_and(is_riddle));
            was_doc = doc.is_some();
        }
        if path == GLOSSARY {
            see("glossary", line.starts_with("| **"), true);
        }
    }
    if in_runtime && path.ends_with(".rs") && !path.ends_with("/tests.rs") {
        let count = counts.entry("code/runtime").or_default();
        count.of += text.lines().count();
        count.places.extend(code::code_lines(text).iter().map(|line| format!("{path}:{line}")));
    }
    for (name, _, of) in code::TYPES.iter().filter(|(_, file, _)| *file == path) {
        let fields = code::fields(text, of);
        counts.insert(name, Count { of: fields.len(), places: fields });
    }
    if path == GLOSSARY && text.contains(GOING) {
        let going = text.split_once(GOING).map_or(0, |(_, rest)| rest.matches("\n| **").count());
        let glossary = counts.entry("glossary").or_default();
        glossary.places.truncate(glossary.places.len() - going);
    }
}

/// Returns the comment in a line of Rust, with its slashes.
fn comment_of(line: &str) -> Option<&str> {
    let at = line.find("//")?;
    let (code, comment) = line.split_at(at);
    // In a string, as in an address.
    let is_quoted = code.matches('"').count() % 2 == 1;
    (!is_quoted && (code.is_empty() || code.ends_with(char::is_whitespace))).then_some(comment)
}

/// Returns `true` if the text speaks of a person without a noun.
fn has_person(text: &str) -> bool {
    let text = text.to_lowercase().replace(TERM, "");
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    PERSONS.iter().any(|person| {
        let person: Vec<&str> = person.split(' ').collect();
        words.windows(person.len()).any(|window| window == person)
    })
}

/// Returns `true` if the first line of a doc comment begins like a riddle.
fn is_riddle(doc: &str) -> bool {
    let follows = |rest: &str| rest.chars().next().is_none_or(|c| !c.is_alphanumeric());
    RIDDLES.iter().any(|riddle| doc.trim_start().strip_prefix(riddle).is_some_and(follows))
}

/// Compares the counts with the budgets.
fn judge(counts: &Counts, budgets: &BTreeMap<String, usize>, filter: Option<&str>) -> Outcome {
    let mut report = Vec::new();
    let mut above = Vec::new();
    for (name, Count { places, of }) in counts {
        let now = places.len();
        let share = format!("{:.1} % of {of}", 100.0 * now as f64 / (*of).max(1) as f64);
        let budget = budgets.get(*name).copied();
        report.push(match budget {
            Some(budget) => format!("  {name:<16} {now:>5}  budget {budget:>5}  {share}"),
            None => format!("  {name:<16} {now:>5}  no budget in {FILE}: add `{name} {now}`"),
        });
        match budget {
            Some(budget) if now <= budget => {
                if now * 10 < budget * 9 {
                    report
                        .push(format!("  {name} has fallen: lower its budget in {FILE} to {now}"));
                }
            }
            _ => above.push(*name),
        }
        if filter.is_some_and(|filter| name.contains(filter)) {
            report.extend(places.iter().map(|place| format!("    {place}")));
        }
    }
    for name in budgets.keys().filter(|name| !counts.contains_key(name.as_str())) {
        report.push(format!("  {name:<16} is in {FILE}, and there is no such figure"));
        above.push("the budget file");
    }
    let matches = filter.is_none_or(|filter| counts.keys().any(|name| name.contains(filter)));
    if !matches {
        return Status::WrongCall.with("no figure has that in its name").with_report(report);
    }
    match above[..] {
        [] => Status::Passed
            .with(format!("{} figures within their budgets", counts.len()))
            .with_report(report),
        _ => {
            let how = format!(
                "above budget: {}; `cargo xtask house NAME` lists the places",
                above.join(", ")
            );
            Status::Failed.with(how).with_report(report)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(path: &str, text: &str) -> BTreeMap<&'static str, usize> {
        let mut counts = Counts::new();
        count(&mut counts, path, text);
        counts.into_iter().map(|(name, count)| (name, count.places.len())).collect()
    }

    #[test]
    fn comments_are_told_from_code_and_strings() {
        assert_eq!(comment_of("    /// Returns it."), Some("/// Returns it."));
        assert_eq!(comment_of("f(); // Whoever."), Some("// Whoever."));
        assert_eq!(comment_of("f(\"http://nobody\");"), None);
        assert_eq!(comment_of("f(\"a // b\");"), None);
        assert_eq!(comment_of("nobody();"), None);
    }

    #[test]
    fn persons_are_words_and_the_term_is_none() {
        for text in
            ["// Whoever waits.", "//! for those who\u{2014}", "// that one,", "Nobody's turn"]
        {
            assert!(has_person(text), "{text}");
        }
        for text in
            ["// The waiter.", "// nobodyelse", "// Nobody's deque is one.", "// those. Who"]
        {
            assert_eq!(has_person(text), text.contains("Who"), "{text}");
        }
    }

    #[test]
    fn each_figure_counts_its_lines() {
        let wide = "x".repeat(101);
        let text = format!(
            "/// What it is.\n/// How so.\nfn f() {{}}\n\n/// Whatever.\n// nobody\n{wide}\n"
        );
        let counts = counted("crates/drowse/src/a.rs", &text);
        let expected =
            [("code/runtime", 2), ("columns", 1), ("persons/runtime", 1), ("riddles/runtime", 1)];
        assert_eq!(counts, BTreeMap::from(expected));
        assert_eq!(counted("xtask/src/a.rs", &text), BTreeMap::from([("columns", 1)]));
        assert_eq!(counted("docs/a.md", "nobody\nx\n"), BTreeMap::from([("persons/docs", 1)]));
        assert!(counted("CHANGELOG.md", "nobody\n").is_empty());
        let glossary = format!("| **a** | b |\n| **c** | d |\n{GOING}\n\n| **e** | f |\n");
        assert_eq!(counted(GLOSSARY, &glossary)["glossary"], 2);
    }

    #[test]
    fn a_figure_above_its_budget_or_without_one_fails() {
        let judged = |text: &str, filter| {
            let places = vec!["a.md:1: nobody".to_string(), "a.md:2: nobody".to_string()];
            let counts = Counts::from([("persons/docs", Count { places, of: 100 })]);
            judge(&counts, &budgets(text).unwrap(), filter)
        };
        assert_eq!(judged("persons/docs 2 # of 100\n", None).status, Status::Passed);
        assert_eq!(judged("persons/docs 1\n", None).status, Status::Failed);
        assert_eq!(judged("", None).status, Status::Failed);
        assert_eq!(judged("persons/docs 2\nother 1\n", None).status, Status::Failed);
        assert_eq!(judged("persons/docs 2\n", Some("glossary")).status, Status::WrongCall);
        let listed = judged("persons/docs 9\n", Some("persons")).report;
        assert_eq!(listed.len(), 4, "{listed:?}");
        assert!(listed[1].ends_with("to 2") && listed[3] == "    a.md:2: nobody", "{listed:?}");
        for wrong in ["a\n", "a b\n", "a 1 2\n"] {
            assert!(budgets(wrong).unwrap_err().starts_with("line 1: "), "{wrong}");
        }
    }
}
