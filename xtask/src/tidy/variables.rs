//! The environment variables that the libraries read are all in one table, which the README and
//! rustdoc show.

use std::collections::BTreeSet;

use super::Problem;
use super::code::is_word_char;

/// Whose sources count.
const LIBRARIES: [&str; 4] =
    ["crates/drowse/src/", "crates/drowse-sleep/src/", "crates/drowse-sync/src/", "shim/rayon-core/src/"];

/// Where the table stands.
const TABLES: [&str; 2] = ["README.md", "crates/drowse/src/lib.rs"];

/// How the names begin.
const PREFIXES: [&str; 2] = ["DROWSE_", "RAYON_"];

/// Problems with the two tables: a variable is missing, or read by nobody, or they differ.
pub(crate) fn check(files: &[(String, String)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut read = BTreeSet::new();
    for (_, text) in files.iter().filter(|(path, _)| LIBRARIES.iter().any(|place| path.starts_with(place))) {
        read.extend(literals(text));
    }
    let text_of = |path: &str| files.iter().find(|(other, _)| other == path).map(|(_, text)| text.as_str());
    let tables: Vec<(&str, Vec<(usize, &str)>)> =
        TABLES.iter().filter_map(|path| text_of(path).map(|text| (*path, rows(text)))).collect();
    for (path, rows) in &tables {
        let listed: BTreeSet<&str> = rows.iter().filter_map(|(_, row)| name(row)).collect();
        for missing in read.difference(&listed) {
            problems.push(Problem::at(path, 0, format!("the table of variables does not list {missing}")));
        }
        for (line, row) in rows.iter().filter(|(_, row)| name(row).is_some_and(|name| !read.contains(name))) {
            let name = name(row).unwrap_or_default();
            problems.push(Problem::at(path, *line, format!("no library reads {name}")));
        }
    }
    if let [(_, first), (path, second)] = tables.as_slice() {
        let differs = first.iter().map(|(_, row)| row).ne(second.iter().map(|(_, row)| row));
        if differs && problems.is_empty() {
            let line = second.first().map_or(0, |(line, _)| *line);
            problems.push(Problem::at(
                path,
                line,
                format!("the table of variables is not that of {}", TABLES[0]),
            ));
        }
    }
    problems
}

/// The names of variables that stand alone in quotes, outside of comments.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split('"').skip(1).step_by(2)).filter(|literal| is_variable(literal))
}

fn is_variable(word: &str) -> bool {
    PREFIXES.iter().any(|prefix| word.len() > prefix.len() && word.starts_with(prefix))
        && word.chars().all(|c| is_word_char(c) && !c.is_lowercase())
}

/// The rows about variables, and their lines.
fn rows(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().enumerate();
    let rows = lines.map(|(index, line)| (index, line.trim_start_matches("//!").trim()));
    rows.filter(|(_, row)| name(row).is_some()).collect()
}

/// The variable that a row is about.
fn name(row: &str) -> Option<&str> {
    let name = row.strip_prefix("| `")?.split_once('`')?.0;
    is_variable(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: &str =
        "// \"DROWSE_NOT\"\nlet a = env::var_os(\"DROWSE_LOG\");\nlet b = f(\"RAYON_NUM_THREADS\");\n";
    const ROWS: &str = "| `DROWSE_LOG` | says |\n| `RAYON_NUM_THREADS` | how many |\n";

    fn problems(readme: &str, rustdoc: &str) -> Vec<String> {
        let files = [
            ("README.md", readme.to_string()),
            ("crates/drowse/src/lib.rs", rustdoc.lines().map(|line| format!("//! {line}\n")).collect()),
            ("crates/drowse/src/api/env.rs", READS.to_string()),
            ("crates/drowse/tests/a.rs", "var(\"DROWSE_TEST_ONLY\")".to_string()),
        ];
        check(&files.map(|(path, text)| (path.to_string(), text))).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn two_tables_with_all_variables_pass() {
        assert_eq!(problems(ROWS, ROWS), [""; 0]);
    }

    #[test]
    fn a_variable_that_is_in_one_table_only_is_a_problem() {
        let (first, _) = ROWS.split_once('\n').unwrap();
        let found = problems(ROWS, first);
        assert_eq!(
            found,
            ["crates/drowse/src/lib.rs:1: the table of variables does not list RAYON_NUM_THREADS"]
        );
        assert_eq!(problems(first, ROWS).len(), 1);
    }

    #[test]
    fn a_variable_that_nobody_reads_is_a_problem() {
        let stale = format!("{ROWS}| `DROWSE_GONE` | what it was |\n");
        assert_eq!(problems(&stale, ROWS), ["README.md:3: no library reads DROWSE_GONE"]);
    }

    #[test]
    fn the_two_tables_say_the_same() {
        let other = ROWS.replace("says", "tells");
        let found = problems(ROWS, &other);
        assert_eq!(found, ["crates/drowse/src/lib.rs:1: the table of variables is not that of README.md"]);
    }
}
