//! Questions about one document: which documents of a snapshot are identical to it, resemble it, contain it or are
//! contained in it, or have a simhash near its own.
//!
//! ```text
//! Asked ─▶ keys ─▶ Snapshot::holders ─▶ groups by content ─▶ sketches reject ─▶ exact count on texts ─▶ Found
//!                  candidates.rs                              limits.rs           exact.rs
//! ```
//!
//! | file | answers with | complete |
//! |---|---|---|
//! | `identical.rs` | the same content hash | yes |
//! | `resemblance.rs` | resemblance at or above a threshold | for documents that share a key of the filter |
//! | `containment.rs` | containment at or above a threshold, either way | for documents that share a sampled shingle |
//! | `distance.rs` | a simhash within some bits | yes |
//! | `seen.rs` | whether a document like it is there, and the nearest | as resemblance |
//!
//! Removed documents, shadows and starter code are never told. Documents with one content are told once, with their
//! number. Sketches and samples only reject, with an error of at most [`DOUBT`]; what is told is counted on the stored
//! texts. Without texts it is estimated, with an interval, and marked.
//!
//! Cost: linear in the holders of the document's keys; one sketch and at most one text per distinct content. **Source.**
//! Broder 1997 and 2000; Manku, Jain, Das Sarma 2007.

mod candidates;
pub mod conditions;
mod containment;
mod distance;
pub mod exact;
mod filtered;
mod identical;
mod limits;
pub mod passages;
mod resemblance;
pub mod seen;

#[cfg(test)]
mod tests;

use crate::record::Document;
use crate::segment::StoredRow;
use crate::sign::SignSettings;
use conditions::Conditions;
use exact::ExactCounter;
use filtered::Filtered;
use limits::Limits;
use lookalike_core::sketch::shingle::Shingling;
use lookalike_table::Result;

/// The probability with which a sketch or a sample may reject a document at the threshold, as in `dedup`.
pub const DOUBT: f64 = 1e-6;
/// The probability that the interval of an estimate contains the true value.
pub const CONFIDENCE: f64 = 0.95;

/// A document that questions are asked about.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What was signed of it.
    pub document: Document,
    /// The distinct ids of its shingles, ascending; empty if texts are not kept, for then nothing is counted.
    pub shingles: Vec<u64>,
}

/// What is told of the documents that are found.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// What their meta data must say.
    pub conditions: &'a Conditions,
    /// Most matches that are told; all are counted.
    pub top: usize,
    /// Least resemblance or containment.
    pub threshold: f64,
}

/// A measure between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The value, or its estimate.
    pub value: f64,
    /// Lower limit of the interval; the value itself if it is exact.
    pub low: f64,
    /// Upper limit of the interval.
    pub high: f64,
    /// Whether it was counted on the texts.
    pub is_exact: bool,
}

impl Score {
    /// A value that was counted.
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value, is_exact: true }
    }
}

/// How near a match is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// It has the same content.
    Identical,
    /// The share of all shingles of both that both have.
    Resemblance(Score),
    /// The share of the asked document's shingles that the match has, and the share of the match's that the asked one has.
    Containment(Score, Score),
    /// Number of bits in which the simhashes differ.
    Distance(u32),
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Its number in the snapshot: the first document with this content.
    pub number: u64,
    /// What is stored of it.
    pub row: StoredRow,
    /// Number of documents with this content, itself included.
    pub copies: u64,
    /// How near it is.
    pub measure: Measure,
}

/// What a question read, for tests and reports of cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Holders of keys, and simhashes, that were looked at.
    pub holders: u64,
    /// Documents whose rows were read.
    pub rows: u64,
    /// Sketches that were compared.
    pub sketches: u64,
    /// Texts that were unpacked and counted.
    pub texts: u64,
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The nearest matches, nearest first, then by number.
    pub matches: Vec<Match>,
    /// Number of documents that answer the question, told or not.
    pub documents: u64,
    /// Number of distinct contents among them.
    pub distinct: u64,
    /// What was read.
    pub work: Work,
}

impl Found {
    /// The answer of all matches: nearest first by `key`, where smaller is nearer, and cut to the first `top`.
    fn of(mut matches: Vec<Match>, top: usize, key: impl Fn(&Measure) -> f64, work: Work) -> Self {
        matches.sort_by(|left, right| {
            key(&left.measure).total_cmp(&key(&right.measure)).then(left.number.cmp(&right.number))
        });
        let (documents, distinct) = (matches.iter().map(|one| one.copies).sum(), matches.len() as u64);
        matches.truncate(top);
        Self { matches, documents, distinct, work }
    }
}

/// Answers questions with the same memory; each thread has its own.
pub struct Asker {
    exact: ExactCounter,
    limits: Limits,
    /// Of an index that keeps features alone: what decides.
    filtered: Option<Filtered>,
    shingling: Shingling,
    modulus: u64,
}

impl Asker {
    /// Makes an asker for an index whose documents were signed like this. Errors: memory that it cannot have.
    pub fn new(settings: &SignSettings) -> Result<Self> {
        let (shingling, modulus) = (settings.shingling, settings.modulus.unwrap_or(1));
        let (exact, limits) = (ExactCounter::new(shingling)?, Limits::new(modulus));
        Ok(Self { exact, limits, filtered: Filtered::of(settings), shingling, modulus })
    }
}
