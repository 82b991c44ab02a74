//! Signs documents: computes from readable texts everything that the questions of an index need.
//!
//! ```text
//! row: text ───────────────▶ fingerprints (fused) ─┐
//! submission: files ───────▶ picks, literals ──────┼─▶ Document
//! either: joined text ─▶ tokens ─▶ shingles ─▶ sketch, features, samples
//!                           └────▶ simhash        └─▶ zstd
//! ```
//!
//! The texts of several files are joined by a line feed (`texts.rs`); shingles, sketch, samples and simhash are those of
//! the joined text. Sketch and features are the same as `dedup` makes them, so its filter and its judge hold here too.
//!
//! Cost: the sum of its parts, about 40 ns per byte of a text of 2 KB, of which half is compression. The words are read
//! once for shingles and simhash. Everything is a function of the text and the settings; each thread has its own signer.

use crate::record::Document;
use crate::texts::{joined, NamedText, TextPacker};
use lookalike_compare::stored;
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_core::fingerprint::{Fingerprinter, Thresholds};
use lookalike_core::frontend::{check_length, Numbers, Options, Unit};
use lookalike_core::scheme::{Picks, SchemeKind};
use lookalike_core::simhash::hashing::{SimhashRecipe, Simhasher};
use lookalike_core::sketch::coordinates::CoordinateMaker;
pub use lookalike_core::sketch::coordinates::Coordinates;
use lookalike_core::sketch::features::Features;
use lookalike_core::sketch::sample::limit_of_modulus;
use lookalike_core::sketch::shingle::{into_set, Shingler, Shingling};
use lookalike_table::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::{xxh3_128, xxh3_64, Xxh3};

/// Rows are read as `compare` reads prose, so that passages of both agree.
const PROSE: Options = Options { unit: Unit::Character, homoglyphs: true };

/// What the question of resemblance keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptResemblance {
    /// The kind of sketch.
    pub kind: Coordinates,
    /// Its elements.
    pub size: usize,
    /// The filter: features, elements per feature, and how many features must be equal.
    pub filter: (usize, usize, usize),
    /// Whether nothing but the features is kept: 8 bytes each, and neither a sketch nor the keys of several (Broder 2000, §3).
    pub features_only: bool,
}

/// How documents are signed. A question that is left out keeps nothing.
#[derive(Clone, Debug)]
pub struct SignSettings {
    /// Whether fingerprints are kept.
    pub passages: bool,
    /// Noise and guarantee threshold of rows; files of submissions have their own.
    pub thresholds: (u32, u32),
    /// How texts become shingles.
    pub shingling: Shingling,
    /// Sketch and features.
    pub resemblance: Option<KeptResemblance>,
    /// One shingle in so many is kept, for containment.
    pub modulus: Option<u64>,
    /// How simhashes are made.
    pub simhash: Option<SimhashRecipe>,
    /// Whether texts are kept.
    pub texts: bool,
}

/// Signs many documents with the same tables and memory.
pub struct RecordSigner {
    passages: bool,
    texts: bool,
    shingling: Shingling,
    shingler: Option<Shingler>,
    sketcher: Option<(CoordinateMaker, Features)>,
    features_only: bool,
    /// The greatest id that is sampled.
    sampled: Option<u64>,
    hasher: Option<Simhasher>,
    /// Whether the simhash is made of the tokens that shingles are made of.
    shares_tokens: bool,
    fingerprinter: Fingerprinter,
    packer: TextPacker,
    tokens: Vec<u64>,
    ids: Vec<u64>,
}

/// The key of a string literal: equal for equal exact texts, in all documents.
pub fn literal_key(exact: &[u8]) -> u64 {
    xxh3_64(exact)
}

/// The key of a person; never 0, which stands for none.
pub fn person_key(person: &[u8]) -> u64 {
    xxh3_64(person).max(1)
}

/// The id of a document that was given without one: the 32 digits of its content hash, so that a text that is added twice
/// is one document, and never replaces another one.
pub fn unnamed(content: u128) -> Vec<u8> {
    format!("{content:032x}").into_bytes()
}

/// The hash of the content of a document: of its text, or of several texts with the length of each before it.
pub fn content_hash<'a>(texts: impl ExactSizeIterator<Item = &'a str>) -> u128 {
    let (mut hasher, is_one) = (Xxh3::new(), texts.len() == 1);
    for text in texts {
        if is_one {
            return xxh3_128(text.as_bytes());
        }
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.digest128()
}

fn refused(error: lookalike_core::error::Error) -> Error {
    Error::refused(error.to_string())
}

impl RecordSigner {
    /// Fills the tables. Errors: a parameter outside its range.
    pub fn new(settings: &SignSettings) -> Result<Self> {
        let (k, t) = settings.thresholds;
        let thresholds = Thresholds::new(k.into(), t.into()).map_err(refused)?;
        let sketcher = settings.resemblance.map(sketcher).transpose().map_err(refused)?;
        let is_shingled = sketcher.is_some() || settings.modulus.is_some();
        let recipe = settings.simhash.as_ref();
        Ok(Self {
            passages: settings.passages,
            texts: settings.texts,
            shingling: settings.shingling,
            shingler: is_shingled.then(|| Shingler::new(settings.shingling)),
            sketcher,
            features_only: settings.resemblance.is_some_and(|kept| kept.features_only),
            sampled: settings.modulus.map(limit_of_modulus),
            hasher: recipe.map(Simhasher::new),
            shares_tokens: recipe.is_some_and(|recipe| recipe.is_of_tokens(settings.shingling.options)),
            fingerprinter: Fingerprinter::new(thresholds, SchemeKind::Robust, PROSE),
            packer: TextPacker::new()?,
            tokens: Vec::new(),
            ids: Vec::new(),
        })
    }

    /// Signs a row of a corpus: prose. Its id, meta data, person and time are the caller's to fill in. Errors: a text
    /// of 4 GiB or more.
    pub fn row(&mut self, text: &str) -> Result<Document> {
        check_length(text.len()).map_err(refused)?;
        let mut postings = Vec::new();
        if self.passages {
            let mut picks = Picks::default();
            self.fingerprinter.text(text, &mut picks).map_err(refused)?;
            postings = picks.hashes;
            into_set(&mut postings);
        }
        let content = content_hash([text].into_iter());
        self.signed(&[NamedText { name: b"", text }], text, Document { content, postings, ..empty() })
    }

    /// Signs a submission: files with their names. `facts` are stored with the tokens for a comparison. As
    /// [`RecordSigner::row`].
    pub fn submission(&mut self, files: &[(Vec<u8>, Arc<SubmittedFile>)], facts: &[u8]) -> Result<Document> {
        let named: Vec<NamedText> = files.iter().map(|(name, file)| NamedText { name, text: &file.text }).collect();
        let whole = joined(&named);
        check_length(whole.len()).map_err(refused)?;
        let content = content_hash(named.iter().map(|file| file.text));
        let mut made = Document { content, ..empty() };
        if self.passages {
            let shared: Vec<Arc<SubmittedFile>> = files.iter().map(|(_, file)| file.clone()).collect();
            fingerprint(&shared, &mut made);
            if self.texts {
                // Tokens without texts cannot be shown or compared again.
                made.tokens = stored::store(&shared, facts).map_err(|error| Error::io(Path::new("zstd"), error))?;
            }
        }
        self.signed(&named, &whole, made)
    }

    /// The distinct ids of the shingles of the document that was signed last, ascending.
    pub fn shingles(&self) -> &[u64] {
        &self.ids
    }

    /// Adds what the whole text gives.
    fn signed(&mut self, files: &[NamedText<'_>], whole: &str, mut made: Document) -> Result<Document> {
        made.bytes = files.iter().map(|file| file.text.len() as u64).sum();
        self.ids.clear();
        if self.shingler.is_some() {
            self.tokens.clear();
            self.shingling.options.open(whole, Numbers(&mut self.tokens));
            made.length = self.tokens.len() as u32;
            self.shingle(&mut made);
        }
        if let Some(hasher) = &mut self.hasher {
            if self.shares_tokens && self.shingler.is_some() {
                made.simhash = hasher.tokens(&self.tokens);
            } else {
                let simhash = hasher.text(whole).map_err(refused)?;
                (made.simhash, made.length) = (simhash.fingerprint, made.length.max(simhash.length));
            }
        }
        if self.texts {
            made.text = self.packer.pack(files, whole)?;
        }
        Ok(made)
    }

    /// Adds shingles, sketch, features and samples of the tokens.
    fn shingle(&mut self, made: &mut Document) {
        let Some(shingler) = &mut self.shingler else { return };
        shingler.token_ids(&self.tokens, &mut self.ids);
        into_set(&mut self.ids);
        made.shingles = self.ids.len() as u32;
        if let Some(limit) = self.sampled {
            made.samples = self.ids[..self.ids.partition_point(|id| *id <= limit)].to_vec();
        }
        if let (Some((maker, features)), false) = (&mut self.sketcher, self.ids.is_empty()) {
            maker.halves(&self.ids, &mut made.sketch);
            if self.features_only {
                return features.features(&std::mem::take(&mut made.sketch), &mut made.features);
            }
            features.keys(&made.sketch, &mut made.features);
        }
    }
}

/// What makes sketches and features. Errors: a parameter outside its range.
fn sketcher(kept: KeptResemblance) -> lookalike_core::error::Result<(CoordinateMaker, Features)> {
    let (k, s, r) = kept.filter;
    Ok((CoordinateMaker::new(kept.kind, kept.size)?, Features::new(k, s, r)?))
}

/// A document of which nothing is known.
fn empty() -> Document {
    Document { time: i64::MIN, ..Document::default() }
}

/// Adds the picks and literals of files.
fn fingerprint(files: &[Arc<SubmittedFile>], made: &mut Document) {
    for part in files.iter().flat_map(|file| &file.parts).filter(|part| !part.tokens.is_empty()) {
        made.postings.extend(part.picks.iter().map(|pick| pick.key));
        let key = |number: u64| literal_key(part.exact_text(number as u32));
        made.literals.extend(part.literals.iter().map(|literal| key(literal.key)));
    }
    // A submission that is too short for a pick is found only by another one with the same tokens.
    made.literals.extend(stored::short_key(files));
    into_set(&mut made.postings);
    into_set(&mut made.literals);
}

#[cfg(test)]
mod tests;
