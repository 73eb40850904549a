//! Use of the calling thread's stack.

use crate::platform::stack_bounds;

/// Returns how many bytes of the calling thread's stack are in use, and its size. Returns `None` if
/// the system does not tell the bounds, or if the code runs on another stack: of a coroutine, of a
/// library that grows stacks, or of a sanitizer that moves local variables.
pub fn stack_in_use() -> Option<(usize, usize)> {
    let (low, size) = stack_bounds()?;
    let here = 0_u8;
    let here = std::ptr::from_ref(&here).addr();
    (low..low + size).contains(&here).then(|| (low + size - here, size))
}

#[cfg(test)]
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
        if stack_in_use().is_none() {
            return; // A sanitizer.
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
