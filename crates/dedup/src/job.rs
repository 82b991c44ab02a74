//! Decides which rows of a signed corpus are kept: identical texts, then proposed pairs, verification and clusters.
//!
//! The definition stands in docs/dedup.md and, as a program, in tests/oracles/dedup.py.
//!
//! Cost: a sort of the rows by content and a sort of the keys, both within the memory budget, and the cost of
//! `clustering`; 24 bytes per row.

use crate::alike::{AlikeJudge, Limits};
use crate::corpus::Corpus;
use crate::judge::{Measure, ShingleJudge};
use crate::proposing::{proposed, SketchElements, Work};
use crate::ranking::Ranking;
use crate::simhash_judge::Nearness;
use lookalike_core::clustering::{self, Capped, Clustering, Giant, Judge, Method, Proposals, Representative};
use lookalike_core::error::Error;
use lookalike_table::Error as TableError;
use rayon::prelude::*;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which documents are searched for in addition to identical texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchMethod {
    /// None.
    Identical,
    /// Documents whose resemblance reaches the threshold, found by r of k features of s elements.
    Resemblance {
        /// Number of features.
        k: usize,
        /// Elements per feature.
        s: usize,
        /// Number of features that must be equal.
        r: usize,
    },
    /// Documents whose resemblance reaches the threshold, all of them: no filter, and every pair is counted.
    Join,
    /// Documents that share r of k features; nothing is verified.
    Features {
        /// Number of features.
        k: usize,
        /// Elements per feature.
        s: usize,
        /// Number of features that must be equal.
        r: usize,
    },
    /// Documents of which a share that reaches the threshold is contained in another, found by their samples.
    Containment,
    /// Documents with similar simhash fingerprints.
    Simhash(Nearness),
}

/// How linked documents become clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Each member reaches the threshold against its leader.
    Star,
    /// All documents that are linked through any chain.
    Components,
    /// Broder's greedy clustering of 1997.
    Greedy,
}

/// Which row of a cluster is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The first row.
    First,
    /// The longest text.
    Longest,
    /// The largest number in the chosen column.
    Largest,
}

/// Parameters of a deduplication.
#[derive(Clone, Debug)]
pub struct DedupSettings {
    /// The search.
    pub search: SearchMethod,
    /// The least score of near-duplicates.
    pub threshold: f64,
    /// Which documents may be paired at all; for simhash [`Nearness`] has its own.
    pub limits: Limits,
    /// The clustering.
    pub grouping: Grouping,
    /// Which row of a cluster is kept.
    pub keep: Keep,
    /// Rows below this number are references. References are never removed; other rows are removed only if they
    /// resemble a reference.
    pub references: Option<u32>,
    /// Bytes of keys sorted in memory.
    pub budget_bytes: usize,
    /// The folder for keys beyond that.
    pub folder: PathBuf,
}

/// What was measured between a row and the row kept for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Link {
    /// There is no link: the row is kept.
    #[default]
    None,
    /// The texts are identical.
    Identical,
    /// The exact resemblance.
    Exact,
    /// The distance of the fingerprints.
    Distance,
    /// The exact containment.
    Contained,
    /// The share of equal features: the filter decided, and nothing was verified.
    Filter,
}

impl Link {
    /// All links, by number.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Identical, Self::Exact, Self::Distance, Self::Contained, Self::Filter];

    /// What a search measures between documents that are not identical.
    pub fn of(search: SearchMethod) -> Self {
        match search {
            SearchMethod::Identical => Self::Identical,
            SearchMethod::Resemblance { .. } | SearchMethod::Join => Self::Exact,
            SearchMethod::Containment => Self::Contained,
            SearchMethod::Features { .. } => Self::Filter,
            SearchMethod::Simhash(nearness) if nearness.is_verified => Self::Exact,
            SearchMethod::Simhash(_) => Self::Distance,
        }
    }
}

/// Result of a deduplication.
#[derive(Clone, Debug, Default)]
pub struct DedupOutcome {
    /// For each row, the row kept for it; itself if it is kept.
    pub survivor: Vec<u32>,
    /// The exact score against that row; 1 for itself.
    pub score: Vec<f32>,
    /// What that score measures.
    pub link: Vec<Link>,
    /// Number of documents after identical ones were merged.
    pub documents: u64,
    /// Keys so common that not all their pairs are proposed.
    pub capped: Vec<Capped>,
    /// Unusually large clusters, in rows.
    pub giants: Vec<Giant>,
    /// Number of pairs whose sketches were compared.
    pub glances: u64,
    /// Number of pairs whose shingles were compared.
    pub exacts: u64,
    /// Number of documents without a sample, which the search could not find.
    pub unsampled: u64,
}

/// The reason why a deduplication failed.
#[derive(Debug)]
pub enum Failure {
    /// A parameter is outside its range.
    Parameter(Error),
    /// A table could not be written or read.
    Table(TableError),
    /// A folder could not be used.
    Folder(io::Error),
    /// The caller ended it.
    Stopped,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Parameter(error)
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Folder(error)
    }
}

/// Deduplicates a corpus. If `stop` becomes true, ends soon after with [`Failure::Stopped`].
pub fn decide(corpus: &Corpus, settings: &DedupSettings, stop: &AtomicBool) -> Result<DedupOutcome, Failure> {
    let ranking = Ranking::new(corpus, settings)?;
    let mut outcome = identical(corpus, settings, &ranking);
    outcome.documents = ranking.documents.len() as u64;
    if settings.search != SearchMethod::Identical {
        let found = near(corpus, settings, &ranking.documents, stop, &mut outcome)?;
        merge(found, settings, &ranking, &mut outcome);
    }
    Ok(outcome)
}

/// Whether a row may be removed for an identical one: with references, only for a reference, and references are kept.
pub fn may_go(settings: &DedupSettings, first: u32, row: u32) -> bool {
    settings.references.is_none_or(|references| first < references && row >= references)
}

/// The result of comparing texts for identity alone.
fn identical(corpus: &Corpus, settings: &DedupSettings, ranking: &Ranking) -> DedupOutcome {
    let rows = corpus.rows.len();
    let mut outcome = DedupOutcome {
        survivor: (0..rows as u32).collect(),
        score: vec![1.0; rows],
        link: vec![Link::None; rows],
        ..DedupOutcome::default()
    };
    for (row, first) in (0..).zip(ranking.class.iter().copied()).filter(|(row, first)| row != first) {
        if may_go(settings, first, row) {
            outcome.survivor[row as usize] = first;
            outcome.link[row as usize] = Link::Identical;
        }
    }
    outcome
}

/// Clusters the documents that are not identical.
fn near(
    corpus: &Corpus,
    settings: &DedupSettings,
    documents: &[u32],
    stop: &AtomicBool,
    outcome: &mut DedupOutcome,
) -> Result<Clustering, Failure> {
    if settings.grouping != Grouping::Greedy {
        let method = if settings.grouping == Grouping::Components { Method::Components } else { Method::Star };
        let (found, unsampled) = proposed(corpus, settings, documents, stop, ByKeys(method))?;
        outcome.unsampled = unsampled;
        return Ok(found);
    }
    let judge = judge(corpus, settings, documents, stop);
    let sketches = SketchElements::new(corpus, documents)?;
    let alike = AlikeJudge::new(settings.limits, &corpus.traits, documents, &judge);
    // References come first in order of rank.
    let is_leading = |row: &u32| settings.references.is_none_or(|references| *row < references);
    let leading = documents.partition_point(is_leading) as u32;
    let (threshold, popular) = (settings.threshold, Representative::Popular);
    let found = clustering::greedy(&sketches, documents.len(), threshold, leading, popular, &alike);
    ended(judge.failure(), stop)?;
    Ok(found)
}

/// Clusters documents along the edges.
struct ByKeys(Method);

impl Work for ByKeys {
    type Output = Clustering;

    fn run(self, proposals: &impl Proposals, threshold: f64, judge: &impl Judge) -> Result<Clustering, Failure> {
        Ok(clustering::cluster(proposals, threshold, self.0, judge))
    }
}

/// The judge of shingles that the settings ask for.
pub fn judge<'a>(
    corpus: &'a Corpus,
    settings: &DedupSettings,
    documents: &'a [u32],
    stop: &'a AtomicBool,
) -> ShingleJudge<'a> {
    let measure = match settings.search {
        SearchMethod::Containment => Measure::Containment,
        _ => Measure::Resemblance,
    };
    let judge = ShingleJudge::new(&corpus.store, documents, measure, settings.threshold, settings.references, stop);
    match settings.search {
        SearchMethod::Join => judge.thorough(),
        _ => judge,
    }
}

/// Errors: the store could not be read, or the work was stopped.
pub fn ended(failure: Option<TableError>, stop: &AtomicBool) -> Result<(), Failure> {
    match (failure, stop.load(Ordering::Relaxed)) {
        (Some(error), _) => Err(Failure::Table(error)),
        (None, true) => Err(Failure::Stopped),
        (None, false) => Ok(()),
    }
}

/// The fingerprints of rows; `None` for a row without one.
pub fn fingerprints(corpus: &Corpus, rows: &[u32]) -> Vec<Option<u64>> {
    let is_there = |row: &&u32| (**row as usize) < corpus.rows.len();
    let print = |row: &u32| corpus.prints.get(*row as usize).and_then(|print| print.fingerprint);
    rows.iter().filter(is_there).map(print).collect()
}

/// The exact scores of pairs of rows, in order; `None` where undefined. For containment, the share of the right row
/// that is in the left row.
///
/// Errors: the store cannot be read.
pub fn scores(
    corpus: &Corpus,
    pairs: &[(u32, u32)],
    is_containment: bool,
) -> lookalike_table::Result<Vec<Option<f64>>> {
    let rows: Vec<u32> = (0..corpus.rows.len() as u32).collect();
    let measure = if is_containment { Measure::Containment } else { Measure::Resemblance };
    let stop = AtomicBool::new(false);
    let judge = ShingleJudge::new(&corpus.store, &rows, measure, 1.0, None, &stop);
    let score = |(left, right): &(u32, u32)| {
        let mut scores = Vec::with_capacity(1);
        if (*left.max(right) as usize) < rows.len() {
            judge.exact(*left, &[*right], 0.0, &mut scores);
        }
        scores.pop().flatten()
    };
    let scores = pairs.par_iter().map(score).collect();
    judge.failure().map_or(Ok(scores), Err)
}

/// Translates clusters of documents to clusters of rows: rows with the same text share the result. References are
/// never removed.
fn merge(found: Clustering, settings: &DedupSettings, ranking: &Ranking, outcome: &mut DedupOutcome) {
    let row_of = |document: u32| ranking.documents[document as usize];
    let is_reference = |row: usize| settings.references.is_some_and(|references| row < references as usize);
    let link = Link::of(settings.search);
    for (document, leader) in (0..).zip(&found.leader).filter(|(document, leader)| *document != **leader) {
        let row = row_of(document) as usize;
        if !is_reference(row) {
            outcome.survivor[row] = row_of(*leader);
            outcome.score[row] = found.score[document as usize];
            outcome.link[row] = link;
        }
    }
    for (row, first) in ranking.class.iter().map(|first| *first as usize).enumerate() {
        if first != row && outcome.link[first] != Link::None {
            outcome.survivor[row] = outcome.survivor[first];
            outcome.score[row] = outcome.score[first];
            outcome.link[row] = outcome.link[first];
        }
    }
    outcome.giants = found.giants.into_iter().map(|giant| Giant { leader: row_of(giant.leader), ..giant }).collect();
    (outcome.capped, outcome.glances, outcome.exacts) = (found.capped, found.glances, found.exacts);
}
