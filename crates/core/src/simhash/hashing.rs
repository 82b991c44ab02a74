//! Texts in, fingerprints out, block by block.
//!
//! The features of a text are its tokens, or its shingles if they are wider than one, and each occurrence weighs 1: term
//! frequency. A block of tokens is read, hashed and counted, and only the last w − 1 tokens are kept, so memory is some
//! tens of kilobytes for any length of text.
//!
//! Cost: that of reading the words, and about a nanosecond a word (`make bench`, rows `simhash`).

use super::vote::{feature_hash, Votes};
use crate::error::Result;
use crate::frontend::{check_length, Options, Source, Visitor};
use crate::hash::identity::Identify;
use crate::sketch::shingle::{Shingler, Shingling};

/// Tokens read at a time: with their hashes they fit the first-level cache.
const BLOCK: usize = 1 << 11;

/// What is kept of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Simhash {
    /// The fingerprint; none if the text has no features.
    pub fingerprint: Option<u64>,
    /// Tokens of the text, whatever its features are: the length that filters compare.
    pub length: u32,
}

/// Everything that decides the fingerprint of a text; only those made alike can be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    options: Options,
    width: usize,
}

impl Recipe {
    /// Features of `width` tokens. Errors: a width that no shingle has.
    pub fn new(options: Options, width: i64) -> Result<Self> {
        let shingling = Shingling::new(options, width, false, 64)?;
        Ok(Self { options, width: shingling.width })
    }

    /// How texts become tokens.
    pub fn options(&self) -> Options {
        self.options
    }
}

/// Makes the fingerprints of many texts with the same tables and memory.
pub struct Simhasher {
    recipe: Recipe,
    /// Makes shingles; none if a feature is one token.
    shingler: Option<Shingler>,
    votes: Votes,
    /// Reused between texts: hashes of features in the counting.
    hashes: Vec<u64>,
}

impl Simhasher {
    /// Fills the tables.
    pub fn new(recipe: &Recipe) -> Self {
        let Recipe { options, width } = recipe.clone();
        let shingling = Shingling { options, width, labelled: false, bits: 64 };
        let shingler = (width > 1).then(|| Shingler::new(shingling));
        Self { recipe: recipe.clone(), shingler, votes: Votes::default(), hashes: Vec::new() }
    }

    /// The fingerprint of a text. Errors: a text of 4 GiB or more.
    pub fn text(&mut self, text: &str) -> Result<Simhash> {
        check_length(text.len())?;
        self.votes.clear();
        let length = self.recipe.options.open(text, Reader(self)) as u32;
        Ok(Simhash { fingerprint: self.votes.fingerprint(), length })
    }

    /// Counts the features of a block of token values.
    fn count(&mut self, values: impl Iterator<Item = u64>) {
        self.hashes.clear();
        self.hashes.extend(values.map(feature_hash));
        self.votes.count(&self.hashes);
    }
}

/// Reads a text in blocks.
struct Reader<'a>(&'a mut Simhasher);

impl Visitor for Reader<'_> {
    /// Tokens in the text.
    type Output = usize;

    fn visit<S: Source>(self, source: S) -> usize {
        match self.0.shingler.take() {
            None => tokens(self.0, source),
            Some(mut shingler) => {
                let count = shingles(self.0, &mut shingler, source);
                self.0.shingler = Some(shingler);
                count
            }
        }
    }
}

/// Counts each token as a feature.
fn tokens<S: Source>(into: &mut Simhasher, mut source: S) -> usize {
    let (mut block, mut count) = (Vec::with_capacity(BLOCK), 0);
    loop {
        block.clear();
        let more = source.fill(&mut block, &mut (), BLOCK);
        count += block.len();
        into.count(block.iter().map(|token| token.number()));
        if !more {
            return count;
        }
    }
}

/// Counts each shingle as a feature.
fn shingles<S: Source>(into: &mut Simhasher, shingler: &mut Shingler, mut source: S) -> usize {
    let (mut block, mut kept, mut ids, mut count) = (Vec::with_capacity(BLOCK), Vec::new(), Vec::new(), 0);
    let overlap = shingler.shingling().width - 1;
    loop {
        block.clear();
        let more = source.fill(&mut block, &mut (), BLOCK.max(overlap));
        count += block.len();
        kept.extend(block.iter().map(|token| token.number()));
        ids.clear();
        shingler.token_ids(&kept, &mut ids);
        into.count(ids.iter().copied());
        if !more {
            return count;
        }
        // Shingles that begin in what is dropped have been counted, all others not.
        kept.drain(..kept.len().saturating_sub(overlap));
    }
}
