//! What the process has cost.

use std::time::{Duration, Instant};

/// CPU time and context switches of the whole process, since it began.
#[derive(Debug, Clone, Copy)]
pub struct UsageMeter {
    started: Instant,
    cpu: Duration,
    switches: [i64; 2],
}

/// What it cost between two moments.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Wall time.
    pub wall: Duration,
    /// CPU time, of all threads.
    pub cpu: Duration,
    /// Context switches that a thread asked for, and that it was made to do.
    pub switches: [i64; 2],
}

impl UsageMeter {
    /// Begins to measure.
    pub fn start() -> Self {
        let (cpu, switches) = read();
        Self { started: Instant::now(), cpu, switches }
    }

    /// What it cost since.
    pub fn read(&self) -> Usage {
        let (cpu, switches) = read();
        Usage {
            wall: self.started.elapsed(),
            cpu: cpu.saturating_sub(self.cpu),
            switches: [switches[0] - self.switches[0], switches[1] - self.switches[1]],
        }
    }
}

impl Usage {
    /// CPU time over wall time: 100 is one processor kept busy.
    pub fn cpu_percent(&self) -> f64 {
        self.cpu.as_secs_f64() / self.wall.as_secs_f64() * 100.0
    }

    /// Context switches per second.
    pub fn switches_a_second(&self) -> [f64; 2] {
        self.switches.map(|count| count as f64 / self.wall.as_secs_f64())
    }
}

fn read() -> (Duration, [i64; 2]) {
    // SAFETY: a plain struct of numbers, which zero is a value of.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: it may write to the struct, and does.
    let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    assert_eq!(result, 0, "getrusage of this very process cannot fail");
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    (time(usage.ru_utime) + time(usage.ru_stime), [usage.ru_nvcsw as i64, usage.ru_nivcsw as i64])
}

/// The CPU time of the calling thread, since it began.
pub fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it may write to the struct, and does.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0, "every thread has this clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
