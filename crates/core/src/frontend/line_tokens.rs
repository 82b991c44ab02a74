//! Reads any text as lines. A token is the hash of a line's canonical form; lines without canonical characters are skipped.
//!
//! Lines end at LF, CR, CR LF, VT, FF, NEL, LS and PS (the mandatory breaks of UAX 14). Cost: that of `characters.rs`; memory for
//! the canonical form of one line.

use super::ascii::Ascii;
use super::characters::Characters;
use super::{Source, Spans};
use crate::hash::identity::{push_utf8, token_value};

/// Reads a text as the values of its lines.
pub struct LineTokens<'t> {
    text: &'t str,
    at: usize,
    homoglyphs: bool,
    /// The canonical form of the line being read.
    canonical: Vec<u8>,
    characters: Vec<u32>,
}

impl<'t> LineTokens<'t> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'t str, homoglyphs: bool) -> Self {
        Self { text, at: 0, homoglyphs, canonical: Vec::new(), characters: Vec::new() }
    }

    /// Writes the canonical form of a line to `self.canonical` and returns its first and last byte in the line.
    fn fold(&mut self, line: &str) -> Edges {
        let mut edges = Edges::default();
        self.canonical.clear();
        if line.is_ascii() {
            Ascii::new(line.as_bytes()).fill(&mut self.canonical, &mut edges, usize::MAX);
        } else {
            self.characters.clear();
            Characters::new(line, self.homoglyphs).fill(&mut self.characters, &mut edges, usize::MAX);
            for code in &self.characters {
                push_utf8(*code, &mut self.canonical);
            }
        }
        edges
    }
}

/// The start of the first token and the end of the last.
#[derive(Default)]
struct Edges {
    start: Option<usize>,
    end: usize,
}

impl Spans for Edges {
    fn span(&mut self, start: usize, end: usize, count: usize) {
        if count > 0 {
            self.start.get_or_insert(start);
            self.end = end;
        }
    }

    fn bytes(&mut self, at: usize, mask: u32) {
        if mask != 0 {
            self.span(at + mask.trailing_zeros() as usize, at + mask.ilog2() as usize + 1, 1);
        }
    }
}

/// Returns the length of the first line of `text` and of the break after it.
fn first_line(text: &str) -> (usize, usize) {
    // Only these bytes can begin a break, so all others are skipped.
    let mut from = 0;
    let begins_break = |byte: &u8| matches!(byte, b'\n' | 0x0B | 0x0C | b'\r' | 0xC2 | 0xE2);
    while let Some(step) = text.as_bytes()[from..].iter().position(begins_break) {
        let rest = &text[from + step..];
        let length = break_length(rest);
        if length > 0 {
            return (from + step, length);
        }
        from += step + rest.chars().next().map_or(1, char::len_utf8);
    }
    (text.len(), 0)
}

/// Returns the length of the break at the start of `text`, or 0 if there is none.
fn break_length(text: &str) -> usize {
    match text.chars().next() {
        Some('\r') if text[1..].starts_with('\n') => 2,
        Some(c @ ('\n' | '\u{B}' | '\u{C}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')) => c.len_utf8(),
        _ => 0,
    }
}

impl Source for LineTokens<'_> {
    type Token = u64;

    fn fill<P: Spans>(&mut self, tokens: &mut Vec<u64>, spans: &mut P, want: usize) -> bool {
        while tokens.len() < want && self.at < self.text.len() {
            let (len, break_len) = first_line(&self.text[self.at..]);
            let edges = self.fold(&self.text[self.at..self.at + len]);
            if let Some(start) = edges.start {
                tokens.push(token_value(&self.canonical));
                spans.span(self.at + start, self.at + edges.end, 1);
            }
            self.at += len + break_len;
        }
        self.at < self.text.len()
    }
}
