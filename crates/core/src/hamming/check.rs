//! Which of some rows are near a value: the only question that is asked of candidates.
//!
//! It stands once as portable code and once as intrinsics; `Kernel` lets a whole search be compiled for one of them, because a
//! function with a target feature is not inlined into one without. Without any feature x86-64 has no instruction that counts bits;
//! with AVX2 the compiler counts those of four rows at once in the portable code; AVX-512 has one for eight rows.

/// Rows that one question may be asked of: the answer is a mask.
pub(super) const ROWS: usize = 64;

/// How a machine answers.
pub(super) trait Kernel {
    /// Bit i says whether row i differs from `value` in at most `distance` bits. REQUIRES: at most [`ROWS`] rows.
    fn near(rows: &[u64], value: u64, distance: u32) -> u64;
}

/// Any machine.
pub(super) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn near(rows: &[u64], value: u64, distance: u32) -> u64 {
        let is_near = |row: &u64| u64::from((row ^ value).count_ones() <= distance);
        rows.iter().enumerate().fold(0, |mask, (i, row)| mask | is_near(row) << (i % ROWS))
    }
}

/// x86-64 with AVX-512 and its population count. May only be asked where both were detected.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx512;

#[cfg(target_arch = "x86_64")]
impl Kernel for Avx512 {
    #[inline(always)]
    fn near(rows: &[u64], value: u64, distance: u32) -> u64 {
        // SAFETY: whoever names this kernel has detected the features.
        unsafe { avx512::near(rows, value, distance) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    const LANES: usize = 8;

    /// As [`super::Kernel::near`]. SAFETY: the features must be there.
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    #[inline]
    pub unsafe fn near(rows: &[u64], value: u64, distance: u32) -> u64 {
        let wanted = _mm512_set1_epi64(value as i64);
        let most = _mm512_set1_epi64(i64::from(distance));
        let mut mask = 0;
        for (step, part) in rows.chunks(LANES).enumerate() {
            let lanes = (0xFFu16 >> (LANES - part.len())) as __mmask8;
            // SAFETY: masked lanes are not read, the others are those of `part`.
            let row = unsafe { _mm512_maskz_loadu_epi64(lanes, part.as_ptr().cast()) };
            let bits = _mm512_popcnt_epi64(_mm512_xor_si512(row, wanted));
            mask |= u64::from(_mm512_mask_cmple_epu64_mask(lanes, bits, most)) << (step * LANES % super::ROWS);
        }
        mask
    }
}

/// What the machine can do best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// Nothing is known of it.
    Any,
    /// x86-64 with AVX2 and the instruction that counts bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512 and its population count.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Machine {
    /// This machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                return Self::Avx2;
            }
        }
        Self::Any
    }

    /// Those that this machine can be, for tests.
    #[cfg(test)]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Any];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend((Self::detect() != Self::Any).then_some(Self::Avx2));
            all.extend((Self::detect() == Self::Avx512).then_some(Self::Avx512));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(500))]
        #[test]
        #[cfg(target_arch = "x86_64")]
        fn vectors_match_portable(
            value in any::<u64>(), flips in prop::collection::vec(prop::collection::vec(0u32..64, 0..6), 0..=ROWS), distance in 0u32..=10,
        ) {
            if Machine::detect() == Machine::Avx512 {
                let rows: Vec<u64> = flips.iter().map(|bits| bits.iter().fold(value, |row, bit| row ^ 1 << bit)).collect();
                prop_assert_eq!(Avx512::near(&rows, value, distance), Portable::near(&rows, value, distance));
            }
        }
    }
}
