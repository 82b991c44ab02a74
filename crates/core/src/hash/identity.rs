//! The identity of a k-gram: the 64-bit value a fingerprint has, and what breaks ties of the order key.
//!
//! XXH3-64 with seed 0 over the k-gram's canonical bytes: of characters, their UTF-8; of words, lines and other hashed
//! tokens, their 64-bit values, little-endian. It is independent of the order key, so the values of selected k-grams
//! are uniform although the selection favours small keys (Schleimer, Wilkerson, Aiken 2003, §5.2: "hashed a second time").
//!
//! Cost: about 5 ns for 50 bytes, asked of the selected k-grams and of ties only.

use super::rolling::Symbol;
use xxhash_rust::xxh3::xxh3_64;

/// Tokens of which a k-gram's identity can be taken.
pub trait Identify: Symbol + Into<u64> {
    /// The token as a 64-bit number: its code point, or its value.
    fn number(self) -> u64 {
        self.into()
    }

    /// The identity of the k-gram `gram`; `scratch` is reused between calls.
    fn identity(gram: &[Self], scratch: &mut Vec<u8>) -> u64;
}

/// Canonical ASCII characters: the bytes are the UTF-8 already.
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
        // Room for the longest encoding once: a check for every character made this a third slower.
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

/// Hashed tokens: words, lines, and what later front ends produce.
impl Identify for u64 {
    #[inline]
    fn identity(gram: &[Self], scratch: &mut Vec<u8>) -> u64 {
        scratch.clear();
        scratch.extend(gram.iter().flat_map(|token| token.to_le_bytes()));
        xxh3_64(scratch)
    }
}

/// The value of a word or line as a token: XXH3-64 of its canonical UTF-8.
#[inline]
pub fn token_value(canonical: &[u8]) -> u64 {
    xxh3_64(canonical)
}

/// Appends a code point's UTF-8.
#[inline]
pub fn push_utf8(code: u32, out: &mut Vec<u8>) {
    let mut utf8 = [0; 4];
    let len = write_utf8(code, &mut utf8);
    out.extend_from_slice(&utf8[..len]);
}

/// Writes a code point's UTF-8 and returns its length. REQUIRES: four bytes of room.
#[inline(always)]
fn write_utf8(code: u32, out: &mut [u8]) -> usize {
    if code >= 0x800 {
        return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(out).len();
    }
    // One byte or two without a branch: in text of two alphabets it would be mispredicted every few letters.
    let is_pair = code >= 0x80;
    out[0] = if is_pair { 0xC0 | (code >> 6) as u8 } else { code as u8 };
    out[1] = 0x80 | (code & 0x3F) as u8;
    1 + usize::from(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn published_vectors_of_xxh3() {
        // The specification's own value for the empty input, and one of ours that FORMAT.md repeats.
        assert_eq!(xxh3_64(b""), 0x2D06_8005_38D3_94C2);
        assert_eq!(u8::identity(b"adoru", &mut Vec::new()), token_value(b"adoru"));
    }
}
