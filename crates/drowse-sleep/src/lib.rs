//! How the workers of a work-stealing pool fall asleep, and how they are woken.
//!
//! A pool without work should cost nothing, and new work should start at once. Between the two lies a
//! race: a worker looks everywhere, finds nothing and goes to sleep, while another thread publishes a
//! job and finds nobody asleep to wake. This crate is about losing neither the job nor the nap.
//!
//! It knows no jobs and no pools. It knows:
//!
//! - [`LatchWord`]: the event a worker waits for, in four states, so that whoever sets it knows whether
//!   its owner sleeps on *this very latch*;
//! - [`Sleepers`]: one bed a worker, each a word to sleep on; a waker claims a sleeper before it wakes it;
//! - [`Policy`]: how long a worker searches before it gets sleepy;
//! - [`Jec`]: the protocol that ties them together, the *jobs event counter*. Its module,
//!   [`jec`], has the argument why no wake-up is lost.
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
//! An **active** worker runs jobs. An **idle** one searches. A **sleepy** one has announced that it is
//! about to sleep and searches once more. An **asleep** one blocks until another thread wakes it. Idle,
//! sleepy and asleep together are called *inactive*.
//!
//! # Example
//!
//! The loop of a worker that waits for a latch, as a pool would write it:
//!
//! ```
//! use drowse_sleep::{Jec, LatchWord, Policy};
//! use drowse_sync::Queue;
//!
//! fn wait_until(sleep: &Jec, worker: usize, latch: &LatchWord, injector: &Queue<u32>) -> u32 {
//!     let mut sum = 0;
//!     while !latch.probe() {
//!         let mut idle = sleep.start_looking(worker);
//!         while !latch.probe() {
//!             if let Some(job) = injector.pop() {
//!                 sum += job;
//!                 break;
//!             }
//!             sleep.no_work_found(&mut idle, latch, || !injector.is_empty());
//!         }
//!         sleep.stop_looking(idle, || !injector.is_empty());
//!     }
//!     sum
//! }
//!
//! let (sleep, latch, injector) = (Jec::new(1, Policy::default()), LatchWord::new(), Queue::new());
//! std::thread::scope(|s| {
//!     let worker = s.spawn(|| wait_until(&sleep, 0, &latch, &injector));
//!     for job in 1..=10 {
//!         injector.push(job);
//!         sleep.post_injected(1, || false);
//!     }
//!     while !injector.is_empty() {
//!         std::hint::spin_loop();
//!     }
//!     // The latch outlives the call.
//!     if unsafe { LatchWord::set(&latch) } {
//!         sleep.wake_worker(0);
//!     }
//!     assert_eq!(worker.join().unwrap(), 55);
//! });
//! ```

pub mod jec;
mod latch_word;
mod policy;
mod sleepers;

pub use jec::{IdleState, Jec};
pub use latch_word::LatchWord;
pub use policy::Policy;
pub use sleepers::Sleepers;
