//! Reads words of a non-ASCII chunk in which each character depends on its two neighbours at most.
//!
//! Most text of any script consists of letters that fold to one character, ideographs that are tokens by themselves, separators,
//! and signs that join words if both neighbours allow it. The class of a character is found once, by splitting small texts with
//! `unicode-segmentation`, and kept in the pages of a table. A chunk with other characters (marks, Katakana, Hebrew, digits of
//! other scripts, joiners) is left to the full algorithm. Both agree by property test.
//!
//! Cost: about 4 ns per byte; the full algorithm takes about 100.

use super::canonical::{fold_of, Fold};
use super::Spans;
use crate::hash::identity::{push_utf8, token_value};
use std::sync::OnceLock;
use unicode_segmentation::UnicodeSegmentation;

/// The class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Part of a word; folds to this character.
    Letter(u32),
    /// An ASCII digit: part of a word.
    Digit(u32),
    /// `_`: part of a word, but dropped from its canonical form.
    Glue,
    /// A token by itself; folds to this character.
    Lone(u32),
    /// Part of a word if it is between letters, or between digits.
    Inside { letters: bool, digits: bool },
    /// Separates words.
    Separator,
    /// Any other character; needs the full algorithm.
    Complex,
}

/// The usual length of a chunk, in characters.
const USUAL: usize = 128;
/// Characters per page. Pages are small, because a text uses few characters of a script and each takes one or two
/// microseconds to classify.
const PAGE: usize = 64;
const PLANE: usize = 0x1_0000;
/// Pages of the basic multilingual plane, which has nearly all text; each is filled on first use.
static PAGES: [OnceLock<Box<[Class; PAGE]>>; PLANE / PAGE] = [const { OnceLock::new() }; PLANE / PAGE];

fn class_of(c: char) -> Class {
    let code = c as usize;
    let Some(page) = PAGES.get(code / PAGE) else { return Class::Complex };
    let fill = || {
        Box::new(std::array::from_fn(|i| char::from_u32((code - code % PAGE + i) as u32).map_or(Class::Complex, probe)))
    };
    page.get_or_init(fill)[code % PAGE]
}

/// Finds the class of a character by the way it splits small texts.
fn probe(c: char) -> Class {
    let parts = |before: &str, after: &str| format!("{before}{c}{after}").split_word_bounds().count();
    let folded = fold_of(c, false);
    if c.is_ascii_digit() {
        return Class::Digit(u32::from(c));
    }
    match (folded, parts("a", "a"), parts("1", "1"), parts("_", "_")) {
        (Fold::To(folded), 1, 1, 1) if parts("a:", "") == 1 && parts(&format!("{c}\""), "") > 1 => {
            Class::Letter(folded)
        }
        (Fold::To(folded), 3, 3, 3) if parts(&c.to_string(), "") == 2 => Class::Lone(folded),
        (Fold::Nothing, 3, 3, 3) => Class::Separator,
        (Fold::Nothing, 1, 1, 1) if c == '_' => Class::Glue,
        (Fold::Nothing, letters, digits, 3) => Class::Inside { letters: letters == 1, digits: digits == 1 },
        _ => Class::Complex,
    }
}

/// Returns the first character of a text if it always separates words: its length, and its code if it is a token by itself.
/// Returns `None` for a letter or a sign that may join, and if a character follows that may combine with it.
pub(super) fn alone(text: &str) -> Option<(usize, Option<u32>)> {
    let mut characters = text.chars();
    let first = characters.next()?;
    let code = match class_of(first) {
        Class::Lone(code) => Some(code),
        Class::Separator => None,
        _ => return None,
    };
    let is_closed = |next: char| next.is_ascii() || class_of(next) != Class::Complex;
    characters.next().is_none_or(is_closed).then_some((first.len_utf8(), code))
}

/// Buffers for reading the words of chunks.
#[derive(Default)]
pub(super) struct Plain {
    classes: Vec<(u32, Class)>,
    /// The canonical form of the word being read.
    canonical: Vec<u8>,
}

impl Plain {
    /// Appends the words of `chunk`, which is at offset `base`. Returns false, and appends nothing, if the chunk needs the full
    /// algorithm.
    ///
    /// REQUIRES: white space or nothing before and after the chunk, and no white space in it.
    pub fn fill<P: Spans>(&mut self, chunk: &str, base: usize, tokens: &mut Vec<u64>, spans: &mut P) -> bool {
        self.classes.clear();
        // Most chunks fit, so one allocation is enough.
        self.classes.reserve(USUAL);
        self.canonical.reserve(USUAL);
        for (at, c) in chunk.char_indices() {
            let class = class_of(c);
            if class == Class::Complex {
                return false;
            }
            self.classes.push((at as u32, class));
        }
        self.classes.push((chunk.len() as u32, Class::Separator));
        self.words(base, tokens, spans);
        true
    }

    fn words<P: Spans>(&mut self, base: usize, tokens: &mut Vec<u64>, spans: &mut P) {
        let mut word = Word { start: 0, end: 0, canonical: &mut self.canonical };
        let mut before = Class::Separator;
        for pair in self.classes.windows(2) {
            let [(start, class), (end, after)] = [pair[0], pair[1]];
            let place = (base + start as usize, base + end as usize);
            match class {
                Class::Letter(code) | Class::Digit(code) => word.push(code, place),
                Class::Glue => {}
                Class::Lone(code) => {
                    word.finish(tokens, spans);
                    word.push(code, place);
                    word.finish(tokens, spans);
                }
                Class::Inside { letters, digits } if joins(before, after, letters, digits) => {}
                _ => word.finish(tokens, spans),
            }
            before = class;
        }
        word.finish(tokens, spans);
    }
}

/// Returns whether a sign that joins letters or digits joins these two characters.
fn joins(before: Class, after: Class, letters: bool, digits: bool) -> bool {
    match (before, after) {
        (Class::Letter(_), Class::Letter(_)) => letters,
        (Class::Digit(_), Class::Digit(_)) => digits,
        _ => false,
    }
}

/// A word being read.
struct Word<'a> {
    start: usize,
    end: usize,
    canonical: &'a mut Vec<u8>,
}

impl Word<'_> {
    fn push(&mut self, code: u32, (start, end): (usize, usize)) {
        if self.canonical.is_empty() {
            self.start = start;
        }
        self.end = end;
        push_utf8(code, self.canonical);
    }

    fn finish<P: Spans>(&mut self, tokens: &mut Vec<u64>, spans: &mut P) {
        if !self.canonical.is_empty() {
            tokens.push(token_value(self.canonical));
            spans.span(self.start, self.end, 1);
            self.canonical.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_what_the_standard_says() {
        for (c, class) in [
            ('é', Class::Letter(u32::from('é'))),
            ('Д', Class::Letter(u32::from('д'))),
            ('ا', Class::Letter(u32::from('ا'))),
            ('한', Class::Letter(u32::from('한'))),
            ('日', Class::Lone(u32::from('日'))),
            ('7', Class::Digit(u32::from('7'))),
            ('_', Class::Glue),
            ('’', Class::Inside { letters: true, digits: true }),
            ('·', Class::Inside { letters: true, digits: false }),
            (';', Class::Inside { letters: false, digits: true }),
            ('—', Class::Separator),
            ('\u{A0}', Class::Separator),
            ('\u{FFFD}', Class::Separator),
            // Marks, joiners, and what has rules of its own.
            ('\u{301}', Class::Complex),
            ('\u{200D}', Class::Complex),
            ('א', Class::Complex),
            ('カ', Class::Complex),
            ('٣', Class::Complex),
            ('ß', Class::Complex),
        ] {
            assert_eq!(class_of(c), class, "{c:?}");
        }
    }
}
