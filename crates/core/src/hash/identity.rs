//! Computes the identity of a k-gram: the 64-bit value of its fingerprint, which also breaks ties of the order key.
//!
//! It is XXH3-64 with seed 0 over the canonical bytes of the k-gram: the UTF-8 of characters, or the little-endian 64-bit values
//! of words, lines and other hashed tokens. It is independent of the order key. So the values of selected k-grams are uniform,
//! although the selection favours small keys (Schleimer, Wilkerson, Aiken 2003, §5.2: "hashed a second time").
//!
//! Cost: about 5 ns for 50 bytes; computed only for selected k-grams and for ties.

use super::rolling::Symbol;
use xxhash_rust::xxh3::xxh3_64;

/// A token type whose k-grams have an identity.
pub trait Identify: Symbol + Into<u64> {
    /// Returns the token as a 64-bit number: its code point, or its value.
    fn number(self) -> u64 {
        self.into()
    }

    /// Returns the identity of the k-gram `gram`; `scratch` is reused between calls.
    fn identity(gram: &[Self], scratch: &mut Vec<u8>) -> u64;
}

/// Canonical ASCII characters, whose bytes are their UTF-8.
impl Identify for u8 {
    #[inline]
    fn identity(gram: &[Self], _scratch: &mut Vec<u8>) -> u64 {
        xxh3_64(gram)
    }
}

/// Canonical characters as code points.
impl Identify for u32 {
    #[inline]
    fn identity(gram: &[Self], scratch: &mut Vec<u8>) -> u64 {
        // Reserves for the longest encoding: a check per character was a third slower.
        scratch.resize(4 * gram.len(), 0);
        let mut len = gram.len();
        if gram.iter().fold(0, |all, code| all | code) < 0x80 {
            for (byte, code) in scratch.iter_mut().zip(gram) {
                *byte = *code as u8;
            }
        } else {
            len = 0;
            for code in gram {
                len += write_utf8(*code, &mut scratch[len..]);
            }
        }
        xxh3_64(&scratch[..len])
    }
}

/// Hashed tokens: words, lines and the tokens of other front ends.
impl Identify for u64 {
    #[inline]
    fn identity(gram: &[Self], scratch: &mut Vec<u8>) -> u64 {
        scratch.clear();
        scratch.extend(gram.iter().flat_map(|token| token.to_le_bytes()));
        xxh3_64(scratch)
    }
}

/// Returns the token value of a word or line: XXH3-64 of its canonical UTF-8.
#[inline]
pub fn token_value(canonical: &[u8]) -> u64 {
    xxh3_64(canonical)
}

/// The longest word that [`short_value`] takes, in bytes.
pub const MAX_SHORT: u32 = 16;

// Constants of XXH3 with seed 0: parts of its default secret for inputs of up to 3, 8 and 16 bytes, and its factors.
pub(super) const FLIP_3: u64 = 0x0000_0000_8727_5A9B;
pub(super) const FLIP_8: u64 = 0xC73A_B174_C5EC_D5A2;
pub(super) const FLIP_16: [u64; 2] = [0x6782_737B_EA42_39B9, 0xAF56_BC3B_0996_523A];
pub(super) const AVALANCHE_THREE: [u64; 2] = [0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9];
pub(super) const AVALANCHE_8: u64 = 0x9FB2_1C65_1E98_DF25;
pub(super) const AVALANCHE_LONG: u64 = 0x1656_6791_9E37_79F9;

/// Returns [`token_value`] of the lowest `len` bytes of `word`. REQUIRES: `len` from 1 to [`MAX_SHORT`].
///
/// Up to eight bytes it has no branch on the length, because the lengths of words cannot be predicted.
#[inline(always)]
pub fn short_value(word: u128, len: u32) -> u64 {
    let low = word as u64;
    if len > 8 {
        let (first, last) = (low ^ FLIP_16[0], (word >> (8 * (len - 8))) as u64 ^ FLIP_16[1]);
        let product = u128::from(first) * u128::from(last);
        let folded = product as u64 ^ (product >> 64) as u64;
        return avalanche_long(u64::from(len).wrapping_add(first.swap_bytes()).wrapping_add(last).wrapping_add(folded));
    }
    let byte = |at: u32| (low >> (8 * at)) & 0xFF;
    let three = byte(0) << 16 | byte(len / 2) << 24 | byte(len - 1) | u64::from(len) << 8;
    let eight = (low << 32).wrapping_add((low >> (8 * (len.max(4) - 4))) & 0xFFFF_FFFF);
    let (three, eight) = (avalanche_three(three ^ FLIP_3), avalanche_eight(eight ^ FLIP_8, u64::from(len)));
    if len < 4 {
        three
    } else {
        eight
    }
}

#[inline(always)]
fn avalanche_three(x: u64) -> u64 {
    let x = (x ^ (x >> 33)).wrapping_mul(AVALANCHE_THREE[0]);
    let x = (x ^ (x >> 29)).wrapping_mul(AVALANCHE_THREE[1]);
    x ^ (x >> 32)
}

#[inline(always)]
fn avalanche_eight(x: u64, len: u64) -> u64 {
    let x = (x ^ x.rotate_left(49) ^ x.rotate_left(24)).wrapping_mul(AVALANCHE_8);
    let x = (x ^ (x >> 35).wrapping_add(len)).wrapping_mul(AVALANCHE_8);
    x ^ (x >> 28)
}

#[inline(always)]
fn avalanche_long(x: u64) -> u64 {
    let x = (x ^ (x >> 37)).wrapping_mul(AVALANCHE_LONG);
    x ^ (x >> 32)
}

/// Appends a code point's UTF-8.
#[inline]
pub fn push_utf8(code: u32, out: &mut Vec<u8>) {
    let mut utf8 = [0; 4];
    let len = write_utf8(code, &mut utf8);
    // Copies four bytes and truncates: a copy of constant length needs no call.
    out.extend_from_slice(&utf8);
    out.truncate(out.len() - (utf8.len() - len));
}

/// Writes a code point's UTF-8 and returns its length. REQUIRES: four bytes of room.
#[inline(always)]
fn write_utf8(code: u32, out: &mut [u8]) -> usize {
    if code >= 0x800 {
        return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(out).len();
    }
    // One or two bytes without a branch, which would be mispredicted often in text of two alphabets.
    let is_pair = code >= 0x80;
    out[0] = if is_pair { 0xC0 | (code >> 6) as u8 } else { code as u8 };
    out[1] = 0x80 | (code & 0x3F) as u8;
    1 + usize::from(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    #[test]
    fn characters_are_identified_by_their_utf8_in_either_width() {
        let mut scratch = Vec::new();
        let wide: Vec<u32> = "adorun".chars().map(u32::from).collect();
        assert_eq!(u32::identity(&wide, &mut scratch), u8::identity(b"adorun", &mut scratch));
        let accents: Vec<u32> = "élan日本𝒳".chars().map(u32::from).collect();
        assert_eq!(u32::identity(&accents, &mut scratch), xxh3_64("élan日本𝒳".as_bytes()));
    }

    #[test]
    fn every_code_point_is_written_as_utf8() {
        for c in '\0'..=char::MAX {
            let mut written = Vec::new();
            push_utf8(u32::from(c), &mut written);
            assert_eq!(std::str::from_utf8(&written), Ok(c.encode_utf8(&mut [0; 4]) as &str));
        }
    }

    #[test]
    fn a_boundary_between_tokens_is_part_of_the_identity() {
        let mut scratch = Vec::new();
        let left = [token_value(b"ab"), token_value(b"c")];
        let right = [token_value(b"a"), token_value(b"bc")];
        assert_ne!(u64::identity(&left, &mut scratch), u64::identity(&right, &mut scratch));
    }

    proptest! {
        #![proptest_config(fixed(2000))]
        #[test]
        fn short_values_are_those_of_xxh3(bytes in any::<[u8; 16]>(), len in 1usize..=16) {
            prop_assert_eq!(short_value(u128::from_le_bytes(bytes), len as u32), token_value(&bytes[..len]), "length {}", len);
        }
    }

    #[test]
    fn published_vectors_of_xxh3() {
        // The specification's own value for the empty input, and one of ours that FORMAT.md repeats.
        assert_eq!(xxh3_64(b""), 0x2D06_8005_38D3_94C2);
        assert_eq!(u8::identity(b"adoru", &mut Vec::new()), token_value(b"adoru"));
    }
}
