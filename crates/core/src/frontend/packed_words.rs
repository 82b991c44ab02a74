//! Reads ASCII text as the values of its words with AVX-512, without spans; equal to `ascii_words.rs` by property test.
//!
//! The canonical characters of a text, its letters and digits in lower case, are packed into one run of bytes. A word is then the
//! bytes between two word starts, whatever signs were inside or around it (`don't`, `__init__`). A word without canonical
//! characters has no start. Each block of 64 bytes takes two compress instructions: one for the bytes, one for the positions of
//! word starts. Words are then hashed eight at a time (`hash/eight.rs`); words of more than 16 letters are hashed one by one.
//!
//! Cost: about 0.5 ns per byte of English, two thirds of it for the hashes (`make bench`, rows `word`).

use super::ascii_words::{below, next_to, Masks, BLOCK};
use crate::hash::eight::{short_values, too_long};
use crate::hash::identity::token_value;
use crate::machine::PackAvx512;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes of text that are packed before they are hashed. They fit the first-level cache with their packed form and hashes.
const PIECE: usize = 32 * BLOCK;
/// Bytes before the packed ones, for loads that end with a short word.
const FRONT: usize = 8;
/// Words hashed at once.
const LANES: usize = 8;

/// Appends the values of the words of a stretch of a text, until there are `want` tokens or the stretch ends. Returns the offset up
/// to which the text was read. That is before the end only if there are enough tokens, or at a word of more than [`PIECE`] bytes.
///
/// REQUIRES: the stretch is ASCII, and no word crosses its ends.
pub(super) fn fill(pack: PackAvx512, text: &[u8], stretch: Range<usize>, tokens: &mut Vec<u64>, want: usize) -> usize {
    // SAFETY: `pack` proves the features the function is compiled for.
    unsafe { fill_packed(pack, text, stretch, tokens, want) }
}

/// [`fill`] compiled for AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn fill_packed(_: PackAvx512, text: &[u8], stretch: Range<usize>, tokens: &mut Vec<u64>, want: usize) -> usize {
    let mut packed = Packed::new();
    let mut at = stretch.start;
    while at < stretch.end && tokens.len() < want {
        let end = packed.pack(text, at..stretch.end);
        packed.hash(tokens);
        if end == at {
            break;
        }
        at = end;
    }
    at
}

/// The canonical characters of a piece of text. The arrays start uninitialised, because clearing them would cost as much as
/// packing a line.
struct Packed {
    /// Letters and digits from [`FRONT`] on, with eight initialised bytes before and after them.
    bytes: [MaybeUninit<u8>; FRONT + PIECE + BLOCK],
    /// Starts of words, counted from [`FRONT`], and then the end of the last word, [`LANES`] + 1 times.
    begins: [MaybeUninit<u16>; PIECE / 2 + BLOCK],
    /// Letters and digits of the piece, at most [`PIECE`].
    len: usize,
    /// Words of the piece.
    count: usize,
}

/// A run of word characters that continues in the next block.
#[derive(Clone, Copy)]
struct Open {
    /// Its offset in the text.
    start: usize,
    /// Whether it has no canonical character so far.
    is_empty: bool,
}

impl Packed {
    #[inline]
    fn new() -> Self {
        let mut bytes = [MaybeUninit::uninit(); FRONT + PIECE + BLOCK];
        bytes[..FRONT].fill(MaybeUninit::new(0));
        Self { bytes, begins: [MaybeUninit::uninit(); PIECE / 2 + BLOCK], len: 0, count: 0 }
    }

    /// Packs a piece from the front of a stretch of `text`. Returns where the next piece begins: at an unfinished word, or at the end.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn pack(&mut self, text: &[u8], stretch: Range<usize>) -> usize {
        (self.len, self.count) = (0, 0);
        let end = stretch.end.min(stretch.start + PIECE);
        let mut open: Option<Open> = None;
        for at in (stretch.start..end).step_by(BLOCK) {
            // Bytes beyond the stretch are loaded as zeros, which belong to no word.
            let block = Block::new(&text[at..end.min(at + BLOCK)]);
            let before = at.checked_sub(1).filter(|_| at > stretch.start).and_then(|at| text.get(at));
            let words = block.masks.words(next_to(before), next_to(text.get(at + BLOCK)));
            open = self.push(&block, words, open, at);
        }
        let left = open.filter(|_| end < stretch.end);
        // An unfinished word is read again in the next piece; its start is the end of the last word here.
        let is_short = left.is_some_and(|open| !open.is_empty);
        self.count -= usize::from(is_short);
        // SAFETY: an unfinished word with canonical characters has its start written at index `count`, after `count` was reduced.
        let last = if is_short { unsafe { self.begins[self.count].assume_init() } } else { self.len as u16 };
        self.begins[self.count..][..=LANES].fill(MaybeUninit::new(last));
        self.bytes[FRONT + self.len..][..8].fill(MaybeUninit::new(0));
        left.map_or(end, |open| open.start)
    }

    /// Packs the block at `at`, given the bytes that belong to words; returns the run that does not end in it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn push(&mut self, block: &Block, words: u64, open: Option<Open>, at: usize) -> Option<Open> {
        let kept = block.masks.letters | block.masks.digits;
        let goes_on = u64::from(open.is_some());
        // A run without canonical characters so far has no start yet, so it may still start here.
        let has_begun = u64::from(open.is_some_and(|open| !open.is_empty));
        let runs = words & !(words << 1);
        let starts = runs & !has_begun;
        // A word starts at its first canonical byte. Adding the start of a run carries through the underscores at its front.
        let signs = words & !kept;
        let (carried, is_empty) = signs.overflowing_add(starts & signs);
        self.append(block.lowered, kept, kept & (starts | carried));
        let own = runs & !goes_on;
        let start = match (own, open) {
            (0, Some(open)) => open.start,
            _ => at + (u64::BITS - 1 - own.leading_zeros().min(u64::BITS - 1)) as usize,
        };
        (words >> (u64::BITS - 1) != 0).then_some(Open { start, is_empty })
    }

    /// Appends the kept bytes of a block, and the starts of words among them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
    fn append(&mut self, lowered: __m512i, kept: u64, begins: u64) {
        let places = _mm512_maskz_compress_epi8(_pext_u64(begins, kept), PLACES.vector());
        let places = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places));
        let places = _mm512_add_epi16(places, _mm512_set1_epi16(self.len as i16));
        let (bytes, into) = (&mut self.bytes[FRONT + self.len..][..BLOCK], &mut self.begins[self.count..][..BLOCK / 2]);
        // SAFETY: both slices are bounds-checked and have the 64 bytes that are stored.
        unsafe {
            _mm512_storeu_si512(bytes.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(kept, lowered));
            _mm512_storeu_si512(into.as_mut_ptr().cast(), places);
        }
        self.len += kept.count_ones() as usize;
        self.count += begins.count_ones() as usize;
    }

    /// Appends the values of the words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn hash(&self, tokens: &mut Vec<u64>) {
        tokens.reserve(self.count + LANES);
        let from = tokens.len();
        for first in (0..self.count).step_by(LANES) {
            let into = &mut tokens.spare_capacity_mut()[first..][..LANES];
            // SAFETY: the slice is bounds-checked and has room for the eight values that are stored.
            let long = unsafe { self.eight(first, into.as_mut_ptr().cast()) };
            if long != 0 {
                self.hash_long(first, long, into);
            }
        }
        // SAFETY: `reserve` made room for `count` values, and the loop has written all of them.
        unsafe { tokens.set_len(from + self.count) };
    }

    /// Stores the values of eight words; returns a bit for each word that is too long and so has a wrong value.
    ///
    /// SAFETY: `into` must have room for eight values; [`Self::hash`] takes a slice of that length.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    unsafe fn eight(&self, first: usize, into: *mut __m512i) -> u8 {
        let [begins, ends] = [first, first + 1].map(|at| {
            let places = &self.begins[at..][..LANES];
            // SAFETY: the slice is bounds-checked and has the 16 bytes that are loaded.
            _mm512_cvtepu16_epi64(unsafe { _mm_loadu_si128(places.as_ptr().cast()) })
        });
        let lens = _mm512_sub_epi64(ends, begins);
        let bytes = self.bytes.as_ptr();
        // SAFETY: positions are at most `len`, so both loads lie within the initialised bytes: the front, `len` bytes and eight
        // more, which `pack` writes.
        let (head, tail) = unsafe {
            (
                _mm512_i64gather_epi64::<1>(begins, bytes.add(FRONT).cast()),
                _mm512_i64gather_epi64::<1>(ends, bytes.add(FRONT - 8).cast()),
            )
        };
        // SAFETY: the caller guarantees room for eight values.
        unsafe { _mm512_storeu_si512(into, short_values(head, tail, lens)) };
        too_long(lens)
    }

    /// Replaces the values of words that are too long for eight at once.
    #[inline(never)]
    fn hash_long(&self, first: usize, mut long: u8, into: &mut [MaybeUninit<u64>]) {
        while long != 0 {
            let lane = long.trailing_zeros() as usize;
            // SAFETY: `pack` has written a start and an end for every lane with a word.
            let place = |at: usize| FRONT + usize::from(unsafe { self.begins[first + at].assume_init() });
            let word = &self.bytes[place(lane)..place(lane + 1)];
            // SAFETY: the bytes between a start and an end were written by `append`.
            into[lane].write(token_value(unsafe { std::slice::from_raw_parts(word.as_ptr().cast(), word.len()) }));
            long &= long - 1;
        }
    }
}

/// 64 bytes of text.
struct Block {
    masks: Masks,
    /// Letters in lower case, and digits; other bytes are meaningless.
    lowered: __m512i,
}

impl Block {
    /// Loads up to 64 bytes, followed by zeros.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(bytes: &[u8]) -> Self {
        // SAFETY: the mask keeps the load within the slice.
        let block = unsafe { _mm512_maskz_loadu_epi8(below(bytes.len() as u32), bytes.as_ptr().cast()) };
        let byte = |byte: u8| _mm512_set1_epi8(byte as i8);
        let is = |wanted: u8| _mm512_cmpeq_epi8_mask(block, byte(wanted));
        let lowered = _mm512_or_si512(block, byte(0x20));
        let masks = Masks {
            letters: _mm512_cmplt_epu8_mask(_mm512_sub_epi8(lowered, byte(b'a')), byte(26)),
            digits: _mm512_cmplt_epu8_mask(_mm512_sub_epi8(block, byte(b'0')), byte(10)),
            underscores: is(b'_'),
            both: is(b'.') | is(b'\''),
            colons: is(b':'),
            lists: is(b',') | is(b';'),
        };
        Self { masks, lowered }
    }
}

/// The numbers from 0 to 63.
#[repr(align(64))]
struct Places([u8; BLOCK]);

static PLACES: Places = {
    let mut places = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        places[i] = i as u8;
        i += 1;
    }
    Places(places)
};

impl Places {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn vector(&self) -> __m512i {
        // SAFETY: the array has 64 bytes and `repr(align(64))`.
        unsafe { _mm512_load_si512(self.0.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ascii_words;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// Reads a text in steps of `want` words, as sources do.
    fn values(text: &str, want: usize) -> Vec<u64> {
        let (mut tokens, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let want = tokens.len().saturating_add(want);
            at = ascii_words::fill(text.as_bytes(), at..text.len(), &mut tokens, &mut (), want);
        }
        tokens
    }

    proptest! {
        #![proptest_config(fixed(1000))]
        #[test]
        fn packed_words_match_portable(
            // Parts of many lengths move words across the ends of blocks, pieces and the text.
            parts in prop::collection::vec(prop_oneof![
                6 => "[a-cA-C0-9'.:,;_ \n-]{0,90}",
                2 => "[a-zA-Z]{1,20} ",
                1 => (prop::sample::select(vec!["a", "_", "9", "a_", " "]), 0usize..5000).prop_map(|(part, times)| part.repeat(times)),
            ], 0..8),
            want in prop_oneof![1usize..9, 100usize..3000, Just(usize::MAX)],
        ) {
            let text = parts.concat();
            let mut expected = Vec::new();
            ascii_words::fill_portable(text.as_bytes(), &mut expected);
            prop_assert_eq!(values(&text, want), expected);
        }
    }
}
