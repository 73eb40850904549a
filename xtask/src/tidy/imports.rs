//! `use` statements, with their groups written out.

/// One `use` statement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// The index of its first line.
    pub(crate) first: usize,
    /// The index of its last line.
    pub(crate) last: usize,
    /// What it names, each path in full.
    pub(crate) paths: Vec<String>,
}

impl Import {
    /// Whether the line of this index is a part of it.
    pub(crate) fn holds(&self, line: usize) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// The `use` statements of a file's code.
pub(crate) fn imports(code: &[String]) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut line = 0;
    while line < code.len() {
        if let Some(start) = tree_start(&code[line]) {
            let first = line;
            let mut tree = start.to_string();
            while !tree.contains(';') && line + 1 < code.len() {
                line += 1;
                tree += &code[line];
            }
            let tree: String =
                tree.split(';').next().unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
            imports.push(Import { first, last: line, paths: expand(&tree) });
        }
        line += 1;
    }
    imports
}

/// The lines of code with their indices, the imports among them written out as one line a path.
pub(crate) fn lines_written_out(code: &[String]) -> Vec<(usize, String)> {
    let imports = imports(code);
    let is_import = |line: usize| imports.iter().any(|import| import.holds(line));
    let plain = code.iter().cloned().enumerate().filter(|(line, _)| !is_import(*line));
    let mut lines: Vec<(usize, String)> = plain.collect();
    for import in &imports {
        lines.extend(import.paths.iter().map(|path| (import.first, path.clone())));
    }
    lines
}

/// What follows the keyword, if the line starts with a `use`, public or not.
fn tree_start(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) => match rest.trim_start().strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1.trim_start(),
            None => rest.trim_start(),
        },
        None => line,
    };
    line.strip_prefix("use ")
}

/// Writes out `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn expand(tree: &str) -> Vec<String> {
    let Some((prefix, group)) = tree.split_once('{') else {
        return vec![tree.trim_start_matches("::").to_string()];
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    split_at_commas(group)
        .into_iter()
        .flat_map(expand)
        .map(|path| format!("{}{path}", prefix.trim_start_matches("::")))
        .collect()
}

/// The members of a group, without cutting into inner groups.
fn split_at_commas(group: &str) -> Vec<&str> {
    let mut members = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                members.push(&group[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    members.push(&group[start..]);
    members.retain(|member| !member.is_empty());
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths_of(text: &str) -> Vec<String> {
        let code: Vec<String> = text.lines().map(String::from).collect();
        imports(&code).into_iter().flat_map(|i| i.paths).collect()
    }

    #[test]
    fn groups_are_written_out() {
        assert_eq!(
            paths_of("use std::{fmt, sync::{Arc, atomic::AtomicU32}, thread};"),
            ["std::fmt", "std::sync::Arc", "std::sync::atomic::AtomicU32", "std::thread"]
        );
        assert_eq!(paths_of("    pub(crate) use ::loom::sync;"), ["loom::sync"]);
        assert_eq!(paths_of("pub use a::{self, b,};"), ["a::self", "a::b"]);
    }

    #[test]
    fn statements_over_many_lines_are_one() {
        let code = ["fn f();", "use std::{", "    fmt,", "    sync::Arc,", "};", "fn g();"];
        let found = imports(&code.map(String::from));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].first, found[0].last), (1, 4));
        assert_eq!(found[0].paths, ["std::fmt", "std::sync::Arc"]);
    }

    #[test]
    fn lines_keep_their_indices() {
        let code = ["fn f();", "use std::{", "    fmt, sync,", "};", "fn g();"].map(String::from);
        let lines = lines_written_out(&code);
        let lines: Vec<(usize, &str)> = lines.iter().map(|(line, code)| (*line, code.as_str())).collect();
        assert_eq!(lines, [(0, "fn f();"), (4, "fn g();"), (1, "std::fmt"), (1, "std::sync")]);
    }

    #[test]
    fn other_lines_are_no_imports() {
        assert_eq!(paths_of("user();\npub fn use_it() {}\nreuse x;\n"), [""; 0]);
    }
}
