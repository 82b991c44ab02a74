//! All pairs of a corpus: every edge of distinct texts, and each repeated text with the first row that has it.
//!
//! Pairs go through a sort of their own, within the memory budget, so that they are never in memory together and come
//! out in order of their rows.
//!
//! Cost: all proposed pairs are looked at, and every edge is scored exactly; 12 bytes per pair, in memory or in files.

use crate::corpus::Corpus;
use crate::job::{may_go, DedupSettings, Failure, Link, SearchMethod};
use crate::proposing::{proposed, Work};
use crate::ranking::Ranking;
use crate::spill::SpillFolder;
use lookalike_core::clustering::{each_pair, Edge, Judge, Proposals};
use lookalike_table::spill::{Sorted, Sorter};
use std::sync::atomic::AtomicBool;
use std::sync::Mutex;

/// Stands for the score of identical texts; no score has these bits.
const IDENTICAL: u32 = u32::MAX;

/// A pair of rows that reaches the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkedPair {
    /// The row that is preferred for keeping.
    pub left: u32,
    /// The other row.
    pub right: u32,
    /// The exact score.
    pub score: f32,
    /// What it measures.
    pub link: Link,
}

/// Pairs in ascending order of left and right row, read once.
pub struct FoundPairs {
    sorted: Sorted,
    link: Link,
    /// Number of all pairs.
    pub count: u64,
    /// For each row of the corpus, 1 if it is in a pair.
    pub rows: Vec<u8>,
    /// The files of the sort; removed with it.
    _folder: SpillFolder,
}

impl FoundPairs {
    /// Returns the next pair. Errors: a file cannot be read.
    pub fn next_pair(&mut self) -> Result<Option<LinkedPair>, lookalike_table::Error> {
        let Some((key, scores)) = self.sorted.next_run()? else { return Ok(None) };
        let (left, right, bits) = ((key >> 32) as u32, key as u32, scores.first().copied().unwrap_or(IDENTICAL));
        let (score, link) = if bits == IDENTICAL { (1.0, Link::Identical) } else { (f32::from_bits(bits), self.link) };
        Ok(Some(LinkedPair { left, right, score, link }))
    }
}

/// Finds all pairs of a corpus. If `stop` becomes true, ends soon after with [`Failure::Stopped`].
pub fn pairs(corpus: &Corpus, settings: &DedupSettings, stop: &AtomicBool) -> Result<FoundPairs, Failure> {
    let ranking = Ranking::new(corpus, settings)?;
    let folder = SpillFolder::new(&settings.folder, "pairs")?;
    let mut sorter = folder.sorter(settings.budget_bytes);
    let (mut count, mut rows) = (0, vec![0; corpus.rows.len()]);
    for (row, first) in (0..).zip(ranking.class.iter().copied()).filter(|(row, first)| row != first) {
        if may_go(settings, first, row) {
            sorter.push(IDENTICAL, &[key(first, row)])?;
            (rows[first as usize], rows[row as usize]) = (1, 1);
            count += 1;
        }
    }
    if settings.search != SearchMethod::Identical {
        let work = Listing { documents: &ranking.documents, taken: Taken { sorter, count, rows } };
        let (taken, _) = proposed(corpus, settings, &ranking.documents, stop, work)?;
        (sorter, count, rows) = (taken.sorter, taken.count, taken.rows);
    }
    Ok(FoundPairs { sorted: sorter.finish()?, link: Link::of(settings.search), count, rows, _folder: folder })
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Pairs so far.
struct Taken {
    sorter: Sorter,
    count: u64,
    rows: Vec<u8>,
}

/// Pushes every edge to a sorter, as rows.
struct Listing<'a> {
    documents: &'a [u32],
    taken: Taken,
}

impl Work for Listing<'_> {
    type Output = Taken;

    fn run(self, proposals: &impl Proposals, threshold: f64, judge: &impl Judge) -> Result<Taken, Failure> {
        let row_of = |document: u32| self.documents[document as usize];
        let shared = Mutex::new(self.taken);
        let take = |edges: &[Edge]| -> Result<(), Failure> {
            let Ok(mut taken) = shared.lock() else { return Err(Failure::Stopped) };
            taken.count += edges.len() as u64;
            for edge in edges {
                let (left, right) = (row_of(edge.left), row_of(edge.right));
                (taken.rows[left as usize], taken.rows[right as usize]) = (1, 1);
                taken.sorter.push(edge.score.to_bits(), &[key(left, right)])?;
            }
            Ok(())
        };
        each_pair(proposals, threshold, judge, take)?;
        shared.into_inner().map_err(|_| Failure::Stopped)
    }
}
