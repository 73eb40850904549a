//! The work-stealing deque: one owner pushes and pops at the bottom, any number of thieves steal at the top.
//!
//! A growable Chase-Lev deque of one-word items, in a lean form:
//!
//! - **One compare a push.** The owner keeps a `limit` below which it knows there is room, and looks at
//!   the thieves' end only when it reaches it.
//! - **One branch to take back.** [`Owner::take_back`] asks the one question a `join` has: is what I pushed
//!   still the newest, and still mine?
//! - **No epochs.** A buffer that was outgrown is kept until the deque goes. All of them together are
//!   smaller than the current one, and a slow thief can never read freed memory.
//! - **A fenced push.** Publishing an item is a full fence, so that a sleep protocol which looks at its
//!   counters after a push can rely on it. It costs nothing measurable, see the decision page.
//!
//! # Notes on memory ordering
//!
//! Items live at indices `top..bottom`, which only grow over time but for the owner's own pops. What keeps
//! an item from being taken twice:
//!
//! - Two thieves, or a thief and the owner at the last item, race for `top` with a compare-and-swap.
//! - For an item that is *not* the last, the owner takes it without one. It first lowers `bottom`, then
//!   (full fence) reads `top`; a thief first reads `top`, then (full fence) reads `bottom`. Whichever fence
//!   comes second sees the other's move: either the thief sees the lowered `bottom` and leaves the item
//!   alone, or the owner sees that `top` has come up to it and joins the race.
//!
//! What makes an item's contents visible to a thief is the release of every store to `bottom` and the acquire
//! of the thief's load of it.

mod buffer;
mod owner;
mod stealer;

use buffer::Buffer;
use drowse_sync::atomic::{AtomicIsize, AtomicPtr, Ordering};
use drowse_sync::{Arc, CachePadded, Mutex};
use std::ptr::NonNull;

pub use owner::Owner;
pub use stealer::{Steal, Stealer};

/// A new, empty deque. `capacity`, a power of two, is where it starts; it grows as needed.
pub fn new<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
    let shared = Arc::new(Shared::new(capacity));
    (Owner::new(Arc::clone(&shared)), Stealer::new(shared))
}

/// What owner and thieves share.
#[derive(Debug)]
struct Shared<T> {
    /// One past the newest item. Written by the owner alone.
    bottom: CachePadded<AtomicIsize>,
    /// The oldest item. Moved up by whoever takes it.
    top: CachePadded<AtomicIsize>,
    /// Where the items are: the newest of `buffers`.
    buffer: AtomicPtr<Buffer<T>>,
    /// Every buffer there ever was.
    buffers: Mutex<Vec<NonNull<Buffer<T>>>>,
}

// SAFETY: the pointers in `buffers` own their buffers, which are made of atomics; the items are plain words to
// the deque, and sending them is a matter between those who push and those who take.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above; `bottom`, `top`, `buffer` and the slots are atomics, the list is locked.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn new(capacity: usize) -> Self {
        let first = Buffer::leak(capacity);
        Self {
            bottom: CachePadded::new(AtomicIsize::new(0)),
            top: CachePadded::new(AtomicIsize::new(0)),
            buffer: AtomicPtr::new(first.as_ptr()),
            buffers: Mutex::new(vec![first]),
        }
    }

    /// Whether there seems to be nothing to take. Exact for what happened before.
    fn is_empty(&self) -> bool {
        // ORDERING: relaxed; a look, whose caller brings its own fence where it needs one.
        let top = self.top.load(Ordering::Relaxed);
        // ORDERING: as above.
        let bottom = self.bottom.load(Ordering::Relaxed);
        bottom <= top
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        for buffer in self.buffers.lock().drain(..) {
            // SAFETY: `buffers` owns what `Buffer::leak` leaked, each once; with the last handle gone
            // nobody holds a pointer into any of them.
            drop(unsafe { Box::from_raw(buffer.as_ptr()) });
        }
    }
}
