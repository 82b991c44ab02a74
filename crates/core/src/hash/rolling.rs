//! Computes the order keys of k-grams: the Karp–Rabin rolling hash in the paper's improved form H′.
//!
//! `H′(c₁…c_k) = c₁·b^k + c₂·b^(k−1) + … + c_k·b  (mod 2^32)`. The step to the next k-gram subtracts the leading term, adds the
//! new token and then multiplies, so that the newest token affects every higher bit (Schleimer, Wilkerson, Aiken 2003, §2.2).
//! The lower bits of H′ depend on few bits of each token. They only decide between keys whose higher bits agree, and equal keys
//! are ordered by the identity of their k-grams.
//!
//! The key has 32 bits because vector units multiply 32-bit lanes: with AVX2, eight stretches of a block roll side by side
//! (`lanes.rs`).
//!
//! Cost: 0.35 ns per token with AVX2, 1.3 ns in one chain, which waits for each multiplication. From scratch, a k-gram takes k
//! multiplications.

#[cfg(target_arch = "x86_64")]
use super::lanes;

/// The base b: bits of the golden ratio, which spread small tokens; ≡ 5 (mod 8), so its order is the largest, 2^30.
pub const BASE: u32 = 0x9E37_79B5;

/// A token type of the rolling hash: a byte or code point of a text, or the 64-bit value of a word or line.
pub trait Symbol: Copy + PartialEq {
    /// Returns the token as a digit of the polynomial; 64-bit values are folded to 32 bits.
    fn value(self) -> u32;

    /// Writes the order keys of the first k-grams of `tokens` with vector instructions and returns their number; the plain chain
    /// computes the rest.
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

/// Words and lines use the plain chain: they are few, and reading them takes longer than hashing them.
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
    /// Prepares the hash of k tokens. With k = 0 there are no k-grams, and [`keys`](Self::keys) appends nothing.
    pub fn new(k: usize) -> Self {
        let exponent = u32::try_from(k).unwrap_or(u32::MAX);
        Self { k, leading: BASE.wrapping_pow(exponent) }
    }

    /// Computes H′ of one k-gram by its definition, with which [`step`](Self::step) must agree.
    #[inline]
    pub fn from_scratch<S: Symbol>(gram: &[S]) -> u32 {
        gram.iter().fold(0u32, |hash, token| hash.wrapping_add(token.value()).wrapping_mul(BASE))
    }

    /// Returns H′ of the next k-gram: `leaving` is the first token of the current one, `entering` the token after its last.
    #[inline(always)]
    pub fn step<S: Symbol>(&self, hash: u32, leaving: S, entering: S) -> u32 {
        // The part without `hash` is computed first, so each step waits for one addition and one multiplication.
        let change = entering.value().wrapping_sub(leaving.value().wrapping_mul(self.leading));
        hash.wrapping_add(change).wrapping_mul(BASE)
    }

    /// Appends the order key of every k-gram of `tokens`: `tokens.len() − k + 1` keys, or none with fewer than k tokens.
    pub fn keys<S: Symbol>(&self, tokens: &[S], keys: &mut Vec<u32>) {
        let Some(count) = (tokens.len() + 1).checked_sub(self.k).filter(|n| *n > 0 && self.k > 0) else { return };
        let before = keys.len();
        keys.resize(before + count, 0);
        let out = &mut keys[before..];
        let done = S::keys_by_lanes(self, tokens, out);
        self.chain(&tokens[done..], &mut out[done..]);
    }

    /// Computes all keys in one chain. REQUIRES: `out` has one place per k-gram.
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
