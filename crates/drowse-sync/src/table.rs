//! A table that grows while other threads read it.
//!
//! The code that grows, reads and drops a table is in a program once, for items of any type: it
//! knows the layout of an item, and two functions that make and drop one.

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, Range};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of items in the first further block; each later block is twice as long as the one before.
/// (In a model each item costs time.)
const FIRST_BLOCK: usize = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 8 };

/// Number of further blocks.
const BLOCKS: usize = 16;

/// Items with numbers from 0 on. The first ones exist from the beginning; the others are made, a
/// block at a time, when one of them is needed. No item is ever moved.
///
/// ```
/// let table = drowse_sync::Table::new(2, 100, |number| number * 10);
/// assert_eq!((table[1], table.get(2)), (10, None));
/// assert_eq!(*table.get_or_grow(2, |_| 7), 7);
/// assert!(table.get(3).is_some() && table.get(99).is_none());
/// ```
pub struct Table<T> {
    blocks: Blocks,
    /// Makes the table invariant in `T`, because `get_or_grow` writes items through a shared
    /// reference.
    owned: PhantomData<Cell<T>>,
}

/// Contents of a table.
struct Blocks {
    first: NonNull<u8>,
    /// Number of items in the first block.
    length: usize,
    most: usize,
    kind: &'static Kind,
    /// Further blocks; null if the block was not made yet.
    further: [AtomicPtr<u8>; BLOCKS],
    /// Locked by the thread that makes a block.
    growing: Mutex<()>,
}

/// Type of the items of a table.
struct Kind {
    layout: Layout,
    /// Drops an item in place.
    drop: unsafe fn(*mut u8),
}

/// Closure that makes items of a table, without its type.
struct Make {
    closure: *mut (),
    /// Calls the closure with the number of an item, and writes the item to its place.
    call: unsafe fn(*mut (), usize, *mut u8),
}

impl Make {
    fn with<T, F: FnMut(usize) -> T>(closure: &mut F) -> Self {
        /// # Safety
        ///
        /// `closure` must point to an `F`, and `place` to room for a `T`.
        unsafe fn call<T, F: FnMut(usize) -> T>(closure: *mut (), number: usize, place: *mut u8) {
            // SAFETY: the caller's promise. The closure is borrowed exclusively by `with`'s caller.
            unsafe { place.cast::<T>().write((*closure.cast::<F>())(number)) };
        }
        Self { closure: ptr::from_mut(closure).cast(), call: call::<T, F> }
    }
}

/// Drops an item of type `T`.
///
/// # Safety
///
/// As for [`ptr::drop_in_place`].
unsafe fn drop_item<T>(item: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { item.cast::<T>().drop_in_place() };
}

impl Blocks {
    #[inline(never)]
    fn new(length: usize, most: usize, kind: &'static Kind, make: &Make) -> Self {
        let capacity = length.saturating_add(FIRST_BLOCK * ((1 << BLOCKS) - 1));
        let most = most.clamp(length, capacity);
        // SAFETY: `make` makes items of this kind: see `Table::new`.
        let first = unsafe { make_block(kind, 0..length, make) };
        let further = [const { AtomicPtr::new(ptr::null_mut()) }; BLOCKS];
        Self { first, length, most, kind, further, growing: Mutex::new(()) }
    }

    /// Returns the first item of a further block, if that was made.
    fn block(&self, block: usize) -> Option<NonNull<u8>> {
        // ORDERING: acquire pairs with the release in `grow`: the items are fully written.
        NonNull::new(self.further.get(block)?.load(Ordering::Acquire))
    }

    /// Returns an item of a further block, if it was made.
    #[cold]
    #[inline(never)]
    fn later(&self, index: usize) -> Option<NonNull<u8>> {
        if !(self.length..self.most).contains(&index) {
            return None;
        }
        let (block, at) = place(index - self.length);
        let items = self.block(block)?;
        // SAFETY: the block has an item `at`, since there is an item `index`.
        Some(unsafe { items.add(at * self.kind.layout.size()) })
    }

    /// Returns an item. Makes its block if it was not made yet.
    ///
    /// # Safety
    ///
    /// `make` must make items of this table's kind.
    #[cold]
    #[inline(never)]
    unsafe fn grow(&self, index: usize, make: &Make) -> NonNull<u8> {
        if index >= self.most {
            too_many(self.most, index);
        }
        let (block, at) = place(index - self.length);
        // A panic in `make` leaves the block as it was, so poison is ignored.
        let _growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let items = self.block(block).unwrap_or_else(|| {
            // SAFETY: the caller's promise.
            let items = unsafe { make_block(self.kind, self.range(block), make) };
            // ORDERING: release pairs with the acquire in `block`: the items were made.
            self.further[block].store(items.as_ptr(), Ordering::Release);
            items
        });
        // SAFETY: as in `later`.
        unsafe { items.add(at * self.kind.layout.size()) }
    }

    /// Returns the next block from number `*next` on that was made: its first item, and its length.
    /// Blocks may be made in any order.
    #[cold]
    #[inline(never)]
    fn next_block(&self, next: &mut usize) -> Option<(NonNull<u8>, usize)> {
        while *next < BLOCKS {
            *next += 1;
            if let Some(items) = self.block(*next - 1) {
                return Some((items, self.range(*next - 1).len()));
            }
        }
        None
    }

    /// Returns the numbers of the items in a further block.
    fn range(&self, block: usize) -> Range<usize> {
        let begin = |block: usize| (self.length + FIRST_BLOCK * ((1 << block) - 1)).min(self.most);
        begin(block)..begin(block + 1)
    }

    /// Drops the items of a block and frees it.
    ///
    /// # Safety
    ///
    /// The block must have that many items, and not be used again.
    unsafe fn free(&self, items: NonNull<u8>, length: usize) {
        let size = self.kind.layout.size();
        for at in 0..length {
            // SAFETY: an item of the block, which nothing else drops.
            unsafe { (self.kind.drop)(items.as_ptr().add(at * size)) };
        }
        let layout = layout_of(self.kind, length);
        if layout.size() > 0 {
            // SAFETY: allocated with this layout by `make_block`.
            unsafe { alloc::dealloc(items.as_ptr(), layout) };
        }
    }
}

/// Makes a block of items with these numbers. A panic of `make` leaks those that were made.
///
/// # Safety
///
/// `make` must make items of this kind.
#[inline(never)]
unsafe fn make_block(kind: &Kind, numbers: Range<usize>, make: &Make) -> NonNull<u8> {
    let layout = layout_of(kind, numbers.len());
    let items = if layout.size() == 0 {
        // SAFETY: an alignment is not zero.
        unsafe { NonNull::new_unchecked(ptr::without_provenance_mut(layout.align())) }
    } else {
        // SAFETY: the layout has a size.
        NonNull::new(unsafe { alloc::alloc(layout) })
            .unwrap_or_else(|| alloc::handle_alloc_error(layout))
    };
    for (at, number) in numbers.enumerate() {
        // SAFETY: there is room for that many items; and the caller's promise.
        unsafe { (make.call)(make.closure, number, items.as_ptr().add(at * kind.layout.size())) };
    }
    items
}

/// Returns the layout of a block, which may have no size.
///
/// # Panics
///
/// If no memory is as large.
fn layout_of(kind: &Kind, length: usize) -> Layout {
    let size = kind.layout.size().checked_mul(length);
    let layout = size.and_then(|size| Layout::from_size_align(size, kind.layout.align()).ok());
    layout.expect("a block of a table fits into memory")
}

impl Drop for Blocks {
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: made by `new` with that length, and not used again.
        unsafe { self.free(self.first, self.length) };
        let mut next = 0;
        while let Some((items, length)) = self.next_block(&mut next) {
            // SAFETY: made by `grow` with that length, and not used again.
            unsafe { self.free(items, length) };
        }
    }
}

impl<T> Table<T> {
    const KIND: Kind = Kind { layout: Layout::new::<T>(), drop: drop_item::<T> };

    /// Returns a table with `length` items, and room for `most` in all, as far as the blocks
    /// suffice. Calls `make` with the number of each item.
    pub fn new(length: usize, most: usize, mut make: impl FnMut(usize) -> T) -> Self {
        Self {
            blocks: Blocks::new(length, most, &Self::KIND, &Make::with(&mut make)),
            owned: PhantomData,
        }
    }

    /// Returns the number of items that there can be.
    pub fn most(&self) -> usize {
        self.blocks.most
    }

    /// Returns the items that exist from the beginning.
    #[inline(always)]
    fn first(&self) -> &[T] {
        // SAFETY: `make_block` has made that many items of type `T`. The table frees them.
        unsafe { slice::from_raw_parts(self.blocks.first.as_ptr().cast(), self.blocks.length) }
    }

    /// Returns an item, if it was made.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.first().get(index).or_else(|| {
            // SAFETY: an item of type `T`, which the table frees.
            self.blocks.later(index).map(|item| unsafe { item.cast().as_ref() })
        })
    }

    /// Returns an item. If it was not made yet, makes its block, calling `make` with the number of
    /// each item of the block. If several threads do this at once, one of them makes the block, and
    /// the others wait.
    ///
    /// # Panics
    ///
    /// If there is no room for that many items.
    pub fn get_or_grow(&self, index: usize, mut make: impl FnMut(usize) -> T) -> &T {
        // SAFETY: `make` makes items of type `T`, as this returns.
        let grow = || unsafe { self.blocks.grow(index, &Make::with(&mut make)).cast().as_ref() };
        self.get(index).unwrap_or_else(grow)
    }

    /// Returns the items that were made, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        Iter { items: self.first().iter(), blocks: &self.blocks, next: 0 }
    }
}

/// Iterator over the items of a table, block by block.
struct Iter<'a, T> {
    items: slice::Iter<'a, T>,
    blocks: &'a Blocks,
    /// Number of the block to look at next.
    next: usize,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        self.items.next().or_else(|| {
            let (items, length) = self.blocks.next_block(&mut self.next)?;
            // SAFETY: a block of that many items of type `T`, which the table frees.
            self.items = unsafe { slice::from_raw_parts(items.as_ptr().cast(), length) }.iter();
            // A block is not empty.
            self.items.next()
        })
    }
}

// SAFETY: it owns the items.
unsafe impl<T: Send> Send for Table<T> {}
// SAFETY: it shares the items among threads (`T: Sync`), and drops them on a thread that may not be
// the one that made them (`T: Send`).
unsafe impl<T: Send + Sync> Sync for Table<T> {}

impl<T: fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.first().get(index) {
            Some(item) => item,
            // SAFETY: an item of type `T`, which the table frees.
            None => unsafe { later_or_panic(&self.blocks, index).cast().as_ref() },
        }
    }
}

#[cold]
#[inline(never)]
fn later_or_panic(blocks: &Blocks, index: usize) -> NonNull<u8> {
    match blocks.later(index) {
        Some(item) => item,
        None => panic!("an item of a table is made before it is used, and item {index} was not"),
    }
}

#[cold]
#[inline(never)]
fn too_many(most: usize, index: usize) -> ! {
    panic!("a table has room for {most} items, item {index} was asked for");
}

/// Returns the block of item `number` after the first ones, and its position there.
fn place(number: usize) -> (usize, usize) {
    let block = (number / FIRST_BLOCK + 1).ilog2() as usize;
    (block, number - FIRST_BLOCK * ((1 << block) - 1))
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn each_item_is_made_once_and_has_its_number() {
        for (first, most) in [(0, 0), (0, 1), (3, 3), (2, 514), (3, 10), (5, 12)] {
            let table = Table::new(first, most, |number| number);
            assert_eq!((table.most(), table.iter().count()), (most, first));
            (0..most)
                .for_each(|index| assert_eq!(*table.get_or_grow(index, |number| number), index));
            assert!(table.iter().copied().eq(0..most));
            assert_eq!(table.get(most), None);
        }
    }

    #[test]
    fn a_block_is_made_when_one_of_its_items_is_needed() {
        let table = Table::new(2, 30, |number| number);
        assert_eq!(*table.get_or_grow(10, |number| number), 10);
        // Two from the beginning, none of the block of 8, and all of the block of 16.
        assert!(table.iter().copied().eq([0, 1].into_iter().chain(10..26)));
        assert_eq!((table.get(2), table.get(26)), (None, None));
    }

    #[test]
    #[should_panic(expected = "room for 30 items, item 30")]
    fn more_than_there_is_room_for() {
        Table::new(2, 30, |number| number).get_or_grow(30, |number| number);
    }

    #[test]
    fn items_without_a_size_are_made_and_dropped() {
        /// An item without a size: it has its counts elsewhere.
        struct Item;
        std::thread_local! {
            static COUNT: Cell<i32> = const { Cell::new(0) };
        }
        impl Drop for Item {
            fn drop(&mut self) {
                COUNT.set(COUNT.get() - 1);
            }
        }
        let count = |_| {
            COUNT.set(COUNT.get() + 1);
            Item
        };
        let table = Table::new(3, 30, count);
        table.get_or_grow(4, count);
        assert_eq!(COUNT.get(), 3 + 8);
        drop(table);
        assert_eq!(COUNT.get(), 0);
    }

    #[test]
    #[should_panic(expected = "fits into memory")]
    fn more_items_than_memory_has_bytes() {
        Table::new(1 << (usize::BITS - 3), 0, |number| number as u64);
    }

    #[test]
    fn each_item_is_dropped_once() {
        let item = Arc::new(());
        let table = Table::new(2, 30, |_| Arc::clone(&item));
        table.get_or_grow(10, |_| Arc::clone(&item));
        assert_eq!(Arc::strong_count(&item), 1 + 2 + 16);
        drop(table);
        assert_eq!(Arc::strong_count(&item), 1);
    }

    #[test]
    fn threads_that_need_an_item_at_once_get_the_same_one() {
        let table = Table::new(0, 100, Box::new);
        let table = &table;
        thread::scope(|scope| {
            let grow = || {
                (0..100).map(|index| std::ptr::from_ref(table.get_or_grow(index, Box::new)).addr())
            };
            let threads = [(); 4].map(|()| scope.spawn(move || grow().collect::<Vec<_>>()));
            let [first, others @ ..] = threads.map(|thread| thread.join().unwrap());
            assert!(others.iter().all(|other| *other == first));
        });
    }
}
