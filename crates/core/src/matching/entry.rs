//! A submission as the matcher sees it: tokens, what stands where, and which k-grams were selected.

use crate::hash::rolling::Rolling;

/// Stands between two parts of a submission and matches nothing, itself included: no k-gram and no passage crosses a file.
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
    /// What one of its tokens is worth beside those of other parts, in thousandths: a letter says less than a word of code.
    pub worth: u32,
}

/// A text inside the code that was not folded away: the words of a string literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Literal {
    /// Hash of its exact text.
    pub key: u64,
    /// The token it is.
    pub at: u32,
    /// Words in it: what it weighs.
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
    /// Numbers that stand for tokens: equal if and only if the tokens are. [`SEPARATOR`] between parts.
    pub tokens: Vec<u32>,
    /// Hash of each token's exact text where folding took it away (names, numbers, strings), 0 elsewhere; or empty.
    pub verbatim: Vec<u32>,
    /// Ascending.
    pub parts: Vec<EntryPart>,
    /// Ascending by position.
    pub picks: Vec<Pick>,
    /// Ascending by key, each key once.
    pub literals: Vec<Literal>,
    /// Who handed it in: two submissions of one submitter are never paired, and frequencies count submitters.
    pub submitter: u32,
    /// Whether it is from an earlier year: old ones are not paired with each other.
    pub old: bool,
    /// Order keys of all k-grams by their first token; 0 where none starts.
    keys: Vec<u32>,
}

impl Entry {
    /// An entry without tokens.
    pub fn of(submitter: u32, old: bool) -> Self {
        Self { submitter, old, ..Self::default() }
    }

    /// Rolls the order keys of all k-grams. Called once, when the tokens are complete.
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

    /// Whether the two have the same content, texts of folded tokens included.
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
