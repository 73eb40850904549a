//! Seeds for the random order of victims, and numbers that are never used twice.

/// Returns a number that is not zero and that it has not returned before.
///
/// ```
/// assert_ne!(drowse_sync::serial_number(), drowse_sync::serial_number());
/// ```
pub fn serial_number() -> u64 {
    use crate::real::AtomicU64;
    use std::sync::atomic::Ordering;

    static LAST: AtomicU64 = AtomicU64::new(0);
    // ORDERING: relaxed; each call must get its own number, which any read-modify-write ensures.
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Returns a seed that differs from call to call. (Under shuttle the schedule decides it, so that
/// runs can be replayed.) Two processes may get the same seeds: no system call is made.
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
pub fn random_seed() -> u64 {
    use crate::real::AtomicU64;
    use std::sync::atomic::Ordering;

    static CALLS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: relaxed; each call must get its own number, which any read-modify-write ensures.
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    // Steele and Vigna's splitmix: neighbouring inputs give unrelated outputs.
    let mut z = call.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns a seed that shuttle's schedule decides.
#[cfg(drowse_shuttle)]
pub fn random_seed() -> u64 {
    use shuttle::rand::Rng;
    shuttle::rand::thread_rng().r#gen()
}

/// Returns a constant, so that loom's exploration is repeatable.
#[cfg(drowse_loom)]
pub fn random_seed() -> u64 {
    0x9e37_79b9_7f4a_7c15
}
