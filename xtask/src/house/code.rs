//! How heavy the runtime's code is: its lines, the fields of its largest types, and import cycles.

use std::collections::{BTreeMap, BTreeSet};

/// Types whose fields are counted: the name of the figure, the file, and the type.
pub(super) const TYPES: [(&str, &str, &str); 3] = [
    ("fields/worker", "crates/drowse/src/engine/worker.rs", "WorkerThread"),
    ("fields/registry", "crates/drowse/src/engine/registry.rs", "Registry"),
    ("fields/sleep", "crates/drowse-sleep/src/sleep.rs", "Sleep"),
];

/// The folder whose files must not import each other in a circle.
pub(super) const LAYERED: &str = "crates/drowse/src/engine/";

/// Returns the numbers of the lines of code: without comments, blank lines and modules of tests.
pub(super) fn code_lines(text: &str) -> Vec<usize> {
    let mut code = Vec::new();
    let (mut in_tests, mut was_test_only) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if in_tests {
            in_tests = line != "}";
            continue;
        }
        if was_test_only && line.starts_with("mod ") && line.ends_with('{') {
            code.pop();
            in_tests = true;
            continue;
        }
        was_test_only = line.starts_with("#[cfg(") && line.contains("test");
        if !trimmed.is_empty() && !trimmed.starts_with("//") {
            code.push(number);
        }
    }
    code
}

/// Returns the lines that declare the fields of `name`, or nothing if the text has no such type.
pub(super) fn fields(text: &str, name: &str) -> Vec<String> {
    let is_head = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        !line.starts_with(' ') && words.ends_with(&["struct", name, "{"])
    };
    let body = text.lines().skip_while(|line| !is_head(line)).skip(1);
    let body = body.take_while(|line| *line != "}");
    let is_field = |line: &&str| {
        let name = line.trim_start_matches(' ').split_once(": ").map(|(before, _)| before);
        line.starts_with("    ")
            && !line.starts_with("     ")
            && name.and_then(|name| name.split(' ').next_back()).is_some_and(is_name)
            && !line.trim_start().starts_with("//")
    };
    body.filter(is_field).map(|line| line.trim().to_owned()).collect()
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The imports among the files of one folder.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// For each module, those that its `use super::...` lines name.
    uses: BTreeMap<String, BTreeSet<String>>,
    /// The modules behind the names that `mod.rs` exports.
    exports: BTreeMap<String, String>,
}

impl Imports {
    /// Reads a file of the folder. `path` is relative to the folder.
    pub(super) fn read(&mut self, path: &str, text: &str) {
        let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        if path == "mod.rs" {
            for (module, names) in paths(text, "pub use ").chain(paths(text, "pub(crate) use ")) {
                self.exports.extend(names.into_iter().map(|name| (name, module.clone())));
            }
            return;
        }
        let Some((module, below)) = path.split_once('/').or(path.split_once('.')) else { return };
        if below != "rs" {
            // A file in the folder of a module: `super` is that module.
            return;
        }
        let uses = self.uses.entry(module.to_owned()).or_default();
        for (first, names) in paths(text, "use super::") {
            uses.extend(if first.is_empty() { names } else { vec![first] });
        }
    }

    /// Returns the number of modules.
    pub(super) fn len(&self) -> usize {
        self.uses.len()
    }

    /// Returns the modules that import themselves by way of others.
    pub(super) fn in_cycles(&self) -> Vec<&str> {
        let next = |module: &str| {
            let uses = self.uses.get(module).into_iter().flatten();
            let of = |name: &String| self.exports.get(name).unwrap_or(name).clone();
            uses.map(of).filter(|name| self.uses.contains_key(name)).collect::<Vec<_>>()
        };
        let is_in_cycle = |module: &&str| {
            let (mut seen, mut todo) = (BTreeSet::new(), next(module));
            while let Some(name) = todo.pop() {
                if seen.insert(name.clone()) {
                    todo.extend(next(&name));
                }
            }
            seen.contains(*module)
        };
        self.uses.keys().map(String::as_str).filter(is_in_cycle).collect()
    }
}

/// Returns, for each statement that begins with `with`, the first part of its path, and the names
/// in it. The first part is empty if the names follow `with` directly.
fn paths<'a>(text: &'a str, with: &'a str) -> impl Iterator<Item = (String, Vec<String>)> + 'a {
    let statements = text.split('\n').scan(String::new(), move |open, line| {
        // A statement may go on over several lines.
        if !open.is_empty() || line.starts_with(with) {
            open.push_str(line.trim());
        }
        Some(if open.ends_with(';') { std::mem::take(open) } else { String::new() })
    });
    statements.filter_map(move |statement| {
        let path = statement.strip_prefix(with)?.trim_end_matches(';').to_owned();
        let (first, rest) = match path.split_once("::") {
            Some((first, rest)) if is_name(first) => (first.to_owned(), rest.to_owned()),
            _ => (String::new(), path),
        };
        let names = rest.trim_matches(['{', '}']).split(',').map(str::trim);
        let names = names.map(|name| name.split("::").next().unwrap_or_default().to_owned());
        Some((first, names.filter(|name| is_name(name)).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_tests_are_no_code() {
        let text = "//! Doc.\n\nuse a::b;\n\n// Why.\nfn f() {\n    g(); // h\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    fn t() {}\n}\nfn h() {}\n";
        assert_eq!(code_lines(text), [3, 6, 7, 8, 14]);
    }

    #[test]
    fn fields_are_counted_in_their_type() {
        let text = "pub struct A {\n    /// Doc: x.\n    pub(super) a: u32,\n    b: Cell<Option<\n\
                    \x20       u32>>,\n}\n\nstruct AB {\n    c: u8,\n}\n";
        assert_eq!(fields(text, "A"), ["pub(super) a: u32,", "b: Cell<Option<"]);
        assert_eq!(fields(text, "AB"), ["c: u8,"]);
        assert!(fields(text, "B").is_empty());
    }

    #[test]
    fn the_types_whose_fields_are_counted_exist() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for (_, path, name) in TYPES {
            let text = std::fs::read_to_string(root.join(path)).unwrap();
            assert!(fields(&text, name).len() > 3, "{name}");
        }
    }

    #[test]
    fn modules_that_import_each_other_are_in_a_cycle() {
        let mut imports = Imports::default();
        imports.read("mod.rs", "mod a;\npub(crate) use a::{\n    A, B,\n};\n");
        imports.read("a.rs", "use super::b::C;\n");
        imports.read("b.rs", "use super::c;\nuse std::fmt;\n");
        imports.read("c.rs", "use super::{A, d::D};\n");
        imports.read("d.rs", "use super::e::E;\n\n#[cfg(test)]\nmod tests {\nuse super::a;\n}\n");
        imports.read("e.rs", "");
        imports.read("e/tests.rs", "use super::*;\nuse super::e;\n");
        assert_eq!(imports.in_cycles(), ["a", "b", "c"]);
    }
}
