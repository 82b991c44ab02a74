//! ASCII text as the values of its words by AVX-512, when nobody asks where they stand: equal to `ascii_words.rs` (property test).
//!
//! All that is canonical of a text, its letters and digits in lower case, is packed into one run of bytes. A word is then what
//! lies between two beginnings, whatever stood inside or around it (`don't`, `__init__`), and one that packs to nothing has none.
//! Of each block of 64 bytes the packing takes two compressing instructions: of the bytes, and of the places of beginnings.
//! Then words are hashed eight at a time (`hash/eight.rs`); only those of more than 16 letters are hashed one by one.
//!
//! Cost: about 0.5 ns a byte of English, two thirds of it for the hashes (`make bench`, rows `word`).

use super::ascii_words::{below, next_to, Masks, BLOCK};
use crate::hash::eight::{short_values, too_long};
use crate::hash::identity::token_value;
use crate::machine::PackAvx512;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes of text that are packed before they are hashed: a document of a few pages, in the first cache with what becomes of it.
const PIECE: usize = 32 * BLOCK;
/// Room before the packed bytes, for loads that end with a short word.
const FRONT: usize = 8;
/// Words that are hashed at once.
const LANES: usize = 8;

/// Appends the values of the words of a stretch of a text, until there are `want` or no more. Returns the end of what is done
/// with, which is short of the end of the stretch only if there are enough, or if a word has more than [`PIECE`] bytes.
///
/// REQUIRES: the stretch is ASCII, and no word goes on before or after it.
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

/// A piece of text without what is not canonical. Wiping it would take as long as packing a line, so nothing is wiped.
struct Packed {
    /// From [`FRONT`] on, letters and digits; before them and after them eight bytes of anything.
    bytes: [MaybeUninit<u8>; FRONT + PIECE + BLOCK],
    /// Where words begin, counted from [`FRONT`] on, and after the last of them, [`LANES`] and one times, where it ends.
    begins: [MaybeUninit<u16>; PIECE / 2 + BLOCK],
    /// Letters and digits of the piece, at most [`PIECE`].
    len: usize,
    /// Words of the piece.
    count: usize,
}

/// A run of word characters that has begun.
#[derive(Clone, Copy)]
struct Open {
    /// Where in the text.
    start: usize,
    /// Whether nothing of it has been canonical so far.
    is_empty: bool,
}

impl Packed {
    #[inline]
    fn new() -> Self {
        let mut bytes = [MaybeUninit::uninit(); FRONT + PIECE + BLOCK];
        bytes[..FRONT].fill(MaybeUninit::new(0));
        Self { bytes, begins: [MaybeUninit::uninit(); PIECE / 2 + BLOCK], len: 0, count: 0 }
    }

    /// Packs a piece from the front of a stretch of `text`. Returns where the next begins: at a word that goes on, or the end.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn pack(&mut self, text: &[u8], stretch: Range<usize>) -> usize {
        (self.len, self.count) = (0, 0);
        let end = stretch.end.min(stretch.start + PIECE);
        let mut open: Option<Open> = None;
        for at in (stretch.start..end).step_by(BLOCK) {
            // What is not of the stretch is loaded as zeros, which belong to no word.
            let block = Block::new(&text[at..end.min(at + BLOCK)]);
            let before = at.checked_sub(1).filter(|_| at > stretch.start).and_then(|at| text.get(at));
            let words = block.masks.words(next_to(before), next_to(text.get(at + BLOCK)));
            open = self.push(&block, words, open, at);
        }
        let left = open.filter(|_| end < stretch.end);
        // A word that goes on is read again from its beginning, which is now the end of the last one here.
        let is_short = left.is_some_and(|open| !open.is_empty);
        self.count -= usize::from(is_short);
        // SAFETY: a word that goes on has begun, so that its beginning was written, and is no longer counted.
        let last = if is_short { unsafe { self.begins[self.count].assume_init() } } else { self.len as u16 };
        self.begins[self.count..][..=LANES].fill(MaybeUninit::new(last));
        self.bytes[FRONT + self.len..][..8].fill(MaybeUninit::new(0));
        left.map_or(end, |open| open.start)
    }

    /// Packs a block that stands at `at`, given the bytes that belong to words; the run that does not end in it is returned.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn push(&mut self, block: &Block, words: u64, open: Option<Open>, at: usize) -> Option<Open> {
        let kept = block.masks.letters | block.masks.digits;
        let goes_on = u64::from(open.is_some());
        // A run that has been empty so far may begin again here: it has no beginning yet.
        let has_begun = u64::from(open.is_some_and(|open| !open.is_empty));
        let runs = words & !(words << 1);
        let starts = runs & !has_begun;
        // A word begins with its first canonical byte. Adding the start of a run to the underscores it may start with carries
        // through them.
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

    /// Appends the bytes of a block that are kept, and where words begin among them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
    fn append(&mut self, lowered: __m512i, kept: u64, begins: u64) {
        let places = _mm512_maskz_compress_epi8(_pext_u64(begins, kept), PLACES.vector());
        let places = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places));
        let places = _mm512_add_epi16(places, _mm512_set1_epi16(self.len as i16));
        let (bytes, into) = (&mut self.bytes[FRONT + self.len..][..BLOCK], &mut self.begins[self.count..][..BLOCK / 2]);
        // SAFETY: both slices have the 64 bytes that are stored.
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
            // SAFETY: the slice has the 64 bytes that are stored.
            let long = unsafe { self.eight(first, into.as_mut_ptr().cast()) };
            if long != 0 {
                self.hash_long(first, long, into);
            }
        }
        // SAFETY: there is room, and the loop has written all of them.
        unsafe { tokens.set_len(from + self.count) };
    }

    /// Stores the values of eight words; a bit is returned for each that has too many bytes and so got a wrong one.
    ///
    /// SAFETY: there is room for eight values.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    unsafe fn eight(&self, first: usize, into: *mut __m512i) -> u8 {
        let [begins, ends] = [first, first + 1].map(|at| {
            let places = &self.begins[at..][..LANES];
            // SAFETY: the slice has the 16 bytes that are loaded.
            _mm512_cvtepu16_epi64(unsafe { _mm_loadu_si128(places.as_ptr().cast()) })
        });
        let lens = _mm512_sub_epi64(ends, begins);
        let bytes = self.bytes.as_ptr();
        // SAFETY: places are at most `len`, so both loads lie within what was written: the front, `len` bytes and eight more.
        let (head, tail) = unsafe {
            (
                _mm512_i64gather_epi64::<1>(begins, bytes.add(FRONT).cast()),
                _mm512_i64gather_epi64::<1>(ends, bytes.add(FRONT - 8).cast()),
            )
        };
        // SAFETY: as the caller says.
        unsafe { _mm512_storeu_si512(into, short_values(head, tail, lens)) };
        too_long(lens)
    }

    /// Puts right the values of words that have too many bytes for eight at once.
    #[inline(never)]
    fn hash_long(&self, first: usize, mut long: u8, into: &mut [MaybeUninit<u64>]) {
        while long != 0 {
            let lane = long.trailing_zeros() as usize;
            // SAFETY: a lane with a word has a beginning and an end, both written.
            let place = |at: usize| FRONT + usize::from(unsafe { self.begins[first + at].assume_init() });
            let word = &self.bytes[place(lane)..place(lane + 1)];
            // SAFETY: what lies between a beginning and an end was written.
            into[lane].write(token_value(unsafe { std::slice::from_raw_parts(word.as_ptr().cast(), word.len()) }));
            long &= long - 1;
        }
    }
}

/// 64 bytes of text.
struct Block {
    masks: Masks,
    /// Letters in lower case and digits; anything else is of no use.
    lowered: __m512i,
}

impl Block {
    /// Up to 64 bytes, as if zeros followed.
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
        // SAFETY: there are 64 bytes, aligned.
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
            // What stands at the border of a block, of a piece or of the text moves with the parts before it.
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
