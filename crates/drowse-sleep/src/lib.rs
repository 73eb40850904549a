//! Sleep and wake-up of the workers of a work-stealing pool.
//!
//! A pool without work should cost nothing, and new work should start at once. Between the two lies
//! a race: a worker searches all queues, finds nothing and goes to sleep, while another thread
//! publishes a job and sees no sleeper to wake. This crate makes sure that no job is lost in this
//! race, and that idle workers still sleep. It knows no jobs and no pools; its documentation can be
//! read on its own, from here on, like the chapter of a book.
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
//! An **active** worker runs jobs. An **idle** one searches. A **sleepy** one has announced that it
//! is about to sleep and searches once more. An **asleep** one is parked until another thread wakes
//! it. Idle, sleepy and asleep together are called *inactive*.
//!
//! # The race
//!
//! Sleepy and idle are two states because a search takes more than one step. Worker W looks at the
//! queue of worker P and finds it empty. P pushes a job there, sees no sleeper, and therefore wakes
//! none. W looks at the other queues, finds nothing, and sleeps. The job waits, the worker sleeps,
//! and no other event brings them together.
//!
//! Every protocol here has the same remedy: **announce, look again, sleep.** W first announces in a
//! shared word that it is about to sleep. Then it looks again. P first publishes its job, then
//! looks for an announcement. The thread that comes second sees what the first one did: either W
//! finds the job when it looks again, or P finds W's announcement, and then holds W back or wakes
//! it. (The announcement is whatever the post reads. In `sleepy` that is which worker is sleepy. In
//! the other protocols it is that W is counted as sleeping, so there the last look comes after the
//! counting.)
//!
//! To *come second* takes a fence. Each side writes one thing and then reads another, and a
//! processor may let the read overtake the write, on both sides at once: then neither side sees the
//! other. So each side has a **fence** between its write and its read. One of any two fences comes
//! first, and what was written before it is seen by the reads after the second. P's side runs at
//! each fork, a hundred million times a second; W's side runs only now and then. So the fences are
//! *asymmetric* where the system allows it: P's fence costs nothing, and W's makes up for it, by
//! having the system run a full fence on every running thread of the process. See
//! [`drowse_sync::light_fence`], and `docs/internals/memory-model.md` for every handshake as a
//! litmus test.
//!
//! # The latch: what a worker waits for
//!
//! A worker waits for something: the other half of a `join`, the end of a scope, the end of the
//! pool. That event is a latch. While the worker waits it runs other jobs; when there are none it
//! sleeps, and has to be woken when the latch is set. A worker that falls asleep notes this in its
//! [`LatchWord`], so that the setter learns whether the owner sleeps *on this very latch*. If so,
//! the setter wakes the owner and no other worker. (Not with `sleepy`: there the setter of a latch
//! wakes all workers.)
//!
//! # The slots: one thread wakes another
//!
//! Each worker has a slot: a word to park on. *Awake, prepared, dozing, parked*: the worker moves
//! it to the right, a waker moves it back to *awake* with one compare-and-swap. A waker that
//! succeeds has *claimed* the sleeper, and unparks it. So no worker is woken twice, no lock is held
//! during a wake-up, and a worker that is claimed while it is still *prepared* does not sleep at
//! all.
//!
//! Other states and flags are variants of these, and `slots.rs` has the list: *held* where wake-ups
//! are [steered](Steering), *guarding* for the sentry, *vacant* and the flag *guest* for seats that
//! threads outside the pool take, *absent* for a worker without a thread, the flag *alone* for a
//! worker that is not woken by posts.
//!
//! # Protocols decide, `Sleep` acts
//!
//! [`Sleep`] does all of the above for every protocol: the rounds of searching, the latch, the
//! slot, the fences, the last look, the parking, the waking. Protocols differ in their [`Rules`]
//! and in a table of decisions, [`Protocol`]: one word, and for each event a function from the word
//! to the new word and a decision.
//!
//! - A worker **announces** that it is sleepy: the new word, and what to remember of this moment.
//! - It **commits** to sleep: the new word, or a refusal because there was news.
//! - A **post**, or an **alert** to all workers: the new word, and which workers to [wake](Wake).
//! - It **stops searching**: the new word, and whether to pass the [baton](Baton).
//!
//! What a post must notice is in the low bits of the word, and they are zero while all workers are
//! busy. So a post is the same code for every protocol: one load, test and branch. A worker with
//! [posters](Posters) skips even that until its limit is lowered. Since a table touches nothing, a
//! test tries all of it: every word that three workers can reach, and every event (`tests.rs`).
//!
//! # The protocols
//!
//! | | who may get sleepy | a new job wakes | a latch wakes |
//! |---|---|---|---|
//! | [`sleepy`] | one at a time | all | all |
//! | [`counters`] | all | one worker per job, less those that search | its owner |
//! | [`jec`] | all, unless work comes | as `counters`, and one per job of a backlog | its owner |
//! | [`relay`] | all | as `counters`, as far as there are processors; then a *sentry* | its owner |
//!
//! Each protocol answers the weakness of an earlier one. `sleepy` wakes all workers for any news,
//! which burns CPU time when work is sparse. `counters` wakes only the workers that are needed, but
//! lets a worker fall asleep in the middle of a stream of small jobs, to be woken a microsecond
//! later. `jec` lets a post keep sleepy workers awake, with one bit; but it wakes a worker for each
//! job of a backlog, which is too many on wide pools. `relay`, the default, goes back to `counters`
//! and adds what the others do not know: how many workers can run at once. Read them in this order;
//! `docs/internals/sources.md` compares the first three with the texts they come from.
//!
//! [`SleepProtocol`] chooses one, [`Policy`] says how long workers search. A worker that searches
//! alone, and whose last sleep was too short to be worth it, keeps *watch*: it searches for a
//! little longer before it gets sleepy ([`Policy::rounds_on_watch`]).
//!
//! # Posts that wake no worker
//!
//! Not every post must wake a worker at once. A post may rely on a worker that searches; on a
//! *sentry*, a sleeper with an alarm clock, if as many workers are up as can run; or on a thread
//! that has offered to look after the job, and [defers](Sleep::defer_wakes) the wake: a thread
//! outside the pool that waits anyway, or a worker that keeps the door for guests. Each of these
//! looks for jobs when posts can no longer rely on it.
//!
//! A worker that must not run just any job sleeps [alone](Sleep::sleep_alone): no post relies on
//! it. A *spare* sits in a [seat of its own](Sleep::with_spares) while another worker blocks.
//!
//! A *guest* is a thread outside the pool that [takes the seat](Sleep::take_seat) of a worker which
//! sleeps with nothing to do, and acts as that worker for a while.
//!
//! A seat may be without a thread. It then counts as asleep, and a waker that claims it has a
//! thread [started](Starter). A thread that has slept for long with nothing to do may
//! [leave](Sleep::leave).
//!
//! # What can be seen
//!
//! [`SleepMetrics`] has the number and length of each worker's sleeps, its wake-ups by [`Reason`],
//! and how many of them were for nothing. Counting is off the hot path: it happens where a thread
//! parks or is woken. An [`Observer`] is called at each step as it happens, in builds with the
//! feature `diagnose`.
//!
//! # When no worker is active
//!
//! A worker that blocks in the user's code, for example on a channel, is neither active nor asleep,
//! and no protocol knows of it. If all others sleep, waiting for work that only the blocked worker
//! could post, nothing will ever move again. With [`Sleep::with_deadlock_detection`], which needs
//! the feature `diagnose`, a census is
//! kept of which workers are up, asleep and [blocked](Sleep::mark_blocked), under a lock that is
//! taken where workers sleep and wake. (*Up* means active or searching.) When the last worker that
//! is up sleeps or blocks, and at least one is blocked, the pool is *suspect*. A thread of its own,
//! the [`Lookout`], then waits for a stated time. If nothing has moved by then, that is a
//! [`Standstill`]. In a pool that is merely idle no worker is blocked, so it is not suspect.
//!
//! # Example
//!
//! The loop of a worker that waits for a latch, as a pool would write it:
//!
//! ```
//! use drowse_sleep::{LatchWord, Policy, Reason, Sleep, SleepProtocol, Waker};
//! use drowse_sync::Queue;
//!
//! fn wait_until(sleep: &Sleep, worker: usize, latch: &LatchWord, jobs: &Queue<u32>) -> u32 {
//!     let mut sum = 0;
//!     while !latch.probe() {
//!         let mut idle = sleep.start_looking(worker);
//!         while !latch.probe() {
//!             if let Some(job) = jobs.pop() {
//!                 sum += job;
//!                 break;
//!             }
//!             sleep.no_work_found(&mut idle, latch, &|| !jobs.is_empty());
//!         }
//!         sleep.stop_looking(idle, || !jobs.is_empty());
//!     }
//!     sum
//! }
//!
//! let sleep = Sleep::new(1, SleepProtocol::Jec, Policy::default());
//! let (latch, jobs) = (LatchWord::new(), Queue::new());
//! std::thread::scope(|s| {
//!     let worker = s.spawn(|| wait_until(&sleep, 0, &latch, &jobs));
//!     for job in 1..=10 {
//!         jobs.push(job);
//!         // The closure says whether the queue was empty; the protocol weighs that.
//!         sleep.post_injected(1, &|| false);
//!     }
//!     while !jobs.is_empty() {
//!         std::hint::spin_loop();
//!     }
//!     // The latch outlives the call.
//!     let slept = unsafe { LatchWord::set(&latch) };
//!     sleep.latch_set(0, slept, Reason::Latch, || Waker::MayStop);
//!     assert_eq!(worker.join().unwrap(), 55);
//! });
//! ```

mod absent;
mod alone;
mod choice;
pub mod counters;
mod deadlock;
mod defer;
mod door;
mod fall_asleep;
mod heads;
pub mod jec;
mod latch_word;
mod late;
mod meter;
mod observer;
mod placement;
mod policy;
mod protocol;
mod reason;
pub mod relay;
mod room;
mod seat;
mod seats;
mod sentry;
mod sleep;
pub mod sleepy;
mod slots;
mod spare;
#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
mod wake;
mod watch;
mod word;

pub use absent::Starter;
pub use choice::{SleepProtocol, UnknownProtocol};
pub use counters::{Counters, Idleness, WakeSize};
pub use deadlock::Mark;
#[cfg(feature = "diagnose")]
pub use deadlock::{Lookout, Moment, Standstill, Stopped};
pub use fall_asleep::{Host, Idle};
pub use heads::{Heads, MAX_WORKERS};
pub use jec::Jec;
pub use latch_word::LatchWord;
pub use meter::SleepMetrics;
pub use observer::Observer;
pub use placement::Steering;
pub use policy::{Pause, Policy};
pub use protocol::{
    ATTENTION, Announcement, Baton, Posted, PostedTo, Posters, Protocol, Rules, Wake,
};
pub use reason::Reason;
pub use relay::Relay;
pub use sleep::Sleep;
pub use sleepy::Sleepy;
pub use wake::Waker;
