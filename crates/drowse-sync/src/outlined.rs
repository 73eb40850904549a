//! Values whose drop code exists once in a program.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// A value that is dropped by one function, in whatever place it is dropped.
///
/// The compiler generates the code that drops the fields of a type again in each codegen unit of a
/// crate. For a type with many fields, dropped in many places, that adds up.
///
/// ```
/// let mut names = drowse_sync::Outlined::new(vec!["dozer"]);
/// names.push("sleeper");
/// assert_eq!(names.len(), 2);
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Outlined<T>(ManuallyDrop<T>);

impl<T> Outlined<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T> Deref for Outlined<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Outlined<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Outlined<T> {
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: the value is dropped here only, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}
