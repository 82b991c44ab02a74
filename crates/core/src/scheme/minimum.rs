//! Finds minima of 32-bit keys, with AVX2 where the processor has it: the two operations of the jump loop of `winnow.rs`.
//!
//! Each operation has a portable version and one with intrinsics. The loop is generic over [`Kernel`] and compiled for each,
//! because a function with a target feature is not inlined into one without.

/// The two operations. [`Portable`] runs anywhere; the token `Avx2` runs the vector code and proves that it may.
pub(super) trait Kernel: Copy {
    /// Returns the index of the first key ≤ `limit` among the first `count`. REQUIRES: `count` ≤ `keys.len()`.
    ///
    /// Keys after the first `count` may be loaded but do not matter; giving them saves masked loads.
    fn first_at_most(self, keys: &[u32], count: usize, limit: u32) -> Option<usize>;
    /// Returns the smallest key and its positions. REQUIRES: `keys` is not empty.
    fn minimum(self, keys: &[u32]) -> Minimum;
}

/// The smallest key and its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Minimum {
    pub key: u32,
    /// Index of its first occurrence.
    pub first: usize,
    /// Index of its last occurrence.
    pub last: usize,
}

/// The portable code.
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

    /// Keys in one step. Window ends are unpredictable: a branch every eight keys is mispredicted about once per pick, a branch
    /// every 32 keys seldom.
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

    /// Loads the 32 keys of a whole step into four vectors.
    ///
    /// SAFETY: the processor must have AVX2. Callers in this module hold an [`Avx2`].
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

    /// Loads the last, partial step: fewer than 32 keys, with MAX in the empty lanes.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn load_rest(keys: &[u32]) -> (__m256i, __m256i, __m256i, __m256i) {
        // SAFETY: the caller guarantees AVX2.
        unsafe { (load_part(keys, 0), load_part(keys, 1), load_part(keys, 2), load_part(keys, 3)) }
    }

    /// Loads keys 8 · `part` … 8 · `part` + 7 of `keys`, with MAX in the empty lanes.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn load_part(keys: &[u32], part: usize) -> __m256i {
        let present = keys.len().saturating_sub(part * LANES).min(LANES);
        // SAFETY: the mask is read from within MASKS, since present ≤ 8. A masked load reads only lanes whose mask is set, and those
        // are inside `keys`. The pointer may lie past the end, so it is computed with wrapping arithmetic.
        unsafe {
            let mask = _mm256_loadu_si256(MASKS.as_ptr().add(LANES - present).cast());
            let there = _mm256_maskload_epi32(keys.as_ptr().wrapping_add(part * LANES).cast(), mask);
            _mm256_or_si256(there, _mm256_xor_si256(mask, _mm256_set1_epi32(-1)))
        }
    }

    /// Returns one bit per key: set if the key is ≤ `bound`; the first key has the lowest bit.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn at_most((a, b, c, d): (__m256i, __m256i, __m256i, __m256i), bound: __m256i) -> u32 {
        // SAFETY: the caller guarantees AVX2, which implies AVX.
        unsafe {
            // There is no unsigned ≤; min(x, bound) == x is equivalent.
            let a = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(a, bound), a))) as u32;
            let b = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(b, bound), b))) as u32;
            let c = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(c, bound), c))) as u32;
            let d = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(d, bound), d))) as u32;
            a | b << 8 | c << 16 | d << 24
        }
    }

    /// Returns the smallest key, or MAX if there are none.
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

    /// Loads the step that begins at `at`, with masked loads only at the end of the slice.
    ///
    /// SAFETY: as for [`load`].
    #[inline(always)]
    unsafe fn load_step(keys: &[u32], at: usize) -> (__m256i, __m256i, __m256i, __m256i) {
        match keys[at..].first_chunk() {
            // SAFETY: the caller guarantees AVX2.
            Some(step) => unsafe { load(step) },
            // SAFETY: the caller guarantees AVX2.
            None => unsafe { load_rest(&keys[at..]) },
        }
    }

    /// Returns a mask with a bit for each of the first `count` keys of a step.
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
            // Scans every step, even after a match: the number of iterations is then that of the window, and predicted.
            for at in (0..keys.len()).step_by(STEP) {
                // No key is below the minimum, so a key at most the minimum equals it.
                // SAFETY: `self` proves AVX2.
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
