//! Decides which rows of a signed corpus are kept: identical texts, then keys, candidates, verification and clusters.
//!
//! Cost: a sort of the rows by content and a sort of the keys, both within the memory budget, and the cost of
//! `clustering`; 24 bytes per row.

use crate::blocks::Blocks;
use crate::corpus::Corpus;
use crate::judge::{Measure, ShingleJudge};
use crate::sign::{Print, RowState};
use crate::simhash_judge::{score, Nearness, SimhashJudge};
use lookalike_core::clustering::{self, Capped, Clustering, Giant, Judge, Method, Representative, Sketches};
use lookalike_core::error::Error;
use lookalike_core::hash::mix64;
use lookalike_core::sketch::features::Features;
use lookalike_core::table::external::{Sorter, TableError};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::io;
use std::path::PathBuf;

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

/// How the link between a row and the row kept for it was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Link {
    /// There is no link: the row is kept.
    #[default]
    None,
    /// The texts are identical.
    Identical,
    /// The exact score reaches the threshold.
    Exact,
    /// Sketches or fingerprints decided without an exact score.
    Estimated,
}

/// A pair of rows that reaches the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkedPair {
    /// The row that is preferred for keeping.
    pub left: u32,
    /// The other row.
    pub right: u32,
    /// The score.
    pub score: f32,
    /// How the link was found.
    pub link: Link,
}

/// Result of a deduplication.
#[derive(Clone, Debug, Default)]
pub struct DedupOutcome {
    /// For each row, the row kept for it; itself if it is kept.
    pub survivor: Vec<u32>,
    /// The score against that row; 1 for itself.
    pub score: Vec<f32>,
    /// How the link to it was found.
    pub link: Vec<Link>,
    /// Every pair that was found, ascending. Of identical texts, only pairs with the first one.
    pub pairs: Vec<LinkedPair>,
    /// Number of documents after identical ones were merged.
    pub documents: u64,
    /// Keys too common to try all their pairs.
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
    /// The store could not be read.
    Store(io::Error),
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
        Self::Store(error)
    }
}

/// Deduplicates a corpus.
pub fn decide(corpus: &Corpus, settings: &DedupSettings) -> Result<DedupOutcome, Failure> {
    let order = ranks(corpus, settings);
    let class = classes(corpus, settings, &order)?;
    let mut outcome = identical(corpus, settings, &class, &order);
    let is_document =
        |row: &u32| class[*row as usize] == *row && corpus.rows[*row as usize].state == RowState::Compared;
    let documents: Vec<u32> = (0..corpus.rows.len() as u32).filter(is_document).collect();
    outcome.documents = documents.len() as u64;
    if settings.search != SearchMethod::Identical {
        let found = near(corpus, settings, &documents, &order, &mut outcome)?;
        merge(found, &documents, &class, &mut outcome);
    }
    let key = |pair: &LinkedPair| (pair.left, pair.right);
    outcome.pairs.sort_unstable_by_key(key);
    Ok(outcome)
}

/// The rank of each row: lower ranks are preferred for keeping. References come first, then the `keep` rule decides.
/// For containment, larger documents come before smaller ones.
fn ranks(corpus: &Corpus, settings: &DedupSettings) -> Vec<u32> {
    let rows = &corpus.rows;
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    let by_rule = |left: &u32, right: &u32| {
        let (a, b) = (&rows[*left as usize], &rows[*right as usize]);
        match settings.keep {
            Keep::First => Ordering::Equal,
            Keep::Longest => b.bytes.cmp(&a.bytes),
            // Rows without a number come last.
            Keep::Largest => match (a.number.is_nan(), b.number.is_nan()) {
                (false, false) => b.number.total_cmp(&a.number),
                (left, right) => left.cmp(&right),
            },
        }
    };
    let is_reference = |row: &u32| settings.references.is_some_and(|references| *row < references);
    if settings.search == SearchMethod::Containment {
        let size = |row: &u32| corpus.store.id_count(*row);
        order.sort_by(|a, b| {
            is_reference(b).cmp(&is_reference(a)).then_with(|| size(b).cmp(&size(a))).then_with(|| by_rule(a, b))
        });
    } else if settings.keep != Keep::First {
        order.sort_by(|a, b| is_reference(b).cmp(&is_reference(a)).then_with(|| by_rule(a, b)));
    }
    let mut ranks = vec![0; rows.len()];
    for (rank, row) in (0..).zip(order) {
        ranks[row as usize] = rank;
    }
    ranks
}

/// A sorter with a folder of its own.
fn sorter(settings: &DedupSettings, name: &str) -> io::Result<Sorter> {
    let folder = settings.folder.join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(Sorter::new(settings.budget_bytes, Some(&folder)))
}

/// For each row, the first in rank of the rows with the same text. A row without a text is alone.
fn classes(corpus: &Corpus, settings: &DedupSettings, ranks: &[u32]) -> Result<Vec<u32>, Failure> {
    let mut sorter = sorter(settings, "texts")?;
    for (row, known) in (0..).zip(&corpus.rows) {
        if known.state.has_text() {
            sorter.push(row, &[mix64(known.content as u64)])?;
        }
    }
    let mut class: Vec<u32> = (0..corpus.rows.len() as u32).collect();
    let mut table = sorter.finish()?;
    let mut same = Vec::new();
    while let Some((_, rows)) = table.next_run()? {
        if rows.len() == 1 {
            continue;
        }
        same.clear();
        same.extend(rows.iter().map(|row| (corpus.rows[*row as usize].content, ranks[*row as usize], *row)));
        same.sort_unstable();
        for run in same.chunk_by(|left, right| left.0 == right.0) {
            let first = run[0].2;
            run.iter().for_each(|(_, _, row)| class[*row as usize] = first);
        }
    }
    Ok(class)
}

/// The result of comparing texts for identity alone.
fn identical(corpus: &Corpus, settings: &DedupSettings, class: &[u32], ranks: &[u32]) -> DedupOutcome {
    let rows = corpus.rows.len();
    let mut outcome = DedupOutcome {
        survivor: (0..rows as u32).collect(),
        score: vec![1.0; rows],
        link: vec![Link::None; rows],
        ..DedupOutcome::default()
    };
    for (row, first) in (0..).zip(class.iter().copied()).filter(|(row, first)| row != first) {
        debug_assert!(ranks[first as usize] < ranks[row as usize]);
        // With references, a row is removed only for a reference, and references are kept.
        let may_go = settings.references.is_none_or(|references| first < references && row >= references);
        if may_go {
            outcome.survivor[row as usize] = first;
            outcome.link[row as usize] = Link::Identical;
            outcome.pairs.push(LinkedPair { left: first, right: row, score: 1.0, link: Link::Identical });
        }
    }
    outcome
}

/// Clusters the documents that are not identical.
fn near(
    corpus: &Corpus,
    settings: &DedupSettings,
    documents: &[u32],
    ranks: &[u32],
    outcome: &mut DedupOutcome,
) -> Result<Clustering, Failure> {
    let measure = match settings.search {
        SearchMethod::Containment => Measure::Containment,
        _ => Measure::Resemblance,
    };
    let judge = ShingleJudge::new(&corpus.store, documents, measure, settings.threshold, settings.references);
    let rank: Vec<u32> = documents.iter().map(|row| ranks[*row as usize]).collect();
    let (clustering, failure) = if let SearchMethod::Simhash(nearness) = settings.search {
        let judge = SimhashJudge::new(nearness, &corpus.store, documents, judge)?;
        let keys = print_keys(&judge, nearness.distance, settings, documents.len())?;
        (cluster(keys, &rank, settings, &judge)?, judge.failure())
    } else if settings.grouping == Grouping::Greedy {
        let sketches = SketchElements::new(corpus, documents)?;
        let found = clustering::greedy(&sketches, &rank, settings.threshold, Representative::Popular, &judge);
        (found, judge.failure())
    } else {
        let keys = keys(corpus, settings, documents, outcome)?;
        (cluster(keys, &rank, settings, &judge)?, judge.failure())
    };
    failure.map_or(Ok(clustering), |error| Err(Failure::Store(error)))
}

/// Clusters documents that share keys.
fn cluster(keys: Sorter, rank: &[u32], settings: &DedupSettings, judge: &impl Judge) -> Result<Clustering, Failure> {
    let method = if settings.grouping == Grouping::Components { Method::Components } else { Method::Star };
    let threshold = match settings.search {
        SearchMethod::Simhash(nearness) if !nearness.is_verified => score(nearness.distance),
        _ => settings.threshold,
    };
    let mut found = clustering::cluster(keys.finish()?, rank, threshold, method, judge)?;
    if method == Method::Components {
        score_against_leaders(&mut found, judge);
    }
    Ok(found)
}

/// The keys of all fingerprints, not sorted yet.
fn print_keys(
    judge: &SimhashJudge<'_>,
    distance: u32,
    settings: &DedupSettings,
    documents: usize,
) -> Result<Sorter, Failure> {
    let blocks = Blocks::for_documents(distance, documents)?;
    let mut sorter = sorter(settings, "keys")?;
    let mut keys = Vec::new();
    for document in 0..documents as u32 {
        keys.clear();
        if let Some(fingerprint) = judge.fingerprint(document) {
            blocks.keys(fingerprint, &mut keys);
        }
        sorter.push(document, &keys)?;
    }
    Ok(sorter)
}

/// The fingerprints of rows; `None` for a row without one. Errors: the store cannot be read.
pub fn fingerprints(corpus: &Corpus, rows: &[u32]) -> io::Result<Vec<Option<u64>>> {
    let is_there = |row: &&u32| (**row as usize) < corpus.rows.len();
    let print = |row: &u32| corpus.store.elements(*row).map(|elements| Print::get(&elements).fingerprint);
    rows.iter().filter(is_there).map(print).collect()
}

/// Scores each member of a component against the row that is kept. Chains of links hold a component together, so this
/// score may be below the threshold.
fn score_against_leaders(found: &mut Clustering, judge: &impl Judge) {
    let mut members: Vec<(u32, u32)> = (0..)
        .zip(&found.leader)
        .filter(|(document, leader)| document != *leader)
        .map(|(d, leader)| (*leader, d))
        .collect();
    members.sort_unstable();
    let groups: Vec<&[(u32, u32)]> = members.chunk_by(|left, right| left.0 == right.0).collect();
    let score = |group: &&[(u32, u32)]| {
        let others: Vec<u32> = group.iter().map(|(_, document)| *document).collect();
        let mut scores = Vec::with_capacity(others.len());
        judge.exact(group[0].0, &others, &mut scores);
        others.into_iter().zip(scores).collect::<Vec<_>>()
    };
    let scored: Vec<(u32, Option<f64>)> = groups.par_iter().flat_map_iter(score).collect();
    for (document, score) in scored {
        found.score[document as usize] = score.unwrap_or(0.0) as f32;
        found.exact[document as usize] = true;
    }
}

/// The keys of all documents, not sorted yet.
fn keys(
    corpus: &Corpus,
    settings: &DedupSettings,
    documents: &[u32],
    outcome: &mut DedupOutcome,
) -> Result<Sorter, Failure> {
    let mut sorter = sorter(settings, "keys")?;
    let features = match settings.search {
        SearchMethod::Resemblance { k, s, r } => Some(Features::new(k, s, r)?),
        _ => None,
    };
    let mut keys = Vec::new();
    for (document, row) in (0..).zip(documents) {
        let elements = corpus.store.elements(*row)?;
        keys.clear();
        match &features {
            Some(features) => features.keys(&elements, &mut keys),
            None => keys.extend(elements.iter().map(|element| mix64(u64::from(*element)))),
        }
        outcome.unsampled += u64::from(keys.is_empty());
        sorter.push(document, &keys)?;
    }
    Ok(sorter)
}

/// Sketches whose elements carry their coordinate, in the form that greedy clustering takes.
struct SketchElements {
    elements: Vec<u64>,
    ends: Vec<usize>,
}

impl SketchElements {
    fn new(corpus: &Corpus, documents: &[u32]) -> io::Result<Self> {
        let (mut elements, mut ends) = (Vec::new(), Vec::with_capacity(documents.len()));
        for row in documents {
            let sketch = corpus.store.elements(*row)?;
            elements.extend((0u64..).zip(sketch.iter()).map(|(at, element)| at << 32 | u64::from(*element)));
            ends.push(elements.len());
        }
        Ok(Self { elements, ends })
    }
}

impl Sketches for SketchElements {
    fn sketch(&self, document: u32) -> &[u64] {
        let document = document as usize;
        let start = document.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.elements[start..self.ends[document]]
    }
}

/// The exact scores of pairs of rows, in order; `None` where undefined. For containment, the share of the right row
/// that is in the left row.
///
/// Errors: the store cannot be read.
pub fn scores(corpus: &Corpus, pairs: &[(u32, u32)], is_containment: bool) -> io::Result<Vec<Option<f64>>> {
    let rows: Vec<u32> = (0..corpus.rows.len() as u32).collect();
    let measure = if is_containment { Measure::Containment } else { Measure::Resemblance };
    let judge = ShingleJudge::new(&corpus.store, &rows, measure, 1.0, None);
    let score = |(left, right): &(u32, u32)| {
        let mut scores = Vec::with_capacity(1);
        if (*left.max(right) as usize) < rows.len() {
            judge.exact(*left, &[*right], &mut scores);
        }
        scores.pop().flatten()
    };
    let scores = pairs.par_iter().map(score).collect();
    judge.failure().map_or(Ok(scores), Err)
}

/// Translates clusters of documents to clusters of rows: rows with the same text share the result.
fn merge(found: Clustering, documents: &[u32], class: &[u32], outcome: &mut DedupOutcome) {
    let row_of = |document: u32| documents[document as usize];
    for (document, leader) in (0..).zip(&found.leader).filter(|(document, leader)| *document != **leader) {
        let (row, place) = (row_of(document) as usize, document as usize);
        outcome.survivor[row] = row_of(*leader);
        outcome.score[row] = found.score[place];
        outcome.link[row] = if found.exact[place] { Link::Exact } else { Link::Estimated };
    }
    for (row, first) in class.iter().map(|first| *first as usize).enumerate() {
        if first != row && outcome.link[first] != Link::None {
            outcome.survivor[row] = outcome.survivor[first];
            outcome.score[row] = outcome.score[first];
            outcome.link[row] = outcome.link[first];
        }
    }
    outcome.pairs.extend(found.edges.iter().map(|edge| LinkedPair {
        left: row_of(edge.left),
        right: row_of(edge.right),
        score: edge.score,
        link: if edge.exact { Link::Exact } else { Link::Estimated },
    }));
    outcome.giants = found.giants.into_iter().map(|giant| Giant { leader: row_of(giant.leader), ..giant }).collect();
    (outcome.capped, outcome.glances, outcome.exacts) = (found.capped, found.glances, found.exacts);
}
