//! Karp–Rabin rolling hash of k consecutive tokens, in the paper's improved form H′: the order of k-grams.
//!
//! `H′(c₁…c_k) = c₁·b^k + c₂·b^(k−1) + … + c_k·b  (mod 2^64)`; the step to the next k-gram subtracts the leading term,
//! adds the new token and only then multiplies, so that the newest token reaches every higher bit (Schleimer,
//! Wilkerson, Aiken 2003, §2.2). The order key is the upper half of H′: the lower bits of such a polynomial depend on
//! few bits of each token.
//!
//! Cost: two multiplications a token. One chain of them is bound by latency, so a block is cut into four lanes that
//! roll side by side; that doubles the rate (`make bench`, row `rolling`). From scratch it would be k multiplications.

/// The base b. Odd and ≡ 5 (mod 8), hence of the largest order 2^62 modulo 2^64; its bits are those of the golden
/// ratio, so small tokens spread over the upper half at once.
pub const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Lanes that roll side by side; four hide the latency of the multiplication, more spill registers.
const LANES: usize = 4;

/// A token as the rolling hash sees it: a byte or code point of a text, or the 64-bit value of a word or line.
pub trait Symbol: Copy + PartialEq {
    /// The token's value as a digit of the polynomial.
    fn value(self) -> u64;

    /// The value times `weight`; the table holds that product for every byte.
    #[inline(always)]
    fn weighted(self, weight: u64, _of_bytes: &[u64; 256]) -> u64 {
        self.value().wrapping_mul(weight)
    }
}

impl Symbol for u8 {
    #[inline(always)]
    fn value(self) -> u64 {
        u64::from(self)
    }

    #[inline(always)]
    fn weighted(self, _weight: u64, of_bytes: &[u64; 256]) -> u64 {
        of_bytes[self as usize]
    }
}

impl Symbol for u32 {
    #[inline(always)]
    fn value(self) -> u64 {
        u64::from(self)
    }
}

impl Symbol for u64 {
    #[inline(always)]
    fn value(self) -> u64 {
        self
    }
}

/// The rolling hash for one k.
#[derive(Clone, Debug)]
pub struct Rolling {
    k: usize,
    /// b^k, the weight of the token that leaves.
    leading: u64,
    /// The weights of all byte tokens that may leave: a load is cheaper than a second multiplication.
    leaving_bytes: Box<[u64; 256]>,
}

impl Rolling {
    /// REQUIRES: k ≥ 1; with k = 0 there are no k-grams and [`keys`](Self::keys) yields nothing.
    pub fn new(k: usize) -> Self {
        let exponent = u32::try_from(k).unwrap_or(u32::MAX);
        let leading = BASE.wrapping_pow(exponent);
        Self { k, leading, leaving_bytes: Box::new(std::array::from_fn(|byte| (byte as u64).wrapping_mul(leading))) }
    }

    /// H′ of one k-gram from its tokens: the definition, and what [`step`](Self::step) must agree with.
    #[inline]
    pub fn from_scratch<S: Symbol>(gram: &[S]) -> u64 {
        gram.iter().fold(0u64, |hash, token| hash.wrapping_add(token.value()).wrapping_mul(BASE))
    }

    /// H′ of the next k-gram: `leaving` is the first token of the present one, `entering` the one after its last.
    #[inline(always)]
    pub fn step<S: Symbol>(&self, hash: u64, leaving: S, entering: S) -> u64 {
        // The part that does not depend on `hash` comes first, so the chain is one addition and one multiplication.
        let change = entering.value().wrapping_sub(leaving.weighted(self.leading, &self.leaving_bytes));
        hash.wrapping_add(change).wrapping_mul(BASE)
    }

    /// Appends the order key of every k-gram of `tokens`: `tokens.len() − k + 1` of them, none when there are fewer than k.
    pub fn keys<S: Symbol>(&self, tokens: &[S], keys: &mut Vec<u32>) {
        let Some(count) = (tokens.len() + 1).checked_sub(self.k).filter(|n| *n > 0 && self.k > 0) else { return };
        let before = keys.len();
        keys.resize(before + count, 0);
        let out = &mut keys[before..];
        // Below this length starting four lanes costs more than it gains.
        if count < 8 * LANES + self.k {
            self.lane(tokens, out);
        } else {
            self.lanes(tokens, out);
        }
    }

    /// One lane over all of `tokens`. REQUIRES: `out.len() == tokens.len() − k + 1`.
    fn lane<S: Symbol>(&self, tokens: &[S], out: &mut [u32]) {
        let mut hash = Self::from_scratch(&tokens[..self.k]);
        let (last, rest) = match out.split_last_mut() {
            Some(parts) => parts,
            None => return,
        };
        for ((key, leaving), entering) in rest.iter_mut().zip(tokens).zip(&tokens[self.k..]) {
            *key = order_key(hash);
            hash = self.step(hash, *leaving, *entering);
        }
        *last = order_key(hash);
    }

    /// Four lanes over the four quarters of `out`; what does not divide by four is one more short lane.
    ///
    /// REQUIRES: as for [`lane`](Self::lane).
    fn lanes<S: Symbol>(&self, tokens: &[S], out: &mut [u32]) {
        let len = out.len() / LANES;
        let (quarters, tail) = out.split_at_mut(len * LANES);
        let mut hashes: [u64; LANES] = std::array::from_fn(|lane| Self::from_scratch(&tokens[lane * len..][..self.k]));
        // The furthest read of the loop: the token that enters lane 3 at its last step.
        assert!(tokens.len() >= len * LANES + self.k - 1 && quarters.len() == len * LANES);
        for j in 0..len - 1 {
            for (lane, hash) in hashes.iter_mut().enumerate() {
                let at = lane * len + j;
                // SAFETY: at < len · LANES − 1, so `at` is inside `quarters`, and at + k ≤ tokens.len() − 1 by the assertion above.
                // Four pairs of slices with their lengths do not fit the registers: with bounds checks this takes twice as long.
                unsafe {
                    *quarters.get_unchecked_mut(at) = order_key(*hash);
                    *hash = self.step(*hash, *tokens.get_unchecked(at), *tokens.get_unchecked(at + self.k));
                }
            }
        }
        for (lane, hash) in hashes.into_iter().enumerate() {
            quarters[lane * len + len - 1] = order_key(hash);
        }
        if !tail.is_empty() {
            self.lane(&tokens[len * LANES..], tail);
        }
    }
}

/// The order key of a k-gram from its H′: the upper 32 bits.
#[inline(always)]
pub const fn order_key(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixed, low_entropy_bytes};
    use proptest::prelude::*;

    fn naive<S: Symbol>(tokens: &[S], k: usize) -> Vec<u32> {
        tokens.windows(k).map(|gram| order_key(Rolling::from_scratch(gram))).collect()
    }

    fn rolled<S: Symbol>(tokens: &[S], k: usize) -> Vec<u32> {
        let mut keys = Vec::new();
        Rolling::new(k).keys(tokens, &mut keys);
        keys
    }

    #[test]
    fn last_token_reaches_the_upper_half() {
        let keys: std::collections::HashSet<u32> =
            (0u8..=255).map(|c| order_key(Rolling::from_scratch(&[b'a', b'b', c])) >> 16).collect();
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
        #![proptest_config(fixed(200))]
        #[test]
        fn rolled_matches_from_scratch(bytes in low_entropy_bytes(0..700), k in 1usize..90) {
            prop_assert_eq!(rolled(&bytes, k), naive(&bytes, k));
            let wide: Vec<u64> = bytes.iter().map(|b| crate::hash::mix64(u64::from(*b))).collect();
            prop_assert_eq!(rolled(&wide, k), naive(&wide, k));
        }

        #[test]
        fn a_code_point_hashes_like_the_byte_it_equals(bytes in low_entropy_bytes(0..300), k in 1usize..40) {
            let wide: Vec<u32> = bytes.iter().map(|b| u32::from(*b)).collect();
            prop_assert_eq!(rolled(&bytes, k), rolled(&wide, k));
        }
    }
}
