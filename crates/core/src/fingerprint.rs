//! Computes the fingerprints of a text, block by block: read tokens, hash k-grams, select.
//!
//! For each block the driver reads tokens, rolls the order keys of their k-grams, feeds the scheme's selector, and drops the
//! tokens that the selector no longer needs. Memory is a few hundred kilobytes for any length of text, plus the picks. The same
//! code runs over a [`Stream`] in memory; a property test checks that both give the same picks.
//!
//! Cost: about 1.2 ns per byte of ASCII at k = 50, t = 149 on one core (`make bench`).

use crate::error::{Error, Result};
use crate::frontend::{check_length, Options, Source, Stream, Unit, Visitor};
use crate::hash::identity::Identify;
use crate::hash::mix64;
use crate::hash::rolling::Rolling;
use crate::scheme::{self, open_closed_keys, Block, Grams, Order, Picks, Scheme, SchemeKind};
use std::cell::RefCell;

/// Largest t. Longer runs are whole documents, and with this limit the scans stay within the cache.
pub const MAX_T: usize = 1 << 16;

/// Tokens read at a time. Keys and tokens of a block fit the second-level cache beside the tables.
const BLOCK: usize = 1 << 14;

/// The guarantee: no match shorter than k tokens is reported, and every common run of t tokens is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Noise threshold: the length of a k-gram.
    k: usize,
    /// Guarantee threshold.
    t: usize,
}

impl Thresholds {
    /// Errors: k or t outside 1…65 536, or k > t.
    pub fn new(k: i64, t: i64) -> Result<Self> {
        check_threshold("k", k, "noise threshold")?;
        check_threshold("t", t, "guarantee threshold")?;
        if t < k {
            let reason =
                format!("is smaller than k `{k}`: a match shorter than one k-gram cannot be promised; use t ≥ {k}");
            return Err(Error::Parameter { name: "t", value: t, reason });
        }
        Ok(Self { k: k as usize, t: t as usize })
    }

    /// Window length w = t − k + 1, in k-grams.
    pub fn window(self) -> usize {
        self.t - self.k + 1
    }
}

fn check_threshold(name: &'static str, value: i64, role: &str) -> Result<()> {
    if (1..=MAX_T as i64).contains(&value) {
        return Ok(());
    }
    let reason = format!("is not a {role}: it counts tokens; use 1 ≤ {name} ≤ {MAX_T}");
    Err(Error::Parameter { name, value, reason })
}

/// Computes fingerprints with fixed thresholds, scheme and front end.
pub struct Fingerprinter {
    thresholds: Thresholds,
    options: Options,
    scheme: Box<dyn Scheme>,
    rolling: Rolling,
}

impl Fingerprinter {
    /// Makes a fingerprinter from its parts.
    pub fn new(thresholds: Thresholds, kind: SchemeKind, options: Options) -> Self {
        let scheme = kind.scheme(thresholds.window());
        Self { thresholds, options, scheme, rolling: Rolling::new(thresholds.k) }
    }

    /// Appends the fingerprints of a text and returns how many tokens it has. Positions count tokens of this text.
    pub fn text(&self, text: &str, picks: &mut Picks) -> Result<usize> {
        check_length(text.len())?;
        Ok(self.options.open(text, Fused { by: self, picks }))
    }

    /// Returns the fingerprints of tokens held in memory.
    pub fn stream(&self, stream: &Stream) -> Picks {
        if stream.unit == Unit::Character {
            let codes: Vec<u32> = stream.tokens.iter().map(|token| *token as u32).collect();
            self.tokens(&codes)
        } else {
            self.tokens(&stream.tokens)
        }
    }

    fn tokens<T: Identify>(&self, tokens: &[T]) -> Picks {
        let mut keys = Vec::new();
        self.append_keys(tokens, &mut keys, &mut Vec::new());
        let grams = Loaded { tokens, base: 0, k: self.thresholds.k, scratch: RefCell::default() };
        scheme::select(self.scheme.as_ref(), &keys, &grams)
    }

    /// Appends the order keys of all k-grams of `tokens`.
    fn append_keys<T: Identify>(&self, tokens: &[T], keys: &mut Vec<u32>, inner: &mut Vec<u32>) {
        let before = keys.len();
        self.rolling.keys(tokens, keys);
        if self.scheme.order() == Order::OpenClosed {
            let is_character = self.options.unit == Unit::Character;
            open_closed_keys(tokens, self.thresholds.k, is_character, &mut keys[before..], inner);
        }
    }
}

/// The k-grams of a block of tokens; computes identities on demand.
struct Loaded<'a, T> {
    tokens: &'a [T],
    /// Position of the first of them in the document.
    base: usize,
    k: usize,
    scratch: RefCell<Vec<u8>>,
}

impl<T: Identify> Grams for Loaded<'_, T> {
    #[inline]
    fn identity(&self, pos: usize) -> u64 {
        let at = pos - self.base;
        T::identity(&self.tokens[at..at + self.k], &mut self.scratch.borrow_mut())
    }

    #[inline]
    fn mixed(&self, _pos: usize, key: u32) -> u64 {
        mix64(u64::from(key))
    }
}

/// Reads, hashes and selects one text without holding its tokens.
struct Fused<'a> {
    by: &'a Fingerprinter,
    picks: &'a mut Picks,
}

impl Visitor for Fused<'_> {
    /// Tokens in the text.
    type Output = usize;

    fn visit<S: Source>(self, mut source: S) -> usize {
        let mut window = Window { by: self.by, tokens: Vec::new(), keys: Vec::new(), base: 0, inner: Vec::new() };
        let mut selector = self.by.scheme.selector();
        let stride = BLOCK.max(4 * self.by.thresholds.t);
        loop {
            let want = window.tokens.len() + stride;
            let more = source.fill(&mut window.tokens, &mut (), want);
            window.roll();
            let keep = window.with_block(|block| selector.push(block, self.picks));
            window.forget(keep);
            if !more {
                window.with_block(|block| selector.finish(block, self.picks));
                return window.base + window.tokens.len();
            }
        }
    }
}

/// The part of a document that is in memory.
struct Window<'a, T> {
    by: &'a Fingerprinter,
    /// Tokens from position `base` on.
    tokens: Vec<T>,
    /// Order keys of the k-grams from `base` on; fewer than the tokens by k − 1, or none.
    keys: Vec<u32>,
    base: usize,
    /// Reused by the compact order.
    inner: Vec<u32>,
}

impl<T: Identify> Window<'_, T> {
    /// Computes the keys of the k-grams that have none yet.
    fn roll(&mut self) {
        let fresh = &self.tokens[self.keys.len()..];
        self.by.append_keys(fresh, &mut self.keys, &mut self.inner);
    }

    fn with_block<R>(&self, use_block: impl FnOnce(&Block) -> R) -> R {
        let k = self.by.thresholds.k;
        let grams = Loaded { tokens: &self.tokens, base: self.base, k, scratch: RefCell::default() };
        use_block(&Block { keys: &self.keys, base: self.base, grams: &grams })
    }

    /// Drops everything before position `keep`.
    fn forget(&mut self, keep: usize) {
        let count = keep.saturating_sub(self.base).min(self.keys.len());
        self.tokens.drain(..count);
        self.keys.drain(..count);
        self.base += count;
    }
}

#[cfg(test)]
mod tests;
