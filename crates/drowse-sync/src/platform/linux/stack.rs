//! Bounds of a thread's stack.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;

/// Returns the lowest address of the calling thread's stack, and its size. Only with the GNU C
/// library: others do not always know the bounds of the main thread's stack.
pub(crate) fn stack_bounds() -> Option<(usize, usize)> {
    if cfg!(target_env = "gnu") { bounds() } else { None }
}

fn bounds() -> Option<(usize, usize)> {
    std::thread_local! {
        static BOUNDS: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    }

    fn ask() -> Option<(usize, usize)> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: fills in the attributes of the calling thread, or returns an error.
        if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
            return None;
        }
        let (mut low, mut size) = (ptr::null_mut(), 0);
        // SAFETY: the attributes were filled in, and there is room for both results.
        let outcome =
            unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size) };
        // SAFETY: the attributes were filled in, and are not used again.
        unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
        (outcome == 0 && size > 0).then_some((low.addr(), size))
    }

    BOUNDS.with(|known| {
        if known.get().is_none() {
            known.set(ask());
        }
        known.get()
    })
}
