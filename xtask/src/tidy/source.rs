//! A Rust file with its code and its comments told apart, line by line.

use super::code::is_word_char;

/// One Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path from the repository's root.
    pub(crate) path: String,
    /// Each line with comments and the insides of literals left out.
    pub(crate) code: Vec<String>,
    /// Each line's comments, without code.
    pub(crate) comments: Vec<String>,
    /// Whether the line is inside a module or item that only tests see.
    pub(crate) in_test: Vec<bool>,
}

/// What the reader is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Code,
    LineComment,
    /// Block comments nest.
    BlockComment(usize),
    Text,
    /// Ends at a quote and this many hashes.
    RawText(usize),
}

impl Source {
    /// Reads a file's text.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let (code, comments) = split(text);
        // A file of that name is the body of a `#[cfg(test)] mod tests;`.
        let in_test = if path.ends_with("/tests.rs") { vec![true; code.len()] } else { test_lines(&code) };
        Self { path: path.to_string(), code, comments, in_test }
    }

    /// Whether the path lies in a directory of this name, at any depth.
    pub(crate) fn is_under(&self, directory: &str) -> bool {
        let mut parts = self.path.split('/');
        // The last part is the file.
        parts.next_back();
        parts.any(|part| part == directory)
    }
}

/// The code and the comments of each line.
fn split(text: &str) -> (Vec<String>, Vec<String>) {
    let mut code = Vec::new();
    let mut comments = Vec::new();
    let mut state = State::Code;
    for line in text.lines() {
        let (line_code, line_comment, end) = split_line(line, state);
        code.push(line_code);
        comments.push(line_comment);
        state = end;
    }
    (code, comments)
}

/// The code and the comments of a line that starts in this state, and the state that it ends in.
fn split_line(line: &str, mut state: State) -> (String, String, State) {
    let chars: Vec<char> = line.chars().collect();
    let at = |index: usize| chars.get(index).copied();
    let (mut code, mut comment) = (String::new(), String::new());
    let mut index = 0;
    while let Some(c) = at(index) {
        let next = at(index + 1);
        let mut consumed = 1;
        match state {
            State::Code => match (c, next) {
                ('/', Some('/')) => state = State::LineComment,
                ('/', Some('*')) => {
                    state = State::BlockComment(1);
                    consumed = 2;
                }
                ('"', _) => {
                    state = State::Text;
                    code.push('"');
                }
                ('r', _) if raw_hashes(&chars, index).is_some() => {
                    let hashes = raw_hashes(&chars, index).unwrap_or(0);
                    state = State::RawText(hashes);
                    code.push_str("r\"");
                    consumed = hashes + 2;
                }
                ('\'', _) => {
                    consumed = char_literal_len(&chars[index..]).unwrap_or(1);
                    code.push('\'');
                }
                _ => code.push(c),
            },
            State::LineComment => comment.push(c),
            State::BlockComment(depth) => match (c, next) {
                ('*', Some('/')) => {
                    consumed = 2;
                    state = if depth == 1 {
                        code.push(' ');
                        State::Code
                    } else {
                        State::BlockComment(depth - 1)
                    };
                }
                ('/', Some('*')) => {
                    consumed = 2;
                    state = State::BlockComment(depth + 1);
                }
                _ => comment.push(c),
            },
            State::Text => match c {
                '\\' => consumed = 2,
                '"' => {
                    code.push('"');
                    state = State::Code;
                }
                _ => {}
            },
            State::RawText(hashes) => {
                let closed = c == '"' && (1..=hashes).all(|offset| at(index + offset) == Some('#'));
                if closed {
                    code.push('"');
                    consumed = hashes + 1;
                    state = State::Code;
                }
            }
        }
        index += consumed;
    }
    if state == State::LineComment {
        state = State::Code;
    }
    (code, comment, state)
}

/// The hashes of the raw string that starts with the `r` here, if one does.
fn raw_hashes(chars: &[char], index: usize) -> Option<usize> {
    let before = index.checked_sub(1).and_then(|before| chars.get(before));
    // `br"` and `cr"` are raw strings too; the r of an identifier is not.
    if before.is_some_and(|c| is_word_char(*c) && !matches!(c, 'b' | 'c')) {
        return None;
    }
    let hashes = chars[index + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(index + 1 + hashes) == Some(&'"')).then_some(hashes)
}

/// The length of the character literal that starts here. `None` for a lifetime.
fn char_literal_len(chars: &[char]) -> Option<usize> {
    match chars {
        ['\'', '\\', _, rest @ ..] => rest.iter().position(|c| *c == '\'').map(|end| end + 4),
        ['\'', _, '\'', ..] => Some(3),
        _ => None,
    }
}

/// Which lines belong to an item under `#[cfg(test)]`, from the attribute to the item's end.
fn test_lines(code: &[String]) -> Vec<bool> {
    let mut marks = vec![false; code.len()];
    let mut line = 0;
    while line < code.len() {
        if is_test_attribute(&code[line]) {
            let end = item_end(code, line);
            marks[line..=end].fill(true);
            line = end;
        }
        line += 1;
    }
    marks
}

/// Whether the line holds an attribute that leaves the item to tests.
pub(crate) fn is_test_attribute(code: &str) -> bool {
    ["#[cfg(test)]", "#[cfg(all(test,", "#[cfg(any(test,"].iter().any(|attribute| code.contains(attribute))
}

/// The line on which the item that starts on line `first` ends: at its closing brace, or at its semicolon.
fn item_end(code: &[String], first: usize) -> usize {
    let mut depth = 0usize;
    for (offset, text) in code[first..].iter().enumerate() {
        for c in text.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth <= 1 => return first + offset,
                '}' => depth -= 1,
                ';' if depth == 0 => return first + offset,
                _ => {}
            }
        }
    }
    code.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(text: &str) -> Vec<String> {
        Source::new("a.rs", text).code
    }

    #[test]
    fn comments_and_code_are_told_apart() {
        let source = Source::new("a.rs", "let a = 1; // one\n/* two /* deep */\n three */ let b;\n");
        assert_eq!(source.code, ["let a = 1; ", "", "  let b;"]);
        assert_eq!(source.comments, ["/ one", " two  deep ", " three "]);
    }

    #[test]
    fn the_insides_of_literals_are_no_code() {
        assert_eq!(code_of(r#"f("a // b\" c", 'x', '"', '\'', b"d");"#), [r#"f("", ', ', ', b"");"#]);
        assert_eq!(code_of("f(r#\"a \" // b\"#, br\"c\\\"); g"), ["f(r\"\", br\"\"); g"]);
        assert_eq!(code_of("f(\"a\n b // c\n\"); g"), ["f(\"", "", "\"); g"]);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        assert_eq!(code_of("fn f<'a>(r#type: &'a str) {}"), ["fn f<'a>(r#type: &'a str) {}"]);
        assert_eq!(code_of("for\"\""), ["for\"\""]);
    }

    #[test]
    fn test_modules_are_marked_to_their_end() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { }\n}\nfn c() {}\n";
        let marks = Source::new("a.rs", text).in_test;
        assert_eq!(marks, [false, true, true, true, true, false]);
        let text = "#[cfg(all(test, unix))]\nmod tests;\nfn c() {}\n#[cfg(not(test))]\nfn d() {}\n";
        let marks = Source::new("a.rs", text).in_test;
        assert_eq!(marks, [true, true, false, false, false]);
    }

    #[test]
    fn directories_are_found_in_paths() {
        let source = Source::new("crates/drowse/tests/tests.rs", "");
        assert!(source.is_under("tests"));
        assert!(source.is_under("drowse"));
        assert!(!source.is_under("tests.rs"));
    }
}
