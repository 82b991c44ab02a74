//! Reads any text as words by UAX 29, with one token per character in scripts without spaces between words.
//!
//! White space and most signs outside ASCII always separate words, so the text is read in stretches between them. ASCII stretches
//! go through `ascii_words.rs`, which equals the full algorithm by property test. Other chunks go through `plain_words.rs` if they
//! can, and through `unicode-segmentation` otherwise. UAX 29 splits Han, Hiragana, Thai, Lao, Khmer and Burmese into characters;
//! runs of Katakana are split here. The value of a token is the hash of the word's canonical form, so `can't` and `cant` are equal.
//!
//! Cost: that of `ascii_words.rs` on ASCII, 4 to 100 ns per byte elsewhere (`make bench`, rows `word`); memory for one word.

use super::ascii::{ascii_prefix, BLOCK};
use super::characters::Characters;
use super::plain_words::{alone, Plain};
use super::{ascii_words, Source, Spans};
use crate::hash::identity::{push_utf8, token_value};
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation};

/// The longest chunk that is read as a whole; longer ones are read word by word, to bound memory.
const MAX_PLAIN: usize = 1 << 12;
/// Bytes that are checked for ASCII together.
const FAR: usize = 256;

/// Reads a text as the values of its words.
pub struct Words<'t> {
    text: &'t str,
    at: usize,
    /// The text is ASCII from `at` to here, and no word crosses this offset.
    ascii_end: usize,
    homoglyphs: bool,
    /// A chunk with non-ASCII characters that is being read, and its offset.
    open: Option<(usize, UWordBoundIndices<'t>)>,
    plain: Plain,
    /// The canonical form of the word being read.
    canonical: Vec<u8>,
    characters: Vec<u32>,
}

impl<'t> Words<'t> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'t str, homoglyphs: bool) -> Self {
        Self {
            text,
            at: 0,
            ascii_end: 0,
            homoglyphs,
            open: None,
            plain: Plain::default(),
            canonical: Vec::new(),
            characters: Vec::new(),
        }
    }

    /// Returns the end of the ASCII stretch from here: at a character that separates words, or else at the last white space.
    fn ascii_stretch(&self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let len = ascii_len(rest);
        let end = self.at + len;
        if len == rest.len() {
            return end;
        }
        if self.alone(end).is_some() {
            return end;
        }
        let is_white = |byte: &u8| byte.is_ascii_whitespace();
        self.at + rest[..len].iter().rposition(is_white).map_or(0, |last| last + 1)
    }

    /// Returns the character at an offset if it always separates words; see [`alone`].
    fn alone(&self, at: usize) -> Option<(usize, Option<u32>)> {
        // With homoglyphs, a sign may be treated as a letter.
        self.text.get(at..).filter(|_| !self.homoglyphs).and_then(alone)
    }

    /// Appends the tokens of the non-ASCII characters from here on that separate words; returns whether there are any.
    fn pass_alone<P: Spans>(&mut self, tokens: &mut Vec<u64>, spans: &mut P) -> bool {
        let from = self.at;
        while self.text.as_bytes().get(self.at).is_some_and(|byte| !byte.is_ascii()) {
            let Some((len, code)) = self.alone(self.at) else { break };
            if let Some(code) = code {
                self.canonical.clear();
                push_utf8(code, &mut self.canonical);
                tokens.push(token_value(&self.canonical));
                spans.span(self.at, self.at + len, 1);
            }
            self.at += len;
        }
        self.at > from
    }

    /// Returns the next chunk without ASCII white space; `None` at the end of the text.
    fn next_chunk(&mut self) -> Option<(usize, &'t str)> {
        let rest = &self.text.as_bytes()[self.at..];
        let start = self.at + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = &self.text.as_bytes()[start..];
        self.at = start + rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        Some((start, &self.text[start..self.at]))
    }

    /// Appends the tokens of one word of any script, which is at offset `at`.
    fn word<P: Spans>(&mut self, word: &str, at: usize, tokens: &mut Vec<u64>, spans: &mut P) {
        let mut places: Vec<super::Span> = Vec::new();
        self.characters.clear();
        Characters::new(word, self.homoglyphs).fill(&mut self.characters, &mut places, usize::MAX);
        let mut from = 0;
        while from < places.len() {
            let to = token_end(word, &places, from);
            self.canonical.clear();
            for code in &self.characters[from..to] {
                push_utf8(*code, &mut self.canonical);
            }
            tokens.push(token_value(&self.canonical));
            spans.span(at + places[from].start as usize, at + places[to - 1].end as usize, 1);
            from = to;
        }
    }
}

/// Returns how many bytes at the front are ASCII.
fn ascii_len(bytes: &[u8]) -> usize {
    let far = bytes.chunks(FAR).take_while(|chunk| chunk.is_ascii()).map(<[u8]>::len).sum::<usize>();
    let (blocks, tail) = bytes[far..].as_chunks();
    for (i, block) in blocks.iter().enumerate() {
        let step = ascii_prefix(block);
        if step < BLOCK {
            return far + i * BLOCK + step;
        }
    }
    bytes.len() - tail.len() + tail.iter().position(|byte| !byte.is_ascii()).unwrap_or(tail.len())
}

/// Returns the end of the token that begins with canonical character `from`: the end of its segment if it is Katakana, otherwise
/// the next Katakana character.
fn token_end(word: &str, places: &[super::Span], from: usize) -> usize {
    let is_kana = |i: usize| word[places[i].start as usize..].chars().next().is_some_and(is_katakana);
    let same_segment = |i: usize| places[i] == places[from];
    let rest = from + 1..places.len();
    if is_kana(from) {
        rest.clone().find(|i| !same_segment(*i)).unwrap_or(rest.end)
    } else {
        rest.clone().find(|i| is_kana(*i) && !same_segment(*i)).unwrap_or(rest.end)
    }
}

/// Returns whether UAX 29 treats a character as Katakana, which it does not split.
fn is_katakana(c: char) -> bool {
    matches!(c, '\u{3031}'..='\u{3035}' | '\u{309B}'..='\u{309C}' | '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{32D0}'..='\u{32FE}' | '\u{3300}'..='\u{3357}' | '\u{FF66}'..='\u{FF9D}' | '\u{1AFF0}'..='\u{1AFFF}'
        | '\u{1B000}' | '\u{1B120}'..='\u{1B122}' | '\u{1B155}' | '\u{1B164}'..='\u{1B167}')
}

impl Source for Words<'_> {
    type Token = u64;

    fn numbers(&mut self, out: &mut Vec<u64>) {
        self.fill(out, &mut (), usize::MAX);
    }

    fn fill<P: Spans>(&mut self, tokens: &mut Vec<u64>, spans: &mut P, want: usize) -> bool {
        while tokens.len() < want {
            if let Some((base, mut bounds)) = self.open.take() {
                if let Some((offset, word)) = bounds.next() {
                    self.open = Some((base, bounds));
                    self.word(word, base + offset, tokens, spans);
                }
                continue;
            }
            if self.at >= self.ascii_end {
                self.ascii_end = self.ascii_stretch();
            }
            if self.at < self.ascii_end {
                let stretch = self.at..self.ascii_end;
                self.at = ascii_words::fill(self.text.as_bytes(), stretch, tokens, spans, want);
                continue;
            }
            if self.pass_alone(tokens, spans) {
                continue;
            }
            let Some((start, chunk)) = self.next_chunk() else { return false };
            if self.homoglyphs || chunk.len() > MAX_PLAIN || !self.plain.fill(chunk, start, tokens, spans) {
                self.open = Some((start, chunk.split_word_bound_indices()));
            }
        }
        true
    }
}
