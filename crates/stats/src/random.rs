//! Random numbers that are the same everywhere.

/// SplitMix64 (Steele, Lea & Flood 2014), from its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of the numbers from 0 to below the bound.
    fn below(&mut self, bound: usize) -> usize {
        // The high half of a product: without the bias of a remainder beyond 2⁻⁵⁰.
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Puts them into another order.
    pub(crate) fn shuffle<T>(&mut self, order: &mut [T]) {
        for i in (1..order.len()).rev() {
            order.swap(i, self.below(i + 1));
        }
    }

    /// Standard normal (Box & Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let mut uniform = || ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
    }
}
