//! Reads the budgets of `xtask/size-budget.txt` and compares figures with them.

use std::collections::BTreeMap;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes on the drop-in.
    Bytes,
    /// The drop-in's bytes, over rayon-core's.
    SizeRatio,
    /// The drop-in's CPU time, over rayon-core's. It varies from run to run, so its budget is
    /// generous.
    TimeRatio,
}

/// A measured value that has a budget.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Its name in the file.
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
    /// The values it was computed from, for messages.
    pub(crate) of: String,
}

/// The contents of the budget file.
#[derive(Debug, PartialEq)]
pub(crate) struct Budgets {
    /// The compiler that the figures were measured with, as `1.95.0`.
    compiler: String,
    limits: BTreeMap<String, f64>,
}

/// The result of comparing a figure with its budget.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Within,
    /// So far below the budget that it can be lowered, with a message.
    FarBelow(String),
    /// Above the budget, or without one, with a message.
    Above(String),
}

impl Budgets {
    /// Reads the file's text: a name and a number in each line, or a comment after `#`. The error
    /// names the line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut compiler = None;
        let mut limits = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> =
                line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let is_new = match words[..] {
                [] => true,
                ["compiler", version] => compiler.replace(version.to_string()).is_none(),
                [name, limit] => match limit.parse::<f64>() {
                    Ok(limit) if limit > 0.0 && limit.is_finite() => {
                        limits.insert(name.to_string(), limit).is_none()
                    }
                    _ => return Err(format!("line {number}: `{limit}` is no budget")),
                },
                _ => return Err(format!("line {number}: it is not a name and a number")),
            };
            if !is_new {
                return Err(format!("line {number}: `{}` was there before", words[0]));
            }
        }
        Ok(Self { compiler: compiler.ok_or("no line names the compiler")?, limits })
    }

    /// Returns the names in the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.limits.keys().map(String::as_str)
    }

    /// Compares a figure with its budget. `compiler` is the one in use.
    pub(crate) fn judge(&self, figure: &Figure, compiler: &str) -> Verdict {
        let Figure { name, unit, value, of } = figure;
        let line = format!("{name} {}", unit.show(*value * unit.room()));
        let Some(limit) = self.limits.get(name).copied() else {
            return Verdict::Above(format!("{name} has no budget in {FILE}: add `{line}`"));
        };
        let (shown, allowed) = (unit.show(*value), unit.show(limit));
        if *value > limit {
            let other = match *compiler == self.compiler {
                true => String::new(),
                false => {
                    format!(
                        "; the budget was measured with rustc {}, this is {compiler}",
                        self.compiler
                    )
                }
            };
            return Verdict::Above(format!(
                "{name} is {shown} ({of}), the budget is {allowed}{other}: `cargo xtask size --groups` shows which \
                 functions are large; if they are worth it, raise the budget in {FILE} and say why"
            ));
        }
        if *value < limit * unit.far_below() {
            return Verdict::FarBelow(format!(
                "{name} is {shown}, the budget is {allowed}: lower it in {FILE} to `{line}`"
            ));
        }
        Verdict::Within
    }
}

/// The path of the budget file in the repository.
pub(crate) const FILE: &str = "xtask/size-budget.txt";

impl Unit {
    /// Formats a value of this unit as in the file.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Bytes => format!("{value:.0}"),
            Self::SizeRatio => format!("{value:.3}"),
            Self::TimeRatio => format!("{value:.1}"),
        }
    }

    /// Returns how many times a measured figure its budget is.
    fn room(self) -> f64 {
        match self {
            Self::Bytes | Self::SizeRatio => 1.02,
            Self::TimeRatio => 1.5,
        }
    }

    /// Returns the part of its budget below which a figure's budget can be lowered.
    fn far_below(self) -> f64 {
        match self {
            Self::Bytes | Self::SizeRatio => 0.97,
            Self::TimeRatio => 0.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# About.\n\ncompiler 1.95.0\ntext/a 1.5 # 1.47\nsite/join 2000\ncpu/a 3\n";

    fn judge(name: &str, unit: Unit, value: f64) -> Verdict {
        let figure = Figure { name: name.to_string(), unit, value, of: "3 over 2".to_string() };
        Budgets::parse(TEXT).unwrap().judge(&figure, "1.96.0")
    }

    #[test]
    fn the_file_is_names_and_numbers() {
        let budgets = Budgets::parse(TEXT).unwrap();
        assert_eq!(budgets.compiler, "1.95.0");
        assert_eq!(budgets.names().collect::<Vec<_>>(), ["cpu/a", "site/join", "text/a"]);
        for (text, error) in [
            ("a 1\na 2\n", "line 2: `a` was there before"),
            ("compiler 1\ncompiler 1\n", "line 2: `compiler` was there before"),
            ("a much\n", "line 1: `much` is no budget"),
            ("a -1\n", "line 1: `-1` is no budget"),
            ("a NaN\n", "line 1: `NaN` is no budget"),
            ("\na\n", "line 2: it is not a name and a number"),
            ("a 1 2\n", "line 1: it is not a name and a number"),
            ("a 1\n", "no line names the compiler"),
        ] {
            assert_eq!(Budgets::parse(text), Err(error.to_string()), "{text}");
        }
    }

    #[test]
    fn the_file_in_the_repository_is_sound() {
        let budgets = Budgets::parse(include_str!("../../size-budget.txt")).unwrap();
        assert!(budgets.names().count() > 0);
    }

    #[test]
    fn a_figure_is_within_its_budget_or_above_or_far_below() {
        assert_eq!(judge("text/a", Unit::SizeRatio, 1.5), Verdict::Within);
        assert_eq!(judge("site/join", Unit::Bytes, 1940.0), Verdict::Within);
        assert_eq!(judge("cpu/a", Unit::TimeRatio, 1.6), Verdict::Within);
        let Verdict::FarBelow(words) = judge("site/join", Unit::Bytes, 1900.0) else {
            panic!("not far below")
        };
        assert!(words.ends_with("to `site/join 1938`"), "{words}");
        let Verdict::Above(words) = judge("text/a", Unit::SizeRatio, 1.6) else {
            panic!("not above")
        };
        let start = "text/a is 1.600 (3 over 2), the budget is 1.500; \
                     the budget was measured with rustc 1.95.0, this is 1.96.0: ";
        assert!(words.starts_with(start), "{words}");
        let Verdict::Above(words) = judge("new", Unit::TimeRatio, 2.0) else {
            panic!("it has no budget")
        };
        assert!(words.ends_with("add `new 3.0`"), "{words}");
    }
}
