//! How long a test waits for what may never come.

#[cfg(target_os = "linux")]
use super::tasks;
use std::env;
use std::fmt;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Returns the counted time after which a test hangs.
pub(crate) fn limit() -> Duration {
    Duration::from_secs(25) * patience()
}

/// Returns the factor by which everything may take longer, where something slows the tests down: a
/// sanitizer, or an emulator.
pub(crate) fn patience() -> u32 {
    env::var("DROWSE_TEST_PATIENCE").map_or(1, |times| times.parse().expect("a number"))
}

/// Wall-clock time after which a test is given up, starved or not. The test runner ends a test a
/// minute later, so that the watchdog reports first: `xtask` has a test that compares this line
/// with `.config/nextest.toml`.
pub(crate) const LONGEST: Duration = Duration::from_secs(300);

/// How often a watchdog looks.
const TICK: Duration = Duration::from_millis(100);

/// A clock that counts the time in which this process, and those it has started, could have made
/// progress.
///
/// In a test that hangs all threads sleep, or some loop without end. In a test on a busy machine
/// some thread could run, and waits for a processor. The clock tells the two apart by a look each
/// 100 ms. The time since the previous look counts
///
/// - in full if all threads sleep: what they wait for does not come from a processor;
/// - otherwise as the processor time that was used in it: what it would have taken on a machine
///   with nothing else to do;
/// - in no case as more than 100 ms: the watchdog may look late, because it was starved or the
///   machine was stopped, and then the others were, too.
///
/// So a deadlock is seen after 25 s beside any load, and a loop without end after 25 s of processor
/// time. The time in wait of a processor in `/proc/self/task/*/schedstat` would be more exact, but
/// the threads that have ended are missing there, and the waits that have not; the report shows it.
/// Where Linux's `/proc` is not there, only the third rule applies. After [`LONGEST`] by the wall
/// clock the patience is over in any case.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    begin: Instant,
    looked: Instant,
    counted: Duration,
    /// Processor time used until the last look, if there was one.
    used: Option<Duration>,
    /// How many looks saw that everything sleeps, and how many there were.
    asleep: u32,
    looks: u32,
}

impl Patience {
    /// Starts a clock with the usual limit.
    pub(crate) fn begin() -> Self {
        Self::of(limit())
    }

    /// Starts a clock with this limit of counted time.
    pub(crate) fn of(limit: Duration) -> Self {
        let now = Instant::now();
        // No look yet: most of what is waited for comes within the first 100 ms.
        Self {
            limit,
            begin: now,
            looked: now,
            counted: Duration::ZERO,
            used: None,
            asleep: 0,
            looks: 0,
        }
    }

    /// Returns `true` when the time is over. To be called at least every 100 ms; looks no more
    /// often than that.
    pub(crate) fn is_over(&mut self) -> bool {
        let elapsed = self.looked.elapsed();
        if elapsed < TICK {
            return false;
        }
        self.looked = Instant::now();
        let sight = sight();
        let counts = match (&sight, self.used) {
            (Some(sight), Some(before)) if !sight.sleep => sight.used.saturating_sub(before),
            _ => elapsed,
        };
        self.counted += counts.min(TICK);
        self.asleep += u32::from(sight.as_ref().is_some_and(|sight| sight.sleep));
        self.used = sight.map(|sight| sight.used);
        self.looks += 1;
        !self.is_starved() || wall(self.begin) >= LONGEST
    }

    /// Returns `true` if too little time counts to say that the test hangs.
    pub(crate) fn is_starved(&self) -> bool {
        self.counted < self.limit
    }

    /// Waits for a message until the patience is over.
    pub(crate) fn receive<T>(&mut self, from: &Receiver<T>) -> Result<T, RecvTimeoutError> {
        loop {
            match from.recv_timeout(TICK) {
                Err(RecvTimeoutError::Timeout) if !self.is_over() => {}
                result => return result,
            }
        }
    }
}

/// Returns the wall-clock time since `begin`, or under nextest since the process began to wait.
fn wall(begin: Instant) -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let first = *FIRST.get_or_init(|| begin);
    // nextest runs each test in a process of its own, and limits all of it. A test may have several
    // watchdogs, one after the other.
    if env::var_os("NEXTEST").is_some() { first.elapsed() } else { begin.elapsed() }
}

impl fmt::Display for Patience {
    /// Says whether the test hung or was starved.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counted, begin, asleep, looks, .. } = self;
        let (counted, wall) = (counted.as_secs_f64(), begin.elapsed().as_secs_f64());
        write!(f, "not done after {wall:.1} s, of which {counted:.1} s count: ")?;
        if self.is_starved() {
            return write!(f, "STARVED, on a machine that is too busy");
        }
        write!(f, "at {asleep} of {looks} looks every thread slept")
    }
}

/// State of this process and those it has started.
struct Sight {
    /// All threads sleep, but the one that looks.
    sleep: bool,
    /// Processor time used so far.
    used: Duration,
}

/// Looks at the threads. `None` where the system does not show them.
#[cfg(target_os = "linux")]
fn sight() -> Option<Sight> {
    let processes = tasks::processes();
    let used = processes.iter().map(tasks::Process::cpu_time).sum::<Option<Duration>>()?;
    let own = tasks::own_id();
    let mut others =
        processes.iter().flat_map(tasks::Process::tasks).filter(|task| Some(task.id()) != own);
    // A thread that has just ended has no state.
    let sleep = !others
        .any(|task| task.state().is_some_and(|state| !matches!(state, 'S' | 'I' | 'Z' | 'X')));
    Some(Sight { sleep, used })
}

#[cfg(not(target_os = "linux"))]
fn sight() -> Option<Sight> {
    None
}
