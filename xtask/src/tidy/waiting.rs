//! Nobody waits by yielding, and no test waits by sleeping.

use super::Problem;
use super::code::has_word;
use super::imports::lines_written_out;
use super::source::{Source, is_test_attribute};

/// Problems with how the code waits. `test_modules` are the paths that only tests see.
pub(crate) fn check(source: &Source, test_modules: &[String]) -> Vec<Problem> {
    let is_test_file = source.is_under("tests")
        || source.path.ends_with("/tests.rs")
        || test_modules.iter().any(|module| {
            source.path == format!("{module}.rs") || source.path.starts_with(&format!("{module}/"))
        });
    let may_sleep = source.path.starts_with("xtask/");
    // The one place where those who follow a document get it from.
    let may_yield = source.path == "crates/drowse-sync/src/yielding.rs";
    let mut problems = Vec::new();
    for (line, code) in lines_written_out(&source.code) {
        let in_test = is_test_file || source.in_test[line];
        if !may_yield && has_word(&code, "thread::yield_now") {
            let what = "`thread::yield_now` is no way of waiting";
            problems.push(Problem::at(&source.path, line, what));
        }
        if in_test && !may_sleep && has_word(&code, "thread::sleep") {
            let what = "`thread::sleep` in a test is no way of synchronising";
            problems.push(Problem::at(&source.path, line, what));
        }
    }
    problems
}

/// The paths, without `.rs`, of the modules in files of their own that are declared for tests only.
pub(crate) fn test_modules(sources: &[Source]) -> Vec<String> {
    let mut modules = Vec::new();
    for source in sources {
        let mut after_attribute = false;
        for code in &source.code {
            let code = code.trim();
            after_attribute |= is_test_attribute(code);
            if after_attribute && code.ends_with(';') {
                let declared = code.trim_end_matches(';').rsplit_once("mod ");
                modules.extend(declared.map(|(_, name)| inner_path(&source.path, name)));
            }
            // An attribute stands before one item; more attributes may stand between them.
            after_attribute &= code.starts_with("#[") && code.ends_with(']');
        }
    }
    modules
}

/// The path of a module that is declared in the file at `path`, without `.rs`.
fn inner_path(path: &str, name: &str) -> String {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    match file {
        "lib.rs" | "main.rs" | "mod.rs" => format!("{directory}/{name}"),
        _ => format!("{}/{name}", path.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Source::new(path, text), &["crates/drowse/src/latch/suite".to_string()]).len()
    }

    #[test]
    fn yielding_is_found_everywhere() {
        for path in ["crates/drowse/src/a.rs", "crates/drowse/tests/a.rs", "xtask/src/a.rs"] {
            assert_eq!(count(path, "fn f() { std::thread::yield_now(); }\n"), 1);
            assert_eq!(count(path, "fn f() { thread::yield_now(); }\n"), 1);
            assert_eq!(count(path, "use std::{fmt, thread::yield_now};\n"), 1);
        }
    }

    #[test]
    fn our_own_function_of_that_name_is_fine() {
        let text = "pub fn yield_now() {}\nfn f() { drowse::yield_now(); yield_now(); }\n";
        assert_eq!(count("crates/drowse/src/a.rs", text), 0);
        let text = "// Not `thread::yield_now`.\n";
        assert_eq!(count("crates/drowse/src/a.rs", text), 0);
    }

    #[test]
    fn sleeping_is_found_in_tests() {
        let sleep = "fn f() { std::thread::sleep(d); }\n";
        assert_eq!(count("crates/drowse/tests/a.rs", sleep), 1);
        assert_eq!(count("crates/drowse/tests/a.rs", "use std::thread::sleep;\n"), 1);
        assert_eq!(count("crates/drowse/src/a/tests.rs", sleep), 1);
        assert_eq!(count("crates/drowse/src/latch/suite.rs", sleep), 1);
        assert_eq!(count("crates/drowse/src/latch/suite/more.rs", sleep), 1);
        let module = format!("#[cfg(test)]\nmod tests {{\n{sleep}}}\n");
        assert_eq!(count("crates/drowse/src/a.rs", &module), 1);
    }

    #[test]
    fn sleeping_elsewhere_is_fine() {
        let sleep = "fn f() { std::thread::sleep(d); }\n";
        assert_eq!(count("crates/drowse/src/a.rs", sleep), 0);
        assert_eq!(count("crates/drowse/src/latch/suites.rs", sleep), 0);
        assert_eq!(count("crates/drowse/examples/a.rs", sleep), 0);
        assert_eq!(count("xtask/src/process/tests.rs", sleep), 0);
    }

    #[test]
    fn modules_in_files_of_their_own_are_followed() {
        let sources = [
            Source::new("a/src/lib.rs", "#[cfg(test)]\nmod suite;\nmod latch;\n"),
            Source::new("a/src/latch.rs", "#[cfg(test)]\n#[path = \"x\"]\npub(crate) mod probes;\n"),
            Source::new("a/src/c/mod.rs", "#[cfg(all(test, unix))] mod d;\n#[cfg(test)]\nuse e;\nmod f;\n"),
        ];
        assert_eq!(test_modules(&sources), ["a/src/suite", "a/src/latch/probes", "a/src/c/d"]);
    }
}
