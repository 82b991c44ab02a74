//! Computes the fingerprints of texts, block by block.
//!
//! The features of a text are its tokens, or its shingles if they are wider than one token. Each occurrence weighs 1,
//! which is term frequency. A block of tokens is read, hashed and counted, and only the last w − 1 tokens are kept, so
//! memory is some tens of kilobytes for a text of any length.
//!
//! Cost: reading the words, and about a nanosecond per word (`make bench`, rows `simhash`).

use super::ignore::Ignore;
use super::language::TextLanguage;
use super::paper::{FeatureMaker, Paper};
use super::vote::{feature_hash, Votes, SALT};
use super::weight::Weight;
use crate::error::Result;
use crate::frontend::{check_length, Options, Source, Visitor};
use crate::hash::identity::Identify;
use crate::hash::mix_all;
use crate::sketch::shingle::{Shingler, Shingling};
use std::borrow::Cow;

/// Tokens read at a time: with their hashes they fit the first-level cache.
const BLOCK: usize = 1 << 11;

/// The simhash of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Simhash {
    /// The fingerprint; `None` if the text has no features.
    pub fingerprint: Option<u64>,
    /// Number of tokens, whatever the features are: the length that filters compare.
    pub length: u32,
    /// Its language, if the recipe asks for it or the features need it.
    pub language: TextLanguage,
}

/// Everything that determines the fingerprint of a text. Only fingerprints of one recipe can be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct SimhashRecipe {
    options: Options,
    width: usize,
    /// The features of the paper instead of tokens and shingles.
    paper: Option<Paper>,
    ignore: Option<Ignore>,
    tells_language: bool,
}

impl SimhashRecipe {
    /// Makes a recipe with features of `width` tokens. Errors: a width that no shingle can have.
    pub fn new(options: Options, width: i64) -> Result<Self> {
        let shingling = Shingling::new(options, width, false, 64)?;
        Ok(Self { options, width: shingling.width, paper: None, ignore: None, tells_language: false })
    }

    /// Uses the features of the paper instead: words and pairs of words, whatever unit and width are.
    pub fn with_paper(self, paper: Paper) -> Self {
        Self { paper: Some(paper), ..self }
    }

    /// Ignores what the patterns match.
    pub fn ignoring(self, ignore: Option<Ignore>) -> Self {
        Self { ignore, ..self }
    }

    /// Sets whether the language is detected too.
    pub fn telling_language(self, tells_language: bool) -> Self {
        Self { tells_language, ..self }
    }

    /// How texts become tokens.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Whether the fingerprint of a text is that of its tokens by these options, so that [`Simhasher::tokens`] makes it.
    pub fn is_of_tokens(&self, options: Options) -> bool {
        self.options == options && self.paper.is_none() && self.ignore.is_none()
    }
}

/// Computes the fingerprints of many texts with the same tables and memory.
pub struct Simhasher {
    recipe: SimhashRecipe,
    /// Makes shingles; `None` if a feature is one token.
    shingler: Option<Shingler>,
    /// Makes the paper's features, if the recipe has them.
    maker: Option<FeatureMaker>,
    votes: Votes,
    /// Hashes of the features being counted; reused between texts.
    hashes: Vec<u64>,
    weighed: Vec<(u64, Weight)>,
}

impl Simhasher {
    /// Fills the tables.
    pub fn new(recipe: &SimhashRecipe) -> Self {
        let recipe = recipe.clone();
        let shingling = Shingling { options: recipe.options, width: recipe.width, labelled: false, bits: 64 };
        let shingler = (recipe.width > 1).then(|| Shingler::new(shingling));
        let maker = recipe.paper.is_some().then(|| FeatureMaker::new(recipe.options)).and_then(Result::ok);
        Self { recipe, shingler, maker, votes: Votes::default(), hashes: Vec::new(), weighed: Vec::new() }
    }

    /// Computes the fingerprint of a text. Errors: a text of 4 GiB or more.
    pub fn text(&mut self, text: &str) -> Result<Simhash> {
        check_length(text.len())?;
        let ignore = self.recipe.ignore.take();
        let kept = ignore.as_ref().map_or(Cow::Borrowed(text), |ignore| ignore.strip(text));
        let made = self.stripped(&kept);
        self.recipe.ignore = ignore;
        Ok(made)
    }

    /// Computes the fingerprint of a text without its ignored parts.
    fn stripped(&mut self, text: &str) -> Simhash {
        self.votes.clear();
        let language = self.language(text);
        let length = match self.maker.take() {
            None => self.recipe.options.open(text, FeatureReader(self)),
            Some(mut maker) => {
                let count = maker.features(text, language, |values| self.weigh(values));
                self.maker = Some(maker);
                count
            }
        };
        Simhash { fingerprint: self.votes.fingerprint(), length: length as u32, language }
    }

    /// The fingerprint of tokens that the caller made: each token is a feature, or each shingle if they are wider.
    pub fn tokens(&mut self, tokens: &[u64]) -> Option<u64> {
        self.votes.clear();
        match self.shingler.take() {
            None => self.count(tokens.iter().copied()),
            Some(mut shingler) => {
                let mut ids = Vec::new();
                shingler.token_ids(tokens, &mut ids);
                self.count(ids.iter().copied());
                self.shingler = Some(shingler);
            }
        }
        self.votes.fingerprint()
    }

    /// Appends the values of the paper's features of a text, for an idf table; none if the recipe has other features.
    /// Errors: a text of 4 GiB or more.
    pub fn values(&mut self, text: &str, out: &mut Vec<u64>) -> Result<()> {
        check_length(text.len())?;
        let kept = self.recipe.ignore.as_ref().map_or(Cow::Borrowed(text), |ignore| ignore.strip(text));
        let language = self.language(&kept);
        if let Some(maker) = &mut self.maker {
            maker.features(&kept, language, |values| out.extend_from_slice(values));
        }
        Ok(())
    }

    /// The given language, or the detected one if the recipe needs it.
    fn language(&self, text: &str) -> TextLanguage {
        match &self.recipe.paper {
            Some(Paper { language: Some(given), .. }) => *given,
            Some(_) => TextLanguage::detect(text),
            None if self.recipe.tells_language => TextLanguage::detect(text),
            None => TextLanguage::default(),
        }
    }

    /// Counts the paper's features with their weights.
    fn weigh(&mut self, values: &[u64]) {
        let idf = self.recipe.paper.as_ref().and_then(|paper| paper.idf.as_deref());
        let Some(idf) = idf else { return self.count(values.iter().copied()) };
        self.weighed.clear();
        self.weighed.extend(values.iter().map(|value| (feature_hash(*value), idf.weight(*value))));
        self.votes.weigh(&self.weighed);
    }

    /// Counts the features of a block of token values.
    fn count(&mut self, values: impl Iterator<Item = u64>) {
        self.hashes.clear();
        // Hashes all values at once with vectors; the result equals `feature_hash` of each.
        self.hashes.extend(values.map(|value| value ^ SALT));
        mix_all(&mut self.hashes);
        self.votes.count(&self.hashes);
    }
}

/// Reads a text in blocks.
struct FeatureReader<'a>(&'a mut Simhasher);

impl Visitor for FeatureReader<'_> {
    /// Number of tokens in the text.
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
        // The dropped tokens begin only shingles that have been counted.
        kept.drain(..kept.len().saturating_sub(overlap));
    }
}
