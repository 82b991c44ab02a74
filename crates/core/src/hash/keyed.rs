//! Computes keys of runs of tokens that nobody can make collide: a rolling polynomial with a secret base.
//!
//! `H(c₁…c_n) = (c₁ + 1)·b^(n−1) + … + (c_n + 1)  (mod 2^61 − 1)`, then the upper half of the product with an odd number. Two
//! different runs have the same H for at most n − 1 of the 2^61 bases, and different H the same upper half for about one odd
//! number in 2^31. The order keys of `rolling.rs` are published, and texts whose runs all have one key are easily made; a
//! table that is looked up by these keys cannot be filled in one place by a text that was written before the base was chosen.
//!
//! Cost: about 2 ns per token.

use super::mix64;

/// The Mersenne prime 2^61 − 1.
const PRIME: u64 = (1 << 61) - 1;

/// What the keys of one comparison depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunKey {
    base: u64,
    odd: u64,
}

impl RunKey {
    /// Makes a base from a number that no writer of a text knew.
    pub fn new(secret: u64) -> Self {
        // Small bases are left out: with them the first tokens would weigh little.
        Self { base: (mix64(secret) % (PRIME - (1 << 32))) + (1 << 32), odd: mix64(secret ^ PRIME) | 1 }
    }

    /// Appends the key of every run of `n` tokens; none if n = 0 or there are fewer tokens.
    pub fn keys(&self, n: usize, tokens: &[u32], keys: &mut Vec<u32>) {
        let Some(first) = tokens.get(..n).filter(|run| !run.is_empty()) else { return };
        // A step takes the leading token away with the new power of the base, so that only one product waits for another.
        let leading = (0..n).fold(1, |power, _| times(power, self.base));
        let mut hash = first.iter().fold(0, |hash, token| plus(times(hash, self.base), u64::from(*token) + 1));
        keys.reserve(tokens.len() - n + 1);
        keys.push(self.reduced(hash));
        for (leaving, entering) in tokens.iter().zip(&tokens[n..]) {
            let change = plus(u64::from(*entering) + 1, PRIME - times(u64::from(*leaving) + 1, leading));
            hash = reduce(u128::from(hash) * u128::from(self.base) + u128::from(change));
            keys.push(self.reduced(hash));
        }
    }

    fn reduced(&self, hash: u64) -> u32 {
        (hash.wrapping_mul(self.odd) >> 32) as u32
    }
}

impl Default for RunKey {
    fn default() -> Self {
        Self::new(0)
    }
}

/// Sum of two numbers of at most 2^61 − 1, modulo 2^61 − 1.
fn plus(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME {
        sum - PRIME
    } else {
        sum
    }
}

/// Product of two numbers below 2^61, modulo 2^61 − 1.
fn times(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

/// A number of at most (2^61 − 2)·(2^61 − 1), modulo 2^61 − 1.
fn reduce(number: u128) -> u64 {
    plus(number as u64 & PRIME, (number >> 61) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    fn rolled(key: RunKey, n: usize, tokens: &[u32]) -> Vec<u32> {
        let mut keys = Vec::new();
        key.keys(n, tokens, &mut keys);
        keys
    }

    /// H by its definition, in wide integers.
    fn naive(key: RunKey, run: &[u32]) -> u32 {
        let wide = |hash: u128, token: &u32| (hash * u128::from(key.base) + u128::from(*token) + 1) % u128::from(PRIME);
        key.reduced(run.iter().fold(0, wide) as u64)
    }

    #[test]
    fn no_run_has_no_key() {
        let key = RunKey::new(7);
        assert_eq!(rolled(key, 0, &[1, 2, 3]), Vec::<u32>::new());
        assert_eq!(rolled(key, 4, &[1, 2, 3]), Vec::<u32>::new());
        assert_eq!(rolled(key, 3, &[1, 2, 3]).len(), 1);
    }

    #[test]
    fn runs_that_collide_under_the_published_key_differ() {
        // Thue–Morse blocks: the rolling hash modulo a power of two is equal for every base.
        let morse = |at: usize| (at.count_ones() & 1) as usize;
        let (one, other): (Vec<u32>, Vec<u32>) = (0..256).map(|at| ([5, 9][morse(at)], [9, 5][morse(at)])).unzip();
        assert_eq!(
            crate::hash::rolling::Rolling::from_scratch(&one),
            crate::hash::rolling::Rolling::from_scratch(&other)
        );
        for secret in 0..50 {
            assert_ne!(rolled(RunKey::new(secret), 256, &one), rolled(RunKey::new(secret), 256, &other));
        }
    }

    proptest! {
        #![proptest_config(fixed(200))]
        #[test]
        fn rolled_matches_the_definition(
            tokens in proptest::collection::vec(prop_oneof![0u32..3, any::<u32>()], 0..200),
            n in 1usize..40,
            secret in any::<u64>(),
        ) {
            let key = RunKey::new(secret);
            let expected: Vec<u32> = tokens.windows(n).map(|run| naive(key, run)).collect();
            prop_assert_eq!(rolled(key, n, &tokens), expected);
        }
    }
}
