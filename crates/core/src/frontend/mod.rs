//! Front ends: bytes → text → tokens with spans. The only place that knows what a text is.
//!
//! A front end is a [`Source`]: it is asked for some more tokens and appends them, so that a document is never held as
//! tokens unless somebody wants a [`Stream`]. Where the tokens stand is told to a [`Spans`] on the side; the hot path passes
//! `()` and pays nothing, [`locate`] replays the text later and notes only the positions that were selected.
//!
//! Spans are byte offsets into the text. Two consecutive tokens either share their span, when one written character folds to
//! several (`ﬁ` → `f`, `i`), or the second begins at or after the end of the first.

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

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A character of the canonical text.
    Character,
    /// A word by UAX 29; one character where the script does not part words (Han, Kana, Thai and their like).
    Word,
    /// A line with anything canonical in it.
    Line,
}

/// How a text becomes tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What a token is.
    pub unit: Unit,
    /// Whether letters that look like Latin ones are taken for them.
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

/// Something that is told where tokens stand, in the order of the tokens.
pub trait Spans {
    /// Whether anybody looks at them.
    const ARE_WANTED: bool = true;

    /// The next `count` tokens share this span.
    fn span(&mut self, start: usize, end: usize, count: usize);

    /// For each bit of `mask`, lowest first, the next token is the one byte at `at` + bit.
    fn bytes(&mut self, at: usize, mask: u32) {
        let mut left = mask;
        while left != 0 {
            let start = at + left.trailing_zeros() as usize;
            self.span(start, start + 1, 1);
            left &= left - 1;
        }
    }
}

/// Nobody wants to know.
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
}

/// A text being read as tokens.
pub trait Source {
    /// The tokens' type.
    type Token: Identify;

    /// Appends tokens until there are at least `want` in `tokens` or the text ends; whether there may be more.
    fn fill<P: Spans>(&mut self, tokens: &mut Vec<Self::Token>, spans: &mut P, want: usize) -> bool;

    /// Appends all tokens that are left, as numbers.
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

/// A use of a source whose token type is only known at run time.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Uses the source.
    fn visit<S: Source>(self, source: S) -> Self::Output;
}

impl Options {
    /// Opens `text` as the source these options call for.
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

/// All tokens of a document with their spans, held in memory: what passages are extended and shown on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Values: code points for characters, hashes for words and lines.
    pub tokens: Vec<u64>,
    /// Where each stands.
    pub spans: Vec<Span>,
    /// What a token is.
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

/// Reads a whole text as tokens. Cost: one pass, 16 bytes a token.
pub fn stream(text: &str, options: Options) -> Result<Stream> {
    check_length(text.len())?;
    let (tokens, spans) = options.open(text, Collect);
    Ok(Stream { tokens, spans, unit: options.unit })
}

/// Spans of the k-grams at `positions`, which ascend: from the start of their first token to the end of their last.
///
/// Cost: the text is read once more, without hashing. Positions that the text does not have get an empty span at its end.
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

/// Notes the spans of wanted k-grams as the tokens go by.
struct Wanted<'a> {
    positions: &'a [u32],
    k: usize,
    /// Tokens that have gone by.
    seen: usize,
    /// Index of the first position whose first token has not gone by.
    starts: usize,
    /// Index of the first position whose last token has not gone by.
    ends: usize,
    found: Vec<Span>,
}

impl Wanted<'_> {
    /// Calls `set` for every wanted first and last token among the next `count`, with its index among them.
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

/// Index of the set bit that `i` set bits precede.
fn nth_bit(mut mask: u32, i: usize) -> usize {
    for _ in 0..i {
        mask &= mask.wrapping_sub(1);
    }
    mask.trailing_zeros() as usize
}

#[cfg(test)]
mod tests;
