//! Every memory ordering is argued for, but for those of tests.

use super::Problem;
use super::code::has_word;
use super::imports::imports;
use super::source::Source;

/// The sources in which it is so.
const PLACES: [&str; 3] = ["crates/drowse-sync/src/", "crates/drowse-sleep/src/", "crates/drowse/src/"];

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// How far above its ordering the argument may begin.
const REACH: usize = 14;

/// Orderings without an `ORDERING:` comment on their line or shortly above.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    if !PLACES.iter().any(|place| source.path.starts_with(place)) {
        return Vec::new();
    }
    let imports = imports(&source.code);
    let is_import = |line: usize| imports.iter().any(|import| import.holds(line));
    let is_argued = |line: usize| {
        source.comments[line.saturating_sub(REACH)..=line].iter().any(|comment| comment.contains("ORDERING:"))
    };
    let mut problems = Vec::new();
    for (line, code) in source.code.iter().enumerate() {
        let ordering = ORDERINGS.iter().find(|ordering| has_word(code, ordering));
        let Some(ordering) = ordering else { continue };
        if !is_import(line) && !is_argued(line) && !source.in_test[line] {
            problems.push(Problem::at(
                &source.path,
                line,
                format!("`{ordering}` without an ORDERING: comment within {REACH} lines above"),
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let source = Source::new("crates/drowse-sleep/src/jec.rs", text);
        check(&source).iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn an_ordering_without_an_argument_is_found() {
        assert_eq!(lines("fn f() {\n    a.load(Ordering::Acquire);\n}\n"), [2]);
        assert_eq!(lines("fn f() { fence(SeqCst) }\n"), [1]);
        assert_eq!(lines("// ORDERING is hard\nfn f() { fence(SeqCst) }\n"), [2]);
        let in_a_string = "fn f() { g(\"ORDERING:\"); fence(SeqCst) }\n";
        assert_eq!(lines(in_a_string), [1]);
    }

    #[test]
    fn an_argument_on_the_line_or_above_is_enough() {
        assert_eq!(lines("a.load(Acquire); // ORDERING: pairs with b\n"), [0; 0]);
        assert_eq!(lines("// ORDERING: pairs with b\na.load(Acquire);\n"), [0; 0]);
        assert_eq!(lines("/* ORDERING: pairs with b */\na.load(Acquire);\n"), [0; 0]);
    }

    #[test]
    fn an_argument_reaches_fourteen_lines() {
        let text = |gap: usize| format!("// ORDERING: b\n{}a.load(Acquire);\n", "\n".repeat(gap));
        assert_eq!(lines(&text(13)), [0; 0]);
        assert_eq!(lines(&text(14)), [16]);
    }

    #[test]
    fn imports_comments_and_other_words_are_no_orderings() {
        assert_eq!(lines("use drowse_sync::Ordering::{\n    Acquire,\n    Release,\n};\n"), [0; 0]);
        assert_eq!(lines("// Acquire here\nfn Acquired() {}\n"), [0; 0]);
    }

    #[test]
    fn other_places_are_free() {
        let source = Source::new("crates/drowse/tests/join.rs", "a.load(Acquire);\n");
        assert_eq!(check(&source), []);
    }
}
