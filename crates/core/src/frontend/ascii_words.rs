//! Reads ASCII text as words, 64 bytes at a time; equal to UAX 29 on ASCII by property test.
//!
//! A block becomes bit masks: letters, digits, underscores, and the five signs that may be part of a word (`can't`, `3.14`) if
//! their neighbours allow it (WB6, WB7, WB11, WB12). Words are the runs of ones. Setting one bit lowers letters and leaves digits
//! unchanged, so a word of up to 16 of them is hashed from one load. Longer words and words with other signs are folded byte by byte.
//!
//! Cost: about 2 ns per byte of English with AVX2, most of it for hashing the words (`make bench`, rows `word`).

use super::ascii::lower;
#[cfg(target_arch = "x86_64")]
use super::packed_words;
use super::Spans;
use crate::hash::identity::{short_value, token_value, MAX_SHORT};
#[cfg(target_arch = "x86_64")]
use crate::machine::{Avx2, PackAvx512};
use std::ops::Range;

/// Bytes that are classified together.
pub(super) const BLOCK: usize = 64;
/// The longest word that is hashed without a copy.
const SHORT: usize = MAX_SHORT as usize;
/// The longest word that is folded on the stack.
const LONG: usize = 64;
/// The bit that lowers a letter and leaves a digit unchanged, for each byte.
const LOWERED: u128 = u128::from_le_bytes([0x20; SHORT]);

/// Classes of the bytes of a block, one bit per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    pub letters: u64,
    pub digits: u64,
    pub underscores: u64,
    /// `.` and `'`, which join letters with letters and digits with digits.
    pub both: u64,
    /// `:`, which joins letters.
    pub colons: u64,
    /// `,` and `;`, which join digits.
    pub lists: u64,
}

impl Masks {
    /// Returns the bytes that belong to words, given the neighbours of the block. It has no branch, because most blocks have a comma
    /// or a full stop at an unpredictable place.
    #[inline(always)]
    pub fn words(self, before: Neighbour, after: Neighbour) -> u64 {
        let beside = |mask: u64, before: bool, after: bool| {
            let left = (mask << 1) | u64::from(before);
            let right = (mask >> 1) | (u64::from(after) << (BLOCK - 1));
            left & right
        };
        let letters = beside(self.letters, before.is_letter, after.is_letter);
        let digits = beside(self.digits, before.is_digit, after.is_digit);
        let plain = self.letters | self.digits | self.underscores;
        plain | (self.both & (letters | digits)) | (self.colons & letters) | (self.lists & digits)
    }
}

/// The class of a byte next to a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbour {
    is_letter: bool,
    is_digit: bool,
}

#[inline(always)]
pub(super) fn next_to(byte: Option<&u8>) -> Neighbour {
    let byte = byte.copied().unwrap_or(0);
    Neighbour { is_letter: byte.is_ascii_alphabetic(), is_digit: byte.is_ascii_digit() }
}

/// Appends the words of a stretch of a text, until there are `want` tokens or the stretch ends. Returns the offset up to which the
/// text was read.
///
/// REQUIRES: the stretch is ASCII, and no word crosses its ends.
pub(super) fn fill<P: Spans>(
    text: &[u8],
    stretch: Range<usize>,
    tokens: &mut Vec<u64>,
    spans: &mut P,
    want: usize,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(pack) = PackAvx512::detect().filter(|_| !P::ARE_WANTED) {
        let done = packed_words::fill(pack, text, stretch.clone(), tokens, want);
        if done == stretch.end || tokens.len() >= want {
            return done;
        }
        // The next word is too long for a packed piece, so it is read alone.
        let next = tokens.len() + 1;
        return fill_one_by_one(text, done..stretch.end, tokens, spans, next.min(want));
    }
    fill_one_by_one(text, stretch, tokens, spans, want)
}

/// [`fill`] that handles each word by itself.
fn fill_one_by_one<P: Spans>(
    text: &[u8],
    stretch: Range<usize>,
    tokens: &mut Vec<u64>,
    spans: &mut P,
    want: usize,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        // SAFETY: `avx2` proves the features the function is compiled for.
        return unsafe { avx2::fill(avx2, text, stretch, tokens, spans, want) };
    }
    fill_with(masks_portable, text, stretch, tokens, spans, want)
}

/// [`fill`] with a given function that classifies a block.
#[inline(always)]
fn fill_with<P: Spans>(
    masks_of: impl Fn(&[u8; BLOCK]) -> Masks,
    text: &[u8],
    stretch: Range<usize>,
    tokens: &mut Vec<u64>,
    spans: &mut P,
    want: usize,
) -> usize {
    let end = stretch.end;
    let mut words = Words { text, tokens, spans };
    let (mut at, mut open) = (stretch.start, None);
    let mut before = Neighbour::default();
    while at < end {
        if words.tokens.len() >= want {
            return open.map_or(at, |(start, _)| start);
        }
        let mut last = [0; BLOCK];
        let block = text[at..].first_chunk().unwrap_or_else(|| {
            last[..text.len() - at].copy_from_slice(&text[at..]);
            &last
        });
        let masks = masks_of(block);
        let ours = below((end - at).min(BLOCK) as u32);
        // White space or nothing follows the stretch, so its right neighbour never joins.
        let mask = masks.words(before, next_to(text.get(at + BLOCK))) & ours;
        let odd = mask & !(masks.letters | masks.digits);
        open = words.runs(at, mask, odd, open);
        before = next_to(block.last());
        at += BLOCK;
    }
    if let Some((start, is_plain)) = open {
        words.emit(start, end, is_plain);
    }
    end
}

/// Appends words and their spans.
struct Words<'a, P> {
    text: &'a [u8],
    tokens: &'a mut Vec<u64>,
    spans: &'a mut P,
}

/// A word that has begun: its start, and whether it has only letters and digits so far.
type Open = Option<(usize, bool)>;

impl<P: Spans> Words<'_, P> {
    /// Appends the runs of ones that end within the block at `at`; returns the run that does not.
    #[inline(always)]
    fn runs(&mut self, at: usize, mask: u64, odd: u64, open: Open) -> Open {
        let mut rest = mask;
        if let Some((start, was_plain)) = open {
            let end = mask.trailing_ones();
            let is_plain = was_plain && odd & below(end) == 0;
            if end == u64::BITS {
                return Some((start, is_plain));
            }
            self.emit(start, at + end as usize, is_plain);
            rest &= !below(end);
        }
        while rest != 0 {
            let start = rest.trailing_zeros();
            // Adding the lowest bit of a run carries through it and sets the bit after its end.
            let (carried, is_open) = rest.overflowing_add(1 << start);
            let end = if is_open { u64::BITS } else { (carried & !rest).trailing_zeros() };
            let is_plain = odd == 0 || odd & below(end) & !below(start) == 0;
            if is_open {
                return Some((at + start as usize, is_plain));
            }
            self.emit(at + start as usize, at + end as usize, is_plain);
            rest &= carried;
        }
        None
    }

    /// Appends one word, unless it has no canonical character.
    #[inline(always)]
    fn emit(&mut self, start: usize, end: usize, is_plain: bool) {
        let len = end - start;
        match self.text[start..].first_chunk::<SHORT>() {
            Some(chunk) if is_plain && len <= SHORT => {
                self.tokens.push(short_value(u128::from_le_bytes(*chunk) | LOWERED, len as u32));
                self.spans.span(start, end, 1);
            }
            _ => self.emit_any(start, end),
        }
    }

    /// [`Words::emit`] byte by byte.
    #[inline(never)]
    fn emit_any(&mut self, start: usize, end: usize) {
        let word = &self.text[start..end];
        let is_kept = |byte: &u8| lower(*byte).is_some();
        let (Some(first), Some(last)) = (word.iter().position(is_kept), word.iter().rposition(is_kept)) else { return };
        let mut canonical = [0; LONG];
        let value = if word.len() <= LONG {
            let mut len = 0;
            for byte in word {
                // Always written, but counted only if it is kept: no branch to mispredict.
                let lowered = lower(*byte).unwrap_or(0);
                canonical[len] = lowered;
                len += usize::from(lowered != 0);
            }
            token_value(&canonical[..len])
        } else {
            token_value(&word.iter().filter_map(|byte| lower(*byte)).collect::<Vec<u8>>())
        };
        self.tokens.push(value);
        self.spans.span(start + first, start + last + 1, 1);
    }
}

/// Returns a mask of the bits below `end`.
#[inline(always)]
pub(super) fn below(end: u32) -> u64 {
    match 1u64.checked_shl(end) {
        Some(bit) => bit - 1,
        None => u64::MAX,
    }
}

/// Appends all words of an ASCII text by the portable code, for tests.
#[cfg(all(test, target_arch = "x86_64"))]
pub(super) fn fill_portable(text: &[u8], tokens: &mut Vec<u64>) {
    fill_with(masks_portable, text, 0..text.len(), tokens, &mut (), usize::MAX);
}

/// Computes [`Masks`] with portable code.
fn masks_portable(block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks::default();
    for (i, byte) in block.iter().enumerate() {
        let mask = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => &mut masks.letters,
            b'0'..=b'9' => &mut masks.digits,
            b'_' => &mut masks.underscores,
            b'.' | b'\'' => &mut masks.both,
            b':' => &mut masks.colons,
            b',' | b';' => &mut masks.lists,
            _ => continue,
        };
        *mask |= 1 << i;
    }
    masks
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::super::ascii::avx2::in_range;
    use super::{Avx2, Masks, Spans, BLOCK};
    use std::arch::x86_64::*;
    use std::ops::Range;

    /// `super::fill` compiled for AVX2.
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn fill<P: Spans>(
        _: Avx2,
        text: &[u8],
        stretch: Range<usize>,
        tokens: &mut Vec<u64>,
        spans: &mut P,
        want: usize,
    ) -> usize {
        super::fill_with(|block| masks(block), text, stretch, tokens, spans, want)
    }

    /// Computes [`Masks`] with AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn masks(block: &[u8; BLOCK]) -> Masks {
        // SAFETY: the two loads cover exactly the 64 bytes of `block`.
        let halves = unsafe {
            [_mm256_loadu_si256(block.as_ptr().cast()), _mm256_loadu_si256(block.as_ptr().add(BLOCK / 2).cast())]
        };
        let both = |test: &dyn Fn(__m256i) -> __m256i| {
            let [low, high] = halves.map(|half| _mm256_movemask_epi8(test(half)) as u32);
            u64::from(low) | (u64::from(high) << 32)
        };
        let is = |half, byte: u8| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8));
        let lowered = |half| _mm256_or_si256(half, _mm256_set1_epi8(0x20));
        Masks {
            letters: both(&|half| in_range(lowered(half), b'a', b'z')),
            digits: both(&|half| in_range(half, b'0', b'9')),
            underscores: both(&|half| is(half, b'_')),
            both: both(&|half| _mm256_or_si256(is(half, b'.'), is(half, b'\''))),
            colons: both(&|half| is(half, b':')),
            lists: both(&|half| _mm256_or_si256(is(half, b','), is(half, b';'))),
        }
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
        fn masks_match_portable(block in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'.'), Just(b'_'), b'0'..b'='], BLOCK)) {
            let block: &[u8; BLOCK] = block.first_chunk().expect("as long as a block");
            if Avx2::detect().is_some() {
                // SAFETY: `Avx2::detect` found AVX2.
                prop_assert_eq!(unsafe { avx2::masks(block) }, masks_portable(block));
            }
        }

        #[test]
        fn both_ways_find_the_same_words(text in "[a-cA-C0-9'.:,;_ \n-]{0,300}", want in prop_oneof![1usize..9, Just(usize::MAX)]) {
            let (mut fast, mut slow) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
            let stretch = 0..text.len();
            let done = fill(text.as_bytes(), stretch.clone(), &mut fast.0, &mut fast.1, want);
            prop_assert_eq!(done, fill_with(masks_portable, text.as_bytes(), stretch, &mut slow.0, &mut slow.1, want));
            prop_assert_eq!(fast, slow);
        }
    }
}
