//! Figures as people read them: three digits and a unit.

/// What to divide by, and what to write behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// What to divide by.
    pub factor: f64,
    /// What to write behind the number: `µs`, `M jobs/s`; nothing for plain numbers.
    pub unit: String,
}

/// The units of time that the schema knows, in nanoseconds.
const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

impl Scale {
    /// The scale in which this value of this unit of the schema is read best.
    #[must_use]
    pub fn of(value: f64, unit: &str) -> Self {
        let size = if value.is_finite() { value.abs() } else { 0.0 };
        if let Some(&(_, nanos)) = TIMES.iter().find(|(name, _)| *name == unit) {
            // Rounding comes first: 999.7 ns is read as 1.00 µs.
            let fits = |&&(_, in_ns): &&(&str, f64)| rounded(size * nanos / in_ns) >= 1.0;
            let (name, in_ns) = *TIMES.iter().rev().find(fits).unwrap_or(&TIMES[0]);
            // Nothing at all stays in the unit in which it came.
            let (name, in_ns) = if size == 0.0 { (unit, nanos) } else { (name, in_ns) };
            return Self {
                factor: in_ns / nanos,
                unit: if name == "us" { "µs" } else { name }.to_string(),
            };
        }
        // Neither a thousand percent nor a thousand times as fast is read better with a prefix.
        if unit == "%" || unit == "x" {
            return Self { factor: 1.0, unit: unit.to_string() };
        }
        // Millions already: what they are scaled to replaces the prefix.
        if let Some(plain) = unit.strip_prefix('M').filter(|plain| plain.starts_with('/')) {
            let plain = Self::of(value * 1e6, plain);
            return Self { factor: plain.factor / 1e6, unit: plain.unit.replace(' ', "") };
        }
        let prefixes = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
        let (prefix, factor) =
            prefixes.into_iter().find(|&(_, f)| rounded(size / f) >= 1.0).unwrap_or(("", 1.0));
        let space = if prefix.is_empty() || unit.is_empty() { "" } else { " " };
        Self { factor, unit: format!("{prefix}{space}{unit}") }
    }

    /// The number alone.
    #[must_use]
    pub fn number(&self, value: f64) -> String {
        let scaled = value / self.factor;
        match scaled.abs() {
            // Nobody means a tenth of a percent of 40 %, nor a thousandth of nearly none.
            size if self.unit == "%" && size >= 9.995 => format!("{scaled:.0}"),
            size if self.unit == "%" && size >= 0.005 => format!("{scaled:.2}"),
            size if self.unit == "%" && size < 0.005 => "0".to_string(),
            _ => number(scaled),
        }
    }

    /// The number and its unit.
    #[must_use]
    pub fn figure(&self, value: f64) -> String {
        self.with_unit(self.number(value))
    }

    /// From one number to another, and their unit.
    fn range(&self, low: f64, high: f64) -> String {
        let (low, high) = (self.number(low), self.number(high));
        self.with_unit(if low == high { low } else { format!("{low} to {high}") })
    }

    /// This text and the unit.
    #[must_use]
    pub fn with_unit(&self, text: String) -> String {
        match self.unit.as_str() {
            // As ratios are written.
            "" | "x" => text + &self.unit,
            unit => format!("{text} {unit}"),
        }
    }
}

/// To three significant digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 10_f64.powi(2 - value.abs().log10().floor() as i32);
    (value * digits).round() / digits
}

/// A plain number with three significant digits, without a unit: `4.21`, `63.0`, `1250`; what is
/// not a number is a dash.
#[must_use]
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_string();
    }
    let value = rounded(value);
    if value == 0.0 {
        return "0".to_string();
    }
    let before_point = value.abs().log10().floor() as i32 + 1;
    // Smaller than any clock can see: as nothing, rather than as a row of zeros.
    if before_point < -5 {
        return "0".to_string();
    }
    format!("{value:.*}", (3 - before_point).clamp(0, 8) as usize)
}

/// A figure of this unit of the schema: `4.21 ns`, `1.03 ms`, `28 %`, `63.0 M jobs/s`.
#[must_use]
pub fn figure(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return number(value);
    }
    Scale::of(value, unit).figure(value)
}

/// From one figure to another, in the unit of the larger one: `4.08 to 4.30 ns`.
#[must_use]
pub fn range(low: f64, high: f64, unit: &str) -> String {
    let larger = if high.is_finite() { high } else { low };
    Scale::of(larger, unit).range(low, high)
}

/// From one figure to another, in the unit in which the figure beside them is read: `54.2 to 1000
/// µs`, beside 85.2 µs.
#[must_use]
pub fn range_beside(figure: f64, low: f64, high: f64, unit: &str) -> String {
    if figure == 0.0 && high != 0.0 {
        // Nothing is read in any unit.
        return range(low, high, unit);
    }
    Scale::of(figure, unit).range(low, high)
}

/// How many times as much: `0.62x`, `7.40x`, `31x`, `1200x`.
#[must_use]
pub fn ratio(value: f64) -> String {
    if !value.is_finite() {
        return number(value);
    }
    let digits = if value.abs() < 9.995 { 2 } else { 0_i32 };
    // Below a tenth, two digits behind the point say too little.
    let digits = if (0.0001..0.1).contains(&value.abs()) {
        1 - value.abs().log10().floor() as i32
    } else {
        digits
    };
    if value != 0.0 && value.abs() < 0.0001 {
        format!("{value:.0e}x")
    } else {
        format!("{value:.*}x", digits as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_scaled() {
        assert_eq!(figure(4.2139, "ns"), "4.21 ns");
        assert_eq!(figure(1_030_000.0, "ns"), "1.03 ms");
        assert_eq!(figure(12.34, "us"), "12.3 µs");
        assert_eq!(figure(0.25, "us"), "250 ns");
        assert_eq!(figure(2_500.0, "ms"), "2.50 s");
        assert_eq!(figure(12_500_000.0, "ms"), "12500 s");
        assert_eq!(figure(0.012, "ns"), "0.0120 ns");
    }

    #[test]
    fn rounding_does_not_leave_a_thousand() {
        assert_eq!(figure(999.4, "ns"), "999 ns");
        assert_eq!(figure(999.7, "ns"), "1.00 µs");
        assert_eq!(figure(999_999.0, "jobs/s"), "1.00 M jobs/s");
    }

    #[test]
    fn rates_percentages_and_plain_numbers() {
        assert_eq!(figure(63_000_000.0, "jobs/s"), "63.0 M jobs/s");
        assert_eq!(figure(420.0, "jobs/s"), "420 jobs/s");
        assert_eq!(figure(28.04, "%"), "28 %");
        assert_eq!(figure(187.6, "%"), "188 %");
        assert_eq!(figure(0.314, "%"), "0.31 %");
        assert_eq!(figure(0.004, "%"), "0 %");
        assert_eq!(figure(3.2, ""), "3.20");
        assert_eq!(figure(1.94, "x"), "1.94x");
        assert_eq!(figure(1_940.0, "x"), "1940x");
        assert_eq!(figure(12.3, "M/s"), "12.3 M/s");
        assert_eq!(figure(0.041, "M/s"), "41.0 k/s");
        assert_eq!(figure(2_100.0, "M/s"), "2.10 G/s");
        assert_eq!(figure(51.0, "/s"), "51.0 /s");
        assert_eq!(figure(15_000.0, ""), "15.0 k");
    }

    #[test]
    fn edges() {
        assert_eq!(figure(0.0, "ns"), "0 ns");
        assert_eq!(figure(0.0, "ms"), "0 ms");
        assert_eq!(figure(-4.2, "us"), "-4.20 µs");
        assert_eq!(figure(1e-9, "%"), "0 %");
        assert_eq!(figure(f64::NAN, "ns"), "–");
        assert_eq!(figure(f64::INFINITY, "%"), "–");
    }

    #[test]
    fn ranges_share_a_unit() {
        assert_eq!(range(4.08, 4.3, "ns"), "4.08 to 4.30 ns");
        assert_eq!(range(900.0, 1_100.0, "ns"), "0.900 to 1.10 µs");
        assert_eq!(range(4.0, 4.0, "ns"), "4.00 ns");
        assert_eq!(range(0.0, 0.0, "%"), "0 %");
        assert_eq!(range(5.0, f64::NAN, "ns"), "5.00 to – ns");
    }

    #[test]
    fn an_interval_has_the_unit_of_its_median() {
        assert_eq!(range_beside(85.2, 54.2, 1_000.0, "us"), "54.2 to 1000 µs");
        assert_eq!(range_beside(1.02, 0.9, 1.1, "us"), "0.900 to 1.10 µs");
        assert_eq!(range_beside(1_200.0, 800.0, 1_300.0, "/s"), "0.800 to 1.30 k /s");
        assert_eq!(range_beside(0.0, 0.0, 2_500.0, "us"), "0 to 2.50 ms");
        assert_eq!(range_beside(0.0, -3.0, 0.0, "us"), "-3.00 to 0 µs");
        assert_eq!(range_beside(0.0, 0.0, 0.0, "%"), "0 %");
        assert_eq!(range_beside(0.0, 0.0, f64::NAN, "ns"), "0 to – ns");
    }

    #[test]
    fn ratios() {
        assert_eq!(ratio(0.624), "0.62x");
        assert_eq!(ratio(7.4), "7.40x");
        assert_eq!(ratio(31.4), "31x");
        assert_eq!(ratio(0.0042), "0.0042x");
        assert_eq!(ratio(0.000_041), "4e-5x");
        assert_eq!(ratio(0.0), "0.00x");
        assert_eq!(ratio(f64::NAN), "–");
    }
}
