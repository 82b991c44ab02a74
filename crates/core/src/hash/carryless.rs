//! Computes Rabin fingerprints of shingles by carry-less multiplication; equal to `rabin.rs` by property test.
//!
//! A fingerprint is linear: that of `w` words is the sum of each word times a power of `x`, plus the term of the leading one. So
//! a window takes `w` independent products, added unreduced, and one Barrett reduction of two more products. With VPCLMULQDQ,
//! four windows are computed at once.
//!
//! Cost: about 2 ns per shingle of five words, 5 ns without VPCLMULQDQ, 8 ns by tables. The cost grows with `w`, so wide windows
//! slide instead (`rabin.rs`).

use super::rabin::{times_x, Polynomial};
use crate::machine::{Carryless, WideCarryless};
use std::arch::x86_64::*;

/// The widest window for which products are faster than sliding.
pub const MAX_WIDTH: usize = 8;

/// The constants for windows of one width.
#[derive(Clone, Debug)]
pub struct Windows {
    /// The factor of each word of a window, in the order of the words.
    factors: Vec<u64>,
    /// The term of the leading one of the string.
    leading: u64,
    low: u64,
    /// The quotient of `x^128` and the polynomial, without its highest bit.
    quotient: u64,
    carryless: Carryless,
    wide: Option<WideCarryless>,
}

impl Windows {
    /// Prepares windows of `width` words. Returns `None` without the instructions, or if the width is 0 or above [`MAX_WIDTH`].
    pub fn new(polynomial: Polynomial, width: usize) -> Option<Self> {
        let carryless = Carryless::detect()?;
        if width == 0 || width > MAX_WIDTH {
            return None;
        }
        let low = polynomial.low();
        // x^64 mod P, then each one x^64 further.
        let mut powers = vec![low];
        for _ in 0..width {
            let last = powers[powers.len() - 1];
            powers.push((0..64).fold(last, |power, _| times_x(power, low)));
        }
        let leading = powers[width];
        let factors = powers[..width].iter().rev().copied().collect();
        Some(Self { factors, leading, low, quotient: quotient(low), carryless, wide: WideCarryless::detect() })
    }

    /// Appends to `out` the fingerprint of each window of `words`, in order.
    pub fn append(&self, words: &[u64], out: &mut Vec<u64>) {
        // SAFETY: `wide` proves VPCLMULQDQ and AVX2.
        let done = self.wide.map_or(0, |wide| unsafe { self.append_by_four(wide, words, out) });
        // SAFETY: `carryless` proves PCLMULQDQ and SSE 4.1.
        unsafe { self.append_one_by_one(self.carryless, &words[done..], out) }
    }

    #[target_feature(enable = "pclmulqdq,sse4.1")]
    fn append_one_by_one(&self, _: Carryless, words: &[u64], out: &mut Vec<u64>) {
        out.extend(words.windows(self.factors.len()).map(|window| self.window(window)));
    }

    /// Appends the windows that can be computed four at a time, and returns their number.
    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn append_by_four(&self, _: WideCarryless, words: &[u64], out: &mut Vec<u64>) -> usize {
        let width = self.factors.len();
        if words.len() <= loaded(width) {
            return 0;
        }
        // Each width is compiled separately, so that loops over it are unrolled and the factors stay in registers.
        match width {
            1 => self.four_by_four::<1>(words, out),
            2 => self.four_by_four::<2>(words, out),
            3 => self.four_by_four::<3>(words, out),
            4 => self.four_by_four::<4>(words, out),
            5 => self.four_by_four::<5>(words, out),
            6 => self.four_by_four::<6>(words, out),
            7 => self.four_by_four::<7>(words, out),
            8 => self.four_by_four::<8>(words, out),
            _ => 0,
        }
    }

    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn four_by_four<const WIDTH: usize>(&self, words: &[u64], out: &mut Vec<u64>) -> usize {
        let Some(factors) = self.factors.first_chunk::<WIDTH>() else { return 0 };
        let factors = factors.map(|factor| _mm256_set1_epi64x(factor as i64));
        let loaded = loaded(WIDTH);
        let fours = words.len().saturating_sub(loaded).div_ceil(4);
        out.reserve(4 * fours);
        for (four, into) in out.spare_capacity_mut().chunks_exact_mut(4).take(fours).enumerate() {
            let fingerprints = self.four(&factors, &words[4 * four..4 * four + loaded]);
            // SAFETY: `chunks_exact_mut` gives four places, so the store covers exactly the 32 bytes of `into`.
            unsafe { _mm256_storeu_si256(into.as_mut_ptr().cast(), fingerprints) };
        }
        // SAFETY: `reserve` made room for 4 · fours values, and the loop has written all of them.
        unsafe { out.set_len(out.len() + 4 * fours) };
        4 * fours
    }

    /// Returns the fingerprints of the first four windows. REQUIRES: `words` has [`loaded`] words; fewer panic.
    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn four<const WIDTH: usize>(&self, factors: &[__m256i; WIDTH], words: &[u64]) -> __m256i {
        let swap = _mm256_set_epi64x(
            0x0809_0A0B_0C0D_0E0F,
            0x0001_0203_0405_0607,
            0x0809_0A0B_0C0D_0E0F,
            0x0001_0203_0405_0607,
        );
        // Lanes hold words (0, 1) and (2, 3) after the offset: windows 0 and 2 in one sum, 1 and 3 in the other.
        // SAFETY: the slice is bounds-checked and has the four words that are loaded.
        let load =
            |at: usize| _mm256_shuffle_epi8(unsafe { _mm256_loadu_si256(words[at..at + 4].as_ptr().cast()) }, swap);
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let mut pair = load(0);
        for (i, factor) in factors.iter().enumerate() {
            if i % 2 == 0 {
                even = _mm256_xor_si256(even, _mm256_clmulepi64_epi128(pair, *factor, 0));
                odd = _mm256_xor_si256(odd, _mm256_clmulepi64_epi128(pair, *factor, 1));
            } else {
                even = _mm256_xor_si256(even, _mm256_clmulepi64_epi128(pair, *factor, 1));
                pair = load(i + 1);
                odd = _mm256_xor_si256(odd, _mm256_clmulepi64_epi128(pair, *factor, 0));
            }
        }
        let sums = _mm256_unpacklo_epi64(self.reduce_two(even), self.reduce_two(odd));
        _mm256_xor_si256(sums, _mm256_set1_epi64x(self.leading as i64))
    }

    /// Reduces two polynomials of degree below 128; each remainder is in the lower half of its lane.
    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn reduce_two(&self, sums: __m256i) -> __m256i {
        let first = _mm256_clmulepi64_epi128(sums, _mm256_set1_epi64x(self.quotient as i64), 1);
        let times = _mm256_xor_si256(sums, first);
        _mm256_xor_si256(sums, _mm256_clmulepi64_epi128(times, _mm256_set1_epi64x(self.low as i64), 1))
    }

    #[inline]
    #[target_feature(enable = "pclmulqdq,sse4.1")]
    fn window(&self, window: &[u64]) -> u64 {
        let mut sum = _mm_setzero_si128();
        for (word, factor) in window.iter().zip(&self.factors) {
            // The first byte is the lowest in the word, but has the highest powers of x.
            sum = _mm_xor_si128(sum, product(word.swap_bytes(), *factor));
        }
        self.leading ^ self.reduce(sum)
    }

    /// Reduces a polynomial of degree below 128.
    #[inline]
    #[target_feature(enable = "pclmulqdq,sse4.1")]
    fn reduce(&self, sum: __m128i) -> u64 {
        let high = _mm_extract_epi64(sum, 1) as u64;
        let times = high ^ _mm_extract_epi64(product(high, self.quotient), 1) as u64;
        (_mm_cvtsi128_si64(sum) ^ _mm_cvtsi128_si64(product(times, self.low))) as u64
    }
}

/// The number of words that four windows load: up to two more than they use.
#[inline(always)]
fn loaded(width: usize) -> usize {
    width / 2 * 2 + 4
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
fn product(a: u64, b: u64) -> __m128i {
    _mm_clmulepi64_si128(_mm_cvtsi64_si128(a as i64), _mm_cvtsi64_si128(b as i64), 0)
}

/// Returns the lower 64 bits of the quotient of `x^128` and `x^64 + low`, by long division.
fn quotient(low: u64) -> u64 {
    let (mut rest, mut quotient) = (low, 0);
    for bit in (0..64).rev() {
        quotient |= (rest >> 63) << bit;
        rest = times_x(rest, low);
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::super::rabin::Rabin;
    use super::*;
    use crate::testing::fixed;
    use proptest::{collection::vec, prelude::*};

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn windows_match_the_tables(seed in 0..5u64, words in vec(prop_oneof![any::<u64>(), 0..3u64], 0..40), width in 1..=MAX_WIDTH) {
            let polynomial = Polynomial::generate(seed);
            let Some(windows) = Windows::new(polynomial, width) else { return Ok(()) };
            let rabin = Rabin::new(polynomial);
            let mut found = vec![9];
            windows.append(&words, &mut found);
            let expected: Vec<u64> =
                [9].into_iter().chain(words.windows(width).map(|window| rabin.fingerprint_words(window))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
