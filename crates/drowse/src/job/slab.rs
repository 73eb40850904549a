//! Memory for many small jobs at a time.
//!
//! If a worker allocated each of many jobs, and other workers freed them, they would contend in the
//! allocator: allocators are slow for memory that is freed by another thread than allocated it. So
//! a worker allocates memory for many small jobs at once, a [`Slab`], and hands out its slots one
//! after the other. Slots are not reused: when the jobs in all of them have begun, the slab is
//! freed by the worker that has begun the last one.
//!
//! A slab counts the slots that are not free yet. Workers hold these counts in stock, like those of
//! scopes: thieves take a worker's oldest jobs, one after the other, and the worker takes the
//! newest itself, so most slots of a slab are freed on one worker, without a change of the shared
//! count. No thread waits for memory, so such a stock is settled only when a slot of another slab
//! is freed, or when the worker rests or ends: it keeps one slab at most.
//!
//! The process keeps free slabs for the next flood, until a worker has slept for long.
//!
//! The price: a job that does not begin for long keeps its slab, two kilobytes.

use crate::engine::{SharedCount, Stock};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Lifetime, faulty, mutant};
use std::alloc::{self, Layout};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// Bytes of a slot, and its alignment: room for a header and a closure that captures three words.
const SLOT_SIZE: usize = 32;

/// Alignment of a slab, so that a slot's address tells its slab's. A slab is a little smaller, as
/// allocators put words of their own between two.
const SLAB_ALIGN: usize = 2048;

/// Slots of a slab: as many as fit beside the count. (A model has few jobs.)
const SLOTS: usize =
    if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { SLAB_ALIGN / SLOT_SIZE - 2 };

#[repr(C, align(32))]
#[derive(Debug)]
struct Slot(UnsafeCell<MaybeUninit<[u8; SLOT_SIZE]>>);

#[repr(C)]
#[derive(Debug)]
pub(crate) struct Slab {
    /// Slots that are not free: they hold a job, or will.
    left: AtomicUsize,
    lifetime: Lifetime,
    slots: [Slot; SLOTS],
}

const _: () = assert!(align_of::<Slot>() == SLOT_SIZE && size_of::<Slot>() == SLOT_SIZE);
const _: () = assert!(align_of::<Slab>() == SLOT_SIZE && size_of::<Slab>() < SLAB_ALIGN);

impl Slab {
    /// Layout of a slab. (An error here is a compile error.)
    const LAYOUT: Layout = match Layout::from_size_align(size_of::<Self>(), SLAB_ALIGN) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    };

    fn allocate() -> *mut Self {
        // SAFETY: the layout has a size that is not zero.
        let slab = unsafe { alloc::alloc(Self::LAYOUT) };
        if slab.is_null() {
            alloc::handle_alloc_error(Self::LAYOUT);
        }
        slab.cast()
    }

    /// # Safety
    ///
    /// `this` must come from `allocate`, and not be used again.
    unsafe fn deallocate(this: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe { alloc::dealloc(this.cast(), Self::LAYOUT) };
    }
}

/// Count of the slots that are not free.
impl SharedCount for Slab {
    fn add(&self, _: usize) {
        unreachable!("slots are not used again")
    }

    #[inline]
    fn is_down_to(&self, count: usize) -> bool {
        // ORDERING: relaxed; `Stock::put`, which acts on it, then calls `subtract`, which acquires.
        self.left.load(Ordering::Relaxed) == count
    }

    unsafe fn subtract(this: *const Self, count: usize) {
        // ORDERING: release, so that all reads of jobs come before the last subtraction, which
        // acquires and frees the slab. If weaker, a job could be read after that.
        let ordering = mutant::weaken("slab/free-relaxed", Ordering::AcqRel);
        // SAFETY: alive as the call begins: it is not freed before these slots were subtracted.
        if unsafe { (*this).left.fetch_sub(count, ordering) } == count {
            // SAFETY: allocated by `Slabs::begin`. All slots are free, so this is the only pointer:
            // the slab's worker has handed out the last slot, or given up the rest.
            unsafe {
                (*this).lifetime.over();
                spare::keep(this.cast_mut());
            }
        }
    }
}

/// Slabs of a worker.
#[derive(Debug)]
pub(crate) struct Slabs {
    /// Slab that the next slots come from. Null before the first.
    current: Cell<*mut Slab>,
    /// Index of the next slot.
    next: Cell<usize>,
    /// Slots that were freed on this worker, and are not yet subtracted from their slab.
    freed: Stock<Slab>,
}

impl Slabs {
    pub(crate) fn new() -> Self {
        Self { current: Cell::new(ptr::null_mut()), next: Cell::new(SLOTS), freed: Stock::new() }
    }

    /// Size and alignment of what fits into a slot. (The alignment is that of common allocators.)
    pub(crate) const SMALL: Layout =
        match Layout::from_size_align(SLOT_SIZE, 2 * align_of::<usize>()) {
            Ok(layout) => layout,
            Err(_) => panic!("a power of two"),
        };

    /// Returns `true` if a value of this layout fits into a slot.
    pub(crate) const fn have_room_for(layout: Layout) -> bool {
        layout.size() <= Self::SMALL.size() && layout.align() <= Self::SMALL.align()
    }

    /// Returns a slot with undefined contents, to be freed by this worker or another.
    #[inline]
    pub(crate) fn alloc(&self) -> NonNull<u8> {
        if self.next.get() == SLOTS {
            self.begin();
        }
        let next = self.next.replace(self.next.get() + 1);
        // SAFETY: the slab is alive, since this slot of it is not free. The pointer is made without
        // a reference, so it is valid for the whole slab: see `free`.
        unsafe { NonNull::new_unchecked((&raw mut (*self.current.get()).slots[next]).cast()) }
    }

    /// Begins a new slab. The slots of the previous one, all handed out, keep it alive.
    #[cold]
    #[inline(never)]
    fn begin(&self) {
        let slab = spare::take().unwrap_or_else(Slab::allocate);
        let left = AtomicUsize::new(faulty!("slab/counts-short", SLOTS, SLOTS - 1));
        // SAFETY: just allocated. The slots need not be initialized.
        unsafe {
            (&raw mut (*slab).left).write(left);
            (&raw mut (*slab).lifetime).write(Lifetime::that_must_end());
        }
        self.current.set(slab);
        self.next.set(0);
    }

    /// Frees a slot.
    ///
    /// # Safety
    ///
    /// It must come from `alloc`, of this worker or another, and be freed once.
    #[inline]
    pub(crate) unsafe fn free(&self, slot: NonNull<u8>) {
        let slab = slot.as_ptr().map_addr(|address| address & !(SLAB_ALIGN - 1)).cast::<Slab>();
        // SAFETY: this is the slab of the slot, which the slot has kept alive so far.
        unsafe {
            (*slab).lifetime.used();
            self.freed.put(slab);
        }
    }
}

impl Slabs {
    /// Returns `true` if unused slabs take up much memory.
    pub(crate) fn have_memory_to_give_back() -> bool {
        spare::are_many()
    }

    pub(crate) fn give_memory_back() {
        spare::free();
    }

    /// Gives up the worker's slab, as the worker will do nothing for a while. (A slab in the middle
    /// of a heap could keep an allocator from giving the rest back.)
    pub(crate) fn rest(&self) {
        self.freed.settle();
        let rest = SLOTS - self.next.replace(SLOTS);
        let rest = faulty!("slab/rest-counts-short", rest, rest.saturating_sub(1));
        if rest > 0 {
            // SAFETY: these slots were not handed out, and will not be.
            unsafe { Slab::subtract(self.current.get(), rest) };
        }
    }
}

impl Drop for Slabs {
    fn drop(&mut self) {
        self.rest();
    }
}

/// Unused slabs. The lock is never waited for: to allocate a slab is quicker.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
mod spare {
    use super::{SLAB_ALIGN, Slab};
    use drowse_sync::{Counter, Mutex, MutexGuard, PerProcess};
    use std::mem;

    struct Spare(*mut Slab);

    // SAFETY: a slab is memory, and a `Spare` is its only owner.
    unsafe impl Send for Spare {}

    /// Locks the unused slabs, unless another thread has the lock.
    fn spare() -> Option<MutexGuard<'static, Vec<Spare>>> {
        static SPARE: PerProcess<Mutex<Vec<Spare>>> = PerProcess::new();
        SPARE.get(|| Mutex::new(Vec::new())).try_lock()
    }

    /// Approximate number of unused slabs.
    static COUNT: Counter = Counter::new();
    /// Number of slabs worth freeing: a quarter of a megabyte.
    const MANY: u64 = (256 << 10) / SLAB_ALIGN as u64;

    pub(super) fn take() -> Option<*mut Slab> {
        let mut spare = spare()?;
        let Spare(slab) = spare.pop()?;
        COUNT.set_mine(spare.len() as u64);
        Some(slab)
    }

    /// # Safety
    ///
    /// The slab must come from `allocate`, and have no other user.
    pub(super) unsafe fn keep(slab: *mut Slab) {
        match spare() {
            Some(mut spare) => {
                spare.push(Spare(slab));
                COUNT.set_mine(spare.len() as u64);
            }
            // SAFETY: the caller's promise.
            None => unsafe { Slab::deallocate(slab) },
        }
    }

    pub(super) fn are_many() -> bool {
        COUNT.get() >= MANY
    }

    pub(super) fn free() {
        let spare = spare().map(|mut spare| mem::take(&mut *spare));
        COUNT.set_mine(0);
        for Spare(slab) in spare.into_iter().flatten() {
            // SAFETY: by the promise made to `keep` it has no other user, and it was just taken
            // out.
            unsafe { Slab::deallocate(slab) };
        }
    }
}

/// Models keep no slabs: each slab's lifetime must end in the model.
#[cfg(any(drowse_loom, drowse_shuttle))]
mod spare {
    use super::Slab;

    pub(super) fn take() -> Option<*mut Slab> {
        None
    }

    /// # Safety
    ///
    /// The slab must come from `allocate`, and have no other user.
    pub(super) unsafe fn keep(slab: *mut Slab) {
        // SAFETY: the caller's promise.
        unsafe { Slab::deallocate(slab) };
    }

    pub(super) fn are_many() -> bool {
        false
    }

    pub(super) fn free() {}
}

#[cfg(all(test, not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::thread;

    /// Slot on its way to another thread.
    struct Sent(NonNull<u8>);

    // SAFETY: a slot is handed over as a whole.
    unsafe impl Send for Sent {}

    fn write(slabs: &Slabs, value: [usize; 4]) -> NonNull<u8> {
        let slot = slabs.alloc();
        // SAFETY: the slot is ours, and has room for four words.
        unsafe { slot.cast().write(value) };
        slot
    }

    fn read(slabs: &Slabs, slot: NonNull<u8>) -> [usize; 4] {
        // SAFETY: written by `write`; read and freed once.
        unsafe {
            let value = slot.cast().read();
            slabs.free(slot);
            value
        }
    }

    #[test]
    fn slots_are_apart_and_aligned() {
        let slabs = Slabs::new();
        let slots: Vec<_> = (0..5 * SLOTS).map(|i| write(&slabs, [i; 4])).collect();
        let addresses: BTreeSet<_> = slots.iter().map(|slot| slot.addr().get()).collect();
        assert_eq!(addresses.len(), slots.len());
        assert!(addresses.iter().all(|address| address % SLOT_SIZE == 0));
        for (i, slot) in slots.into_iter().enumerate() {
            assert_eq!(read(&slabs, slot), [i; 4]);
        }
    }

    #[test]
    fn slots_may_be_freed_by_others_and_outlive_the_worker() {
        let slots: Vec<_> = {
            let slabs = Slabs::new();
            (0..1000).map(|i| Sent(write(&slabs, [i; 4]))).collect()
        };
        let (mut even, mut odd) = (Vec::new(), Vec::new());
        for (i, slot) in slots.into_iter().enumerate() {
            if i % 2 == 0 { even.push((i, slot)) } else { odd.push((i, slot)) }
        }
        let threads = [even, odd].map(|slots| {
            thread::spawn(move || {
                let slabs = Slabs::new();
                slots
                    .into_iter()
                    .map(|(i, slot)| usize::from(read(&slabs, slot.0) == [i; 4]))
                    .sum::<usize>()
            })
        });
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [500, 500]);
    }

    #[test]
    fn a_worker_keeps_one_slab_of_those_that_are_free() {
        let slabs = Slabs::new();
        for i in 0..2 * SLOTS {
            let slot = write(&slabs, [i; 4]);
            assert_eq!(read(&slabs, slot), [i; 4]);
            assert_eq!(slabs.freed.len(), (i + 1) % SLOTS, "the last slot takes the slab with it");
        }
    }

    #[test]
    fn three_words_beside_a_header_have_room() {
        assert!(Slabs::have_room_for(Layout::new::<[usize; 4]>()));
        assert!(!Slabs::have_room_for(Layout::new::<[u8; SLOT_SIZE + 1]>()));
        #[repr(align(64))]
        struct Wide;
        assert!(!Slabs::have_room_for(Layout::new::<Wide>()));
    }
}
