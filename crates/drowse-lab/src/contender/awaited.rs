//! The contenders that run only workloads in which jobs are awaited. The default build has none of
//! them.

use super::{Can, Reason};

/// A contender that runs only workloads in which jobs are awaited.
#[derive(Debug, Clone, Copy)]
pub struct Awaited {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its description, in a sentence.
    pub about: &'static str,
    /// The workloads that it runs.
    pub workloads: &'static [&'static str],
}

/// All of them, whether or not this build has them.
pub const AWAITED: [Awaited; 3] = [
    Awaited {
        name: "tokio",
        about: "tokio 1: jobs by spawn_blocking, futures by spawn",
        workloads: &["idle", "await_job", "ping_pong", "yield_storm"],
    },
    Awaited {
        name: "tokio-rayon",
        about: "tokio-rayon 2: rayon's pool, awaited through a channel of tokio's",
        workloads: &["idle", "await_job"],
    },
    Awaited {
        name: "async-executor",
        about: "async-executor 1, run by some threads; a job is a future that is ready",
        workloads: &["idle", "await_job", "ping_pong", "yield_storm"],
    },
];

/// Why a contender or a workload is missing, and how to get it.
pub(crate) const NOT_BUILT: Reason =
    "not in this build: `cargo run --release --features awaited -- ...` builds it";

/// Whether this build has these contenders.
pub(crate) const ARE_BUILT: Can = if cfg!(feature = "awaited") { Ok(()) } else { Err(NOT_BUILT) };

/// Returns those that this build does not have.
pub fn absent() -> &'static [Awaited] {
    if ARE_BUILT.is_ok() { &[] } else { &AWAITED }
}

impl Awaited {
    /// Returns the reason why it has no figure for this workload in this build.
    pub(crate) fn reason(&self, workload: &str) -> Reason {
        if self.workloads.contains(&workload) { NOT_BUILT } else { FOR_TASKS }
    }
}

/// Whether this contender is one of them, and does not run this workload.
pub(crate) fn is_for_others(name: &str, workload: &str) -> bool {
    let is_it = |awaited: &Awaited| awaited.name == name && !awaited.workloads.contains(&workload);
    AWAITED.iter().any(is_it)
}

/// Finds the contender of this name among those that this build does not have.
pub(crate) fn find_absent(name: &str) -> Option<&'static Awaited> {
    absent().iter().find(|absent| absent.name == name)
}

/// Implements the part of [`Pool`](super::Pool) that is the same for all of them: they have no
/// figures but those of jobs that are awaited.
#[cfg(feature = "awaited")]
macro_rules! for_tasks_only {
    () => {
        const CAN_FORK: Can = Err($crate::contender::awaited::FOR_TASKS);
        const CAN_ENTER: Can = Err($crate::contender::awaited::FOR_TASKS);
        const CAN_SPAWN: Can = Err($crate::contender::awaited::FOR_TASKS);
        const CAN_AWAIT: Can = Ok(());

        fn run<R: Send>(&self, f: impl FnOnce(&mut Serial) -> R + Send) -> R {
            f(&mut Serial)
        }

        fn spawn<J: FnOnce() + Send + 'static>(&self, _: J) -> Result<(), Reason> {
            Self::CAN_SPAWN
        }
    };
}
#[cfg(feature = "awaited")]
pub(super) use for_tasks_only;

/// Why such a contender has no other figures.
pub(crate) const FOR_TASKS: Reason = "it is here for jobs that are awaited, and runs only await_job, ping_pong, yield_storm and idle";

#[cfg(all(test, feature = "awaited"))]
mod tests {
    use super::*;
    use crate::{child, contender, workload};

    #[test]
    fn one_that_is_not_built_says_why_it_has_no_figure() {
        let [tokio, ..] = AWAITED;
        assert_eq!(tokio.reason("ping_pong"), NOT_BUILT);
        assert_eq!(tokio.reason("fib"), FOR_TASKS);
        assert!(absent().is_empty(), "tests have all of them");
        assert!(is_for_others("tokio", "fib") && !is_for_others("tokio", "idle"));
        assert!(!is_for_others("rayon", "fib"));
    }

    #[test]
    fn the_list_is_that_of_the_contenders() {
        for awaited in AWAITED {
            let spec = contender::ALL.iter().find(|spec| spec.name == awaited.name);
            assert_eq!(spec.map(|spec| (spec.about)()).as_deref(), Some(awaited.about));
            let can = |name: &&str| child::cannot(name, awaited.name).is_none();
            let workloads: Vec<_> =
                workload::ALL.iter().map(|spec| spec.name).filter(can).collect();
            assert_eq!(workloads, awaited.workloads, "{}", awaited.name);
        }
    }
}
