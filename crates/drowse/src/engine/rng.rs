//! Random numbers for the order of victims.

use std::cell::Cell;

/// Marsaglia's xorshift with a multiplication, 64 bits of state: takes a few cycles, and is good
/// enough to spread thieves.
#[derive(Debug)]
pub(super) struct Rng {
    state: Cell<u64>,
}

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        // The generator cannot leave the state zero.
        Self { state: Cell::new(seed | 1) }
    }

    /// Returns a number below `bound`, which must not be zero.
    pub(super) fn below(&self, bound: usize) -> usize {
        let mut x = self.state.get();
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.state.set(x);
        (x.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn reaches_every_number_below_the_bound() {
        let rng = Rng::new(42);
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[rng.below(7)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 700), "{seen:?}");
    }

    #[test]
    fn any_seed_will_do() {
        let rng = Rng::new(0);
        assert!((0..100).any(|_| rng.below(2) != rng.below(2)));
    }
}
