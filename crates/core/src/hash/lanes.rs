//! Computes H′ of many k-grams with AVX2: eight stretches of the tokens roll side by side, one per 32-bit lane.
//!
//! Eight tokens of each stretch are loaded and transposed (eight by eight), so that a vector holds one token of each stretch.
//! After eight steps, the eight vectors of keys are transposed back and stored.
//!
//! Cost: about two instructions per token. Four scalar chains side by side take eleven, because they run out of registers.

use super::rolling::{Rolling, Symbol, BASE};
use crate::machine::Avx2;
use std::arch::x86_64::*;

/// Stretches that roll side by side, and steps taken at a time.
const LANES: usize = 8;

/// The fewest k-grams for which starting eight stretches is worth its cost.
const WORTHWHILE: usize = 256;

/// Eight vectors of eight 32-bit numbers.
type Square = [__m256i; LANES];

/// A token type that can be loaded into a [`Square`].
pub(super) trait Rows: Symbol {
    /// Loads eight tokens of each of eight stretches, which begin `stride` tokens apart; row s holds token s of each.
    ///
    /// SAFETY: the processor must have AVX2, and eight tokens must be readable at `first + i · stride` for i from 0 to 7. [`roll`],
    /// the only caller, has the token and checks the lengths.
    unsafe fn load(first: *const Self, stride: usize) -> Square;
}

impl Rows for u8 {
    #[inline(always)]
    unsafe fn load(first: *const u8, stride: usize) -> Square {
        // SAFETY: the caller guarantees AVX2 and the eight reads of eight bytes.
        unsafe {
            let lane = |i: usize| _mm_loadl_epi64(first.add(i * stride).cast());
            let (a, b) = (_mm_unpacklo_epi8(lane(0), lane(1)), _mm_unpacklo_epi8(lane(2), lane(3)));
            let (c, d) = (_mm_unpacklo_epi8(lane(4), lane(5)), _mm_unpacklo_epi8(lane(6), lane(7)));
            let (ab_low, ab_high) = (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b));
            let (cd_low, cd_high) = (_mm_unpacklo_epi16(c, d), _mm_unpackhi_epi16(c, d));
            let (r01, r23) = (_mm_unpacklo_epi32(ab_low, cd_low), _mm_unpackhi_epi32(ab_low, cd_low));
            let (r45, r67) = (_mm_unpacklo_epi32(ab_high, cd_high), _mm_unpackhi_epi32(ab_high, cd_high));
            [
                _mm256_cvtepu8_epi32(r01),
                _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(r01, r01)),
                _mm256_cvtepu8_epi32(r23),
                _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(r23, r23)),
                _mm256_cvtepu8_epi32(r45),
                _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(r45, r45)),
                _mm256_cvtepu8_epi32(r67),
                _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(r67, r67)),
            ]
        }
    }
}

impl Rows for u32 {
    #[inline(always)]
    unsafe fn load(first: *const u32, stride: usize) -> Square {
        // SAFETY: the caller guarantees AVX2 and the eight reads of eight numbers.
        unsafe {
            let lane = |i: usize| _mm256_loadu_si256(first.add(i * stride).cast());
            turn([lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7)])
        }
    }
}

/// Transposes a square.
///
/// SAFETY: the processor must have AVX2; [`roll`] has the token.
#[inline(always)]
unsafe fn turn([a, b, c, d, e, f, g, h]: Square) -> Square {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let (ab0, ab1) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (cd0, cd1) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        let (ef0, ef1) = (_mm256_unpacklo_epi32(e, f), _mm256_unpackhi_epi32(e, f));
        let (gh0, gh1) = (_mm256_unpacklo_epi32(g, h), _mm256_unpackhi_epi32(g, h));
        let (p0, p1) = (_mm256_unpacklo_epi64(ab0, cd0), _mm256_unpackhi_epi64(ab0, cd0));
        let (p2, p3) = (_mm256_unpacklo_epi64(ab1, cd1), _mm256_unpackhi_epi64(ab1, cd1));
        let (q0, q1) = (_mm256_unpacklo_epi64(ef0, gh0), _mm256_unpackhi_epi64(ef0, gh0));
        let (q2, q3) = (_mm256_unpacklo_epi64(ef1, gh1), _mm256_unpackhi_epi64(ef1, gh1));
        [
            _mm256_permute2x128_si256(p0, q0, 0x20),
            _mm256_permute2x128_si256(p1, q1, 0x20),
            _mm256_permute2x128_si256(p2, q2, 0x20),
            _mm256_permute2x128_si256(p3, q3, 0x20),
            _mm256_permute2x128_si256(p0, q0, 0x31),
            _mm256_permute2x128_si256(p1, q1, 0x31),
            _mm256_permute2x128_si256(p2, q2, 0x31),
            _mm256_permute2x128_si256(p3, q3, 0x31),
        ]
    }
}

/// Writes the keys of the first k-grams and returns their number: a multiple of 64, or 0 where it is not worth its cost.
///
/// REQUIRES: `keys` has one place per k-gram of `tokens`.
pub(super) fn keys<S: Rows>(rolling: &Rolling, tokens: &[S], keys: &mut [u32]) -> usize {
    // At least one k-gram is left over, because the last step of the last stretch reads the next entering token.
    let len = keys.len().saturating_sub(1) / LANES / LANES * LANES;
    if keys.len() < WORTHWHILE || tokens.len() < len * LANES + rolling.k {
        return 0;
    }
    let Some(avx2) = Avx2::detect() else { return 0 };
    // SAFETY: `avx2` proves AVX2, and the lengths were checked on the lines above.
    unsafe { roll(avx2, rolling, tokens, &mut keys[..len * LANES], len) };
    len * LANES
}

/// Rolls eight stretches of `len` k-grams each.
///
/// SAFETY: `len` must be a multiple of 8, `keys` must have 8 · `len` places, and `tokens` at least 8 · `len` + k tokens. [`keys`]
/// checks all three.
#[target_feature(enable = "avx2")]
unsafe fn roll<S: Rows>(_: Avx2, rolling: &Rolling, tokens: &[S], keys: &mut [u32], len: usize) {
    let start = first_hashes(rolling, tokens, len);
    let (base, leading) = (_mm256_set1_epi32(BASE as i32), _mm256_set1_epi32(rolling.leading as i32));
    // SAFETY: loads end at most `len` + k tokens after the start of a stretch, so at 8 · len + k at most. Stretch `lane` writes
    // eight keys at lane · len + at, within its own `len` places.
    unsafe {
        let mut hash = _mm256_loadu_si256(start.as_ptr().cast());
        for at in (0..len).step_by(LANES) {
            let leaving = S::load(tokens.as_ptr().add(at), len);
            let entering = S::load(tokens.as_ptr().add(at + rolling.k), len);
            let mut rows = [hash; LANES];
            for step in 0..LANES {
                rows[step] = hash;
                let change = _mm256_sub_epi32(entering[step], _mm256_mullo_epi32(leaving[step], leading));
                hash = _mm256_mullo_epi32(_mm256_add_epi32(hash, change), base);
            }
            let stretches = turn(rows);
            for (lane, eight) in stretches.into_iter().enumerate() {
                _mm256_storeu_si256(keys.as_mut_ptr().add(lane * len + at).cast(), eight);
            }
        }
    }
}

/// Computes H′ of the first k-gram of each stretch.
fn first_hashes<S: Symbol>(rolling: &Rolling, tokens: &[S], len: usize) -> [u32; LANES] {
    let mut hashes = [0u32; LANES];
    for i in 0..rolling.k {
        for (lane, hash) in hashes.iter_mut().enumerate() {
            *hash = hash.wrapping_add(tokens[lane * len + i].value()).wrapping_mul(BASE);
        }
    }
    hashes
}
