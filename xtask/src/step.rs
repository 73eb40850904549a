//! The steps, their names and order.

use crate::context::Context;
use crate::models::Backend;
use crate::outcome::Outcome;
use crate::{browser, models, mutants, sanitize, steps, tidy, upstream};

/// One thing that can be checked, alone or as a part of `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Formatting.
    Fmt,
    /// Lints, of the models too.
    Clippy,
    /// The house rules that no tool of others knows.
    Tidy,
    /// The documentation builds without a warning.
    Docs,
    /// Unit and integration tests.
    Tests,
    /// The documentation's examples.
    Doctests,
    /// The example programs.
    Examples,
    /// The lab's pages in a browser.
    Browser,
    /// Two cores do not fit into one program.
    Highlander,
    /// Programs with old lock files get the shim too.
    Locks,
    /// rayon's own tests, on our core.
    Upstream,
    /// The models under loom.
    Loom,
    /// The models under shuttle.
    Shuttle,
    /// The models under spin.
    Spin,
    /// The models fail when what they guard is removed.
    Mutants,
    /// The tests under AddressSanitizer.
    Asan,
    /// The tests under ThreadSanitizer.
    Tsan,
}

impl Step {
    /// Every step.
    pub(crate) const ALL: [Self; 17] = [
        Self::Fmt,
        Self::Clippy,
        Self::Tidy,
        Self::Docs,
        Self::Tests,
        Self::Doctests,
        Self::Examples,
        Self::Browser,
        Self::Highlander,
        Self::Locks,
        Self::Upstream,
        Self::Loom,
        Self::Shuttle,
        Self::Spin,
        Self::Mutants,
        Self::Asan,
        Self::Tsan,
    ];

    /// The steps of `test`, in order: those that need no more than a stable toolchain, or say what else they need.
    pub(crate) fn of_test() -> &'static [Self] {
        &Self::ALL[..15]
    }

    /// The step of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }

    /// The name on the command line and in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Tidy => "tidy",
            Self::Docs => "docs",
            Self::Tests => "tests",
            Self::Doctests => "doctests",
            Self::Examples => "examples",
            Self::Browser => "browser",
            Self::Highlander => "highlander",
            Self::Locks => "locks",
            Self::Upstream => "upstream",
            Self::Loom => "loom",
            Self::Shuttle => "shuttle",
            Self::Spin => "spin",
            Self::Mutants => "mutants",
            Self::Asan => "asan",
            Self::Tsan => "tsan",
        }
    }

    /// What the help says about it.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Fmt => "the code is formatted (rustfmt)",
            Self::Clippy => "no lint fires, in the models under loom and shuttle and in the shim either",
            Self::Tidy => {
                "the house rules: file sizes, forbidden words, facade, ordering comments, documented variables"
            }
            Self::Docs => "rustdoc has nothing to complain about",
            Self::Tests => "unit and integration tests (nextest, or cargo test with a watchdog)",
            Self::Doctests => "the examples in the documentation",
            Self::Examples => "every program in crates/drowse/examples ends well, and the shim's application",
            Self::Browser => {
                "the lab's pages work in Chromium, with screenshots; needs Chromium, its driver and python3"
            }
            Self::Highlander => "a program with both rayon-core and our shim does not resolve",
            Self::Locks => {
                "a program with an old lock file runs on the shim after `cargo update -p rayon-core`"
            }
            Self::Upstream => {
                "rayon's published tests on the shim, on each sleep protocol; and the shim's on rayon-core"
            }
            Self::Loom => "the models under loom (LOOM_MAX_PREEMPTIONS=3 unless set)",
            Self::Shuttle => {
                "the models under shuttle (SHUTTLE_RANDOM_SEED=4 unless set: the schedules are the same each time)"
            }
            Self::Spin => "the Promela models, every state; needs spin and gcc",
            Self::Mutants => "every listed mutant is caught by its model",
            Self::Asan => "the tests under AddressSanitizer; needs a nightly; no part of `test`",
            Self::Tsan => "the tests under ThreadSanitizer; needs the sources of std; no part of `test`",
        }
    }

    /// Whether a filter makes sense for it.
    pub(crate) fn takes_filter(self) -> bool {
        matches!(self, Self::Upstream | Self::Loom | Self::Shuttle | Self::Spin | Self::Mutants)
    }

    /// Does it.
    pub(crate) fn run(self, context: &Context) -> Outcome {
        match self {
            Self::Fmt => steps::fmt(context),
            Self::Clippy => steps::clippy(context),
            Self::Tidy => tidy::run(context),
            Self::Docs => steps::docs(context),
            Self::Tests => steps::tests(context),
            Self::Doctests => steps::doctests(context),
            Self::Examples => steps::examples(context),
            Self::Browser => browser::run(context),
            Self::Highlander => upstream::highlander(context),
            Self::Locks => upstream::old_locks(context),
            Self::Upstream => upstream::run(context),
            Self::Loom => models::run(context, Backend::Loom),
            Self::Shuttle => models::run(context, Backend::Shuttle),
            Self::Spin => models::run(context, Backend::Spin),
            Self::Mutants => mutants::run(context),
            Self::Asan => sanitize::asan(context),
            Self::Tsan => sanitize::tsan(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_has_the_steps_that_ci_runs() {
        let names: Vec<&str> = Step::of_test().iter().map(|step| step.name()).collect();
        assert_eq!(
            names.join(" "),
            "fmt clippy tidy docs tests doctests examples browser highlander locks upstream loom shuttle spin mutants"
        );
    }

    #[test]
    fn every_step_is_found_by_its_name() {
        for step in Step::ALL {
            assert_eq!(Step::named(step.name()), Some(step));
        }
        assert_eq!(Step::named("test"), None);
    }
}
