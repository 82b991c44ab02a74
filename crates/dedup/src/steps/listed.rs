//! Judges listed pairs of the rows of a corpus: the judge that `job` asks, without the search.
//!
//! Cost: that of `judge.rs`; the hub of several pairs in a row is loaded once.

use crate::corpus::Corpus;
use crate::job::{DedupSettings, Failure};
use crate::proposing::{judged, Verdicts};
use lookalike_core::clustering::{narrow, Glance, Judge};
use std::sync::atomic::AtomicBool;

/// What sketches say of pairs of rows, the earlier first. Errors: the store cannot be read.
pub fn glances(corpus: &Corpus, settings: &DedupSettings, pairs: &[(u32, u32)]) -> Result<Vec<Glance>, Failure> {
    run(corpus, settings, Glancing(pairs))
}

/// The exact scores of pairs of rows, the earlier first. With `is_edge` only of those that reach the threshold;
/// otherwise of all that have one.
///
/// Errors: the store cannot be read.
pub fn scores(
    corpus: &Corpus,
    settings: &DedupSettings,
    pairs: &[(u32, u32)],
    is_edge: bool,
) -> Result<Vec<Option<f32>>, Failure> {
    run(corpus, settings, Scoring { pairs, is_edge })
}

fn run<V: Verdicts>(corpus: &Corpus, settings: &DedupSettings, work: V) -> Result<V::Output, Failure> {
    let rows: Vec<u32> = (0..corpus.rows.len() as u32).collect();
    judged(corpus, settings, &rows, &AtomicBool::new(false), work)
}

struct Glancing<'a>(&'a [(u32, u32)]);

impl Verdicts for Glancing<'_> {
    type Output = Vec<Glance>;

    fn run(self, _threshold: f64, judge: &impl Judge) -> Result<Vec<Glance>, Failure> {
        Ok(self.0.iter().map(|(left, right)| judge.glance(*left, *right)).collect())
    }
}

struct Scoring<'a> {
    pairs: &'a [(u32, u32)],
    is_edge: bool,
}

impl Verdicts for Scoring<'_> {
    type Output = Vec<Option<f32>>;

    fn run(self, threshold: f64, judge: &impl Judge) -> Result<Self::Output, Failure> {
        let least = if self.is_edge { threshold } else { 0.0 };
        let (mut found, mut others, mut scores) = (Vec::with_capacity(self.pairs.len()), Vec::new(), Vec::new());
        for run in self.pairs.chunk_by(|one, next| one.0 == next.0) {
            others.clear();
            others.extend(run.iter().map(|pair| pair.1));
            scores.clear();
            judge.exact(run[0].0, &others, least, &mut scores);
            scores.resize(others.len(), None);
            let scored = scores.iter().map(|score| score.filter(|score| *score >= least));
            found.extend(scored.map(|score| score.map(|score| narrow(score, threshold))));
        }
        Ok(found)
    }
}
