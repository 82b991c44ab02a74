//! A submission in the form of the matcher: tokens, parts, and the selected k-grams.

use crate::hash::rolling::Rolling;

/// Separates two parts of a submission. It matches nothing, itself included, so no k-gram or passage crosses a file.
pub const SEPARATOR: u32 = u32::MAX;

/// A stretch of tokens of one file in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPart {
    /// First token.
    pub start: u32,
    /// Token after the last.
    pub end: u32,
    /// Noise threshold of its language.
    pub k: u32,
    /// Guarantee threshold of its language.
    pub t: u32,
    /// Weight of one of its tokens relative to other parts, in thousandths: a letter weighs less than a token of code.
    pub worth: u32,
}

/// A string literal, whose words are compared in addition to the folded token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Literal {
    /// Hash of its exact text.
    pub key: u64,
    /// Its token.
    pub at: u32,
    /// Number of words: its weight.
    pub words: u32,
}

/// A selected k-gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Identity of the k-gram.
    pub key: u64,
    /// Its first token.
    pub at: u32,
}

/// A submission.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// A number for each token, equal if and only if the tokens are equal; [`SEPARATOR`] between parts.
    pub tokens: Vec<u32>,
    /// Hash of the exact text of each folded token (names, numbers, strings), 0 for other tokens; may be empty.
    pub verbatim: Vec<u32>,
    /// Ascending.
    pub parts: Vec<EntryPart>,
    /// Ascending by position.
    pub picks: Vec<Pick>,
    /// Ascending by key, each key once.
    pub literals: Vec<Literal>,
    /// The submitter. Two submissions of one submitter are never paired, and frequencies count submitters.
    pub submitter: u32,
    /// Whether it is from an earlier year; two such submissions are not paired.
    pub old: bool,
    /// Order keys of all k-grams by their first token; 0 where no k-gram begins.
    keys: Vec<u32>,
}

impl Entry {
    /// Makes an entry without tokens.
    pub fn of(submitter: u32, old: bool) -> Self {
        Self { submitter, old, ..Self::default() }
    }

    /// Computes the order keys of all k-grams. REQUIRES: the tokens are complete.
    pub fn roll(&mut self) {
        self.keys = dense_keys(&self.tokens, &self.parts);
    }

    /// Order key of the k-gram at each token.
    pub fn keys(&self) -> &[u32] {
        &self.keys
    }

    /// Whether the tokens at `a` here and at `b` in `other` have the same exact text.
    pub fn same_text(&self, a: usize, other: &Self, b: usize) -> bool {
        self.verbatim.get(a) == other.verbatim.get(b)
    }

    /// The part that holds a token.
    pub fn part_of(&self, token: u32) -> usize {
        self.parts.partition_point(|part| part.end <= token)
    }

    /// Whether two entries have the same content, the exact texts included.
    pub fn is_same(&self, other: &Self) -> bool {
        self.tokens == other.tokens && self.verbatim == other.verbatim && self.parts == other.parts
    }
}

/// Order keys of the k-grams of all parts, by first token.
pub(super) fn dense_keys(tokens: &[u32], parts: &[EntryPart]) -> Vec<u32> {
    let mut keys = Vec::with_capacity(tokens.len());
    for part in parts {
        keys.resize(part.start as usize, 0);
        Rolling::new(part.k as usize).keys(&tokens[part.start as usize..part.end as usize], &mut keys);
    }
    keys.resize(tokens.len(), 0);
    keys
}

/// First tokens of a part's k-grams.
pub(super) fn gram_starts(part: &EntryPart) -> std::ops::Range<usize> {
    let end = (part.end + 1).saturating_sub(part.k).max(part.start);
    part.start as usize..end as usize
}
