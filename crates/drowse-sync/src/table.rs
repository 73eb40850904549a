//! A table that grows while other threads read it.

use crate::Outlined;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, Range};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of items in the first further block; each later block is twice as long as the one before.
/// (In a model each item costs time.)
const FIRST_BLOCK: usize = if cfg!(any(drowse_loom, drowse_shuttle)) { 1 } else { 8 };

/// Items with numbers from 0 on. The first ones exist from the beginning; the others are made, a
/// block at a time, when one of them is needed. No item is ever moved.
///
/// ```
/// let table = drowse_sync::Table::new(["a", "b"], 100);
/// assert_eq!((table[1], table.get(2)), ("b", None));
/// assert_eq!(*table.get_or_grow(2, |_| "c"), "c");
/// assert!(table.get(3).is_some() && table.get(99).is_none());
/// ```
pub struct Table<T>(Outlined<Blocks<T>>);

/// Contents of a table.
struct Blocks<T> {
    first: Box<[T]>,
    further: Further,
    most: usize,
    owned: PhantomData<T>,
}

/// Further blocks of a table, for items of any type.
struct Further {
    /// The first item of each block, which is leaked; null if the block was not made yet.
    blocks: Box<[AtomicPtr<()>]>,
    /// Locked by the thread that makes a block.
    growing: Mutex<()>,
}

impl Further {
    /// Returns room for `items` items.
    fn new(items: usize) -> Self {
        let (last, _) = place(items);
        let mut blocks = Vec::with_capacity(last + 1);
        blocks.resize_with(last + 1, || AtomicPtr::new(ptr::null_mut()));
        Self { blocks: blocks.into_boxed_slice(), growing: Mutex::new(()) }
    }

    /// Returns the first item of a block. If the block was not made yet, it is what `make` returns.
    #[cold]
    #[inline(never)]
    fn get_or_make(&self, block: usize, make: &mut dyn FnMut() -> *mut ()) -> *mut () {
        // A panic in `make` leaves the block as it was, so poison is ignored.
        let _growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        // ORDERING: acquire, as in `Blocks::block`.
        let mut items = self.blocks[block].load(Ordering::Acquire);
        if items.is_null() {
            items = make();
            // ORDERING: release pairs with the acquire in `Blocks::block`: the items were made.
            self.blocks[block].store(items, Ordering::Release);
        }
        items
    }
}

impl<T> Table<T> {
    /// Returns a table with these items, and room for at least `most` in all.
    pub fn new(first: impl IntoIterator<Item = T>, most: usize) -> Self {
        let first: Box<[T]> = first.into_iter().collect();
        let most = most.max(first.len());
        let further = Further::new(most - first.len());
        Self(Outlined::new(Blocks { first, further, most, owned: PhantomData }))
    }

    /// Returns the number of items that there can be.
    pub fn most(&self) -> usize {
        self.0.most
    }

    /// Returns an item, if it was made.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.0.first.get(index).or_else(|| self.get_later(index))
    }

    #[cold]
    fn get_later(&self, index: usize) -> Option<&T> {
        let (block, at) = place(index.checked_sub(self.0.first.len())?);
        self.0.block(block)?.get(at)
    }

    /// Returns an item. If it was not made yet, makes its block, calling `make` with the number of
    /// each item of the block. If several threads do this at once, one of them makes the block, and
    /// the others wait.
    ///
    /// # Panics
    ///
    /// If there is no room for that many items.
    pub fn get_or_grow(&self, index: usize, mut make: impl FnMut(usize) -> T) -> &T {
        self.get(index).unwrap_or_else(|| self.grow(index, &mut make))
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, index: usize, make: &mut dyn FnMut(usize) -> T) -> &T {
        if index >= self.0.most {
            too_many(self.0.most, index);
        }
        let (block, at) = place(index - self.0.first.len());
        let range = range(self.0.first.len(), self.0.most, block);
        let items = self.0.further.get_or_make(block, &mut || {
            let mut items = Vec::with_capacity(range.len());
            for number in range.clone() {
                items.push(make(number));
            }
            Box::into_raw(items.into_boxed_slice()).cast()
        });
        // SAFETY: a slice of that length was leaked, here or by another thread; the table frees it.
        unsafe { &slice::from_raw_parts(items.cast::<T>(), range.len())[at] }
    }

    /// Returns the items that were made, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        Iter { items: self.0.first.iter(), blocks: &self.0, next: 0 }
    }
}

impl<T> Blocks<T> {
    /// Returns a further block, if it was made.
    fn block(&self, block: usize) -> Option<&[T]> {
        // ORDERING: acquire pairs with the release in `get_or_make`: the items are fully written.
        let items = self.further.blocks.get(block)?.load(Ordering::Acquire);
        let length = range(self.first.len(), self.most, block).len();
        // SAFETY: `grow` has leaked a slice of that length, which is freed with the table.
        (!items.is_null()).then(|| unsafe { slice::from_raw_parts(items.cast(), length) })
    }
}

/// Iterator over the items of a table, block by block.
struct Iter<'a, T> {
    items: slice::Iter<'a, T>,
    blocks: &'a Blocks<T>,
    /// Number of the block to look at next.
    next: usize,
}

impl<'a, T> Iter<'a, T> {
    #[cold]
    #[inline(never)]
    fn next_block(&mut self) -> Option<&'a T> {
        // Blocks may be made in any order.
        while self.next < self.blocks.further.blocks.len() {
            self.next += 1;
            if let Some(items) = self.blocks.block(self.next - 1) {
                self.items = items.iter();
                // A block is not empty.
                return self.items.next();
            }
        }
        None
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        self.items.next().or_else(|| self.next_block())
    }
}

impl<T> Drop for Blocks<T> {
    fn drop(&mut self) {
        for (block, items) in self.further.blocks.iter_mut().enumerate() {
            let length = range(self.first.len(), self.most, block).len();
            let items = *items.get_mut();
            if !items.is_null() {
                let items = ptr::slice_from_raw_parts_mut(items.cast::<T>(), length);
                // SAFETY: leaked by `grow` with that length, and nothing else frees it.
                drop(unsafe { Box::from_raw(items) });
            }
        }
    }
}

// SAFETY: it shares the items among threads (`T: Sync`), and drops them on a thread that may not be
// the one that made them (`T: Send`).
unsafe impl<T: Send + Sync> Sync for Blocks<T> {}

impl<T: fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.0.first.get(index) {
            Some(item) => item,
            None => self.index_later(index),
        }
    }
}

impl<T> Table<T> {
    #[cold]
    #[inline(never)]
    fn index_later(&self, index: usize) -> &T {
        self.get_later(index).unwrap_or_else(|| not_made(index))
    }
}

#[cold]
#[inline(never)]
fn not_made(index: usize) -> ! {
    panic!("an item of a table is made before it is used, and item {index} was not");
}

#[cold]
#[inline(never)]
fn too_many(most: usize, index: usize) -> ! {
    panic!("a table has room for {most} items, item {index} was asked for");
}

/// Returns the numbers of the items in a block of a table that began with `first` items.
fn range(first: usize, most: usize, block: usize) -> Range<usize> {
    let begin = |block: usize| (first + FIRST_BLOCK * ((1 << block) - 1)).min(most);
    begin(block)..begin(block + 1)
}

/// Returns the block of item `number` after the first ones, and its position there.
fn place(number: usize) -> (usize, usize) {
    let block = (number / FIRST_BLOCK + 1).ilog2() as usize;
    (block, number - FIRST_BLOCK * ((1 << block) - 1))
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn each_item_is_made_once_and_has_its_number() {
        for (first, most) in [(0, 0), (0, 1), (3, 3), (2, 514), (3, 10), (5, 12)] {
            let table = Table::new(0..first, most);
            assert_eq!((table.most(), table.iter().count()), (most, first));
            (0..most)
                .for_each(|index| assert_eq!(*table.get_or_grow(index, |number| number), index));
            assert!(table.iter().copied().eq(0..most));
            assert_eq!(table.get(most), None);
        }
    }

    #[test]
    fn a_block_is_made_when_one_of_its_items_is_needed() {
        let table = Table::new([0, 1], 30);
        assert_eq!(*table.get_or_grow(10, |number| number), 10);
        // Two from the beginning, none of the block of 8, and all of the block of 16.
        assert!(table.iter().copied().eq([0, 1].into_iter().chain(10..26)));
        assert_eq!((table.get(2), table.get(26)), (None, None));
    }

    #[test]
    #[should_panic(expected = "room for 30 items, item 30")]
    fn more_than_there_is_room_for() {
        Table::new([0, 1], 30).get_or_grow(30, |number| number);
    }

    #[test]
    fn threads_that_need_an_item_at_once_get_the_same_one() {
        let table = Table::new([], 100);
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
