//! Text within markup.

use std::fmt::Write as _;

/// This text, safe between tags and within quoted attributes. Control characters, which no page may
/// hold, become spaces.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate: at most two digits behind the point, and none that are zero.
pub(super) fn coordinate(out: &mut String, value: f64) {
    let rounded = if value.is_finite() { (value * 100.0).round() / 100.0 } else { 0.0 };
    let _ = write!(out, "{}", if rounded == 0.0 { 0.0 } else { rounded });
}

#[cfg(test)]
mod tests {
    use super::{coordinate, escape};

    #[test]
    fn nothing_gets_out_of_a_quoted_attribute() {
        assert_eq!(escape("<a b=\"c\" d='e'>&\n"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp; ");
    }

    #[test]
    fn coordinates_are_short() {
        let short = |value| {
            let mut out = String::new();
            coordinate(&mut out, value);
            out
        };
        assert_eq!(short(1.0), "1");
        assert_eq!(short(-0.001), "0");
        assert_eq!(short(12.3456), "12.35");
        assert_eq!(short(f64::NAN), "0");
    }
}
