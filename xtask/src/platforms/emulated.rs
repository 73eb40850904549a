//! What is left out where an emulator runs the tests.

/// Tests of what qemu does not emulate: it has no seccomp, and limits and memory are those of its
/// own threads.
const NOT_EMULATED: [&str; 9] = [
    "late_fences::",
    "no_membarrier::",
    "scarcity::",
    "memory::",
    "shutdown::a_thousand_pools",
    "no_threads::the_global_pool_goes_on",
    "defer::a_short_fork_from_outside", // none is short
    "steering::a_sandbox",
    "steering::a_thread_that_cannot",
];

/// What of the conformance suite is run by an emulator, which takes minutes for each protocol, and
/// orders memory as the machine does: the default one. `--full` runs all of them.
const EMULATED_PROTOCOL: &str = "relay";

/// Whether an emulator should run this test of this binary; or, if it is `full`, whether it can.
pub(super) fn can_run(binary: &str, test: &str, full: bool) -> bool {
    let protocol = test.split("::").next().unwrap_or_default();
    let is_quick = binary != "conformance" || protocol.contains(EMULATED_PROTOCOL);
    (full || is_quick) && !NOT_EMULATED.iter().any(|it| test.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_protocol_is_enough_unless_all_of_it_is_wanted() {
        assert!(can_run("conformance", "isolated_with_relay::inside::a_join", false));
        assert!(!can_run("conformance", "jec::inside::a_join", false));
        assert!(can_run("conformance", "jec::inside::a_join", true));
        assert!(can_run("join", "basics::a_join", false));
        assert!(!can_run("process", "scarcity::no_more_threads", true));
    }
}
