//! Minima of 32-bit keys in a slice, by AVX2 where the machine has it: the two questions the jump loop of `winnow.rs` asks.
//!
//! Each question stands once as portable code and once as intrinsics; `Kernel` lets the whole loop be compiled for one of
//! them, because a function with a target feature is not inlined into one without.

/// How a machine answers the questions.
pub(super) trait Kernel: Copy {
    /// Index of the first key ≤ `limit` among the first `count`; that the slice goes on saves masking its end.
    /// REQUIRES: `count` ≤ `keys.len()`.
    fn first_at_most(self, keys: &[u32], count: usize, limit: u32) -> Option<usize>;
    /// The smallest key and where it stands. REQUIRES: `keys` is not empty.
    fn minimum(self, keys: &[u32]) -> Minimum;
}

/// The smallest of some keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Minimum {
    pub key: u32,
    /// Index of its first occurrence.
    pub first: usize,
    /// Index of its last occurrence.
    pub last: usize,
}

/// Any machine.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn first_at_most(self, keys: &[u32], count: usize, limit: u32) -> Option<usize> {
        keys[..count].iter().position(|key| *key <= limit)
    }

    #[inline(always)]
    fn minimum(self, keys: &[u32]) -> Minimum {
        let key = keys.iter().copied().min().unwrap_or(u32::MAX);
        let first = keys.iter().position(|other| *other == key).unwrap_or(0);
        let last = keys.iter().rposition(|other| *other == key).unwrap_or(0);
        Minimum { key, first, last }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Kernel, Minimum};
    use crate::machine::Avx2;
    use std::arch::x86_64::*;

    /// Keys in one vector.
    const LANES: usize = 8;

    /// Keys in one step: where a window ends is as good as random, so a branch every eight keys is mispredicted about once
    /// a pick; every 32 keys it seldom is.
    const STEP: usize = 4 * LANES;

    /// `MASKS[8 − n..]` begins with n lanes of ones and goes on with zeros.
    static MASKS: [u32; 2 * LANES] = {
        let mut masks = [0; 2 * LANES];
        let mut i = 0;
        while i < LANES {
            masks[i] = u32::MAX;
            i += 1;
        }
        masks
    };

    /// The 32 keys of a whole step, in four vectors.
    ///
    /// SAFETY: the caller runs on a machine with AVX2.
    #[inline(always)]
    unsafe fn load(keys: &[u32; STEP]) -> (__m256i, __m256i, __m256i, __m256i) {
        let first: *const __m256i = keys.as_ptr().cast();
        // SAFETY: the four loads cover exactly the 32 keys and need no alignment.
        unsafe {
            (
                _mm256_loadu_si256(first),
                _mm256_loadu_si256(first.add(1)),
                _mm256_loadu_si256(first.add(2)),
                _mm256_loadu_si256(first.add(3)),
            )
        }
    }

    /// The last, partial step: fewer than 32 keys, MAX where there are none.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn load_rest(keys: &[u32]) -> (__m256i, __m256i, __m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe { (load_part(keys, 0), load_part(keys, 1), load_part(keys, 2), load_part(keys, 3)) }
    }

    /// Keys 8 · `part` … 8 · `part` + 7 of `keys`, MAX where there are none.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn load_part(keys: &[u32], part: usize) -> __m256i {
        let present = keys.len().saturating_sub(part * LANES).min(LANES);
        // SAFETY: the mask is read from within MASKS, since present ≤ 8; a masked load touches only lanes whose mask is set, and
        // those are inside `keys`. The pointer itself may lie past the end, so it is made by wrapping.
        unsafe {
            let mask = _mm256_loadu_si256(MASKS.as_ptr().add(LANES - present).cast());
            let there = _mm256_maskload_epi32(keys.as_ptr().wrapping_add(part * LANES).cast(), mask);
            _mm256_or_si256(there, _mm256_xor_si256(mask, _mm256_set1_epi32(-1)))
        }
    }

    /// One bit for each of 32 keys that is ≤ `bound`, lowest first.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn at_most((a, b, c, d): (__m256i, __m256i, __m256i, __m256i), bound: __m256i) -> u32 {
        // SAFETY: the caller vouches for AVX2, which implies AVX.
        unsafe {
            // Unsigned ≤ does not exist; min(x, bound) == x says the same.
            let a = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(a, bound), a))) as u32;
            let b = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(b, bound), b))) as u32;
            let c = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(c, bound), c))) as u32;
            let d = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(d, bound), d))) as u32;
            a | b << 8 | c << 16 | d << 24
        }
    }

    /// The smallest key, MAX when there are none.
    #[inline(always)]
    fn smallest(_: Avx2, (steps, rest): (&[[u32; STEP]], &[u32])) -> u32 {
        // SAFETY: the token proves AVX2.
        unsafe {
            let (a, b, c, d) = load_rest(rest);
            let mut least = _mm256_min_epu32(_mm256_min_epu32(a, b), _mm256_min_epu32(c, d));
            for step in steps {
                let (a, b, c, d) = load(step);
                least = _mm256_min_epu32(least, _mm256_min_epu32(_mm256_min_epu32(a, b), _mm256_min_epu32(c, d)));
            }
            let halves = _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
            let pairs = _mm_min_epu32(halves, _mm_shuffle_epi32(halves, 0b01_00_11_10));
            _mm_cvtsi128_si32(_mm_min_epu32(pairs, _mm_shuffle_epi32(pairs, 0b10_11_00_01))) as u32
        }
    }

    /// The step that begins at `at`: whole loads wherever the slice goes on for 32 keys, masked ones only at its very end.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn load_step(keys: &[u32], at: usize) -> (__m256i, __m256i, __m256i, __m256i) {
        match keys[at..].first_chunk() {
            // SAFETY: the caller vouches for AVX2.
            Some(step) => unsafe { load(step) },
            // SAFETY: likewise.
            None => unsafe { load_rest(&keys[at..]) },
        }
    }

    /// A bit for each of the first `count` keys of a step.
    #[inline(always)]
    fn first_bits(count: usize) -> u32 {
        u32::MAX >> (STEP - count.min(STEP))
    }

    impl Kernel for Avx2 {
        #[inline(always)]
        fn first_at_most(self, keys: &[u32], count: usize, limit: u32) -> Option<usize> {
            let mut at = 0;
            while at < count {
                // SAFETY: `self` proves AVX2.
                let found = unsafe { at_most(load_step(keys, at), _mm256_set1_epi32(limit as i32)) };
                let found = found & first_bits(count - at);
                if found != 0 {
                    return Some(at + found.trailing_zeros() as usize);
                }
                at += STEP;
            }
            None
        }

        #[inline(always)]
        fn minimum(self, keys: &[u32]) -> Minimum {
            let key = smallest(self, keys.as_chunks());
            let (mut first, mut last) = (usize::MAX, 0);
            // Every step is looked at, found or not: the number of turns is that of the window, and predicted.
            for at in (0..keys.len()).step_by(STEP) {
                // SAFETY: `self` proves AVX2. Nothing is below the minimum, so what is at most it is equal to it.
                let found = unsafe { at_most(load_step(keys, at), _mm256_set1_epi32(key as i32)) };
                let found = found & first_bits(keys.len() - at);
                if found != 0 {
                    first = first.min(at + found.trailing_zeros() as usize);
                    last = at + found.ilog2() as usize;
                }
            }
            Minimum { key, first, last }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::machine::Avx2;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(500))]
        #[test]
        fn avx2_matches_portable(keys in prop::collection::vec(prop_oneof![0u32..4, any::<u32>(), Just(u32::MAX)], 1..70), at in any::<prop::sample::Index>()) {
            if let Some(avx2) = Avx2::detect() {
                let (limit, count) = (keys[at.index(keys.len())], at.index(keys.len()) + 1);
                let got = (avx2.first_at_most(&keys, count, limit), avx2.minimum(&keys[..count]));
                prop_assert_eq!(got, (Portable.first_at_most(&keys, count, limit), Portable.minimum(&keys[..count])));
            }
        }
    }
}
