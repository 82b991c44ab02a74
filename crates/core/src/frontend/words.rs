//! Any text as words: UAX 29, and one token a character where the script does not part words.
//!
//! White space always parts words, and so do most signs outside ASCII, so the text is read in stretches between them. Those of ASCII go
//! through `ascii_words.rs` (equal to the full algorithm, by property test), chunks with anything else through
//! `plain_words.rs` where they can, and `unicode-segmentation` where they must. Han, Hiragana, Thai, Lao, Khmer and Burmese come out of UAX 29 one by one; runs of Katakana
//! are parted here. A token's value is the hash of the word's canonical form: `can't` and `cant` are one word.
//!
//! Cost: that of `ascii_words.rs` on ASCII, 4 to 100 ns a byte elsewhere (`make bench`, rows `word`); no memory beyond one word.

use super::ascii::{ascii_prefix, BLOCK};
use super::characters::Characters;
use super::plain_words::{alone, Plain};
use super::{ascii_words, Source, Spans};
use crate::hash::identity::{push_utf8, token_value};
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation};

/// Longest chunk that is read as a whole; longer ones are read word by word, so that memory stays small.
const MAX_PLAIN: usize = 1 << 12;
/// Bytes that are looked at together for anything but ASCII.
const FAR: usize = 256;

/// A text as word values.
pub struct Words<'t> {
    text: &'t str,
    at: usize,
    /// The text is ASCII from `at` to here, and no word goes on there.
    ascii_end: usize,
    homoglyphs: bool,
    /// A chunk with more than ASCII in it, half read, and where it begins.
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

    /// How far the text from here on is ASCII, up to something else that parts words, or to the last white space before it.
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

    /// What stands at a place, if words end before it and begin after it whatever they are.
    fn alone(&self, at: usize) -> Option<(usize, Option<u32>)> {
        // A sign may look like a letter.
        self.text.get(at..).filter(|_| !self.homoglyphs).and_then(alone)
    }

    /// Appends the tokens of characters outside ASCII that part words, from here on; whether there are any.
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

    /// The next chunk without ASCII white space in it; None at the end.
    fn next_chunk(&mut self) -> Option<(usize, &'t str)> {
        let rest = &self.text.as_bytes()[self.at..];
        let start = self.at + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = &self.text.as_bytes()[start..];
        self.at = start + rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        Some((start, &self.text[start..self.at]))
    }

    /// Appends the tokens of one word of any script that stands at `at`.
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

/// How many bytes at the front are ASCII.
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

/// Where the token that begins with canonical character `from` ends: after its segment if that is Katakana, else before the next such.
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

/// Characters that UAX 29 keeps together because they are Katakana.
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
