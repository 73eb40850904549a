//! Seeds for random victim order.

/// A seed that differs from call to call (under shuttle: one that the schedule decides, so that runs can
/// be replayed).
#[cfg(not(any(drowse_loom, drowse_shuttle)))]
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
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
