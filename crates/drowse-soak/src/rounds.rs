//! Many rounds, one after the other, each in a process of its own.

use crate::patience::LONGEST;
use crate::plan::Plan;
use crate::{actions, round, watch};
use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const HELP: &str = "\
drowse-soak [OPTIONS]: random mixes of drowse's API, for a while
  --minutes N   for so long
  --seconds N   for so long; 20 if nothing is said
  --seed N      the round of this seed again, and no other
  --times N     that many times: the seed decides what is done, the scheduler when
  --first N     begin with this seed, and go on with the next ones
  --only WORDS  only actions with one of these in their names, with commas between them
  --jobs N      so many rounds at once; 2 if nothing is said
  --list        what actions there are";

/// More than a round should take that its own watch does not end: what that waits for at most,
/// twice.
const ROUND_LIMIT: Duration = LONGEST.saturating_mul(2);

/// How often a line says how far we are.
const PROGRESS: Duration = Duration::from_secs(10);

/// So many reports are shown in full.
const MOST_REPORTS: usize = 5;

#[derive(Debug)]
struct Options {
    time: Duration,
    first: u64,
    /// The last seed, if not as many as there is time for.
    last: Option<u64>,
    times: u64,
    only: String,
    jobs: u64,
}

/// What has come of it so far.
#[derive(Debug, Default)]
struct Tally {
    rounds: usize,
    counts: BTreeMap<String, usize>,
    failed: Vec<u64>,
}

pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["round", seed, ref only @ ..] => {
            actions::do_only(
                only.iter().flat_map(|words| words.split(',')).map(String::from).collect(),
            );
            round::run(Plan::of(seed.parse().expect("a seed")));
            ExitCode::SUCCESS
        }
        ["--help" | "-h"] => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        ["--list"] => {
            actions::all().for_each(|name| println!("{name}"));
            ExitCode::SUCCESS
        }
        ref words => match Options::parse(words) {
            Ok(options) => options.run(),
            Err(why) => {
                eprintln!("{why}\n{HELP}");
                ExitCode::from(2)
            }
        },
    }
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
        let mut options = Self {
            time: Duration::from_secs(20),
            // Short enough to be typed.
            first: now as u64 % 1_000_000 * 1_000,
            last: None,
            times: 1,
            only: String::new(),
            jobs: 2,
        };
        for pair in words.chunks(2) {
            let [option, value] = pair else { return Err(format!("{pair:?} needs a value")) };
            let number =
                || value.parse::<u64>().map_err(|_| format!("{option} {value} is no number"));
            match *option {
                "--minutes" => options.time = Duration::from_secs(60 * number()?),
                "--seconds" => options.time = Duration::from_secs(number()?),
                "--seed" => (options.first, options.last) = (number()?, Some(number()?)),
                "--times" => options.times = number()?,
                "--first" => options.first = number()?,
                "--only" => options.only = (*value).to_string(),
                "--jobs" => options.jobs = number()?.max(1),
                _ => return Err(format!("there is no {option}")),
            }
        }
        Ok(options)
    }

    /// How many rounds there are at most.
    fn rounds(&self) -> u64 {
        self.last.map_or(u64::MAX, |last| (last - self.first + 1) * self.times)
    }

    fn run(&self) -> ExitCode {
        let (started, next, tally) =
            (Instant::now(), AtomicU64::new(0), Mutex::new(Tally::default()));
        let worker = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let is_over = self.last.is_none() && started.elapsed() >= self.time;
                if is_over || number >= self.rounds() {
                    return;
                }
                let seed = self.first + number / self.times;
                let outcome = one(seed, &self.only);
                tally.lock().expect("nobody panics with it").note(seed, outcome, self);
            }
        };
        println!("soak: from seed {}", self.first);
        let (done, is_done) = mpsc::channel::<()>();
        thread::scope(|threads| {
            threads.spawn(|| {
                let is_done = is_done;
                while is_done.recv_timeout(PROGRESS) == Err(mpsc::RecvTimeoutError::Timeout) {
                    tally.lock().expect("nobody panics with it").say(started.elapsed());
                }
            });
            let workers: Vec<_> = (0..self.jobs).map(|_| threads.spawn(worker)).collect();
            workers.into_iter().for_each(|worker| worker.join().expect("it does not panic"));
            drop(done);
        });
        tally.into_inner().expect("nobody panics with it").sum_up(started.elapsed(), self)
    }
}

/// Does one round. The error is what it had to say.
fn one(seed: u64, only: &str) -> Result<String, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args(["round", &seed.to_string()]).stdin(Stdio::null());
    command.args(Some(only).filter(|only| !only.is_empty()));
    let ours = |name: &str| name.starts_with("DROWSE_") && name != "DROWSE_TEST_PATIENCE";
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
        command.env_remove(name);
    }
    command.envs(Plan::of(seed).environment).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| error.to_string())?;
    let output = finish(child).map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{}\n{}", text(&output.stderr).trim_end(), output.status)),
    }
}

/// Waits for the child, but not for ever.
fn finish(child: Child) -> io::Result<Output> {
    let id = child.id();
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || done.send(child.wait_with_output()));
    outcome.recv_timeout(ROUND_LIMIT.max(watch::limit() * 5)).unwrap_or_else(|_| {
        // SAFETY: plain numbers. Nobody has waited for the child, so the number is still its own.
        unsafe { libc::kill(id as libc::pid_t, libc::SIGKILL) };
        outcome.recv().expect("it sends what became of the child")
    })
}

impl Tally {
    fn note(&mut self, seed: u64, outcome: Result<String, String>, options: &Options) {
        self.rounds += 1;
        match outcome {
            Ok(counts) => {
                for (name, times) in counts.lines().filter_map(|line| line.split_once(' ')) {
                    *self.counts.entry(name.to_string()).or_default() +=
                        times.parse::<usize>().unwrap_or(0);
                }
            }
            Err(report) => {
                self.failed.push(seed);
                if self.failed.len() <= MOST_REPORTS {
                    println!("soak: the round of seed {seed} FAILED:\n{report}");
                    println!("soak: again with `{}`", options.again(seed));
                }
            }
        }
    }

    fn jobs(&self) -> usize {
        self.counts.get("jobs").copied().unwrap_or(0)
    }

    fn say(&self, elapsed: Duration) {
        let (rounds, jobs, failed) = (self.rounds, self.jobs(), self.failed.len());
        println!(
            "soak: {rounds} rounds, {jobs} jobs in {:.0} s, {failed} failed",
            elapsed.as_secs_f64()
        );
        // Whoever listens may be gone: then nobody needs it.
        let _ = io::stdout().flush();
    }

    fn sum_up(mut self, elapsed: Duration, options: &Options) -> ExitCode {
        for (name, times) in self.counts.iter().filter(|(name, _)| *name != "jobs") {
            println!("  {times:>10} {name}");
        }
        self.failed.sort_unstable();
        self.failed.dedup();
        for seed in &self.failed {
            println!("soak: FAILED: {}", options.again(*seed));
        }
        self.say(elapsed);
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl Options {
    /// What does the round again.
    fn again(&self, seed: u64) -> String {
        let only =
            if self.only.is_empty() { String::new() } else { format!(" --only {}", self.only) };
        format!("cargo xtask soak --seed {seed}{only}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_refused() {
        let options = Options::parse(&["--minutes", "2", "--only", "join,scope"]).unwrap();
        assert_eq!((options.time, options.rounds()), (Duration::from_secs(120), u64::MAX));
        let options = Options::parse(&["--seed", "7", "--times", "3"]).unwrap();
        assert_eq!((options.first, options.rounds()), (7, 3));
        for wrong in [&["--seed"][..], &["--seed", "x"], &["--speed", "1"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
