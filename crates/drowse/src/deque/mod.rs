//! The work-stealing deque: one owner pushes and pops at the bottom, any number of thieves steal at
//! the top.
//!
//! Growable, of one-word items, and split in two, so that the owner pays for sharing only when
//! somebody shares:
//!
//! ```text
//!     top                split                               bottom
//!      v                   v                                    v
//!      | public: anyone    | private: the owner's, for now      |
//!      | takes, by CAS     | pushes and pops without a fence    |
//! ```
//!
//! - **The owner** pushes and pops at `bottom`. A pop stores `bottom`, then reads `split`: if the
//!   item is not below it, the owner has it, without a fence and without a compare-and-swap.
//! - **A thief** takes from the public part. If that is empty it *asks*: it lowers the owner's
//!   `limit`, so that the next push leaves the fast path and *shares* half of the private part. For
//!   an owner that pushes all the time this is the cheapest way. An owner that knows of thieves to
//!   come shares without being asked.
//! - If the owner does not answer, the thief can *publish* half of the private part by force: it
//!   *claims* the split, executes a heavy fence, reads `bottom`, and moves the split, if the claim
//!   still holds. So every item can be stolen at any time, whatever the owner does meanwhile.
//! - **The owner never waits.** A claim sends its pops the slow way, where it ends the claim and
//!   publishes itself: the thief, back from its fence, finds what it was after.
//! - **Where they meet**, in the public part, they follow Chase and Lev, with `split` as the
//!   thieves' `bottom`.
//!
//! Other properties:
//!
//! - **One compare per push**, after it: below the `limit` there is room for the next one, nobody
//!   has asked for anything, and nobody sleeps. The owner looks at the thieves' end only when it
//!   reaches it, and at the sleepers not at all: whoever goes to sleep lowers the limit.
//! - **Two to take back**, by position, without a look at the slots: was anything pushed that is
//!   still there ([`cover`](bottom)), and is the item still private?
//! - **No heavy fence?** Where the system has none, or none yet, the owner takes the slow path
//!   every time, with a full fence: `limit` and `split` send it there, so that the fast path need
//!   not ask. On the slow path it notices when that changes.
//! - **No epochs.** A buffer that was outgrown is kept until the deque is dropped. All of them
//!   together are smaller than the current one, and a slow thief can never read freed memory. An
//!   owner that rests gives the *contents* of large buffers back to the system, if the deque is
//!   empty; the addresses stay. A slow thief may then read null, or what was there, and it does not
//!   matter: to take item `t` its compare-and-swap must find `top` at `t`. If `t` was below `top`
//!   when the contents went, `top` has passed it, and never falls. If not, item `t` was pushed
//!   later, and the thief, who saw it in front of the split, reads what was pushed.
//!
//! # Notes on memory ordering
//!
//! Three handshakes keep an item from being taken twice. In each, both sides write, fence, and
//! read:
//!
//! 1. *Owner's pop against a publication.* Owner: `bottom` down, light fence, read `split`. Thief:
//!    claim `split`, heavy fence, read `bottom`. Whichever fence comes second sees the other's
//!    move: either the owner sees the claim and takes the slow path, or the thief sees the lowered
//!    `bottom` and publishes only what is below. (Without light fences: two full ones.)
//! 2. *Owner's pop of a public item against a steal.* Owner: `split` down, full fence, read `top`.
//!    Thief: read `top`, full fence, read `split`. Either the thief sees the lowered `split` and
//!    leaves the item alone, or the owner sees that `top` has come up to it, and both race for it.
//! 3. *Two thieves, or a thief and the owner at the last public item*: a compare-and-swap of `top`.
//!
//! `split` is changed by compare-and-swap: by the owner, who may do so at any time, and by the one
//! thief that has claimed it. That there is but one is the business of a lock among thieves. (With
//! two, one could take the other's claim for its own, and act on what it read of `bottom` before.)
//!
//! What makes an item's contents visible to a thief is the release of every store to `bottom` and
//! to `split`, and the acquire of the loads.

mod bottom;
mod buffer;
mod owner;
mod pages;
mod price;
mod split;
mod stealer;

use bottom::Private;
use buffer::Buffer;
use drowse_sync::atomic::{AtomicI64, AtomicPtr, Ordering};
use drowse_sync::{Arc, CachePadded, LightFences, Mutex, Prepared, faulty, full_fence, light_fence};
use split::{AtomicSplit, Split};
use std::ptr::NonNull;

pub use bottom::Bottom;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
pub use bottom::Nobody;
pub use owner::{Owner, Pushed};
pub use stealer::{Steal, Stealer};

/// A new, empty deque, with a number. `capacity`, a power of two, is where it starts; it grows as
/// needed.
///
/// Its owner uses light fences as soon as [there are some](LightFences). They must be prepared
/// before the threads are started that use the deque: a process with several threads gets them
/// late.
pub fn new<T>(number: usize, capacity: usize, _: Prepared) -> (Owner<T>, Stealer<T>) {
    with_fences(number, capacity, LightFences::get)
}

/// Like `new`, with an owner that gets its light fences from `get`, at its first push or later.
fn with_fences<T>(
    number: usize,
    capacity: usize,
    get: fn() -> Option<LightFences>,
) -> (Owner<T>, Stealer<T>) {
    let shared = Arc::new(Shared::new(number, capacity));
    (Owner::new(Arc::clone(&shared), get), Stealer::new(shared))
}

/// What owner and thieves share. What the owner's fast path needs comes first.
#[derive(Debug)]
#[repr(C)]
struct Shared<T> {
    /// What the owner's fast path reads and writes.
    private: CachePadded<Private<T>>,
    /// What thieves write.
    public: CachePadded<Public<T>>,
}

/// A limit that no `bottom` is below: a thief has asked for items.
const ASKED: i64 = i64::MIN;

/// Another one: somebody sleeps, or is about to.
const ALERTED: i64 = i64::MIN + 1;

/// And a third: the owner has no light fences, and executes a full one with each push.
const FENCED: i64 = i64::MIN + 2;

#[derive(Debug)]
struct Public<T> {
    /// The oldest item. Moved up by whoever takes it, and never down.
    top: AtomicI64,
    /// Where thieves must stop. The owner has light fences, and takes the fast path, if it says so:
    /// not before its first push, and not while it rests.
    split: AtomicSplit,
    /// Where the items are: the newest of the buffers. Written by the owner.
    buffer: AtomicPtr<Buffer<T>>,
    /// Held by the thief that publishes.
    publisher: Mutex<()>,
}

// SAFETY: the pointer owns its buffer, which is made of atomics; the items are plain words to the
// deque, and sending them is a matter between those who push and those who take.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: everything is atomic, but for cells that are the owner's. For the items see `Send`.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn new(number: usize, capacity: usize) -> Self {
        let first = Buffer::leak(capacity, None);
        Self {
            private: CachePadded::new(Private::new(number)),
            public: CachePadded::new(Public {
                top: AtomicI64::new(0),
                split: AtomicSplit::new(Split::START),
                buffer: AtomicPtr::new(first.as_ptr()),
                publisher: Mutex::new(()),
            }),
        }
    }

    /// Withdraws the newest item, at `bottom`, from the thieves' sight. Whether it is the owner's
    /// for sure.
    #[inline(always)]
    fn lower_bottom(&self, bottom: i64) -> bool {
        // ORDERING: release, though nothing is pushed: a thief may never see the values that the
        // items below were pushed with, since this one replaces them. (No model shows it: to loom
        // the light fence of a push releases what comes before.)
        self.private.set_bottom(bottom, Ordering::Release);
        // ORDERING: pairs with the heavy fence in `Stealer::publish`: handshake 1 of the module's
        // notes.
        light_fence("deque/pop-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        self.public.split.load(Ordering::Relaxed).is_private(bottom)
    }

    /// Whether the item at `bottom`, which was withdrawn, is the owner's for sure, if that has no
    /// light fences.
    #[inline(always)]
    fn is_private_fenced(&self, bottom: i64) -> bool {
        // ORDERING: relaxed; only the owner changes that.
        if self.public.split.load(Ordering::Relaxed).owner_is_light() {
            return false;
        }
        // ORDERING: in the place of the light fence, against one who publishes without a heavy one.
        full_fence("deque/pop-slow-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        let split = self.public.split.load(Ordering::Relaxed);
        faulty!("deque/fenced-pop-ignores-claim", split.is_private_fenced(bottom), split.index() <= bottom)
    }

    /// Whether there seems to be nothing to take. Exact for what happened before.
    fn is_empty(&self) -> bool {
        // ORDERING: relaxed, both; a look, whose caller brings its own fence where it needs one.
        let top = self.public.top.load(Ordering::Relaxed);
        let bottom = self.private.bottom.load(Ordering::Relaxed);
        bottom <= top
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // ORDERING: relaxed; the last handle is gone, and its drop has acquired all others'.
        if let Some(newest) = NonNull::new(self.public.buffer.load(Ordering::Relaxed)) {
            // SAFETY: leaked by `new` and `grow`, each linked to the one before; with the last
            // handle gone nobody uses them.
            unsafe { Buffer::free(newest) };
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
