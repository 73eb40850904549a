//! drowse, on each of its sleep protocols, and without its hand in where workers begin.

use super::{Can, Contender, Pool, Reason, fork};
use drowse::{Counters, SleepProtocol, Steering, ThreadPool, ThreadPoolBuilder, Trace};
use std::future::Future;

/// Forks with `drowse::join`.
#[derive(Debug)]
pub struct DrowseFork;

fork! {
    #[inline(always)]
    fn join(self: DrowseFork, a, b) {
        drowse::join(|| a(&mut Self), || b(&mut Self))
    }

    const CAN_SPAWN: Can = Ok(());

    fn scope<J: FnOnce() + Send>(&mut self, jobs: impl Iterator<Item = J> + Send) -> Result<(), Reason> {
        drowse::scope(|scope| jobs.for_each(|job| scope.spawn(move |_| job())));
        Ok(())
    }

    fn spawn<J: FnOnce() + Send + 'static>(&mut self, job: J) -> Result<(), Reason> {
        drowse::spawn(job);
        Ok(())
    }
}

fn build(threads: usize, builder: ThreadPoolBuilder) -> Result<DrowsePool, Reason> {
    let pool = builder.num_threads(threads).build();
    pool.map(DrowsePool).map_err(|_| "its threads could not be started")
}

/// The contender of the default sleep protocol once more, by that protocol's name. A plan leaves it
/// out unless it is asked for.
pub fn is_the_default_by_name(contender: &str) -> bool {
    contender.strip_prefix("drowse-") == Some(SleepProtocol::default().name())
}

/// The protocol of pools that do not choose: what `DROWSE_SLEEP` says, else the default.
fn by_environment() -> SleepProtocol {
    let chosen = std::env::var("DROWSE_SLEEP").ok();
    chosen.and_then(|name| name.to_ascii_lowercase().parse().ok()).unwrap_or_default()
}

fn on(protocol: SleepProtocol) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().sleep_protocol(protocol)
}

/// A pool of drowse's, however it was built. All of drowse's contenders share this type, so that
/// each workload is compiled for it once.
#[derive(Debug)]
pub struct DrowsePool(ThreadPool);

impl Pool for DrowsePool {
    type Fork = DrowseFork;

    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    fn run<R: Send>(&self, f: impl FnOnce(&mut DrowseFork) -> R + Send) -> R {
        self.0.install(|| f(&mut DrowseFork))
    }

    fn spawn<J: FnOnce() + Send + 'static>(&self, job: J) -> Result<(), Reason> {
        self.0.spawn(job);
        Ok(())
    }

    const CAN_AWAIT: Can = Ok(());

    fn spawn_job<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let handle = self.0.spawn_handle(job);
        async { handle.await.expect("a job does not panic") }
    }

    const CAN_POLL: Can = Ok(());

    fn spawn_future<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let task = self.0.spawn_future(future);
        async { task.await.expect("a future does not panic") }
    }
}

macro_rules! drowse_with {
    ($(#[$doc:meta])* $name:ident, $text:literal, $about:literal, $builder:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Contender for $name {
            const NAME: &'static str = $text;
            const ABOUT: &'static str = $about;
            type Pool = DrowsePool;

            fn about() -> String {
                match $text {
                    "drowse" => format!("{}, {}", Self::ABOUT, by_environment()),
                    name if is_the_default_by_name(name) => {
                        format!("{}: the default, as drowse", Self::ABOUT)
                    }
                    _ => Self::ABOUT.to_owned(),
                }
            }

            fn new(threads: usize) -> Result<DrowsePool, Reason> {
                build(threads, $builder)
            }
        }
    };
}

drowse_with!(
    /// On the default protocol, whichever that is, or what `DROWSE_SLEEP` says.
    Drowse,
    "drowse",
    "drowse on its default sleep protocol",
    ThreadPoolBuilder::new()
);
drowse_with!(
    /// On the default protocol, with workers that the system places as it likes.
    DrowseUnsteered,
    "drowse-unsteered",
    "drowse with woken workers left to the system, wherever it puts them",
    on(SleepProtocol::default()).steering(Steering::Never)
);
drowse_with!(
    /// On the default protocol, with threads outside that work instead of waiting.
    DrowseGuests,
    "drowse-guests",
    "drowse where a thread outside works in the place of a worker that sleeps",
    on(SleepProtocol::default()).guests(true)
);
drowse_with!(
    /// On jec.
    DrowseJec,
    "drowse-jec",
    "drowse on the sleep protocol jec",
    on(SleepProtocol::Jec)
);
drowse_with!(
    /// On counters.
    DrowseCounters,
    "drowse-counters",
    "drowse on the sleep protocol counters",
    on(SleepProtocol::Counters(Counters::default()))
);
drowse_with!(
    /// On relay.
    DrowseRelay,
    "drowse-relay",
    "drowse on the sleep protocol relay",
    on(SleepProtocol::Relay)
);
drowse_with!(
    /// On sleepy.
    DrowseSleepy,
    "drowse-sleepy",
    "drowse on the sleep protocol sleepy, which wakes everybody",
    on(SleepProtocol::Sleepy)
);

/// Builds a pool on this protocol that is being traced, for pictures. Returns its trace with it.
///
/// # Errors
///
/// If its threads cannot be started.
pub fn traced(threads: usize, protocol: SleepProtocol) -> Result<(DrowsePool, Trace), Reason> {
    let trace = Trace::new();
    Ok((build(threads, ThreadPoolBuilder::new().sleep_protocol(protocol).trace(&trace))?, trace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::ALL;

    #[test]
    fn each_protocol_is_a_contender_and_one_of_them_is_the_default_by_name() {
        let names: Vec<_> = SleepProtocol::ALL.map(|protocol| format!("drowse-{protocol}")).into();
        for name in &names {
            assert!(ALL.iter().any(|contender| contender.name == name), "{name}");
        }
        assert_eq!(names.iter().filter(|name| is_the_default_by_name(name)).count(), 1);
        assert!(!is_the_default_by_name("drowse") && !is_the_default_by_name("rayon"));
    }

    #[test]
    fn what_is_said_of_the_default_is_looked_up() {
        let default = SleepProtocol::default().name();
        assert_eq!(Drowse::about(), format!("drowse on its default sleep protocol, {default}"));
        for contender in ALL.iter().filter(|contender| contender.name.starts_with("drowse-")) {
            let about = (contender.about)();
            assert_eq!(about.contains("the default"), contender.name.ends_with(default), "{about}");
        }
    }
}
