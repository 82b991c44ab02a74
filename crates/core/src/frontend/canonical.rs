//! Computes the canonical form of a text. Two texts with the same canonical form count as equal.
//!
//! 1. As an option, look-alike letters (Cyrillic а) are replaced by Latin ones.
//! 2. Ignorable characters (zero-width, bidi controls, soft hyphens, variation selectors) are dropped, so that they cannot
//!    separate what belongs together.
//! 3. Compatibility caseless folding (Unicode, D146: NFD, fold, NFKC, fold, NFKC).
//! 4. Letters, marks and numbers (categories L, M, N) are kept; white space, punctuation, symbols and controls are dropped.
//!
//! The text is folded *segment by segment*. A segment begins at a character that never combines with the one before, so folding
//! segments one by one equals folding the whole text (property test), and each canonical character has an exact position. A
//! segment ends after at most 30 combining characters (the limit of UAX 15's stream-safe format), so segments are short.
//!
//! Cost: one table look-up for most characters. Tables are filled on first use, 256 characters at a time.

use caseless::Caseless;
use std::sync::OnceLock;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{is_nfkc_quick, IsNormalized, UnicodeNormalization};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_security::confusable_detection::skeleton;

/// Version of the rules in this file, as FORMAT.md describes them; stored with fingerprints.
pub const TEXT_VERSION: u32 = 2;

/// The version before, which differs only where look-alike letters are folded.
pub const TEXT_VERSION_BEFORE: u32 = 1;

/// The most characters that may join a segment after its first.
pub const MAX_JOINING: usize = 30;

/// The table entry of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Alone in its segment, it folds to this character.
    To(u32),
    /// Alone in its segment, it is dropped.
    Nothing,
    /// Alone in its segment, it folds to several characters.
    Several,
    /// It may combine with the character before, so it does not begin a segment.
    Joins,
    /// It is dropped everywhere.
    Ignored,
}

/// [`Fold`] is packed into a code point, or one of these values above all code points, in this order.
pub(super) const NOTHING: u32 = 1 << 24;
pub(super) const SEVERAL: u32 = 2 << 24;
pub(super) const JOINS: u32 = 3 << 24;
const IGNORED: u32 = 4 << 24;

/// Characters per table page.
const PAGE: usize = 256;
type Page = OnceLock<Box<[u32; PAGE]>>;

/// All pages, without and with homoglyph folding; each is filled on first use.
static PAGES: [[Page; 0x11_0000 / PAGE]; 2] = [const { [const { OnceLock::new() }; 0x11_0000 / PAGE] }; 2];

/// Returns the table entry of `c`.
#[inline]
pub fn fold_of(c: char, homoglyphs: bool) -> Fold {
    let code = c as usize;
    let page = PAGES[usize::from(homoglyphs)][code / PAGE].get_or_init(|| fill_page(code / PAGE, homoglyphs));
    match page[code % PAGE] {
        NOTHING => Fold::Nothing,
        SEVERAL => Fold::Several,
        JOINS => Fold::Joins,
        IGNORED => Fold::Ignored,
        code => Fold::To(code),
    }
}

/// Characters of one or two bytes of UTF-8: Latin, Greek, Cyrillic, Hebrew, Arabic.
pub(super) const SHORT: usize = 0x800;

/// Returns the packed folds of all [`SHORT`] characters in one table, which the inner loop reads without pages.
pub(super) fn short_folds(homoglyphs: bool) -> &'static [u32; SHORT] {
    static TABLES: [OnceLock<Box<[u32; SHORT]>>; 2] = [const { OnceLock::new() }; 2];
    TABLES[usize::from(homoglyphs)].get_or_init(|| {
        let fold = |code: usize| char::from_u32(code as u32).map_or(NOTHING, |c| compute_fold(c, homoglyphs));
        Box::new(std::array::from_fn(fold))
    })
}

#[cold]
fn fill_page(page: usize, homoglyphs: bool) -> Box<[u32; PAGE]> {
    let mut entries = Box::new([NOTHING; PAGE]);
    for (i, entry) in entries.iter_mut().enumerate() {
        if let Some(c) = char::from_u32((page * PAGE + i) as u32) {
            *entry = compute_fold(c, homoglyphs);
        }
    }
    entries
}

fn compute_fold(c: char, homoglyphs: bool) -> u32 {
    if is_ignored(c) {
        return IGNORED;
    }
    if joins(latin_lookalike(c, homoglyphs)) {
        return JOINS;
    }
    let mut folded = Vec::new();
    fold_segment(&[c], homoglyphs, &mut folded);
    match folded[..] {
        [] => NOTHING,
        [one] => one,
        _ => SEVERAL,
    }
}

/// Returns whether `c` may combine with a character before it.
fn joins(c: char) -> bool {
    let mut first = None;
    decompose_compatible(c, |part| first = first.or(Some(part)));
    let first = first.unwrap_or(c);
    canonical_combining_class(first) != 0 || is_nfkc_quick(std::iter::once(first)) == IsNormalized::Maybe
}

/// Returns whether `c` is always invisible: a format character, or default-ignorable by the standard.
fn is_ignored(c: char) -> bool {
    c.general_category() == GeneralCategory::Format
        || matches!(c,
            '\u{34F}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{2065}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}'
            | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns whether a folded character is kept.
fn stays(c: char) -> bool {
    use GeneralCategoryGroup::{Letter, Mark, Number};
    matches!(c.general_category_group(), Letter | Mark | Number)
}

/// Folds one segment and appends the kept characters. REQUIRES: the caller has left out ignored characters.
pub fn fold_segment(segment: &[char], homoglyphs: bool, out: &mut Vec<u32>) {
    let letters = segment.iter().map(|c| latin_lookalike(*c, homoglyphs));
    let folded = letters.nfd().default_case_fold().nfkc().default_case_fold().nfkc();
    out.extend(folded.filter(|c| stays(*c)).map(u32::from));
}

/// Computes the canonical form of a whole text at once, by its definition; tests compare the segmented path with it.
pub fn canonical_naive(text: &str, homoglyphs: bool) -> String {
    let seen: Vec<char> = text.chars().filter(|c| !is_ignored(*c)).collect();
    let mut folded = Vec::new();
    fold_segment(&seen, homoglyphs, &mut folded);
    folded.into_iter().filter_map(char::from_u32).collect()
}

/// With `homoglyphs`, returns the ASCII letter or digit that `c` looks like, or else `c`.
fn latin_lookalike(c: char, homoglyphs: bool) -> char {
    if !homoglyphs || c.is_ascii() || !stays(c) {
        return c;
    }
    // What is compatible with a letter or digit (full-width １) is that one, and not a letter that looks like it (l).
    let mut parts = Vec::new();
    decompose_compatible(c, |part| parts.push(part));
    if let [ascii] = parts[..] {
        if ascii.is_ascii_alphanumeric() {
            return ascii;
        }
    }
    let mut shape = skeleton_of(c);
    match (shape.next(), shape.next()) {
        (Some(first), None) => ascii_of_shape().iter().find(|(s, _)| *s == first).map_or(c, |(_, ascii)| *ascii),
        _ => c,
    }
}

/// Returns the prototype of a character's shape by UTS 39.
fn skeleton_of(c: char) -> std::vec::IntoIter<char> {
    let mut utf8 = [0; 4];
    skeleton(c.encode_utf8(&mut utf8)).collect::<Vec<char>>().into_iter()
}

/// Returns the one-character shapes of ASCII letters and digits; of several with one shape (l, I, 1), only the first.
fn ascii_of_shape() -> &'static [(char, char)] {
    static SHAPES: OnceLock<Vec<(char, char)>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let mut shapes: Vec<(char, char)> = Vec::new();
        for ascii in ('a'..='z').chain('A'..='Z').chain('0'..='9') {
            if let [shape] = skeleton_of(ascii).as_slice() {
                if shapes.iter().all(|(known, _)| known != shape) {
                    shapes.push((*shape, ascii));
                }
            }
        }
        shapes
    })
}
