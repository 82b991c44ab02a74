//! Decodes bytes in a known encoding, and maps offsets in the text back to offsets in the bytes.
//!
//! A reader reports, for each character, how many bytes of text it wrote for how many bytes it read. Consecutive characters with
//! the same ratio form one *run*, which is stored as the two offsets where it starts. Inside a run the original offset is a linear
//! function of the text offset. It is exact at every character boundary: if each character has t bytes of text and o original
//! bytes, boundary i is at `i·t` in the text and at `i·o` in the original.
//!
//! Cost: linear time, and eight bytes per run. A text that needed no decoding has no run, ASCII in UTF-16 has one, a legacy text
//! has two per stretch outside ASCII. In the worst case, where the ratio changes at every character, it is eight bytes per
//! character. A look-up is a binary search over the runs; a [`Cursor`] over ascending offsets takes constant time on average. One
//! offset per character would be simpler, but take four bytes per byte of English.
//!
//! Source: debuggers store line tables in this way. The legacy encodings are those of the Encoding Standard
//! (encoding.spec.whatwg.org) as encoding_rs implements them.

use encoding_rs::{Decoder, DecoderResult, Encoding};

use crate::error::{Error, Result};

/// The longest text that can be mapped, in bytes: offsets have 32 bits.
pub(crate) const MAX_LEN_BYTES: u64 = u32::MAX as u64;

/// An offset in the text and the corresponding offset in the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    text: u32,
    original: u32,
}

/// Character boundaries of a text, each with its offset in the original bytes.
///
/// Invariants: `starts` ascends in both fields, and strictly in `text` but for a last entry at `end.text`, which stands
/// for original bytes after the last character; its first entry is (0, 0); without a run it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OffsetMap {
    starts: Vec<Place>,
    end: Place,
}

impl OffsetMap {
    /// Returns the map of a text that is its own original. REQUIRES: `len_bytes` ≤ [`MAX_LEN_BYTES`].
    pub(crate) fn identity(len_bytes: usize) -> Self {
        let len = len_bytes as u32;
        Self { starts: Vec::new(), end: Place { text: len, original: len } }
    }

    /// Returns whether every offset maps to itself.
    pub(crate) fn is_identity(&self) -> bool {
        self.starts.len() <= 1 && self.end.text == self.end.original
    }

    /// Returns the original offset of a character boundary; offsets past the end map to the end of the original.
    pub(crate) fn original(&self, offset: usize) -> usize {
        self.within(self.run_at(offset), offset)
    }

    /// Returns the number of the run that contains `offset`.
    fn run_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| start.text as usize <= offset).saturating_sub(1)
    }

    /// Returns the start of run number `run`; past the last run, the end of the text.
    fn start(&self, run: usize) -> Place {
        match self.starts.get(run) {
            Some(&start) => start,
            None if run == 0 => Place::default(),
            None => self.end,
        }
    }

    /// Returns the original offset of `offset`. REQUIRES: run number `run` contains `offset`.
    fn within(&self, run: usize, offset: usize) -> usize {
        if offset >= self.end.text as usize {
            return self.end.original as usize;
        }
        let (from, to) = (self.start(run), self.start(run + 1));
        let (text, original) = (u64::from(to.text - from.text), u64::from(to.original - from.original));
        from.original as usize + ((offset as u64 - u64::from(from.text)) * original / text) as usize
    }
}

/// Maps ascending offsets of one text in constant time on average, because it keeps the run between calls.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    map: &'a OffsetMap,
    run: usize,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor at the start of the text.
    pub(crate) fn new(map: &'a OffsetMap) -> Self {
        Self { map, run: 0 }
    }

    /// Returns the original byte offset of a character boundary of the text. An offset below the last one is found by binary
    /// search.
    pub fn original(&mut self, offset: usize) -> usize {
        if offset < self.map.start(self.run).text as usize {
            self.run = self.map.run_at(offset);
        }
        while self.map.starts.get(self.run + 1).is_some_and(|next| next.text as usize <= offset) {
            self.run += 1;
        }
        self.map.within(self.run, offset)
    }
}

/// A text under construction, with its map and the number of replacements.
#[derive(Debug)]
pub(crate) struct Builder {
    text: String,
    starts: Vec<Place>,
    /// Bytes of text and of original of the latest piece: their ratio is that of the open run.
    ratio: (u64, u64),
    /// Bytes of the original already accounted for by `text`.
    original: usize,
    replaced: u32,
    /// The length that the text would have without `limit`; `text` itself stops growing at the limit.
    len_bytes: u64,
    limit: u64,
}

impl Builder {
    /// Starts an empty text that may grow to `limit` bytes.
    fn with_limit(limit: u64) -> Self {
        let (text, starts) = (String::new(), Vec::new());
        Self { text, starts, ratio: (0, 0), original: 0, replaced: 0, len_bytes: 0, limit }
    }

    /// Starts an empty text.
    pub(crate) fn new() -> Self {
        Self::with_limit(MAX_LEN_BYTES)
    }

    /// Returns how many bytes of the original are accounted for.
    pub(crate) fn original(&self) -> usize {
        self.original
    }

    /// Appends a character read from the next `original_bytes` bytes.
    pub(crate) fn push(&mut self, character: char, original_bytes: usize) {
        if self.account(character.len_utf8(), original_bytes) {
            self.text.push(character);
        }
    }

    /// Appends characters that all have the same ratio of bytes, for instance a copied stretch.
    pub(crate) fn push_str(&mut self, text: &str, original_bytes: usize) {
        if !text.is_empty() && self.account(text.len(), original_bytes) {
            self.text.push_str(text);
        }
    }

    /// Appends U+FFFD for the next `original_bytes` bytes, which could not be read.
    pub(crate) fn replace(&mut self, original_bytes: usize) {
        self.replaced = self.replaced.saturating_add(1);
        self.push(char::REPLACEMENT_CHARACTER, original_bytes);
    }

    /// Records the ratio of the next piece; returns whether the text has room for it.
    fn account(&mut self, text_bytes: usize, original_bytes: usize) -> bool {
        let (text, original) = (text_bytes as u64, original_bytes as u64);
        self.len_bytes += text;
        let fits = self.len_bytes <= self.limit;
        if fits && (self.starts.is_empty() || text * self.ratio.1 != original * self.ratio.0) {
            self.starts.push(self.place());
            self.ratio = (text, original);
        }
        self.original += original_bytes;
        fits
    }

    /// Returns where the next piece starts. Both offsets fit 32 bits: `decode` checks the original, `limit` the text.
    fn place(&self) -> Place {
        Place { text: self.text.len() as u32, original: self.original as u32 }
    }

    /// Returns the text, its map onto an original of `original_len` bytes, and the number of replacements.
    ///
    /// Errors: `TooLarge` with the length the text would have had.
    pub(crate) fn finish(mut self, original_len: usize) -> Result<(String, OffsetMap, u32)> {
        if self.len_bytes > self.limit {
            return Err(Error::TooLarge { len_bytes: self.len_bytes });
        }
        if self.original < original_len && !self.text.is_empty() {
            self.starts.push(self.place());
        }
        let end = Place { text: self.text.len() as u32, original: original_len as u32 };
        Ok((self.text, OffsetMap { starts: self.starts, end }, self.replaced))
    }
}

/// Reads UTF-8 with U+FFFD for each ill-formed part.
pub(crate) fn read_utf8(bytes: &[u8]) -> Builder {
    let mut built = Builder::new();
    for (valid, ill_formed) in utf8_pieces(bytes) {
        built.push_str(valid, valid.len());
        if !ill_formed.is_empty() {
            built.replace(ill_formed.len());
        }
    }
    built
}

/// Iterates over valid stretches, each with the ill-formed part after it; only the last may have none.
pub(crate) fn utf8_pieces(mut rest: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    std::iter::from_fn(move || {
        let chunk = rest.utf8_chunks().next()?;
        let tail = &rest[chunk.valid().len()..];
        let (ill_formed, after) = tail.split_at(if is_surrogate(tail) { 3 } else { chunk.invalid().len() });
        rest = after;
        Some((chunk.valid(), ill_formed))
    })
}

/// Returns whether the bytes begin with a surrogate in three bytes, as programs write that do not join UTF-16 pairs.
pub(crate) fn is_surrogate(bytes: &[u8]) -> bool {
    matches!(bytes, [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..])
}

/// Reads UTF-16 in the byte order of `unit`, with U+FFFD for unpaired surrogates and a last odd byte.
pub(crate) fn read_utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Builder {
    let mut built = Builder::new();
    for read in utf16_characters(bytes, unit) {
        match read {
            Some(character) => built.push(character, 2 * character.len_utf16()),
            None => built.replace(2),
        }
    }
    if bytes.len() % 2 == 1 {
        built.replace(1);
    }
    built
}

/// The characters of UTF-16, `None` for an unpaired surrogate; a last odd byte is left out.
pub(crate) fn utf16_characters<'b>(
    bytes: &'b [u8],
    unit: impl Fn([u8; 2]) -> u16 + 'b,
) -> impl Iterator<Item = Option<char>> + 'b {
    char::decode_utf16(bytes.chunks_exact(2).map(move |pair| unit([pair[0], pair[1]]))).map(|read| read.ok())
}

/// Reads UTF-32 in the byte order of `value`, with U+FFFD for invalid values and an incomplete last one.
pub(crate) fn read_utf32(bytes: &[u8], value: impl Fn([u8; 4]) -> u32) -> Builder {
    let mut built = Builder::new();
    for unit in bytes.chunks(4) {
        match <[u8; 4]>::try_from(unit).ok().and_then(|unit| char::from_u32(value(unit))) {
            Some(character) => built.push(character, 4),
            None => built.replace(unit.len()),
        }
    }
    built
}

/// Reads a legacy encoding, with U+FFFD as the Encoding Standard prescribes.
pub(crate) fn read_legacy(bytes: &[u8], encoding: &'static Encoding) -> Builder {
    if encoding.is_single_byte() {
        read_single_byte(bytes, encoding)
    } else {
        read_multi_byte(bytes, encoding)
    }
}

/// Reads one character per byte, with a table for the 128 bytes above ASCII.
fn read_single_byte(bytes: &[u8], encoding: &'static Encoding) -> Builder {
    let table: [char; 128] = std::array::from_fn(|byte| single(0x80 | byte as u8, encoding));
    let mut built = Builder::new();
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        if byte < 0x80 {
            rest = push_ascii(rest, &mut built);
            continue;
        }
        match table[usize::from(byte & 0x7F)] {
            char::REPLACEMENT_CHARACTER => built.replace(1),
            character => built.push(character, 1),
        }
        rest = after;
    }
    built
}

fn single(byte: u8, encoding: &'static Encoding) -> char {
    encoding.decode_without_bom_handling(&[byte]).0.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Copies the ASCII at the start of `bytes`; returns what follows.
fn push_ascii<'b>(bytes: &'b [u8], built: &mut Builder) -> &'b [u8] {
    let (ascii, after) = bytes.split_at(Encoding::ascii_valid_up_to(bytes));
    built.push_str(std::str::from_utf8(ascii).unwrap_or_default(), ascii.len());
    after
}

/// Feeds the decoder byte by byte, to learn which bytes make each character; decoders do not report it. ASCII between two
/// characters is copied without the decoder.
fn read_multi_byte(bytes: &[u8], encoding: &'static Encoding) -> Builder {
    let mut built = Builder::new();
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut at = 0;
    while at < bytes.len() {
        if encoding.is_ascii_compatible() && built.original() == at && bytes[at] < 0x80 {
            push_ascii(&bytes[at..], &mut built);
            at = built.original();
        } else {
            at += step(&mut decoder, &bytes[at..=at], at, &mut built).1;
        }
    }
    while let (DecoderResult::Malformed(..), _) = step(&mut decoder, &[], at, &mut built) {}
    built
}

/// Feeds one byte at offset `at`, or none to end the text. Returns the result and how many bytes were taken: a byte that proves
/// the previous one wrong may be left for the next step.
fn step(decoder: &mut Decoder, byte: &[u8], at: usize, built: &mut Builder) -> (DecoderResult, usize) {
    let mut buffer = [0; 16];
    let (result, taken, written) = decoder.decode_to_utf8_without_replacement(byte, &mut buffer, byte.is_empty());
    push_up_to(at + taken, &buffer[..written], built);
    if let DecoderResult::Malformed(_, after) = result {
        let end = (at + taken).saturating_sub(usize::from(after));
        built.replace(end.saturating_sub(built.original()));
        // The decoder may hold the first byte after the fault, if it is a character by itself, and would return it together
        // with the next one. This call makes it return the byte now.
        let (_, _, written) = decoder.decode_to_utf8_without_replacement(&[], &mut buffer, false);
        push_up_to(end + 1, &buffer[..written], built);
    }
    (result, taken)
}

/// Appends the characters that the decoder wrote for the bytes up to offset `end`; the first one gets all bytes.
fn push_up_to(end: usize, written: &[u8], built: &mut Builder) {
    for character in std::str::from_utf8(written).unwrap_or_default().chars() {
        built.push(character, end.saturating_sub(built.original()));
    }
}

#[cfg(test)]
mod tests;
