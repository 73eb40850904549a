//! Work-stealing deque: one owner pushes and pops at the bottom, any number of thieves steal at the
//! top.
//!
//! Growable, with one-word items, and split in two, so that the owner pays for sharing only if a
//! thief takes part:
//!
//! ```text
//!     top                split                               bottom
//!      v                   v                                    v
//!      | public: thieves   | private: the owner's, for now      |
//!      | take, by CAS      | pushes and pops without a fence    |
//! ```
//!
//! - **The owner** pushes and pops at `bottom`. A pop stores `bottom`, then reads `split`: an item
//!   at `split` or above is the owner's, without a fence or a compare-and-swap.
//! - **A thief** takes from the public part. If that is empty it *asks*: it lowers the owner's
//!   `limit`, so that the next push leaves the fast path and *shares* half of the private part.
//!   This is the cheapest way if the owner pushes often. An owner that expects thieves shares
//!   unasked.
//! - If the owner does not answer, the thief can *publish* half of the private part by force: it
//!   *claims* the split, executes a heavy fence, reads `bottom`, and moves the split, if the claim
//!   still holds. So every item can be stolen at any time, whatever the owner does meanwhile.
//! - **The owner never waits.** A claim sends its pops to the slow path, which ends the claim and
//!   publishes items itself, which the thief finds after its fence.
//! - **In the public part** owner and thieves follow Chase and Lev, with `split` as the thieves'
//!   `bottom`.
//!
//! Other properties:
//!
//! - **One compare per push**, after it: below the `limit` there is room for the next item, no
//!   thief has asked, and no worker sleeps. The owner reads the thieves' end only when it reaches
//!   the limit, and never the list of sleepers: a worker that goes to sleep lowers the limit.
//! - **Two compares to take back**, by position, without reading the slots: was anything pushed
//!   that is still there ([`cover`](bottom)), and is the item still private?
//! - **Without heavy fences**, or before the system has them, the owner takes the slow path every
//!   time, with a full fence: `limit` and `split` send it there, so the fast path needs no check
//!   for this. The slow path notices when this changes.
//! - **No epochs.** A replaced buffer is kept until the deque is dropped. Together they are smaller
//!   than the current one, and a slow thief never reads freed memory. An owner that rests gives the
//!   *contents* of large buffers back to the system, if the deque is empty; the addresses stay
//!   mapped. A slow thief may then read null or the old value, which is harmless: to take item `t`
//!   its compare-and-swap must find `top` at `t`. If `t` was below `top` when the contents were
//!   given back, `top` has passed it, and never falls. If not, item `t` was pushed later, and the
//!   thief, which saw it below the split, reads the pushed item.
//!
//! # Notes on memory ordering
//!
//! Three handshakes keep an item from being taken twice. Two have a fence on both sides:
//!
//! 1. *Owner's pop against a publication.* Owner: lower `bottom`, light fence, read `split`. Thief:
//!    claim `split`, heavy fence, read `bottom`. Whichever fence comes second, its side sees the
//!    other's write: either the owner sees the claim and takes the slow path, or the thief sees the
//!    lowered `bottom` and publishes only what is below. (Without light fences: two full fences.)
//! 2. *Owner's pop of a public item against a steal.* Owner: lower `split`, full fence, read `top`.
//!    Thief: read `top`, full fence, read `split`. Either the thief sees the lowered `split` and
//!    leaves the item alone, or the owner sees that `top` has reached it, and both race.
//! 3. *Two thieves, or a thief and the owner at the last public item*: a compare-and-swap of `top`.
//!
//! `split` is changed by compare-and-swap: by the owner, at any time, and by the one thief that has
//! claimed it. The lock `publisher` lets only one thief claim it. (With two, a thief could mistake
//! another's claim for its own, and act on a `bottom` that it read before.)
//!
//! An item's contents become visible to a thief by the release of every store to `bottom` and to
//! `split`, and the acquire of the loads.

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
use drowse_sync::{
    Arc, CachePadded, LightFences, Mutex, Prepared, faulty, full_fence, light_fence,
};
use split::{AtomicSplit, Split};
use std::ptr::NonNull;

pub use bottom::Bottom;
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
pub use bottom::Nobody;
pub use owner::{Owner, Pushed};
pub use stealer::{Steal, Stealer};

/// Creates an empty deque with this number. `capacity`, a power of two, is its initial size; it
/// grows as needed.
///
/// The owner uses light fences as soon as [they are available](LightFences). They must be prepared
/// before the threads are started that use the deque: a process with several threads gets them
/// late.
pub fn new<T>(number: usize, capacity: usize, _: Prepared) -> (Owner<T>, Stealer<T>) {
    with_fences(number, capacity, LightFences::get)
}

/// Like `new`, but the owner gets its light fences from `get`, at its first push or later.
fn with_fences<T>(
    number: usize,
    capacity: usize,
    get: fn() -> Option<LightFences>,
) -> (Owner<T>, Stealer<T>) {
    let shared = Arc::new(Shared::new(number, capacity));
    (Owner::new(Arc::clone(&shared), get), Stealer::new(shared))
}

/// State shared by owner and thieves. The data of the owner's fast path comes first.
#[derive(Debug)]
#[repr(C)]
struct Shared<T> {
    private: CachePadded<Private<T>>,
    /// Data that thieves write.
    public: CachePadded<Public<T>>,
}

/// Position before those of all items.
pub const ANY: i64 = i64::MIN;

/// Limit below every `bottom`: a thief has asked for items.
const ASKED: i64 = i64::MIN;

/// Limit below every `bottom`: a worker sleeps, or is about to.
const ALERTED: i64 = i64::MIN + 1;

/// Limit below every `bottom`: the owner executes a full fence with each push.
const FENCED: i64 = i64::MIN + 2;

#[derive(Debug)]
struct Public<T> {
    /// Index of the oldest item. Raised by the thread that takes the item; never falls.
    top: AtomicI64,
    /// Border at which thieves must stop. Also tells if the owner has light fences and takes the
    /// fast path: not before its first push, and not while it rests.
    split: AtomicSplit,
    /// Newest buffer, which holds the items. Written by the owner.
    buffer: AtomicPtr<Buffer<T>>,
    /// Held by the thief that publishes.
    publisher: Mutex<()>,
}

// SAFETY: the pointer owns its buffer, which is made of atomics. Items are plain words to the
// deque; its user ensures that they can be sent.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: everything is atomic, except the cells, which only the owner uses. For the items see
// `Send`.
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

    /// Withdraws the newest item, at `bottom`, so that thieves do not see it. Returns `true` if it
    /// is certainly the owner's.
    #[inline(always)]
    fn lower_bottom(&self, bottom: i64) -> bool {
        // ORDERING: release, though nothing is pushed: `Stealer::publish` may acquire only this
        // value, and not those that the items below were pushed with. (No model shows it: in loom
        // the light fence of a push releases what comes before.)
        self.private.set_bottom(bottom, Ordering::Release);
        // ORDERING: pairs with the heavy fence in `Stealer::publish`: handshake 1 of the module's
        // notes.
        light_fence("deque/pop-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        self.public.split.load(Ordering::Relaxed).is_private(bottom)
    }

    /// Returns `true` if the withdrawn item at `bottom` is certainly the owner's, and the owner has
    /// no light fences.
    #[inline(always)]
    fn is_private_fenced(&self, bottom: i64) -> bool {
        // ORDERING: relaxed; only the owner changes this flag.
        if self.public.split.load(Ordering::Relaxed).owner_is_light() {
            return false;
        }
        // ORDERING: takes the place of the light fence in `lower_bottom`; pairs with the full fence
        // in `Stealer::publish`.
        full_fence("deque/pop-slow-unfenced");
        // ORDERING: relaxed; the fence above orders it.
        let split = self.public.split.load(Ordering::Relaxed);
        faulty!(
            "deque/fenced-pop-ignores-claim",
            split.is_private_fenced(bottom),
            split.index() <= bottom
        )
    }

    /// Returns `true` if there seems to be nothing to take. Exact for events that happen before the
    /// call.
    fn is_empty(&self) -> bool {
        // ORDERING: relaxed, both; a hint, unless the caller has executed a fence.
        let top = self.public.top.load(Ordering::Relaxed);
        let bottom = self.private.bottom.load(Ordering::Relaxed);
        bottom <= top
    }
}

impl<T> Drop for Shared<T> {
    #[inline(never)]
    fn drop(&mut self) {
        // ORDERING: relaxed; the drop of the last handle has acquired those of all others.
        if let Some(newest) = NonNull::new(self.public.buffer.load(Ordering::Relaxed)) {
            // SAFETY: leaked by `new` and `grow`, each linked to the previous one; after the drop
            // of the last handle no thread uses them.
            unsafe { Buffer::free(newest) };
        }
    }
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests;
