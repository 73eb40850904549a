//! Returning memory to the system while its addresses stay in use.

use crate::atomic::AtomicPtr;

/// Gives back the memory of these pointers, page by page. Pages shared with other data stay.
///
/// From now on, until a thread stores to it, a pointer is null or unchanged: the system acts like
/// another thread that stores null to some of the pointers. So no code may rely on their old
/// values. (The exception is memory that a file is mapped to, which reads as the file does. No
/// allocator hands out such memory.)
///
/// The next store to a page takes as long as the first one did.
pub fn give_back_pages<T>(pointers: &[AtomicPtr<T>]) {
    // SAFETY: takes a plain number, and touches no memory.
    let Ok(page) = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) else { return };
    let (first, len) = (pointers.as_ptr().cast::<u8>(), size_of_val(pointers));
    let before = first.addr().next_multiple_of(page) - first.addr();
    let len = len.saturating_sub(before) / page * page;
    if len == 0 {
        return;
    }
    // SAFETY: only whole pages inside the slice change, so only its pointers, which are atomic. All
    // zero is null, a valid pointer; any other value read is valid too, since an atomic raw pointer
    // promises nothing about what it points to. The addresses stay allocated. It does no harm if
    // the system refuses, as for locked memory.
    unsafe {
        libc::madvise(first.add(before).cast_mut().cast(), len, libc::MADV_DONTNEED);
    }
}

#[cfg(test)]
mod tests {
    use super::give_back_pages;
    use crate::atomic::{AtomicPtr, Ordering};
    use std::ptr;

    fn full(count: usize) -> Vec<AtomicPtr<u8>> {
        (0..count).map(|_| AtomicPtr::new(ptr::dangling_mut())).collect()
    }

    fn nulls(pointers: &[AtomicPtr<u8>]) -> usize {
        pointers.iter().filter(|pointer| pointer.load(Ordering::Relaxed).is_null()).count()
    }

    #[test]
    fn whole_pages_go_and_can_be_used_again() {
        let pointers = full(1 << 20);
        give_back_pages(&pointers);
        // All but a page at each end, for pages of up to 64 KiB.
        let left = pointers.len() - nulls(&pointers);
        assert!(left * size_of::<AtomicPtr<u8>>() <= 2 * 64 * 1024, "{left} are left");
        for pointer in &pointers {
            pointer.store(ptr::dangling_mut(), Ordering::Relaxed);
        }
        assert_eq!(nulls(&pointers), 0);
    }

    #[test]
    fn neighbours_stay() {
        let pointers = full(1 << 16);
        for cut in [1, 7, 500, 511, 512, 513, 20_000] {
            let (left, right) = (&pointers[..cut], &pointers[pointers.len() - cut..]);
            give_back_pages(&pointers[cut..pointers.len() - cut]);
            assert_eq!((nulls(left), nulls(right)), (0, 0), "cut at {cut}");
            for pointer in &pointers {
                pointer.store(ptr::dangling_mut(), Ordering::Relaxed);
            }
        }
        give_back_pages::<u8>(&[]);
        give_back_pages(&pointers[3..4]);
        assert_eq!(nulls(&pointers), 0);
    }
}
