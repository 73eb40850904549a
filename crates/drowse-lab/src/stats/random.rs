//! Random numbers that are the same each time, so that a report of the same results is the same
//! report.

/// A small generator (`SplitMix64`). Good enough to draw samples with; not for secrets.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The generator of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, each as likely as the next but for one part in 2^32.
    ///
    /// # Panics
    ///
    /// If `end` is zero.
    pub fn below(&mut self, end: u32) -> u32 {
        assert!(end > 0, "there is no number below zero");
        ((u64::from(end) * (self.bits() >> 32)) >> 32) as u32
    }

    /// A number from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn same_seed_same_numbers() {
        let (mut a, mut b, mut c) = (Random::new(1), Random::new(1), Random::new(2));
        let (a, b, c) = (a.bits(), b.bits(), c.bits());
        assert_eq!(a, b);
        assert_ne!(a, c);
    }

    #[test]
    fn numbers_are_spread_over_their_range() {
        let mut random = Random::new(7);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}
