//! A submission in the form of the matcher: tokens, parts, and the selected k-grams.

use crate::hash::keyed::RunKey;
use crate::hash::rolling::Rolling;
use std::borrow::Cow;

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
    /// Least worth of a strong passage of its language, in tokens; none if there are no such passages.
    pub passage: Option<u32>,
    /// Number of its language. Only tokens of languages of one family match.
    pub language: u32,
}

/// A string literal, whose words are compared in addition to the folded token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Literal {
    /// Number of its exact text.
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

/// The length of the k-grams that are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The noise threshold k.
    Noise,
    /// The guarantee threshold t.
    Guarantee,
}

impl Length {
    /// The number of tokens in a part.
    pub fn of(self, part: &EntryPart) -> u32 {
        match self {
            Self::Noise => part.k,
            Self::Guarantee => part.t,
        }
    }
}

/// A submission.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// A number for each token, equal if and only if the tokens are equal; [`SEPARATOR`] between parts.
    pub tokens: Vec<u32>,
    /// Number of the exact text of each folded token (names, numbers, strings), 0 for other tokens; may be empty.
    pub verbatim: Vec<u32>,
    /// Whether each token cannot run; empty if all can, or if that is not known.
    pub unreachable: Vec<bool>,
    /// Whether code that cannot run was looked for.
    pub is_analysed: bool,
    /// Ascending.
    pub parts: Vec<EntryPart>,
    /// Ascending by position.
    pub picks: Vec<Pick>,
    /// Ascending by key, each key once.
    pub literals: Vec<Literal>,
    /// Tokens that are no evidence even if they match, such as import lines; ascending.
    pub trivial: Vec<u32>,
    /// The submitter. Two submissions of one submitter are never paired, and frequencies count submitters.
    pub submitter: u32,
    /// Whether it is from an earlier year; two such submissions are not paired.
    pub old: bool,
    /// Place of its name among all names. Of equal ones the earlier submission comes first.
    pub rank: u32,
    /// What the keys of its runs depend on.
    run_key: RunKey,
    /// Keys of all runs of t tokens by their first token; 0 where none begins.
    keys: Vec<u32>,
}

impl Entry {
    /// Makes an entry without tokens.
    pub fn of(submitter: u32, old: bool) -> Self {
        Self { submitter, old, ..Self::default() }
    }

    /// Computes the keys of all runs of t tokens. Entries that are compared have the same `run_key`. REQUIRES: the tokens
    /// are complete.
    pub fn roll(&mut self, run_key: RunKey) {
        self.run_key = run_key;
        self.keys = self.secret_keys(Length::Guarantee);
    }

    /// What the keys of its runs depend on.
    pub fn run_key(&self) -> RunKey {
        self.run_key
    }

    /// Key of the run of k or t tokens at each token. Runs in parts with other thresholds have other keys. Those of
    /// k tokens are rarely asked for, so they are computed each time.
    pub fn keys(&self, length: Length) -> Cow<'_, [u32]> {
        match length {
            Length::Noise => Cow::Owned(self.secret_keys(length)),
            Length::Guarantee => Cow::Borrowed(&self.keys),
        }
    }

    /// Key of the run of t tokens at each token.
    pub fn run_keys(&self) -> &[u32] {
        &self.keys
    }

    fn secret_keys(&self, length: Length) -> Vec<u32> {
        self.dense_keys(|part, tokens, keys| self.run_key.keys(length.of(part) as usize, tokens, keys))
    }

    /// Published order key of the run of t tokens at each token: what is counted by it is the same in every run of the
    /// program.
    pub fn order_keys(&self) -> Vec<u32> {
        self.dense_keys(|part, tokens, keys| Rolling::new(part.t as usize).keys(tokens, keys))
    }

    fn dense_keys(&self, append: impl Fn(&EntryPart, &[u32], &mut Vec<u32>)) -> Vec<u32> {
        let mut keys = Vec::with_capacity(self.tokens.len());
        for part in &self.parts {
            keys.resize(part.start as usize, 0);
            append(part, &self.tokens[part.start as usize..part.end as usize], &mut keys);
            let salt = part.k.wrapping_sub(1) << 16 | (part.t.wrapping_sub(1) & 0xFFFF);
            keys[part.start as usize..].iter_mut().for_each(|key| *key ^= salt);
        }
        keys.resize(self.tokens.len(), 0);
        keys
    }

    /// Whether the tokens at `a` here and at `b` in `other` have the same exact text.
    pub fn same_text(&self, a: usize, other: &Self, b: usize) -> bool {
        self.verbatim.get(a) == other.verbatim.get(b)
    }

    /// Noise and guarantee threshold at a token.
    pub fn thresholds(&self, token: u32) -> (u32, u32) {
        self.parts.get(self.part_of(token)).map_or((1, 1), |part| (part.k, part.t))
    }

    /// The part that holds a token.
    pub fn part_of(&self, token: u32) -> usize {
        self.parts.partition_point(|part| part.end <= token)
    }

    /// Whether a token cannot run.
    pub fn is_dead(&self, token: u32) -> bool {
        self.unreachable.get(token as usize).copied().unwrap_or(false)
    }

    /// Whether two entries have the same content, the exact texts included.
    pub fn is_same(&self, other: &Self) -> bool {
        self.tokens == other.tokens
            && self.verbatim == other.verbatim
            && self.parts == other.parts
            && self.unreachable == other.unreachable
            && self.is_analysed == other.is_analysed
    }
}

/// First tokens of a part's runs of k or t tokens.
pub(super) fn gram_starts(part: &EntryPart, length: Length) -> std::ops::Range<usize> {
    let end = (part.end + 1).saturating_sub(length.of(part)).max(part.start);
    part.start as usize..end as usize
}
