//! Any text as words: UAX 29, and one token a character where the script does not part words.
//!
//! White space always parts words, so the text is read in chunks between white space. A chunk of ASCII is parted by the
//! handful of rules that remain of UAX 29 there (equal to the full algorithm, by property test); others go through
//! `unicode-segmentation`. Han, Hiragana, Thai, Lao, Khmer and Burmese come out of UAX 29 one by one; runs of Katakana
//! are parted here. A token's value is the hash of the word's canonical form: `can't` and `cant` are one word.
//!
//! Cost: about 7 ns a byte on ASCII, 20 ns elsewhere (`make bench`, rows `word`); no memory beyond one word.

use super::ascii::lower;
use super::characters::Characters;
use super::{Source, Spans};
use crate::hash::identity::{push_utf8, token_value};
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation};

/// A text as word values.
pub struct Words<'t> {
    text: &'t str,
    at: usize,
    homoglyphs: bool,
    /// A chunk with more than ASCII in it, half read, and where it begins.
    open: Option<(usize, UWordBoundIndices<'t>)>,
    /// The canonical form of the word being read.
    canonical: Vec<u8>,
    characters: Vec<u32>,
}

impl<'t> Words<'t> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'t str, homoglyphs: bool) -> Self {
        Self { text, at: 0, homoglyphs, open: None, canonical: Vec::new(), characters: Vec::new() }
    }

    /// The next chunk without ASCII white space in it, and whether it is ASCII; None at the end.
    fn next_chunk(&mut self) -> Option<(usize, usize, bool)> {
        let bytes = self.text.as_bytes();
        let start = self.at + bytes[self.at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let mut any = 0;
        let len =
            bytes[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).inspect(|byte| any |= **byte).count();
        self.at = start + len;
        Some((start, self.at, any < 0x80))
    }

    /// Appends the words of an ASCII chunk.
    fn ascii_words<P: Spans>(&mut self, start: usize, end: usize, tokens: &mut Vec<u64>, spans: &mut P) {
        let bytes = &self.text.as_bytes()[start..end];
        let mut at = 0;
        while at < bytes.len() {
            if !is_word_byte(bytes[at]) {
                at += 1;
                continue;
            }
            let word = at..word_end(bytes, at);
            at = word.end;
            self.ascii_word(&bytes[word.clone()], start + word.start, tokens, spans);
        }
    }

    /// Appends one ASCII word that stands at `at`, unless nothing of it is canonical.
    fn ascii_word<P: Spans>(&mut self, word: &[u8], at: usize, tokens: &mut Vec<u64>, spans: &mut P) {
        self.canonical.clear();
        self.canonical.extend(word.iter().filter_map(|byte| lower(*byte)));
        let (Some(first), Some(last)) = (edge(word.iter()), edge(word.iter().rev())) else { return };
        tokens.push(token_value(&self.canonical));
        spans.span(at + first, at + word.len() - last, 1);
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

/// Bytes before the first canonical one.
fn edge<'b>(mut bytes: impl Iterator<Item = &'b u8>) -> Option<usize> {
    bytes.position(|byte| lower(*byte).is_some())
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

/// ALetter, Numeric and ExtendNumLet of UAX 29 in ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where the word that begins at `at` ends: rules WB5–WB13b on ASCII.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        if is_word_byte(*byte) {
            end += 1;
        } else if bytes.get(end + 1).is_some_and(|next| is_inside(bytes[end - 1], *byte, *next)) {
            end += 2;
        } else {
            break;
        }
    }
    end
}

/// Whether `middle` stands inside a word between these two: WB6, WB7, WB11, WB12.
fn is_inside(before: u8, middle: u8, after: u8) -> bool {
    match middle {
        b'.' | b'\'' => {
            (before.is_ascii_alphabetic() && after.is_ascii_alphabetic())
                || (before.is_ascii_digit() && after.is_ascii_digit())
        }
        b':' => before.is_ascii_alphabetic() && after.is_ascii_alphabetic(),
        b',' | b';' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

impl Source for Words<'_> {
    type Token = u64;

    fn fill<P: Spans>(&mut self, tokens: &mut Vec<u64>, spans: &mut P, want: usize) -> bool {
        while tokens.len() < want {
            if let Some((base, mut bounds)) = self.open.take() {
                if let Some((offset, word)) = bounds.next() {
                    self.open = Some((base, bounds));
                    self.word(word, base + offset, tokens, spans);
                }
                continue;
            }
            match self.next_chunk() {
                None => return false,
                Some((start, end, true)) => self.ascii_words(start, end, tokens, spans),
                Some((start, end, false)) => {
                    self.open = Some((start, self.text[start..end].split_word_bound_indices()))
                }
            }
        }
        true
    }
}
