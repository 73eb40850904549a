//! Rules for plain text: sizes, white space, words and paths that have no place here.

use super::Problem;
use super::code::{has_word, is_word_char};

/// The longest Rust file.
const MOST_LINES: usize = 420;

/// What must not be in a Rust file, comments included. Put together from parts, so that this file passes.
const FORBIDDEN: [&str; 7] = [
    concat!("unimplement", "ed!"),
    concat!("to", "do!("),
    concat!("#[", "ignore"),
    concat!("FIX", "ME"),
    concat!("TO", "DO"),
    concat!("XX", "X"),
    concat!("db", "g!"),
];

/// Directories of one machine that must be named nowhere.
const LOCAL_PATHS: [&str; 3] = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "tmp/")];

/// The kinds of file whose white space is ours to keep in order.
const WRITTEN_BY_HAND: [&str; 10] = ["rs", "toml", "md", "sh", "yml", "yaml", "json", "py", "pml", "c"];

/// Problems with the text of a file of any kind.
pub(crate) fn check(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    if extension == "rs" {
        length(path, text, &mut problems);
    }
    for (line, content) in text.lines().enumerate() {
        let mut report = |what: String| problems.push(Problem::at(path, line, what));
        if WRITTEN_BY_HAND.contains(&extension) {
            if content.contains('\t') {
                report("a tab".to_string());
            }
            if content.ends_with(char::is_whitespace) {
                report("trailing whitespace".to_string());
            }
        }
        if extension == "rs" {
            for word in FORBIDDEN.iter().filter(|word| has_word(content, word)) {
                report(format!("`{word}`"));
            }
        }
        for local in LOCAL_PATHS.iter().filter(|local| has_path(content, local)) {
            report(format!("`{local}` is a path of one machine"));
        }
    }
    problems
}

fn length(path: &str, text: &str, problems: &mut Vec<Problem>) {
    let lines = text.lines().count();
    if lines > MOST_LINES {
        let what = format!("{lines} lines: {MOST_LINES} are the most");
        problems.push(Problem::at(path, lines - 1, what));
    }
}

/// Whether the absolute path stands in the line: not as the end of a longer path or an address.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        !before.is_some_and(|c| is_word_char(c) || matches!(c, '.' | '-' | '~' | '}' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(path, text).into_iter().map(|p| p.what).collect()
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(whats("a.rs", &"\n".repeat(MOST_LINES)), [""; 0]);
        assert_eq!(whats("a.rs", &"\n".repeat(MOST_LINES + 1)), ["421 lines: 420 are the most"]);
        assert_eq!(whats("a.md", &"\n".repeat(MOST_LINES + 1)), [""; 0]);
    }

    #[test]
    fn every_forbidden_word_is_found() {
        for word in FORBIDDEN {
            for text in [format!("a {word} b\n"), format!("// {word}\n"), format!("({word})\n")] {
                assert_eq!(whats("a.rs", &text), [format!("`{word}`")]);
            }
        }
    }

    #[test]
    fn longer_words_are_not_forbidden() {
        let text = FORBIDDEN.map(|word| format!("a{}\n", word.trim_start_matches('#')));
        assert_eq!(whats("a.rs", &text.concat()), [""; 0]);
    }

    #[test]
    fn white_space_is_kept_in_order() {
        assert_eq!(whats("a.rs", "fn f() {}\n\tf();\n"), ["a tab"]);
        assert_eq!(whats("a.md", "text \n"), ["trailing whitespace"]);
        assert_eq!(whats("Makefile", "all:\n\tcargo \n"), [""; 0]);
    }

    #[test]
    fn local_paths_are_found_in_any_file() {
        for path in LOCAL_PATHS {
            for text in [format!("{path}x"), format!("cd {path}x"), format!("a=\"{path}x\"")] {
                assert_eq!(check("notes", &text).len(), 1, "{text}");
            }
            assert_eq!(check("notes", &format!("target{path}x")), []);
            assert_eq!(check("notes", &format!("https://example.org{path}x")), []);
        }
    }
}
