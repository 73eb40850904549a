//! Letting other threads run first.

/// Offers this thread's processor to other runnable threads. Not a way of waiting: a thread that
/// has yielded is queued behind all others, and on current Linux kernels its next wake-up can take
/// milliseconds. Only for the [sleep policies](https://docs.rs/drowse-sleep) that implement
/// published algorithms in which workers yield.
#[allow(clippy::disallowed_methods, reason = "the one place where others get it from")]
pub fn yield_to_others() {
    crate::thread::yield_now();
}
