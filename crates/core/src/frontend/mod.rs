//! Front ends: bytes → text → tokens with spans. No other module interprets text.
//!
//! A front end is a [`Source`]: each call appends some more tokens, so a document is held as tokens only in a [`Stream`]. The
//! source reports token positions to a [`Spans`]. The hot path passes `()`, which costs nothing; [`locate`] reads the text again
//! later and keeps only the spans of selected positions.
//!
//! Spans are byte offsets into the text. Two consecutive tokens share their span when one written character folds to several
//! (`ﬁ` → `f`, `i`); otherwise the second begins at or after the end of the first.

pub mod ascii;
mod ascii_words;
pub mod canonical;
pub mod characters;
pub mod decode;
pub mod line_tokens;
pub mod offsets;
#[cfg(target_arch = "x86_64")]
mod packed_words;
mod plain_words;
pub mod words;

use crate::error::{Error, Result};
use crate::hash::identity::Identify;

/// The unit of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A character of the canonical text.
    Character,
    /// A word by UAX 29; one character in scripts without spaces between words (Han, Kana, Thai and others).
    Word,
    /// A line that has canonical characters.
    Line,
}

/// How a text is split into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The unit of a token.
    pub unit: Unit,
    /// Whether look-alike letters (Cyrillic а) are treated as Latin.
    pub homoglyphs: bool,
}

/// Start and end of a token in the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

/// Receives the spans of tokens, in the order of the tokens.
pub trait Spans {
    /// Whether the spans are used; if not, a source may skip computing them.
    const ARE_WANTED: bool = true;

    /// Receives the span that the next `count` tokens share.
    fn span(&mut self, start: usize, end: usize, count: usize);

    /// Receives tokens of one byte: for each bit of `mask`, lowest first, the byte at `at` + bit.
    fn bytes(&mut self, at: usize, mask: u32) {
        let mut left = mask;
        while left != 0 {
            let start = at + left.trailing_zeros() as usize;
            self.span(start, start + 1, 1);
            left &= left - 1;
        }
    }
}

/// Discards spans; used on the hot path, where only token values are needed.
impl Spans for () {
    const ARE_WANTED: bool = false;

    #[inline(always)]
    fn span(&mut self, _start: usize, _end: usize, _count: usize) {}

    #[inline(always)]
    fn bytes(&mut self, _at: usize, _mask: u32) {}
}

impl Spans for Vec<Span> {
    fn span(&mut self, start: usize, end: usize, count: usize) {
        self.extend(std::iter::repeat_n(Span { start: start as u32, end: end as u32 }, count));
    }

    #[inline]
    fn bytes(&mut self, at: usize, mask: u32) {
        self.reserve(mask.count_ones() as usize);
        let mut left = mask;
        while left != 0 {
            let start = at as u32 + left.trailing_zeros();
            self.push(Span { start, end: start + 1 });
            left &= left - 1;
        }
    }
}

/// A text being read as tokens.
pub trait Source {
    /// The type of a token.
    type Token: Identify;

    /// Appends tokens until `tokens` has at least `want` or the text ends; returns whether there may be more.
    fn fill<P: Spans>(&mut self, tokens: &mut Vec<Self::Token>, spans: &mut P, want: usize) -> bool;

    /// Appends all remaining tokens as numbers.
    fn numbers(&mut self, out: &mut Vec<u64>) {
        let mut block = Vec::new();
        loop {
            let more = self.fill(&mut block, &mut (), 1 << 12);
            out.extend(block.drain(..).map(Identify::number));
            if !more {
                return;
            }
        }
    }
}

/// A function of a source, generic over its token type, which is only known at run time.
pub trait Visitor {
    /// The result.
    type Output;
    /// Runs on the source.
    fn visit<S: Source>(self, source: S) -> Self::Output;
}

impl Options {
    /// Opens `text` as the source for these options and passes it to `visitor`.
    pub fn open<V: Visitor>(self, text: &str, visitor: V) -> V::Output {
        match self.unit {
            Unit::Character if text.is_ascii() => visitor.visit(ascii::Ascii::new(text.as_bytes())),
            Unit::Character => visitor.visit(characters::Characters::new(text, self.homoglyphs)),
            Unit::Word => visitor.visit(words::Words::new(text, self.homoglyphs)),
            Unit::Line => visitor.visit(line_tokens::LineTokens::new(text, self.homoglyphs)),
        }
    }
}

/// Refuses a text whose offsets do not fit 32 bits.
pub fn check_length(len_bytes: usize) -> Result<()> {
    match u32::try_from(len_bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::TooLarge { len_bytes: len_bytes as u64 }),
    }
}

/// All tokens of a document with their spans, in memory. Passages are extended and shown with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Values: code points for characters, hashes for words and lines.
    pub tokens: Vec<u64>,
    /// The span of each token.
    pub spans: Vec<Span>,
    /// The unit of a token.
    pub unit: Unit,
}

struct Collect;

impl Visitor for Collect {
    type Output = (Vec<u64>, Vec<Span>);

    fn visit<S: Source>(self, mut source: S) -> Self::Output {
        let (mut tokens, mut spans) = (Vec::new(), Vec::new());
        source.fill(&mut tokens, &mut spans, usize::MAX);
        (tokens.into_iter().map(Identify::number).collect(), spans)
    }
}

/// Reads a whole text as tokens. Cost: one pass, 16 bytes per token.
pub fn stream(text: &str, options: Options) -> Result<Stream> {
    check_length(text.len())?;
    let (tokens, spans) = options.open(text, Collect);
    Ok(Stream { tokens, spans, unit: options.unit })
}

/// Reads a whole text as the numbers of its tokens, without spans. Cost: one pass, 8 bytes per token.
pub fn numbers(text: &str, options: Options) -> Result<Vec<u64>> {
    check_length(text.len())?;
    let mut numbers = Vec::new();
    options.open(text, Numbers(&mut numbers));
    Ok(numbers)
}

/// Appends the numbers of all tokens.
pub struct Numbers<'a>(pub &'a mut Vec<u64>);

impl Visitor for Numbers<'_> {
    type Output = ();

    fn visit<S: Source>(self, mut source: S) {
        source.numbers(self.0);
    }
}

/// Returns the spans of the k-grams at `positions`, from the start of the first token to the end of the last.
///
/// REQUIRES: `positions` ascend. Positions beyond the text get an empty span at its end. Cost: the text is read once more, without
/// hashing.
pub fn locate(text: &str, options: Options, positions: &[u32], k: usize) -> Vec<Span> {
    options.open(text, Locate { positions, k, text_len: text.len() })
}

struct Locate<'a> {
    positions: &'a [u32],
    k: usize,
    text_len: usize,
}

impl Visitor for Locate<'_> {
    type Output = Vec<Span>;

    fn visit<S: Source>(self, mut source: S) -> Vec<Span> {
        let end = self.text_len as u32;
        let found = vec![Span { start: end, end }; self.positions.len()];
        let mut wanted = Wanted { positions: self.positions, k: self.k.max(1), seen: 0, starts: 0, ends: 0, found };
        let mut tokens = Vec::new();
        while wanted.ends < self.positions.len() {
            tokens.clear();
            if !source.fill(&mut tokens, &mut wanted, 1 << 14) {
                break;
            }
        }
        wanted.found
    }
}

/// Keeps the spans of wanted k-grams and drops the others.
struct Wanted<'a> {
    positions: &'a [u32],
    k: usize,
    /// Tokens received so far.
    seen: usize,
    /// Index of the first position whose first token was not received yet.
    starts: usize,
    /// Index of the first position whose last token was not received yet.
    ends: usize,
    found: Vec<Span>,
}

impl Wanted<'_> {
    /// Takes the next `count` tokens and records the start and end of each wanted k-gram; the closures take an index among them.
    #[inline(always)]
    fn pass(&mut self, count: usize, start_of: impl Fn(usize) -> usize, end_of: impl Fn(usize) -> usize) {
        let upto = self.seen + count;
        while let Some(pos) = self.positions.get(self.starts).map(|pos| *pos as usize).filter(|pos| *pos < upto) {
            self.found[self.starts].start = start_of(pos - self.seen) as u32;
            self.starts += 1;
        }
        while let Some(pos) =
            self.positions.get(self.ends).map(|pos| *pos as usize + self.k - 1).filter(|pos| *pos < upto)
        {
            self.found[self.ends].end = end_of(pos - self.seen) as u32;
            self.ends += 1;
        }
        self.seen = upto;
    }
}

impl Spans for Wanted<'_> {
    #[inline]
    fn span(&mut self, start: usize, end: usize, count: usize) {
        self.pass(count, |_| start, |_| end);
    }

    #[inline]
    fn bytes(&mut self, at: usize, mask: u32) {
        self.pass(mask.count_ones() as usize, |i| at + nth_bit(mask, i), |i| at + nth_bit(mask, i) + 1);
    }
}

/// Returns the index of set bit number `i`, counted from 0.
fn nth_bit(mut mask: u32, i: usize) -> usize {
    for _ in 0..i {
        mask &= mask.wrapping_sub(1);
    }
    mask.trailing_zeros() as usize
}

#[cfg(test)]
mod tests;
