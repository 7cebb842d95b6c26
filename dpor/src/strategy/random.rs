//! Random numbers: for schedules, not for secrets.

/// A xorshift generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of the execution `number` of a search. Neighbouring seeds and numbers give unrelated sequences.
    pub(crate) fn new(seed: u64, number: u64) -> Random {
        Random(mix(mix(seed) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The lowest bits of a xorshift state are the worst ones.
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `n`, which is not 0. The bias of 2^-32 is far below what any test can see.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }
}

/// The finalizer of splitmix64: each bit of the result depends on each bit of `x`.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_are_spread_evenly_also_over_neighbouring_seeds() {
        let mut counts = [0; 5];
        for seed in 0..100 {
            for number in 0..100 {
                let mut random = Random::new(seed, number);
                counts[random.below(5)] += 1;
            }
        }
        // 10,000 draws: 2,000 each, with a standard deviation of 40.
        assert!(counts.iter().all(|count| (1_800..2_200).contains(count)), "{counts:?}");
    }
}
