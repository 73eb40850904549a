//! Seeds for random victim order, and numbers that are never used twice.

/// Another number than zero and all that it has returned before.
///
/// ```
/// assert_ne!(drowse_sync::serial_number(), drowse_sync::serial_number());
/// ```
pub fn serial_number() -> u64 {
    use crate::real::AtomicU64;
    use std::sync::atomic::Ordering;

    static LAST: AtomicU64 = AtomicU64::new(0);
    // ORDERING: relaxed; each call gets another number, and that is all.
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// A seed that differs from call to call (under shuttle: one that the schedule decides, so that
/// runs can be replayed). Two processes may get the same ones: it costs no system call.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
pub fn random_seed() -> u64 {
    use crate::real::AtomicU64;
    use std::sync::atomic::Ordering;

    static CALLS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: relaxed; every call gets another number, and that is all.
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    // Steele and Vigna's splitmix: neighbours in, strangers out.
    let mut z = call.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The schedule's choice.
#[cfg(drowse_shuttle)]
pub fn random_seed() -> u64 {
    use shuttle::rand::Rng;
    shuttle::rand::thread_rng().r#gen()
}

/// Loom explores what it explores; a constant keeps it repeatable.
#[cfg(drowse_loom)]
pub fn random_seed() -> u64 {
    0x9e37_79b9_7f4a_7c15
}
