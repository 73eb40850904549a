//! Letting other threads run first.

/// Offers this thread's processor to whoever could run. Not a way of waiting: a thread that has
/// yielded is put behind everything else, and on current Linux kernels its next wake-up can take
/// milliseconds. It is here for those [sleep policies](https://docs.rs/drowse-sleep) that follow
/// documents in which workers yield.
#[allow(clippy::disallowed_methods, reason = "the one place where others get it from")]
pub fn yield_to_others() {
    crate::thread::yield_now();
}
