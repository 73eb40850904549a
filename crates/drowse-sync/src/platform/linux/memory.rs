//! Memory that is given back to the system, while its addresses stay in use.

use crate::atomic::AtomicPtr;

/// Gives back what memory these pointers take up, page by page. Pages that they share with others
/// stay.
///
/// From now on, until somebody stores to it, a pointer is null, or what it was: the system is
/// as another thread that stores null to some of them. So nobody may rely on what they held. (The
/// one exception is memory that a file is mapped to, which reads as the file does. No allocator
/// hands out such memory.)
///
/// The next store to a page takes as long as the first one did.
pub fn give_back_pages<T>(pointers: &[AtomicPtr<T>]) {
    // SAFETY: takes a plain number, and touches no memory of ours.
    let Ok(page) = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) else { return };
    let (first, len) = (pointers.as_ptr().cast::<u8>(), size_of_val(pointers));
    let before = first.addr().next_multiple_of(page) - first.addr();
    let len = len.saturating_sub(before) / page * page;
    if len == 0 {
        return;
    }
    // SAFETY: whole pages, inside the slice, so nothing but its pointers changes, and they can
    // change: they are atomic. All zero is null, a valid pointer; whatever else could be read is
    // one too, since an atomic raw pointer promises nothing about where it points. The addresses
    // stay allocated. That the system may refuse, as for locked memory, does no harm.
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
        // All but a page at either end, and pages of up to 64 KiB.
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
