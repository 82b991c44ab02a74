//! Compares candidate rows with a query: finds the rows within a distance.
//!
//! There is portable code and code with AVX-512 intrinsics. A search is generic over [`Kernel`] and compiled for each, because a
//! function with a target feature is not inlined into one without. Plain x86-64 has no instruction that counts bits. With AVX2 the
//! compiler counts the bits of four rows at once in the portable code; AVX-512 has an instruction for eight rows.

#[cfg(target_arch = "x86_64")]
use crate::machine::{Avx2, CountAvx512};

/// The most rows of one comparison, whose result is a mask.
pub(super) const ROWS: usize = 64;

/// Compares rows: [`Portable`] on any machine, or the token `CountAvx512`.
pub(super) trait Kernel: Copy {
    /// Returns a mask: bit i is set if row i differs from `value` in at most `distance` bits. REQUIRES: at most [`ROWS`] rows.
    fn near(self, rows: &[u64], value: u64, distance: u32) -> u64;
}

/// The portable code.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn near(self, rows: &[u64], value: u64, distance: u32) -> u64 {
        let is_near = |row: &u64| u64::from((row ^ value).count_ones() <= distance);
        rows.iter().enumerate().fold(0, |mask, (i, row)| mask | is_near(row) << (i % ROWS))
    }
}

#[cfg(target_arch = "x86_64")]
impl Kernel for CountAvx512 {
    #[inline(always)]
    fn near(self, rows: &[u64], value: u64, distance: u32) -> u64 {
        // SAFETY: `self` proves AVX-512 with VPOPCNTDQ.
        unsafe { avx512::near(rows, value, distance) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    const LANES: usize = 8;

    /// As [`super::Kernel::near`].
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    #[inline]
    pub fn near(rows: &[u64], value: u64, distance: u32) -> u64 {
        let wanted = _mm512_set1_epi64(value as i64);
        let most = _mm512_set1_epi64(i64::from(distance));
        let mut mask = 0;
        for (step, part) in rows.chunks(LANES).enumerate() {
            let lanes = (0xFFu16 >> (LANES - part.len())) as __mmask8;
            // SAFETY: the mask selects the lanes of `part`; other lanes are not read.
            let row = unsafe { _mm512_maskz_loadu_epi64(lanes, part.as_ptr().cast()) };
            let bits = _mm512_popcnt_epi64(_mm512_xor_si512(row, wanted));
            mask |= u64::from(_mm512_mask_cmple_epu64_mask(lanes, bits, most)) << (step * LANES % super::ROWS);
        }
        mask
    }
}

/// The code that a search runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The portable code.
    Portable,
    /// The portable code compiled for AVX2 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// The code for AVX-512 with VPOPCNTDQ.
    #[cfg(target_arch = "x86_64")]
    Avx512(CountAvx512),
}

impl Way {
    /// The fastest way on this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(count) = CountAvx512::detect() {
                return Self::Avx512(count);
            }
            if let Some(avx2) = Avx2::detect() {
                return Self::Avx2(avx2);
            }
        }
        Self::Portable
    }

    /// All ways that this machine can run, for tests.
    #[cfg(test)]
    pub fn all() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let faster = [Avx2::detect().map(Self::Avx2), CountAvx512::detect().map(Self::Avx512)];
        #[cfg(not(target_arch = "x86_64"))]
        let faster = [None];
        faster.into_iter().flatten().chain([Self::Portable]).collect()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(500))]
        #[test]
        fn vectors_match_portable(
            value in any::<u64>(), flips in prop::collection::vec(prop::collection::vec(0u32..64, 0..6), 0..=ROWS), distance in 0u32..=10,
        ) {
            if let Some(count) = CountAvx512::detect() {
                let rows: Vec<u64> = flips.iter().map(|bits| bits.iter().fold(value, |row, bit| row ^ 1 << bit)).collect();
                prop_assert_eq!(count.near(&rows, value, distance), Portable.near(&rows, value, distance));
            }
        }
    }
}
