//! Karp–Rabin rolling hash of k consecutive tokens, in the paper's improved form H′: the order of k-grams.
//!
//! `H′(c₁…c_k) = c₁·b^k + c₂·b^(k−1) + … + c_k·b  (mod 2^32)`; the step to the next k-gram subtracts the leading term,
//! adds the new token and only then multiplies, so that the newest token reaches every higher bit (Schleimer,
//! Wilkerson, Aiken 2003, §2.2). H′ is the order key. Its lower bits depend on few bits of each token, but they decide
//! only between keys that agree in all higher ones; and k-grams whose keys agree are told apart by their identity.
//!
//! 32 bits and not 64, because vector units multiply 32-bit lanes: with AVX2 eight stretches of a block roll side by side
//! (`lanes.rs`). Cost: 0.35 ns a token so, 1.3 ns in one chain, which is bound by the latency of the multiplication.
//! From scratch it would be k multiplications.

#[cfg(target_arch = "x86_64")]
use super::lanes;

/// The base b: the golden ratio's bits, so that small tokens spread at once; ≡ 5 (mod 8), hence of the largest order 2^30.
pub const BASE: u32 = 0x9E37_79B5;

/// A token as the rolling hash sees it: a byte or code point of a text, or the 64-bit value of a word or line.
pub trait Symbol: Copy + PartialEq {
    /// The token's value as a digit of the polynomial; 64-bit values are folded in half.
    fn value(self) -> u32;

    /// Writes the order keys of some k-grams at the front of `tokens` by vector instructions, and returns how many; the rest is
    /// left to the plain chain.
    fn keys_by_lanes(_rolling: &Rolling, _tokens: &[Self], _keys: &mut [u32]) -> usize {
        0
    }
}

impl Symbol for u8 {
    #[inline(always)]
    fn value(self) -> u32 {
        u32::from(self)
    }

    #[cfg(target_arch = "x86_64")]
    fn keys_by_lanes(rolling: &Rolling, tokens: &[Self], keys: &mut [u32]) -> usize {
        lanes::keys(rolling, tokens, keys)
    }
}

impl Symbol for u32 {
    #[inline(always)]
    fn value(self) -> u32 {
        self
    }

    #[cfg(target_arch = "x86_64")]
    fn keys_by_lanes(rolling: &Rolling, tokens: &[Self], keys: &mut [u32]) -> usize {
        lanes::keys(rolling, tokens, keys)
    }
}

/// Words and lines are few, and making them takes longer than hashing them: the plain chain is enough.
impl Symbol for u64 {
    #[inline(always)]
    fn value(self) -> u32 {
        (self ^ (self >> 32)) as u32
    }
}

/// The rolling hash for one k.
#[derive(Clone, Copy, Debug)]
pub struct Rolling {
    /// Tokens in a k-gram.
    pub(super) k: usize,
    /// b^k, the weight of the token that leaves.
    pub(super) leading: u32,
}

impl Rolling {
    /// REQUIRES: k ≥ 1; with k = 0 there are no k-grams and [`keys`](Self::keys) yields nothing.
    pub fn new(k: usize) -> Self {
        let exponent = u32::try_from(k).unwrap_or(u32::MAX);
        Self { k, leading: BASE.wrapping_pow(exponent) }
    }

    /// H′ of one k-gram from its tokens: the definition, and what [`step`](Self::step) must agree with.
    #[inline]
    pub fn from_scratch<S: Symbol>(gram: &[S]) -> u32 {
        gram.iter().fold(0u32, |hash, token| hash.wrapping_add(token.value()).wrapping_mul(BASE))
    }

    /// H′ of the next k-gram: `leaving` is the first token of the present one, `entering` the one after its last.
    #[inline(always)]
    pub fn step<S: Symbol>(&self, hash: u32, leaving: S, entering: S) -> u32 {
        // The part that does not depend on `hash` comes first, so the chain is one addition and one multiplication.
        let change = entering.value().wrapping_sub(leaving.value().wrapping_mul(self.leading));
        hash.wrapping_add(change).wrapping_mul(BASE)
    }

    /// Appends the order key of every k-gram of `tokens`: `tokens.len() − k + 1` of them, none when there are fewer than k.
    pub fn keys<S: Symbol>(&self, tokens: &[S], keys: &mut Vec<u32>) {
        let Some(count) = (tokens.len() + 1).checked_sub(self.k).filter(|n| *n > 0 && self.k > 0) else { return };
        let before = keys.len();
        keys.resize(before + count, 0);
        let out = &mut keys[before..];
        let done = S::keys_by_lanes(self, tokens, out);
        self.chain(&tokens[done..], &mut out[done..]);
    }

    /// One chain over all of `tokens`. REQUIRES: `out` has one place for each k-gram.
    fn chain<S: Symbol>(&self, tokens: &[S], out: &mut [u32]) {
        let (Some(first), Some((last, rest))) = (tokens.get(..self.k), out.split_last_mut()) else { return };
        let mut hash = Self::from_scratch(first);
        for ((key, leaving), entering) in rest.iter_mut().zip(tokens).zip(&tokens[self.k..]) {
            *key = hash;
            hash = self.step(hash, *leaving, *entering);
        }
        *last = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixed, low_entropy_bytes};
    use proptest::prelude::*;

    fn naive<S: Symbol>(tokens: &[S], k: usize) -> Vec<u32> {
        tokens.windows(k).map(Rolling::from_scratch).collect()
    }

    fn rolled<S: Symbol>(tokens: &[S], k: usize) -> Vec<u32> {
        let mut keys = Vec::new();
        Rolling::new(k).keys(tokens, &mut keys);
        keys
    }

    #[test]
    fn last_token_reaches_the_upper_half() {
        let keys: std::collections::HashSet<u32> =
            (0u8..=255).map(|c| Rolling::from_scratch(&[b'a', b'b', c]) >> 16).collect();
        assert!(keys.len() > 250, "only {} distinct upper 16 bits for 256 last tokens", keys.len());
    }

    #[test]
    fn fewer_than_k_tokens_have_no_key() {
        assert_eq!(rolled::<u8>(b"abcd", 5), Vec::<u32>::new());
        assert_eq!(rolled::<u8>(b"", 1), Vec::<u32>::new());
        assert_eq!(rolled::<u8>(b"abcd", 0), Vec::<u32>::new());
        assert_eq!(rolled::<u8>(b"abcd", 4).len(), 1);
    }

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn rolled_matches_from_scratch(bytes in low_entropy_bytes(0..1500), k in 1usize..90) {
            prop_assert_eq!(rolled(&bytes, k), naive(&bytes, k));
            let wide: Vec<u64> = bytes.iter().map(|b| crate::hash::mix64(u64::from(*b))).collect();
            prop_assert_eq!(rolled(&wide, k), naive(&wide, k));
            let codes: Vec<u32> = wide.iter().map(|token| *token as u32).collect();
            prop_assert_eq!(rolled(&codes, k), naive(&codes, k));
        }

        #[test]
        fn a_code_point_hashes_like_the_byte_it_equals(bytes in low_entropy_bytes(0..900), k in 1usize..40) {
            let wide: Vec<u32> = bytes.iter().map(|b| u32::from(*b)).collect();
            prop_assert_eq!(rolled(&bytes, k), rolled(&wide, k));
        }
    }
}
