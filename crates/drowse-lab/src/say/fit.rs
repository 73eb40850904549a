//! Lines that fit a terminal.

/// The columns of the terminal that everything fits.
pub const COLUMNS: usize = 80;

/// The text with its long lines broken between words. What follows a break stands under the last
/// column of its line, where that has columns, which are two spaces apart, and else two places
/// further in than its line. Longer words stay whole.
#[must_use]
pub fn fitted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        fit(&mut out, line);
    }
    out
}

fn fit(out: &mut String, line: &str) {
    let indent = hang(line);
    let mut rest = line.to_owned();
    while let Some((head, tail)) = split(&rest, indent) {
        out.push_str(head.trim_end());
        out.push('\n');
        rest = format!("{:indent$}{}", "", tail.trim_start());
    }
    out.push_str(&rest);
}

/// Where to break the line, if it is too long and can be broken: at the last space that leaves a
/// part that fits, or at the first one if there is none such. Its indent, and what stands in
/// columns before the last one, is not broken.
fn split(line: &str, indent: usize) -> Option<(&str, &str)> {
    let (mut column, mut at) = (0, None);
    let mut escape = false;
    for (place, c) in line.char_indices() {
        if c == ' ' && column > indent && (at.is_none() || column <= COLUMNS) {
            at = Some(place);
        }
        // What colours a terminal takes no place on it.
        escape |= c == '\u{1b}';
        column += usize::from(!escape);
        escape &= c != 'm';
    }
    at.filter(|_| column > COLUMNS).map(|place| line.split_at(place))
}

/// The column at which to go on. The last column of a line leaves room to read: half of the
/// terminal at least.
fn hang(line: &str) -> usize {
    let plain = plain(line);
    let first = plain.len() - plain.trim_start().len();
    let under = plain.rfind("  ").map(|gap| plain[..gap + 2].chars().count());
    under.filter(|&under| under > first && under <= COLUMNS / 2).unwrap_or(first + 2)
}

/// The line without what colours it.
fn plain(line: &str) -> String {
    let mut escape = false;
    let mut shown = |c: char| {
        escape |= c == '\u{1b}';
        let shown = !escape;
        escape &= c != 'm';
        shown
    };
    line.chars().filter(|&c| shown(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widest(text: &str) -> usize {
        text.lines().map(|line| plain(line).chars().count()).max().unwrap_or(0)
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        for text in ["", "a line", "one\n\n  two  columns\n", &"x".repeat(80), &"µ".repeat(80)] {
            assert_eq!(fitted(text), text);
        }
    }

    #[test]
    fn long_lines_go_on_further_in() {
        let text = fitted(&format!("Note: {}", "word ".repeat(40)));
        assert!(widest(&text) <= COLUMNS && text.lines().count() == 3, "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word word")), "{text}");
        assert!(
            text.lines().all(|line| line.trim_end() == line || line.ends_with("word ")),
            "{text}"
        );
    }

    #[test]
    fn columns_go_on_under_the_last_one() {
        let text = fitted(&format!("  name      {}", "word ".repeat(30).trim_end()));
        assert!(widest(&text) <= COLUMNS, "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("            word")), "{text}");
        let late = fitted(&format!("  {}  {}", "n".repeat(50), "word ".repeat(30).trim_end()));
        assert!(late.lines().skip(1).all(|line| line.starts_with("    word")), "{late}");
    }

    #[test]
    fn long_words_stay_whole() {
        let path = "a/".repeat(60);
        assert_eq!(fitted(&path), path);
        assert_eq!(
            fitted(&format!("Page: {path} and more")),
            format!("Page:\n  {path}\n  and more")
        );
    }

    #[test]
    fn colours_take_no_place() {
        let red = format!("\u{1b}[31m{}\u{1b}[0m", "red ".repeat(19));
        assert_eq!(fitted(&red), red);
        let long =
            fitted(&format!("\u{1b}[1m  --name\u{1b}[0m  {}", "word ".repeat(30).trim_end()));
        assert!(widest(&long) <= COLUMNS, "{long}");
        assert!(long.lines().skip(1).all(|line| line.starts_with("          word")), "{long}");
    }
}
