//! Words in code: the small change of the rules.

/// Whether a character can be a part of an identifier.
pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `needle` stands in `text` with no identifier running on into its ends.
pub(crate) fn has_word(text: &str, needle: &str) -> bool {
    word_starts(text, needle).next().is_some()
}

/// Where `needle` stands in `text` with no identifier running on into its ends.
pub(crate) fn word_starts<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bound_start = needle.starts_with(is_word_char);
    let bound_end = needle.ends_with(is_word_char);
    text.match_indices(needle).map(|(start, _)| start).filter(move |start| {
        let before = text[..*start].chars().next_back();
        let after = text[start + needle.len()..].chars().next();
        let runs_in = bound_start && before.is_some_and(is_word_char);
        let runs_on = bound_end && after.is_some_and(is_word_char);
        !runs_in && !runs_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_identifiers_do() {
        assert!(has_word("x.load(Acquire)", "Acquire"));
        assert!(!has_word("fn Acquired()", "Acquire"));
        assert!(!has_word("fn tryAcquire()", "Acquire"));
        assert!(has_word("loom::thread", "loom::"));
        assert!(!has_word("bloom::thread", "loom::"));
        assert!(has_word("a::std::sync", "std::sync"));
    }
}
