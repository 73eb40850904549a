//! How much of a thread's stack is in use.

/// How much of the calling thread's stack is in use, of how much. `None` if the system does not
/// tell.
pub fn stack_in_use() -> Option<(usize, usize)> {
    let (low, size) = bounds()?;
    let here = 0_u8;
    let here = std::ptr::from_ref(&here).addr();
    Some(((low + size).saturating_sub(here).min(size), size))
}

/// The lowest address, and the size.
#[cfg(all(target_os = "linux", target_env = "gnu", not(any(drowse_loom, drowse_shuttle))))]
fn bounds() -> Option<(usize, usize)> {
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::ptr;

    std::thread_local! {
        static BOUNDS: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    }

    fn ask() -> Option<(usize, usize)> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: it fills in the attributes of a thread that is alive, or returns an error.
        if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
            return None;
        }
        let (mut low, mut size) = (ptr::null_mut(), 0);
        // SAFETY: they were filled in, and both results have a place.
        let outcome = unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size) };
        // SAFETY: they were filled in, and are not used again.
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

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(any(drowse_loom, drowse_shuttle)))))]
fn bounds() -> Option<(usize, usize)> {
    None
}

#[cfg(all(test, target_os = "linux", target_env = "gnu", not(any(drowse_loom, drowse_shuttle))))]
mod tests {
    use super::stack_in_use;
    use std::hint::black_box;

    #[test]
    fn a_deeper_call_uses_more() {
        fn deeper(levels: u32) -> usize {
            let frame = black_box([levels as u8; 4096]);
            let used = if levels == 0 { stack_in_use().unwrap().0 } else { deeper(levels - 1) };
            used + usize::from(black_box(frame)[0] / 255)
        }
        let thread = std::thread::Builder::new().stack_size(1 << 20);
        let (shallow, deep, size) = thread
            .spawn(|| (deeper(0), deeper(50), stack_in_use().unwrap().1))
            .and_then(|thread| thread.join().map_err(|_| std::io::ErrorKind::Other.into()))
            .unwrap();
        assert!(deep > shallow + 50 * 4096 && deep < size, "{shallow} {deep} {size}");
        assert!(size >= 1 << 20);
    }
}
