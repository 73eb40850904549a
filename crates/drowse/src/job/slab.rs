//! Room for small jobs, many at a time.
//!
//! A worker that spawns many jobs and others that run them would meet in the allocator with each of
//! them: what one thread allocates and another frees is what allocators are slow at. So a worker
//! takes memory for many small jobs at once, a [`Slab`], and hands out its slots one after the
//! other. Slots are not used again: when the jobs in all of them have begun, the slab is freed, by
//! whoever has begun the last.
//!
//! A slab counts the slots that are not free yet. Workers hold these counts in stock, as they do
//! those of scopes: thieves take a worker's oldest jobs, one after the other, and it takes the
//! newest itself, so most of a slab comes to its end on one worker, without a step of the shared
//! count. Nobody waits for memory, so such a stock is settled when the next slab comes, or when the
//! worker ends: it keeps one slab at most.
//!
//! Slabs that are free are kept for the next flood, by the process as a whole, until a worker has
//! slept for long.
//!
//! The price: a job that does not begin for long keeps the slab that it is in, two kilobytes.

use crate::engine::{SharedCount, Stock};
use drowse_sync::atomic::{AtomicUsize, Ordering};
use drowse_sync::{Lifetime, faulty, mutant};
use std::alloc::{self, Layout};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// The bytes of a slot, and its alignment: a header, and a closure that captures three words.
const SLOT_SIZE: usize = 32;

/// The alignment of a slab, so that a slot's address tells that of its slab. It is a little smaller
/// than that: allocators put words of their own between two.
const SLAB_ALIGN: usize = 2048;

/// As many as there is room for beside the count. (A model has few jobs.)
const SLOTS: usize = if cfg!(any(drowse_loom, drowse_shuttle)) { 2 } else { SLAB_ALIGN / SLOT_SIZE - 2 };

#[repr(C, align(32))]
#[derive(Debug)]
struct Slot(UnsafeCell<MaybeUninit<[u8; SLOT_SIZE]>>);

#[repr(C)]
#[derive(Debug)]
pub(crate) struct Slab {
    /// The slots that are not free: they have a job, or will get one.
    left: AtomicUsize,
    lifetime: Lifetime,
    slots: [Slot; SLOTS],
}

const _: () = assert!(align_of::<Slot>() == SLOT_SIZE && size_of::<Slot>() == SLOT_SIZE);
const _: () = assert!(align_of::<Slab>() == SLOT_SIZE && size_of::<Slab>() < SLAB_ALIGN);

impl Slab {
    /// How one is allocated. (What fails here fails when the program is built.)
    const LAYOUT: Layout = match Layout::from_size_align(size_of::<Self>(), SLAB_ALIGN) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    };

    /// Memory for one.
    fn allocate() -> *mut Self {
        // SAFETY: of a size that is not zero.
        let slab = unsafe { alloc::alloc(Self::LAYOUT) };
        if slab.is_null() {
            alloc::handle_alloc_error(Self::LAYOUT);
        }
        slab.cast()
    }

    /// # Safety
    ///
    /// It must come from `allocate`, and not be used again.
    unsafe fn deallocate(this: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe { alloc::dealloc(this.cast(), Self::LAYOUT) };
    }
}

/// The slots that are left.
impl SharedCount for Slab {
    fn add(&self, _: usize) {
        unreachable!("slots are not used again")
    }

    #[inline]
    fn is_down_to(&self, count: usize) -> bool {
        // ORDERING: relaxed; who acts on it goes on to subtract, which acquires.
        self.left.load(Ordering::Relaxed) == count
    }

    unsafe fn subtract(this: *const Self, count: usize) {
        // ORDERING: release, so that each job was read before the last one's acquire, and the end.
        let ordering = mutant::weaken("slab/free-relaxed", Ordering::AcqRel);
        // SAFETY: alive as the call begins: nobody frees it before these were counted down.
        if unsafe { (*this).left.fetch_sub(count, ordering) } == count {
            // SAFETY: from `Slabs::begin`. All slots are free, so nobody has a pointer to it but
            // us: its worker has handed out the last slot, or given up the rest.
            unsafe {
                (*this).lifetime.over();
                spare::keep(this.cast_mut());
            }
        }
    }
}

/// What a worker has of slabs.
#[derive(Debug)]
pub(crate) struct Slabs {
    /// Where the next slots come from. Null before the first.
    current: Cell<*mut Slab>,
    /// The next slot.
    next: Cell<usize>,
    /// What has become free here and is not given back.
    freed: Stock<Slab>,
}

impl Slabs {
    pub(crate) fn new() -> Self {
        Self { current: Cell::new(ptr::null_mut()), next: Cell::new(SLOTS), freed: Stock::new() }
    }

    /// What fits into a slot. (Aligned as allocators do it anyway.)
    pub(crate) const SMALL: Layout = match Layout::from_size_align(SLOT_SIZE, 2 * align_of::<usize>()) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    };

    /// Returns `true` if a value of this layout fits into a slot.
    pub(crate) const fn have_room_for(layout: Layout) -> bool {
        layout.size() <= Self::SMALL.size() && layout.align() <= Self::SMALL.align()
    }

    /// A slot, to be freed by a worker, this one or another. What is in it does not matter.
    #[inline]
    pub(crate) fn alloc(&self) -> NonNull<u8> {
        if self.next.get() == SLOTS {
            self.begin();
        }
        let next = self.next.replace(self.next.get() + 1);
        // SAFETY: the slab is alive, since the slot is one of those that are left. The pointer is
        // made without a reference, so it is good for the whole slab: see `free`.
        unsafe { NonNull::new_unchecked((&raw mut (*self.current.get()).slots[next]).cast()) }
    }

    /// Begins a new slab. The slots of the one before are all handed out: it is theirs now.
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
        // SAFETY: the slab that the slot is in, and which the slot has kept alive so far.
        unsafe {
            (*slab).lifetime.used();
            self.freed.put(slab);
        }
    }
}

impl Slabs {
    /// Whether slabs that nobody uses take up much memory.
    pub(crate) fn have_memory_to_give_back() -> bool {
        spare::are_many()
    }

    /// Frees them.
    pub(crate) fn give_memory_back() {
        spare::free();
    }

    /// The worker is going to do nothing for a while: it keeps no slab. (What is left in the middle
    /// of a heap would keep an allocator from giving the rest of it back.)
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

/// Slabs that nobody uses. The lock is never waited for: to allocate one is quicker.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
mod spare {
    use super::{SLAB_ALIGN, Slab};
    use drowse_sync::{Counter, Mutex, MutexGuard, PerProcess};
    use std::mem;

    /// A slab in which there is nothing.
    struct Spare(*mut Slab);

    // SAFETY: it is memory, and whoever has it has it alone.
    unsafe impl Send for Spare {}

    /// All of them, unless somebody else is at it.
    fn spare() -> Option<MutexGuard<'static, Vec<Spare>>> {
        static SPARE: PerProcess<Mutex<Vec<Spare>>> = PerProcess::new();
        SPARE.get(|| Mutex::new(Vec::new())).try_lock()
    }

    /// How many there are, about.
    static COUNT: Counter = Counter::new();
    /// So many are worth to be freed: a quarter of a megabyte.
    const MANY: u64 = (256 << 10) / SLAB_ALIGN as u64;

    pub(super) fn take() -> Option<*mut Slab> {
        let mut spare = spare()?;
        let Spare(slab) = spare.pop()?;
        COUNT.set_mine(spare.len() as u64);
        Some(slab)
    }

    /// # Safety
    ///
    /// It must come from `allocate`, and be the caller's alone.
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
            // SAFETY: whoever kept it had it alone, and it was taken out just now.
            unsafe { Slab::deallocate(slab) };
        }
    }
}

/// A model is about the life of each.
#[cfg(any(drowse_loom, drowse_shuttle))]
mod spare {
    use super::Slab;

    pub(super) fn take() -> Option<*mut Slab> {
        None
    }

    /// # Safety
    ///
    /// It must come from `allocate`, and be the caller's alone.
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

    /// A slot on its way to another thread.
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
                slots.into_iter().map(|(i, slot)| usize::from(read(&slabs, slot.0) == [i; 4])).sum::<usize>()
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
