//! How the workers of a work-stealing pool fall asleep, and how they are woken.
//!
//! A pool without work should cost nothing, and new work should start at once. Between the two lies
//! a race: a worker looks everywhere, finds nothing and goes to sleep, while another thread
//! publishes a job and finds nobody asleep to wake. This crate is about losing neither the job nor
//! the nap. It knows no jobs and no pools; it can be read on its own, from here on, like the
//! chapter of a book.
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
//! Why is sleepy not the same as idle? Because searching is not one step. Worker W looks at the
//! queue of worker P and finds it empty; P pushes a job there, and sees that nobody sleeps, so
//! there is nobody to wake; W looks at the other queues, finds nothing, and sleeps. The job is
//! there, the worker is there, and they do not meet.
//!
//! The remedy is the same in every protocol here: **announce, look again, sleep.** W first says in
//! public that it is about to sleep. Then it looks again. P first publishes its job, then looks
//! whether anybody said so. Whichever of the two comes second sees the other: either W finds the
//! job when it looks again, or P finds W's announcement, and then holds W back or wakes it. (What
//! counts as the announcement is whatever the post reads. In `sleepy` that is who is sleepy; in the
//! other two, that W is counted as sleeping, so there the last look comes after the counting.)
//!
//! *"Comes second"* is not free. Each side writes one thing and then reads the other, and a
//! processor may let the read overtake the write, on both sides at once: then neither sees the
//! other. So each side has a **fence** between its write and its read. Of two fences one comes
//! first, and what was written before it is seen by what is read after the other one. P's side runs
//! at each fork, a hundred million times a second, and W's only now and then. So the fences are
//! *asymmetric* where the system allows it: P's costs nothing, and W's makes up for it, by having
//! the system run a full fence on every running thread of the process. See
//! [`drowse_sync::light_fence`], and `docs/memory-model.md` for every handshake as a litmus test.
//!
//! # The latch: who waits for what
//!
//! A worker waits for something: the other half of a `join`, the end of a scope, the end of the
//! pool. That is a latch. While it waits it runs other jobs; when there are none it sleeps, and has
//! to be woken when the latch is set. A worker that falls asleep tells its [`LatchWord`] (but not
//! with `sleepy`, where a latch that is set is news for everybody), so that
//! whoever sets it learns whether its owner sleeps *on this very latch*. If so it wakes the owner,
//! and nobody else.
//!
//! # The slots: how one thread wakes another
//!
//! Each worker has a slot: a word to park on. *Awake, prepared, dozing, parked*: the worker moves
//! it to the right, a waker moves it back to *awake* with one compare-and-swap. A waker that
//! succeeds has *claimed* the sleeper, and unparks it; so no worker is woken twice, no lock is held
//! round a wake-up, and a worker that is claimed while it is still *prepared* does not sleep at
//! all.
//!
//! Other states and flags are variants of these, and `slots.rs` has the list: *held* where wake-ups
//! are [steered](Steering), *guarding* for the sentry, *vacant* and the flag *guest* for seats that
//! threads outside take, *absent* for a worker without a thread, the flag *alone* for one that is
//! not woken for posts.
//!
//! # Protocols decide, `Sleep` acts
//!
//! All of the above, but for what a protocol's [`Rules`] say, is the same for all, and is done by
//! [`Sleep`]: the rounds of searching, the latch, the slot, the fences, the last look, the parking,
//! the waking. What is left to decide is a table, [`Protocol`]: one word, and for each event a
//! function from the word to the new word and a decision.
//!
//! - A worker **announces** that it is sleepy: the new word, and what to remember of this moment.
//! - It **commits** to sleep: the new word, or no, there was news.
//! - A **post**, or an **alert** to everybody: the new word, and whom to [wake](Wake).
//! - It **stops searching**: the new word, and whether to pass the [baton](Baton).
//!
//! What a post must notice is in the low bits of the word, and they are zero while all are busy. So
//! the hot path is the same machine code whichever protocol a pool has chosen: one load, one test,
//! one branch; and none of it for [workers that are alerted](Posters) when somebody sleeps. Since a
//! table touches nothing, all of it is tried in a test: every word that three workers can reach,
//! and every event (`tables.rs`).
//!
//! # The protocols
//!
//! | | who may get sleepy | a new job wakes | a latch wakes |
//! |---|---|---|---|
//! | [`sleepy`] | one at a time | everybody | everybody |
//! | [`counters`] | all | as many as it takes beyond those who search | its owner |
//! | [`jec`] | all, unless work comes | the same, and one per job of a backlog | its owner |
//! | [`relay`] | all | as `counters`, as far as there are processors; then a *sentry* | its owner |
//!
//! They are a line: each was the answer to what hurt with the one before. `sleepy` wakes everybody
//! for anything, which burns CPU time when work is sparse. `counters` wakes only whom it must, but
//! lets a worker fall asleep in the middle of a stream of small jobs, to be woken a microsecond
//! later. `jec` lets a post tell sleepy workers, with one bit, that it is not the time; but it
//! wakes a worker for each job of a backlog, which is too many on wide pools. `relay`, the default,
//! goes back to `counters` and adds what none of them knows: how many workers can run at once. Read
//! them in this order; `docs/sources.md` compares the first three with the texts they come from.
//!
//! [`SleepProtocol`] chooses one, [`Policy`] says how patient workers are. A worker that searches
//! alone, and whose last sleep was over before it was worth it, keeps *watch*: it searches for a
//! little longer before it gets sleepy ([`Policy::rounds_on_watch`]).
//!
//! # Who else looks after a job
//!
//! Not every post must wake somebody there and then. A post may rely on those who search; on a
//! *sentry*, a sleeper with an alarm clock, where as many are up as can run; or on somebody who has
//! offered to look after it, and [owes](Sleep::owe) the wake: a thread outside that waits anyway,
//! or a worker that keeps the door for guests. Whoever is relied on looks for jobs before it stops
//! being so.
//!
//! A worker that must not do just any job sleeps [alone](Sleep::sleep_alone): nobody relies on it.
//! A *spare* sits in a [seat of its own](Sleep::with_spares) while another worker blocks. And a
//! worker may have no thread at all, which is as good as asleep ([`Starter`]).
//!
//! A *guest* is a thread outside that [takes the seat](Sleep::take_seat) of a worker which sleeps
//! with nothing to do, and is that worker for a while.
//!
//! A seat may be without a thread, which is [started](Starter) when somebody is needed there; and a
//! thread that has slept for long with nothing to do may [leave](Sleep::leave).
//!
//! # What can be seen
//!
//! [`SleepMetrics`] tells how often each worker slept and for how long, how often it was woken and
//! for which [`Reason`], and how often for nothing. Counting is off the hot path: it happens where
//! a thread parks or is woken. An [`Observer`] is told of each step as it happens.
//!
//! # When nobody is left
//!
//! A worker that blocks in the user's code, on a channel say, is neither active nor asleep, and no
//! protocol knows of it. If all others sleep, waiting for work that only the blocked one could
//! post, nothing will ever move again. With [`Sleep::with_deadlock_detection`] a census is kept of
//! who is up, asleep and [blocked](Sleep::mark_blocked), under a lock that is taken where workers
//! sleep and wake. (*Up* means active or searching.) When the last worker that is up sleeps or
//! blocks, and at least one is blocked, the pool is *suspect*. A thread of its own, the
//! [`Lookout`], then waits for a stated time, and if nobody has moved by then, that is a
//! [`Standstill`]. A pool that is merely idle has nobody blocked, and is not suspect.
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
//!         // Whether the queue was empty before is for the protocol to weigh.
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
mod door;
mod fall_asleep;
mod heads;
pub mod jec;
mod latch_word;
mod late;
mod meter;
mod observer;
mod owed;
mod placement;
mod policy;
mod protocol;
mod reason;
pub mod relay;
mod room;
mod seat;
mod sentry;
mod sleep;
pub mod sleepy;
mod slots;
mod spare;
#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tables;
mod wake;
mod watch;
mod word;

pub use absent::Starter;
pub use choice::{SleepProtocol, UnknownProtocol};
pub use counters::{Counters, Idleness, WakeSize};
pub use deadlock::{Lookout, Mark, Moment, Standstill, Stopped};
pub use fall_asleep::{Host, Idle};
pub use heads::{Heads, MAX_WORKERS};
pub use jec::Jec;
pub use latch_word::LatchWord;
pub use meter::SleepMetrics;
pub use observer::Observer;
pub use placement::Steering;
pub use policy::{Pause, Policy};
pub use protocol::{
    ATTENTION, Announcement, Baton, LastLook, Posted, PostedTo, Posters, Protocol, Restart, Rules, Wake,
};
pub use reason::Reason;
pub use relay::Relay;
pub use sleep::Sleep;
pub use sleepy::Sleepy;
pub use wake::Waker;
