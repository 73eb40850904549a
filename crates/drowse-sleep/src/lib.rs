//! How the workers of a work-stealing pool fall asleep, and how they are woken.
//!
//! A pool without work should cost nothing, and new work should start at once. Between the two lies a
//! race: a worker looks everywhere, finds nothing and goes to sleep, while another thread publishes a
//! job and finds nobody asleep to wake. This crate is about losing neither the job nor the nap. It knows no jobs
//! and no pools; it can be read on its own, from here on, like the chapter of a book.
//!
//! # The states of a worker
//!
//! ```text
//!            found nothing           a few rounds           one more search
//!   active ----------------> idle ----------------> sleepy ----------------> asleep
//!      ^                      |  ^                     |                        |
//!      +----- found a job ----+  +---- new work! ------+------- woken ----------+
//! ```
//!
//! (A sleepy worker that finds a job is active at once, like an idle one.)
//!
//! An **active** worker runs jobs. An **idle** one searches. A **sleepy** one has announced that it is
//! about to sleep and searches once more. An **asleep** one blocks until another thread wakes it. Idle,
//! sleepy and asleep together are called *inactive*.
//!
//! # The race
//!
//! Why is sleepy not the same as idle? Because searching is not one step. Worker W looks at the queue of worker P and finds it
//! empty; P pushes a job there, and sees that nobody sleeps, so there is nobody to wake; W looks at the other queues, finds
//! nothing, and sleeps. The job is there, the worker is there, and they do not meet.
//!
//! The remedy is the same in every protocol here: **announce, look again, commit.** W first says in public that it is about to sleep. Then it
//! looks again. P first publishes its job, then looks whether anybody said so. Whichever of the two comes second sees the other:
//! either W finds the job when it looks again, or P finds W's announcement when it looks, and then holds it back or wakes it. (What counts as the
//! announcement is whatever the post reads. In `sleepy` that is who is sleepy; in the other two, that W is counted as sleeping, so there the look
//! comes after the counting, in the very act of falling asleep.)
//!
//! *"Comes second"* is not to be had for nothing. Each side writes one thing and then reads the other, and a processor may let the
//! read overtake the write, on both sides at once: then neither sees the other. So each side has a **fence** between its
//! write and its read. Of two fences one comes first, and what was written before it is seen by what is read after the other one.
//! Since P's side is run at each fork, a hundred million times a second, and W's only now and then, the fences are
//! lopsided where the system allows it: P's costs nothing, and W's makes up for it, by having the system run a full fence on every running
//! thread of the process. See [`drowse_sync::light_fence`], and `docs/memory-model.md` for every handshake as a litmus test.
//!
//! # The latch: who waits for what
//!
//! A worker waits for something: the other half of a `join`, the end of a scope, the end of the pool. That is a latch. While it waits it
//! runs other jobs; when there are none it sleeps, and has to be woken when the latch is set. [`LatchWord`] has four
//! states, so that whoever sets it learns whether its owner sleeps *on this very latch*. If so it wakes the owner, and nobody else.
//!
//! # The beds: how one thread wakes another
//!
//! Each worker has a bed: a word to sleep on. *Awake, committing, asleep*: the worker moves it to the right, a waker moves it back to
//! *awake* with one compare-and-swap. Whoever succeeds has *claimed* the sleeper, and wakes it; so nobody is woken twice, no
//! lock is held round a wake-up, and a worker that is claimed while it is still *committing* does not sleep at all.
//!
//! # The contract: what a protocol decides
//!
//! All of the above is the same for every protocol, and is done by [`Sleep`]: the rounds of searching, the latch, the bed, the blocking, the
//! counting. What is left to decide is the contract, [`Protocol`]:
//!
//! - how a worker **announces** that it is sleepy, and what it remembers of that moment;
//! - how it **commits**, and where in that step it looks again. That it does is not left to it: the only way to be
//!   allowed to sleep is a value that comes from looking and finding nothing;
//! - whom a **post**, a set latch, a broadcast wakes.
//!
//! A protocol has one word to keep its state in. What a post must notice is in the low bits, and they are zero while all are
//! busy. So the hot path is the same machine code whichever protocol a pool has chosen: one load, one test, one branch.
//!
//! # The protocols
//!
//! | | state | who may get sleepy | a new job wakes | a latch wakes | read |
//! |---|---|---|---|---|---|
//! | `sleepy` | which worker is sleepy, whether any sleep | one at a time | everybody | everybody | [`sleepy`] |
//! | `counters` | how many are inactive, how many sleep | all | as many as it takes, if not enough search; or a block of them | its owner | [`counters`] |
//! | `jec` | the same, and a jobs event counter | all; held back if work comes | as many as it takes, if not enough search | its owner | [`jec`] |
//!
//! They are a line: each was the answer to what hurt with the one before. `sleepy` wakes everybody for anything, which burns
//! CPU time when work is sparse. `counters` wakes only whom it must, but lets a worker fall asleep in the middle of a stream of small jobs, to be woken
//! a microsecond later. `jec` lets a post tell sleepy workers, with one bit, that it is not the time; but it wakes a worker for each job of a backlog,
//! which is too many on wide pools. So `counters` is the default. Read them in this order.
//!
//! [`SleepProtocol`] chooses one, [`Policy`] says how patient workers are. A worker that searches alone, and whose last sleep was over before it was
//! worth it, keeps *watch*: it searches for a little longer before it gets sleepy ([`Policy::rounds_on_watch`]).
//!
//! # What can be seen
//!
//! [`SleepMetrics`] tells how often each worker slept and for how long, how often it was woken and for which [`Reason`], and how often for
//! nothing. Counting is off the hot path: it happens where a thread blocks or is woken. An [`Observer`] is told of each step as it
//! happens.
//!
//! # When nobody is left
//!
//! A worker that blocks in the user's code, on a channel say, is neither active nor asleep, and no protocol knows of it. If all others
//! sleep, waiting for work that only the blocked one could post, nothing will ever move again. With
//! [`Sleep::with_deadlock_detection`] a census is kept of who is up, asleep and [blocked](Sleep::mark_blocked), under a lock that is taken where
//! workers sleep and wake. (*Up* means active or searching.) When the last worker that is up sleeps or blocks, and at least one is blocked,
//! the one who comes to that is told of the [`Deadlock`]: [`Surroundings::deadlock`], or what it passed to [`Sleep::mark_blocked`]. A pool that is
//! merely idle has nobody blocked, and is not dead.
//!
//! # Example
//!
//! The loop of a worker that waits for a latch, as a pool would write it:
//!
//! ```
//! use drowse_sleep::{LatchWord, Policy, Reason, Sleep, SleepProtocol, Waker};
//! use drowse_sync::Queue;
//!
//! fn wait_until(sleep: &Sleep, worker: usize, latch: &LatchWord, injector: &Queue<u32>) -> u32 {
//!     let mut sum = 0;
//!     while !latch.probe() {
//!         let mut idle = sleep.start_looking(worker);
//!         while !latch.probe() {
//!             if let Some(job) = injector.pop() {
//!                 sum += job;
//!                 break;
//!             }
//!             sleep.no_work_found(&mut idle, latch, &|| !injector.is_empty());
//!         }
//!         sleep.stop_looking(idle, || !injector.is_empty());
//!     }
//!     sum
//! }
//!
//! let (sleep, latch, injector) = (Sleep::new(1, SleepProtocol::Jec, Policy::default()), LatchWord::new(), Queue::new());
//! std::thread::scope(|s| {
//!     let worker = s.spawn(|| wait_until(&sleep, 0, &latch, &injector));
//!     for job in 1..=10 {
//!         injector.push(job);
//!         // Whether the queue was empty before is for the protocol to weigh; here it may as well wake somebody.
//!         sleep.post_injected(1, &|| false);
//!     }
//!     while !injector.is_empty() {
//!         std::hint::spin_loop();
//!     }
//!     // The latch outlives the call.
//!     let slept = unsafe { LatchWord::set(&latch) };
//!     sleep.latch_set(0, slept, Reason::Latch, || Waker::MayStop);
//!     assert_eq!(worker.join().unwrap(), 55);
//! });
//! ```

mod choice;
pub mod counters;
mod deadlock;
mod fall_asleep;
mod heads;
pub mod jec;
mod latch_word;
mod meter;
mod observer;
mod placement;
mod policy;
mod protocol;
mod reason;
mod sleep;
pub mod sleepy;
mod slots;
#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tables;
mod wake;
mod watch;
mod word;

pub use choice::{SleepProtocol, UnknownProtocol};
pub use counters::{Counters, Idleness, WakeSize};
pub use deadlock::{BlockedWorker, Deadlock};
pub use fall_asleep::{Idle, Surroundings};
pub use heads::{Heads, MAX_WORKERS};
pub use jec::Jec;
pub use latch_word::LatchWord;
pub use meter::SleepMetrics;
pub use observer::Observer;
pub use placement::Steering;
pub use policy::{Pause, Policy};
pub use protocol::{
    ATTENTION, Announcement, Baton, LastLook, Posted, PostedTo, Protocol, Restart, Rules, Wake,
};
pub use reason::Reason;
pub use sleep::Sleep;
pub use sleepy::Sleepy;
pub use wake::Waker;
