//! What else the machine was doing.

use std::fs;

/// CPU time that passed on the whole machine, and what of it was ours, in the system's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticks {
    /// All processors, busy or not.
    total: u64,
    /// Busy, or taken away by the host of a virtual machine.
    busy: u64,
    /// This process and the children that it has waited for.
    ours: u64,
}

/// Above this part of the machine, others are felt.
const FELT: f64 = 0.10;
/// A tick is a hundredth of a second: with fewer than this there is nothing to see.
const FEWEST: u64 = 3;

impl Ticks {
    /// Now. None where the system does not tell.
    pub(super) fn now() -> Option<Self> {
        let (stat, own) =
            (fs::read_to_string("/proc/stat").ok()?, fs::read_to_string("/proc/self/stat").ok()?);
        Self::parse(&stat, &own)
    }

    fn parse(stat: &str, own: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let times: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // user, nice, system, idle, waiting for a disk, interrupts (two kinds), stolen; what
        // follows is part of user.
        let [user, nice, system, idle, waiting, hard, soft, stolen] =
            *times.get(..8)?.first_chunk()?;
        let busy = user + nice + system + hard + soft + stolen;
        // The name, in brackets, may have anything in it. After it: state, then numbers.
        let after: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
        let ours =
            after.get(11..15)?.iter().map(|word| word.parse::<u64>().ok()).sum::<Option<u64>>()?;
        Some(Self { total: busy + idle + waiting, busy, ours })
    }

    /// The part of the machine, from 0 to 1, that others used since `earlier`.
    pub(super) fn others_since(&self, earlier: &Self) -> f64 {
        let total = self.total.saturating_sub(earlier.total);
        let busy = self.busy.saturating_sub(earlier.busy);
        let others = busy.saturating_sub(self.ours.saturating_sub(earlier.ours));
        if total < FEWEST || others < FEWEST { 0.0 } else { others as f64 / total as f64 }
    }

    /// Whether others were felt between two moments. Where the system does not tell: no.
    pub(super) fn noisy(before: Option<Self>, after: Option<Self>) -> bool {
        before.zip(after).is_some_and(|(before, after)| after.others_since(&before) > FELT)
    }
}

/// The load average of the last minute; zero where the system does not tell.
pub(super) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(busy: u64, idle: u64, ours: u64) -> Ticks {
        let stat = format!("cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 2 3\n");
        let own = format!("7 (a (b) c) S 1 7 7 0 -1 4194560 1 2 3 4 {ours} 0 0 0 20 0 1 0 99\n");
        Ticks::parse(&stat, &own).unwrap()
    }

    #[test]
    fn what_is_not_ours_is_others() {
        let (before, after) = (ticks(1_000, 1_000, 500), ticks(1_150, 1_050, 600));
        assert_eq!(after.others_since(&before), 50.0 / 200.0);
        assert!(Ticks::noisy(Some(before), Some(after)));
        assert!(!Ticks::noisy(Some(before), Some(ticks(1_110, 1_090, 600))));
        assert!(!Ticks::noisy(None, Some(after)));
    }

    #[test]
    fn a_tick_or_two_is_nothing() {
        assert!(!Ticks::noisy(Some(ticks(10, 10, 0)), Some(ticks(12, 10, 0))));
        assert!(!Ticks::noisy(Some(ticks(10, 10, 0)), Some(ticks(10, 10, 0))));
    }

    #[test]
    fn other_systems_do_not_tell() {
        assert_eq!(Ticks::parse("", ""), None);
        assert_eq!(Ticks::parse("cpu  1 2 3\n", "1 (x) S"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_system_tells() {
        assert!(Ticks::now().is_some_and(|ticks| ticks.total >= ticks.busy));
    }
}
