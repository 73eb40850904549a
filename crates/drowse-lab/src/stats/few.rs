//! How much further out the ends of an interval must be that rests on few.
//!
//! A bootstrap of a handful of values is too sure of itself, twice over: what is drawn from `n`
//! values varies less than the values do, by a factor of `sqrt((n - 1) / n)`, and it takes the
//! spread that it sees for the true one. Student's distribution makes up for the second where the
//! values are bell-shaped, and by habit elsewhere. Both together: take the ends of the interval
//! where a normal distribution has as much left as Student's has at the wanted confidence, `sqrt(n
//! / (n - 1))` further out. (Hesterberg calls it the *expanded percentile interval*.) With many it
//! changes nothing.

use std::f64::consts::TAU;

/// The share of draws to leave out at either end, of an interval that rests on `n` values and is to
/// leave out `tail` at either end.
pub(super) fn expanded_tail(tail: f64, n: usize) -> f64 {
    if n < 2 || tail <= 0.0 || tail >= 0.5 {
        return tail;
    }
    let freedom = (n - 1) as f64;
    let wanted = student_quantile(tail, freedom) * (n as f64 / freedom).sqrt();
    normal_tail(wanted)
}

/// What Student's distribution of so many degrees of freedom exceeds with probability `tail`.
fn student_quantile(tail: f64, freedom: f64) -> f64 {
    if freedom < 2.0 {
        return 1.0 / (TAU / 2.0 * tail).tan();
    }
    if freedom < 3.0 {
        let p = 1.0 - 2.0 * tail;
        return p * (2.0 / (1.0 - p * p)).sqrt();
    }
    // The expansion of Cornish and Fisher, near enough from three degrees on.
    let z = normal_quantile(tail);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * freedom.powi(3))
}

/// What a normal distribution exceeds with probability `tail`, below one half. (Abramowitz and
/// Stegun, 26.2.23.)
fn normal_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let over = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let under = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - over / under
}

/// The probability that a normal distribution exceeds `z`, at least zero. (Abramowitz and Stegun,
/// 26.2.17.)
fn normal_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = 0.319_381_530
        + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429)));
    (-z * z / 2.0).exp() / TAU.sqrt() * t * series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance * expected, "{value}, not {expected}");
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        assert_near(normal_quantile(0.025), 1.960, 0.001);
        assert_near(normal_tail(1.96), 0.025, 0.001);
        for (freedom, expected) in
            [(1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (6.0, 2.447), (30.0, 2.042)]
        {
            assert_near(student_quantile(0.025, freedom), expected, 0.02);
        }
        assert_near(student_quantile(0.000_5, 6.0), 5.959, 0.05);
    }

    #[test]
    fn few_reach_further_out_and_many_do_not() {
        // 2.447 * sqrt(7 / 6) = 2.643, beyond which a normal distribution has 0.41 %.
        assert_near(expanded_tail(0.025, 7), 0.004_1, 0.05);
        assert!(expanded_tail(0.025, 3) < 1e-6);
        assert_near(expanded_tail(0.025, 10_000), 0.025, 0.01);
        assert_near(expanded_tail(0.025, 1), 0.025, 1e-9);
    }
}
