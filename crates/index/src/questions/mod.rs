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
//! | `identical.rs` | the same text; without texts, the same content hash | yes |
//! | `resemblance.rs` | resemblance at or above a threshold | for documents that share a key of the filter |
//! | `containment.rs` | containment at or above a threshold, either way | for documents that share a sampled shingle |
//! | `distance.rs` | a simhash within some bits | yes |
//! | `seen.rs` | whether a document like it is there, and the nearest | as resemblance |
//!
//! Removed documents, shadows and starter code are never told. Shingles of starter code are not counted where texts are kept:
//! a document that shares only those is not told, and one that has no others has no answer. Documents with one content are told once, with their
//! number. Sketches and samples only reject, with an error of at most [`DOUBT`]: samples without those of starter code, and
//! sketches, which are those of whole texts, at a threshold that is lower by what starter code can take away
//! ([`Asked::whole_threshold`]). The filter proposes by whole texts. What is told is counted on the stored texts. Without texts it is estimated, with an interval, and marked.
//!
//! Cost: linear in the holders of the document's keys; one sketch and at most one text per distinct content. Rows are read of
//! the documents that are told; of all others flags and content hash. **Source.**
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
use crate::snapshot::Snapshot;
use candidates::Group;
use conditions::Conditions;
use exact::ExactCounter;
use filtered::Filtered;
use limits::Limits;
use lookalike_core::sketch::shingle::Shingling;
use lookalike_table::Result;
use std::sync::Arc;

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
    /// The texts of its files; empty if texts are not kept, for then nothing is compared.
    pub texts: Vec<String>,
    /// The distinct ids of the shingles of starter code, ascending. They are not counted.
    pub starter: Arc<[u64]>,
}

impl Asked {
    /// The document among others that have this starter code, whose shingles are not counted.
    pub fn beside(mut self, starter: Arc<[u64]>) -> Self {
        exact::without(&mut self.shingles, &starter);
        exact::without(&mut self.document.samples, &starter);
        Self { starter, ..self }
    }

    /// Number of its distinct shingles that count.
    pub fn counted(&self) -> u64 {
        match self.starter.is_empty() {
            true => u64::from(self.document.shingles),
            false => self.shingles.len() as u64,
        }
    }

    /// The least resemblance of whole texts if that without starter code reaches a threshold.
    ///
    /// Let A and B be the texts without starter code, and S all starter code. Both whole texts have at most the shingles of
    /// A ∪ B ∪ S, and share those of A ∩ B. So their resemblance is at least |A ∩ B| / (|A ∪ B| + |S|), which is at least
    /// threshold · u / (u + |S|) with u = |A ∪ B|. This grows with u, and u is at least |A|.
    pub fn whole_threshold(&self, threshold: f64) -> f64 {
        let (own, starter) = (self.counted() as f64, self.starter.len() as f64);
        match self.starter.is_empty() {
            true => threshold,
            false => threshold * own / (own + starter),
        }
    }

    /// Whether all of its shingles are those of starter code, so that nothing is like it.
    pub fn is_starter(&self) -> bool {
        !self.starter.is_empty() && self.shingles.is_empty() && self.document.shingles > 0
    }
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
    /// It has the same text; not verified where texts are not kept, and hashes alone are equal.
    Identical {
        /// Whether the texts were compared.
        is_verified: bool,
    },
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
    /// Documents whose flags were read.
    pub rows: u64,
    /// Sketches that were compared.
    pub sketches: u64,
    /// Texts that were unpacked and counted.
    pub texts: u64,
}

/// Documents with the content hash of the asked one. Equal hashes of different texts can be crafted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SameHash {
    /// Documents with another text, which are not told.
    pub other_text: u64,
    /// Documents that are counted among the copies, and whose texts were not compared with that of the asked one.
    pub uncompared: u64,
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
    /// Of the question of identity: what its hash did not settle.
    pub same_hash: SameHash,
    /// What was read.
    pub work: Work,
}

impl Found {
    /// The answer of all groups that answer the question: nearest first, then by number. All are counted; rows are read of the
    /// first `top`. Errors: damaged.
    fn of(snapshot: &Snapshot, mut all: Vec<(Group, Measure)>, top: usize, work: Work) -> Result<Self> {
        let by_nearness = |(left, near): &(Group, Measure), (right, other): &(Group, Measure)| {
            near.far().total_cmp(&other.far()).then(left.number.cmp(&right.number))
        };
        let (documents, distinct) = (all.iter().map(|(group, _)| group.copies).sum(), all.len() as u64);
        if top < all.len() {
            all.select_nth_unstable_by(top, by_nearness);
            all.truncate(top);
        }
        all.sort_unstable_by(by_nearness);
        let told = all.into_iter().map(|(group, measure)| group.told(snapshot, measure));
        Ok(Self { matches: told.collect::<Result<_>>()?, documents, distinct, work, ..Self::default() })
    }
}

impl Measure {
    /// What orders answers: smaller is nearer.
    fn far(&self) -> f64 {
        match self {
            Self::Identical { .. } => 0.0,
            Self::Resemblance(score) => -score.value,
            Self::Containment(inside, holds) => -inside.value.max(holds.value),
            Self::Distance(bits) => f64::from(*bits),
        }
    }
}

impl Group {
    /// The match of a group, with the row of its first document. Errors: damaged.
    fn told(self, snapshot: &Snapshot, measure: Measure) -> Result<Match> {
        Ok(Match { number: self.number, row: snapshot.row(self.number)?, copies: self.copies, measure })
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

    /// The shingles of the starter code of a snapshot, for [`Asked::beside`]. Errors: damaged.
    pub fn starter(&mut self, snapshot: &Snapshot) -> Result<Arc<[u64]>> {
        self.exact.starter(snapshot).map(Arc::from)
    }
}
