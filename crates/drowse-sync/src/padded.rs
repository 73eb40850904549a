//! Padding, which keeps data that different cores write on different cache lines.

use std::ops::Deref;

/// Aligns a value to 128 bytes, so that it shares its cache line (and the neighbour that x86
/// prefetches with it) with nothing else.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
