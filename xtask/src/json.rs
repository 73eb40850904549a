//! As much of JSON as cargo's messages need: strings, found by the key before them.

/// The JSON string right after the key. `None` if there is something else, such as `null`.
pub(crate) fn string_after(text: &str, key: &str) -> Option<String> {
    let (_, value) = text.split_once(key)?;
    let mut rest = value.strip_prefix('"')?.chars();
    let mut string = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(string),
            // Paths hold no other escapes than backslashes and quotes.
            '\\' => string.push(rest.next()?),
            c => string.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_paths_are_read() {
        let text = r#""executable":"C:\\deps\\a \"b\".exe","fresh":true"#;
        assert_eq!(string_after(text, r#""executable":"#).unwrap(), r#"C:\deps\a "b".exe"#);
    }
}
