//! Hashes eight short words at once with AVX-512; equal to `identity.rs` by property test.
//!
//! XXH3 has separate formulas for up to 3, 8 and 16 bytes. All three take the first and the last bytes of a word and two rounds
//! of shift and multiply. The first two differ only in constants, so one chain with constants chosen per lane serves both, and
//! no length is a branch.
//!
//! Cost: about 2 ns per word. One by one it is 6 ns, mostly for mispredicted lengths.

use super::identity::{AVALANCHE_8, AVALANCHE_LONG, AVALANCHE_THREE, FLIP_16, FLIP_3, FLIP_8, MAX_SHORT};
use std::arch::x86_64::*;

/// Returns [`super::identity::short_value`] of eight words, given their first eight bytes, the eight bytes before their ends, and
/// their lengths. Bytes of `first` beyond a word and of `last` before it do not matter.
///
/// REQUIRES: lengths from 1 to [`MAX_SHORT`]; the values of others are meaningless.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub(crate) fn short_values(first: __m512i, last: __m512i, lens: __m512i) -> __m512i {
    let is_long = _mm512_cmpgt_epu64_mask(lens, all(8));
    _mm512_mask_blend_epi64(is_long, up_to_eight(first, last, lens), up_to_sixteen(first, last, lens))
}

/// Returns a bit for each lane whose word is too long for [`short_values`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn too_long(lens: __m512i) -> u8 {
    _mm512_cmpgt_epu64_mask(lens, all(u64::from(MAX_SHORT)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number as i64)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn up_to_eight(first: __m512i, last: __m512i, lens: __m512i) -> __m512i {
    let is_three = _mm512_cmplt_epu64_mask(lens, all(4));
    let either = |eight: u64, three: u64| _mm512_mask_blend_epi64(is_three, all(eight), all(three));
    // Up to three bytes: the first, the middle and the last byte and the length, each in its own place.
    let middle = _mm512_srlv_epi64(first, _mm512_slli_epi64::<3>(_mm512_srli_epi64::<1>(lens)));
    let byte = |word: __m512i| _mm512_and_si512(word, all(0xFF));
    let ends = _mm512_or_si512(_mm512_slli_epi64::<16>(byte(first)), _mm512_srli_epi64::<56>(last));
    let inside = _mm512_or_si512(_mm512_slli_epi64::<24>(byte(middle)), _mm512_slli_epi64::<8>(lens));
    let three = _mm512_or_si512(ends, inside);
    let eight = _mm512_add_epi64(_mm512_slli_epi64::<32>(first), _mm512_srli_epi64::<32>(last));
    let x = _mm512_xor_si512(_mm512_mask_blend_epi64(is_three, eight, three), either(FLIP_8, FLIP_3));

    let turned = _mm512_xor_si512(_mm512_rol_epi64::<49>(x), _mm512_rol_epi64::<24>(x));
    let x = _mm512_xor_si512(x, _mm512_mask_srli_epi64::<33>(turned, is_three, x));
    let x = _mm512_mullo_epi64(x, either(AVALANCHE_8, AVALANCHE_THREE[0]));
    let shifted = _mm512_srlv_epi64(x, either(35, 29));
    let x = _mm512_xor_si512(x, _mm512_mask_add_epi64(shifted, !is_three, shifted, lens));
    let x = _mm512_mullo_epi64(x, either(AVALANCHE_8, AVALANCHE_THREE[1]));
    _mm512_xor_si512(x, _mm512_srlv_epi64(x, either(28, 32)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn up_to_sixteen(first: __m512i, last: __m512i, lens: __m512i) -> __m512i {
    let (first, last) = (_mm512_xor_si512(first, all(FLIP_16[0])), _mm512_xor_si512(last, all(FLIP_16[1])));
    let ends = _mm512_add_epi64(swapped(first), last);
    let x = _mm512_add_epi64(_mm512_add_epi64(lens, ends), folded_product(first, last));
    let x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64::<37>(x)), all(AVALANCHE_LONG));
    _mm512_xor_si512(x, _mm512_srli_epi64::<32>(x))
}

/// Reverses the bytes of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn swapped(words: __m512i) -> __m512i {
    let order = _mm_set_epi64x(0x0809_0A0B_0C0D_0E0F, 0x0001_0203_0405_0607);
    _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(order))
}

/// Returns the XOR of both halves of each 128-bit product, by four 32-bit products.
#[inline]
#[target_feature(enable = "avx512f")]
fn folded_product(a: __m512i, b: __m512i) -> __m512i {
    // A shuffle, not a shift: with a shift the compiler recognises a wide product and emits eight scalar ones.
    let [a_high, b_high] = [a, b].map(|word| _mm512_shuffle_epi32::<0b11_11_01_01>(word));
    let low = |word: __m512i| _mm512_and_si512(word, all(0xFFFF_FFFF));
    let (lowest, cross) = (_mm512_mul_epu32(a, b), _mm512_mul_epu32(a, b_high));
    let middle = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), low(cross));
    let middle = _mm512_add_epi64(middle, _mm512_srli_epi64::<32>(lowest));
    let high = _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), _mm512_srli_epi64::<32>(cross));
    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(middle));
    _mm512_xor_si512(high, _mm512_or_si512(_mm512_slli_epi64::<32>(middle), low(lowest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::identity::token_value;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(2000))]
        #[test]
        fn eight_values_are_those_of_single_words(words in prop::collection::vec((any::<[u8; 32]>(), 1usize..=16), 8)) {
            if crate::machine::Avx512::detect().is_none() {
                return Ok(());
            }
            // The bytes around a word must not matter.
            let load = |at: &dyn Fn(usize) -> usize| -> [u64; 8] {
                std::array::from_fn(|i| u64::from_le_bytes(words[i].0[at(words[i].1)..][..8].try_into().expect("eight bytes")))
            };
            let (first, last) = (load(&|_| 8), load(&|len| len));
            let lens: [u64; 8] = std::array::from_fn(|i| words[i].1 as u64);
            let mut found = [0u64; 8];
            // SAFETY: `Avx512::detect` found the features, and the loads and the store cover eight words each.
            unsafe {
                let values = short_values(
                    _mm512_loadu_si512(first.as_ptr().cast()),
                    _mm512_loadu_si512(last.as_ptr().cast()),
                    _mm512_loadu_si512(lens.as_ptr().cast()),
                );
                _mm512_storeu_si512(found.as_mut_ptr().cast(), values);
            }
            let expected: Vec<u64> = words.iter().map(|(bytes, len)| token_value(&bytes[8..8 + len])).collect();
            prop_assert_eq!(found.to_vec(), expected);
        }
    }
}
