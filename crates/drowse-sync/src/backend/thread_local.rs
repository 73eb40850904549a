//! Thread-locals, which std, loom and shuttle declare in different ways.

/// Declares thread-locals that the model checkers understand. Takes the `const` form of
/// `std::thread_local!`, so that in a normal build an access is one plain load without a branch for
/// lazy initialisation.
///
/// ```
/// use std::cell::Cell;
///
/// drowse_sync::thread_local! {
///     static VISITS: Cell<u32> = const { Cell::new(0) };
/// }
/// VISITS.with(|visits| visits.set(visits.get() + 1));
/// assert_eq!(VISITS.with(Cell::get), 1);
/// ```
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
#[macro_export]
macro_rules! thread_local {
    ($($declaration:tt)*) => {
        ::std::thread_local! { $($declaration)* }
    };
}

/// Declares thread-locals that loom understands.
#[cfg(drowse_loom)]
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $ty:ty = const { $init:expr };)+) => {
        $crate::loom::thread_local! { $($(#[$attr])* $vis static $name: $ty = $init;)+ }
    };
}

/// Declares thread-locals that shuttle understands.
#[cfg(drowse_shuttle)]
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $ty:ty = const { $init:expr };)+) => {
        $crate::shuttle::thread_local! { $($(#[$attr])* $vis static $name: $ty = $init;)+ }
    };
}
