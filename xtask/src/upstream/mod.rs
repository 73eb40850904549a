//! rayon's own tests, on our core. Nothing of them is kept here: cargo fetches what rayon has published, and it is
//! built unchanged, in a workspace whose `rayon-core` is the shim.
//!
//! Whatever the shim promises in rayon's name is tried on rayon's own core as well, so that our tests of it cannot
//! drift from what they are about.

mod files;
mod highlander;
mod metadata;
mod old_locks;
mod patched;
mod published;
mod suite;

use crate::context::{Context, shout};
use crate::outcome::{Outcome, counted, seconds};
pub(crate) use highlander::highlander;
pub(crate) use old_locks::old_locks;
use patched::Patched;
use published::Published;
use suite::Suite;

/// The rayon whose tests are run. It wants a core of at least [`CORE`].
const RAYON: &str = "1.12.0";

/// The rayon-core that the shim stands in for.
const CORE: &str = "1.13.0";

/// The sleep protocols, by the names that `DROWSE_SLEEP` knows. The first is the default.
pub(crate) const PROTOCOLS: [&str; 3] = ["jec", "sleepy", "counters"];

/// What is said where there is no way to rayon's sources.
const UNREACHABLE: &str = "rayon's published sources are not to be had";

/// Runs the published tests of rayon and rayon-core on the shim, and the shim's on rayon-core.
pub(crate) fn run(context: &Context) -> Outcome {
    let protocols: Vec<&str> = PROTOCOLS.into_iter().filter(|protocol| context.wants(protocol)).collect();
    if protocols.is_empty() {
        return Outcome::wrong_call(format!("the sleep protocols are {}", PROTOCOLS.join(", ")));
    }
    let published = match Published::find(context) {
        Ok(published) => published,
        Err(why) => return Outcome::failed(why),
    };
    let Some(published) = published else {
        shout(&format!("{UNREACHABLE}: its tests are not run on the shim. They need cargo's registry."));
        return Outcome::skipped(UNREACHABLE);
    };
    let patched = match Patched::make(context, &published) {
        Ok(patched) => patched,
        Err(why) => return Outcome::failed(why),
    };
    if let Err(why) = patched.build(context).and_then(|()| published.build(context)) {
        return Outcome::failed(why);
    }
    let mut run = Run { context, passed: Vec::new(), failed: Vec::new(), report: Vec::new() };
    for protocol in protocols {
        let chosen = context.filter().is_some();
        let whole = context.full() && (chosen || protocol == PROTOCOLS[0]);
        let rayon =
            run.part(&format!("rayon {RAYON} on {protocol}"), patched.rayon(context, protocol, whole));
        let core = run.part(&format!("rayon-core {CORE} on {protocol}"), patched.core(context, protocol));
        let mut passed = format!("{rayon} + {core} tests");
        if whole || (!chosen && protocol == PROTOCOLS[0]) {
            let doctests =
                run.part(&format!("rayon's doctests on {protocol}"), patched.doctests(context, protocol));
            passed += &format!(", {}", counted(doctests, "doctest"));
        }
        run.passed.push(format!("{passed} on {protocol}"));
    }
    let ours = run.part("the shim's on rayon-core itself", published.our_tests(context));
    run.passed.push(format!("{ours} of ours on rayon-core itself"));
    run.outcome()
}

/// What came of the parts so far.
#[derive(Debug)]
struct Run<'a> {
    context: &'a Context,
    passed: Vec<String>,
    failed: Vec<String>,
    report: Vec<String>,
}

impl Run<'_> {
    /// Runs a suite and notes how it went. Returns how many of its tests passed.
    fn part(&mut self, name: &str, suite: Suite) -> usize {
        match suite.run(self.context) {
            Ok((passed, took)) => {
                self.report.push(format!("  {name}: ok in {}, {}", seconds(took), counted(passed, "test")));
                passed
            }
            Err(why) => {
                self.report.push(format!("  {name}: FAILED: {why}"));
                self.failed.push(format!("{name}: {why}"));
                0
            }
        }
    }

    fn outcome(self) -> Outcome {
        let detail = if self.failed.is_empty() {
            format!("rayon and its core: {}", self.passed.join("; "))
        } else {
            self.failed.join("; ")
        };
        Outcome::by_failures(self.failed.len(), detail).with_report(self.report)
    }
}
