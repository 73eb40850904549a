//! Reads the table of mutants that stands beside the models.

use crate::models::Backend;

/// The table's place, from the root.
const PATH: &str = "crates/drowse-models/mutants.txt";

const TEXT: &str = include_str!("../../../crates/drowse-models/mutants.txt");

/// One thing to remove, and the model that must then fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// The name that the code under test knows it by: `subject/fault`.
    pub(crate) name: &'static str,
    /// What the model runs under.
    pub(crate) backend: Backend,
    /// The test binary and the test function in it, or for spin the file and the configuration.
    pub(crate) model: &'static str,
    /// What is removed, as the end of the sentence "without ...".
    pub(crate) removes: &'static str,
}

/// Every mutant, in the order of the table. The error names the line that is wrong.
pub(crate) fn all() -> Result<Vec<Mutant>, String> {
    parse(TEXT)
}

fn parse(text: &'static str) -> Result<Vec<Mutant>, String> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mutant = row(line).and_then(|row| {
            let is_listed =
                mutants.iter().any(|other| (other.name, other.model) == (row.name, row.model));
            if is_listed { Err("the row is there already") } else { Ok(row) }
        });
        mutants.push(mutant.map_err(|why| format!("{PATH}:{}: {why}: {line}", index + 1))?);
    }
    Ok(mutants)
}

fn row(line: &'static str) -> Result<Mutant, &'static str> {
    let cells: Vec<&'static str> = line.split('|').map(str::trim).collect();
    let &[name, model, removes] = cells.as_slice() else {
        return Err("a row is `name | binary::model | what is removed`");
    };
    let (binary, test) = model.split_once("::").ok_or("the model is not `binary::model`")?;
    let (subject, fault) = name.split_once('/').ok_or("the name is not `subject/fault`")?;
    if [subject, fault, binary, test, removes].contains(&"") {
        return Err("something is empty");
    }
    let backend = match binary {
        _ if binary.starts_with("loom_") => Backend::Loom,
        _ if binary.starts_with("shuttle_") => Backend::Shuttle,
        _ if subject.strip_suffix(".pml") == Some(binary) => Backend::Spin,
        _ => {
            return Err(
                "the binary is no loom_*, no shuttle_*, and no Promela file that the name has",
            );
        }
    };
    Ok(Mutant { name, backend, model, removes })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::spin::mutant_define;

    const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates");

    #[test]
    fn bad_rows_are_named_by_their_line() {
        let wrong = |text| parse(text).unwrap_err();
        assert!(
            wrong("# a\n\na/b | loom_x::y\n")
                .starts_with("crates/drowse-models/mutants.txt:3: a row is")
        );
        assert!(wrong("ab | loom_x::y | z").contains("subject/fault"));
        assert!(wrong("a/b | loom_x | z").contains("binary::model"));
        assert!(wrong("a/b | loom_x::y | ").contains("empty"));
        assert!(wrong("a.pml/b | b::plain | z").contains("no loom_*"));
        assert!(
            wrong("a/b | loom_x::y | z\na/b | loom_x::y | w")
                .contains(":2: the row is there already")
        );
        assert_eq!(parse("a/b | loom_x::y | z\na/b | loom_x::v | z").map(|all| all.len()), Ok(2));
    }

    /// Whatever stands between two quotes in the Rust files under these directories.
    fn literals<const N: usize>(directories: [&str; N]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut places: Vec<_> =
            directories.iter().map(|place| Path::new(CRATES).join(place)).collect();
        while let Some(place) = places.pop() {
            if place.is_dir() {
                places.extend(fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()));
            } else if place.extension().is_some_and(|extension| extension == "rs") {
                found.extend(fs::read_to_string(place).unwrap().split('"').map(String::from));
            }
        }
        found
    }

    #[test]
    fn the_table_lists_the_faults_of_the_code_and_no_others() {
        let mutants = all().unwrap();
        let code = literals(["drowse/src", "drowse-sleep/src", "drowse-sync/src"]);
        let is_word = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        for literal in &code {
            let Some((subject, fault)) = literal.split_once('/') else { continue };
            // The documentation has examples of its own.
            if is_word(subject) && is_word(fault) && subject != "example" {
                assert!(
                    mutants.iter().any(|mutant| mutant.name == literal),
                    "not listed: {literal}"
                );
            }
        }
        let models = literals(["drowse-models/src", "drowse-models/tests"]);
        for mutant in mutants.iter().filter(|mutant| mutant.backend != Backend::Spin) {
            let is_there = code.contains(mutant.name) || models.contains(mutant.name);
            assert!(is_there, "nobody commits {}", mutant.name);
        }
    }

    #[test]
    fn the_table_lists_the_faults_of_the_promela_models_and_no_others() {
        for file in ["sleepy", "jec"] {
            let text =
                fs::read_to_string(format!("{CRATES}/drowse-models/promela/{file}.pml")).unwrap();
            let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let known: BTreeSet<&str> = words.filter(|word| word.starts_with("MUTANT_")).collect();
            let prefix = format!("{file}.pml/");
            let listed = all().unwrap().into_iter().map(|mutant| mutant.name);
            let listed: Vec<String> =
                listed.filter(|name| name.starts_with(&prefix)).map(mutant_define).collect();
            assert_eq!(
                listed.iter().map(String::as_str).collect::<BTreeSet<_>>(),
                known,
                "{file}.pml"
            );
        }
    }
}
