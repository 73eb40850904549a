//! What pan, the verifier that spin makes of a model, reports of its search.

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// Different states that were reached.
    pub(crate) states: u64,
    /// What is wrong with the first state in which something is.
    pub(crate) complaint: Option<String>,
}

/// Reads pan's report. The error says why nothing can be concluded from it.
pub(crate) fn read(output: &str) -> Result<Search, String> {
    let errors: u64 = number_after(output, "errors: ").ok_or("pan reports no result")?;
    let states = number_before(output, " states, stored").ok_or("pan reports no number of states")?;
    // What was not searched may hold anything, whatever was found in the rest.
    for limit in ["max search depth too small", "reached -DMEMLIM bound", "out of memory"] {
        if output.contains(limit) {
            return Err(format!("the search was cut short: {limit}"));
        }
    }
    if errors > 0 {
        let complaint = complaint(output).unwrap_or_else(|| format!("{errors} errors"));
        return Ok(Search { states, complaint: Some(complaint) });
    }
    if output.contains("Search not completed") {
        return Err("the search was cut short".to_string());
    }
    Ok(Search { states, complaint: None })
}

/// The number that follows the first of this text.
fn number_after(output: &str, text: &str) -> Option<u64> {
    let (_, rest) = output.split_once(text)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The number right before the first of this text. Big ones are written with a point and a power of ten.
fn number_before(output: &str, text: &str) -> Option<u64> {
    let (before, _) = output.split_once(text)?;
    let word = before.split_whitespace().next_back()?;
    let number: f64 = word.parse().ok()?;
    // Exact for all numbers of states that fit a machine.
    (number >= 0.0).then_some(number as u64)
}

/// `pan:1: invalid end state (at depth 64)`, without what stands around it.
fn complaint(output: &str) -> Option<String> {
    let line = output.lines().find(|line| line.starts_with("pan:") && line.contains(" (at depth "))?;
    let (_, what) = line.split_once(": ")?;
    let (what, _) = what.split_once(" (at depth ")?;
    Some(what.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "(Spin Version 6.5.2 -- 6 December 2019)\n\t+ Partial Order Reduction\n\n\
        Full statespace search for:\n\tnever claim         \t- (not selected)\n\tassertion violations\t+\n\n\
        State-vector 52 byte, depth reached 255, errors: 0\n   231643 states, stored\n   332083 states, matched\n";

    const BAD: &str = "pan:1: assertion violated ((sleeping==0)&&(inactive==0)) (at depth 97)\n\
        pan: wrote jec.pml.trail\n\nWarning: Search not completed\n\n\
        State-vector 52 byte, depth reached 97, errors: 1\n      240 states, stored\n";

    #[test]
    fn a_search_without_errors_counts_its_states() {
        assert_eq!(read(GOOD), Ok(Search { states: 231_643, complaint: None }));
        let many = GOOD.replace("231643 states, stored", "7.7083704e+08 states, stored");
        assert_eq!(read(&many), Ok(Search { states: 770_837_040, complaint: None }));
    }

    #[test]
    fn an_error_is_named() {
        let complaint = Some("assertion violated ((sleeping==0)&&(inactive==0))".to_string());
        assert_eq!(read(BAD), Ok(Search { states: 240, complaint }));
    }

    #[test]
    fn a_search_that_was_cut_short_proves_nothing() {
        let shallow = format!("error: max search depth too small\n{GOOD}");
        assert!(read(&shallow).unwrap_err().contains("max search depth too small"));
        let big = format!("pan: reached -DMEMLIM bound\n\nWarning: Search not completed\n{GOOD}");
        assert!(read(&big).unwrap_err().contains("MEMLIM"));
        assert!(read(&format!("Warning: Search not completed\n{GOOD}")).is_err());
        assert!(read("").is_err());
    }
}
