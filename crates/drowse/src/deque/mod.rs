//! The work-stealing deque: one owner pushes and pops at the bottom, any number of thieves steal at
//! the top.
//!
//! Growable, of one-word items, and split in two, so that the owner pays for sharing only when
//! somebody shares:
//!
//! ```text
//!     top                split                claim        bottom
//!      v                   v                    v             v
//!      | public: anyone    | being published    | private: the owner's, for now |
//!      | takes, by CAS     | by a thief         | pushes and pops without fence |
//! ```
//!
//! - **The owner** pushes and pops at `bottom`. A pop stores `bottom`, then reads `claim`: if the
//!   item is not below it, the owner has it, without a fence and without a compare-and-swap.
//! - **A thief** takes from the public part. If that is empty it *asks*: it lowers the owner's
//!   `limit`, so that the next push leaves the fast path and *shares* half of the private part. For
//!   an owner that pushes all the time this is the cheapest way. An owner that knows of thieves to
//!   come shares without being asked.
//! - If the owner does not answer, the thief can *publish* half of the private part by force: it
//!   raises `claim`, executes a heavy fence, and reads `bottom`. So every item can be stolen at any
//!   time, whatever the owner does meanwhile.
//! - **Where they meet**, in the public part, they follow Chase and Lev, with `split` as the
//!   thieves' `bottom`.
//!
//! Other properties:
//!
//! - **One compare per push.** Below the `limit` there is room, and nobody has asked for anything.
//!   The owner looks at the thieves' end only when it reaches it.
//! - **One branch to take back.** [`Owner::take_back`] asks the one question a `join` has: is what
//!   I pushed still the newest, and still mine?
//! - **No heavy fence?** Where the system has none, or none yet, the owner takes the slow path
//!   every time: `limit` and `claim` send it there, so that the fast path need not ask. On the slow
//!   path it notices when that changes.
//! - **No epochs.** A buffer that was outgrown is kept until the deque is dropped. All of them
//!   together are smaller than the current one, and a slow thief can never read freed memory.
//!
//! # Notes on memory ordering
//!
//! Three handshakes keep an item from being taken twice. In each, both sides write, fence, and
//! read:
//!
//! 1. *Owner's pop against a publication.* Owner: `bottom` down, light fence, read `claim`. Thief:
//!    `claim` up, heavy fence, read `bottom`. Whichever fence comes second sees the other's move:
//!    either the owner sees the claim and takes the slow path, or the thief sees the lowered
//!    `bottom` and publishes only what is below.
//! 2. *Owner's pop of a public item against a steal.* Owner: `split` down, full fence, read `top`.
//!    Thief: read `top`, full fence, read `split`. Either the thief sees the lowered `split` and
//!    leaves the item alone, or the owner sees that `top` has come up to it, and both race for it.
//! 3. *Two thieves, or a thief and the owner at the last public item*: a compare-and-swap of `top`.
//!
//! `split` and `claim` are written under a lock, by the owner on the slow path and by publishing
//! thieves. Outside a publication they are equal.
//!
//! What makes an item's contents visible to a thief is the release of every store to `bottom` and
//! to `split`, and the acquire of the loads.

mod buffer;
mod owner;
mod stealer;

use buffer::Buffer;
use drowse_sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, Ordering};
use drowse_sync::{Arc, CachePadded, LightFences, Mutex, Prepared, mutant};
use std::ptr::NonNull;

pub use owner::{Owner, Pushed};
pub use stealer::{Steal, Stealer};

/// A new, empty deque. `capacity`, a power of two, is where it starts; it grows as needed.
///
/// Its owner uses light fences as soon as [there are some](LightFences). They must be prepared
/// before the threads are started that use the deque: a process with several threads gets them
/// late.
pub fn new<T>(capacity: usize, _: Prepared) -> (Owner<T>, Stealer<T>) {
    with_fences(capacity, LightFences::get)
}

/// Like `new`, with an owner that gets its light fences from `get`, at its first push or later.
fn with_fences<T>(capacity: usize, get: fn() -> Option<LightFences>) -> (Owner<T>, Stealer<T>) {
    let shared = Arc::new(Shared::new(capacity));
    (Owner::new(Arc::clone(&shared), get), Stealer::new(shared))
}

/// What owner and thieves share.
#[derive(Debug)]
struct Shared<T> {
    /// What the owner's fast path reads and writes.
    private: CachePadded<Private>,
    /// What thieves write.
    public: CachePadded<Public<T>>,
    /// Whether the owner has light fences, and takes the fast path: not before its first push, and
    /// not while it rests. Written by the owner, under the lock.
    is_light: AtomicBool,
}

#[derive(Debug)]
struct Private {
    /// One past the newest item. Written by the owner alone.
    bottom: AtomicI64,
    /// While `bottom` is below this a push can take the fast path: there is room, and nobody has
    /// asked for anything. A thief that asks sets it to `ASKED`.
    limit: AtomicI64,
}

/// A limit that no `bottom` is below.
const ASKED: i64 = i64::MIN;

#[derive(Debug)]
struct Public<T> {
    /// The oldest item. Moved up by whoever takes it, and never down.
    top: AtomicI64,
    /// One past the newest item that thieves may take. Written under the lock.
    split: AtomicI64,
    /// One past the newest item that the owner may not take without looking. Written under the
    /// lock. Above all items while the owner has no light fences.
    claim: AtomicI64,
    /// Where the items are: the newest of the buffers. Written by the owner.
    buffer: AtomicPtr<Buffer<T>>,
    /// Every buffer there ever was.
    lock: Mutex<Vec<NonNull<Buffer<T>>>>,
}

// SAFETY: the pointers in the list own their buffers, which are made of atomics; the items are
// plain words to the deque, and sending them is a matter between those who push and those who take.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: everything is atomic, except for the list, which is locked. For the items see `Send`.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn new(capacity: usize) -> Self {
        let first = Buffer::leak(capacity);
        Self {
            private: CachePadded::new(Private { bottom: AtomicI64::new(0), limit: AtomicI64::new(ASKED) }),
            public: CachePadded::new(Public {
                top: AtomicI64::new(0),
                split: AtomicI64::new(0),
                claim: AtomicI64::new(i64::MAX),
                buffer: AtomicPtr::new(first.as_ptr()),
                lock: Mutex::new(vec![first]),
            }),
            is_light: AtomicBool::new(false),
        }
    }

    /// Whether the owner has light fences. Exact for the owner and for whoever holds the lock; for
    /// others, a guess.
    fn is_light(&self) -> bool {
        // ORDERING: relaxed; the lock orders it for those who rely on it.
        self.is_light.load(Ordering::Relaxed)
    }

    /// Sets where the public part ends. Only with the lock held.
    fn set_split(&self, split: i64) {
        // ORDERING: release passes on to thieves, which acquire `split`, what the holder of the
        // lock knows of the items below.
        self.public.split.store(split, mutant::weaken("deque/split-relaxed", Ordering::Release));
        let claim = if self.is_light() { split } else { i64::MAX };
        // ORDERING: relaxed; only the owner reads it, and takes the lock if in doubt.
        self.public.claim.store(claim, Ordering::Relaxed);
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
        for buffer in self.public.lock.lock().drain(..) {
            // SAFETY: the list owns what `Buffer::leak` leaked, each once; with the last handle
            // gone nobody holds a pointer into any of them.
            drop(unsafe { Box::from_raw(buffer.as_ptr()) });
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
