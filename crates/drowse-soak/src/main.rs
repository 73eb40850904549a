//! The soak: random mixes of drowse's whole API, on random pools, in hostile surroundings, with
//! every job accounted for. `cargo xtask soak` builds and runs it.
//!
//! A *round* is a process of its own. Its seed decides everything that does not depend on the
//! scheduler: the surroundings (one processor, no `membarrier`, a storm of signals, variables of
//! the environment), the pools, the threads outside, and the whole tree of jobs that they start.
//! `--seed N` does the round of that seed again.
//!
//! A round fails if a job runs twice or never, if what it captured is dropped twice or never, if a
//! result or a panic arrives where it should not, if two threads have the same index at once, if a
//! thread is left when the pools are gone, if anything panics that was not told to, or if nothing
//! happens for a while; then it says where each thread is.
//!
//! To add an action, see [`actions`].

#[cfg(target_os = "linux")]
mod actions;
#[cfg(target_os = "linux")]
mod book;
#[cfg(target_os = "linux")]
mod dice;
#[cfg(target_os = "linux")]
#[path = "../../drowse/tests/common/patience.rs"]
#[allow(dead_code, reason = "the tests ask for more")]
mod patience;
#[cfg(target_os = "linux")]
mod place;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod round;
#[cfg(target_os = "linux")]
mod rounds;
#[cfg(target_os = "linux")]
mod seats;
#[cfg(target_os = "linux")]
#[path = "../../drowse/tests/common/seccomp.rs"]
#[allow(dead_code, reason = "the tests ask for more")]
mod seccomp;
#[cfg(target_os = "linux")]
#[path = "../../drowse/tests/common/stacks.rs"]
mod stacks;
#[cfg(target_os = "linux")]
mod surroundings;
#[cfg(target_os = "linux")]
#[path = "../../drowse/tests/common/tasks.rs"]
#[allow(dead_code, reason = "the tests ask for more")]
mod tasks;
#[cfg(target_os = "linux")]
mod turn;
#[cfg(target_os = "linux")]
mod verdict;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    rounds::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    println!("the soak needs Linux: it asks /proc about its threads");
    std::process::ExitCode::from(77)
}
