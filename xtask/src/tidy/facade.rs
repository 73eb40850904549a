//! Only the facade names what it stands for: std's, loom's and shuttle's threads and atomics.

use super::Problem;
use super::code::has_word;
use super::imports::lines_written_out;
use super::source::Source;

/// What has to come through the facade. `core` and `alloc` are back doors to the same things.
const PRIMITIVES: [&str; 5] = ["std::sync", "core::sync", "alloc::sync", "loom::", "shuttle::"];

/// The facade itself, and what is no part of the runtime. The lab and the shim's application are anybody's
/// programs; the shim itself is not.
const MAY_NAME_THEM: [&str; 5] =
    ["crates/drowse-sync/", "crates/drowse-models/", "crates/drowse-lab/", "shim/app/", "xtask/"];

/// Directories that may name them in any crate.
const OUTSIDE_DIRECTORIES: [&str; 3] = ["tests", "benches", "examples"];

/// Problems with the code that goes around the facade. Comments may name what they like, and so may tests.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let allowed = MAY_NAME_THEM.iter().any(|place| source.path.starts_with(place))
        || OUTSIDE_DIRECTORIES.iter().any(|name| source.is_under(name));
    if allowed {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (line, code) in lines_written_out(&source.code) {
        if source.in_test[line] {
            continue;
        }
        if let Some(primitive) = PRIMITIVES.iter().find(|p| has_word(&code, p)) {
            problems.push(Problem::at(
                &source.path,
                line,
                format!("`{primitive}` is named outside of crates/drowse-sync"),
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Source::new(path, text)).len()
    }

    const INSIDE: &str = "crates/drowse/src/latch.rs";

    #[test]
    fn going_around_the_facade_is_found() {
        assert_eq!(count(INSIDE, "use std::sync::Arc;\n"), 1);
        assert_eq!(count(INSIDE, "use std::{cell, sync};\n"), 1);
        assert_eq!(count(INSIDE, "use std::{\n    fmt,\n    sync::Mutex,\n};\n"), 1);
        assert_eq!(count(INSIDE, "use core::sync::atomic::fence;\n"), 1);
        assert_eq!(count(INSIDE, "fn f(a: ::std::sync::Arc<u8>) {}\n"), 1);
        assert_eq!(count(INSIDE, "fn f() { loom::thread::spawn(g); }\n"), 1);
        assert_eq!(count(INSIDE, "fn f() { shuttle::check_random(g, 9); }\n"), 1);
        assert_eq!(count("shim/rayon-core/src/lib.rs", "use std::sync::Arc;\n"), 1);
    }

    #[test]
    fn the_line_is_named() {
        let source = Source::new(INSIDE, "fn a() {}\nuse std::sync::Arc;\n");
        assert_eq!(check(&source)[0].line, 2);
    }

    #[test]
    fn the_facade_the_models_and_the_outside_may() {
        let text = "use std::sync::Arc;\n";
        for path in [
            "crates/drowse-sync/src/lib.rs",
            "crates/drowse-models/src/lib.rs",
            "crates/drowse/tests/join.rs",
            "crates/drowse/benches/join.rs",
            "crates/drowse/examples/join.rs",
            "shim/app/src/main.rs",
            "xtask/src/main.rs",
        ] {
            assert_eq!(count(path, text), 0, "{path}");
        }
        let text = format!("#[cfg(test)]\nmod tests {{\n    {text}}}\n");
        assert_eq!(count(INSIDE, &text), 0);
    }

    #[test]
    fn comments_and_other_names_are_no_matter() {
        assert_eq!(count(INSIDE, "/// See [`std::sync::Mutex`].\nfn f() {}\n"), 0);
        assert_eq!(count(INSIDE, "use drowse_sync::sync;\n#[cfg(drowse_loom)]\nfn f() {}\n"), 0);
        assert_eq!(count(INSIDE, "use heirloom::sync;\n"), 0);
    }
}
