//! Compares submissions: finds pairs that share material, their common passages, and clusters.
//!
//! ```text
//! entries ─▶ one sorted table ─▶ candidates ─▶ alignment ─▶ score, passages ─▶ clusters
//!             weigh.rs           proposals.rs   align.rs     score.rs           cluster.rs
//! ```
//!
//! The matcher does not depend on the meaning of tokens. Submissions with the same content form one class: it is
//! compared once and its pairs are listed afterwards, so n identical submissions cost n links and not n² alignments.
//! The rows of the triangle of pairs are independent and run on all cores. Results are combined in the order of the
//! rows and do not depend on the number of threads.

pub mod align;
pub mod classes;
pub mod cluster;
pub mod common;
pub mod cover;
pub mod entry;
pub mod proposals;
pub mod score;
pub mod template;
pub mod weigh;

use align::{Aligner, Index};
use classes::Classes;
use entry::Entry;
use proposals::{Candidate, Proposals};
use rayon::prelude::*;
use score::{Judged, MatchedPair};
use template::Template;
use weigh::{Frequencies, Weighed};

/// Intervals of the histogram of scores.
pub const BINS: usize = 20;
/// Pairs whose shared picks promise less than this share of the cut-off are not aligned.
const PROMISING: f64 = 1.0 / 3.0;

/// Parameters of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct MatchSettings {
    /// Material that more submitters share has no weight; `None` for no limit.
    pub max_sharing: Option<u32>,
    /// Pairs below this score are counted, not kept.
    pub min_score: f64,
    /// Most pairs kept, best first.
    pub max_pairs: usize,
}

/// Submissions with their weights, ready for comparison.
pub struct Cohort {
    entries: Vec<Entry>,
    classes: Classes,
    frequencies: Frequencies,
    weighed: Vec<Weighed>,
    proposals: Proposals,
    settings: MatchSettings,
}

/// Result of a comparison.
#[derive(Debug, Default)]
pub struct MatchOutcome {
    /// Pairs, best first, then in the order of the submissions; at most `max_pairs`.
    pub pairs: Vec<MatchedPair>,
    /// Number of pairs at or above the cut-off.
    pub count: u64,
    /// Number of pairs by score in [`BINS`] intervals; pairs that were not aligned count by their estimate.
    pub histogram: Vec<u64>,
    /// Number of pairs that share something but were only estimated, because the estimate is too low.
    pub estimated: u64,
}

impl Cohort {
    /// Sorts the table and weighs every submission. Template files are entries too.
    pub fn new(entries: Vec<Entry>, templates: &[Entry], settings: MatchSettings) -> Self {
        let frequencies = Frequencies::new(&entries);
        let template = Template::new(templates.iter());
        let marker = template.marker();
        let by_pick = frequencies.by_pick(&entries);
        let weighed: Vec<Weighed> = entries
            .par_iter()
            .zip(by_pick)
            .map(|(entry, holders)| frequencies.weigh(entry, holders, &marker, settings.max_sharing))
            .collect();
        let classes = Classes::new(&entries);
        let proposals = Proposals::new(&entries, &frequencies, &weighed, &classes, settings.min_score);
        Self { entries, classes, frequencies, weighed, proposals, settings }
    }

    /// The submissions.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The weights of each submission.
    pub fn weighed(&self) -> &[Weighed] {
        &self.weighed
    }

    /// Classes of identical submissions.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Frequencies of picks.
    pub fn frequencies(&self) -> &Frequencies {
        &self.frequencies
    }

    fn judged(&self, left: u32, right: u32) -> Judged<'_> {
        let sides = [left as usize, right as usize];
        Judged {
            entries: sides.map(|i| &self.entries[i]),
            weighed: sides.map(|i| &self.weighed[i]),
            frequencies: &self.frequencies,
        }
    }

    /// Whether two submissions are compared at all.
    fn may_pair(&self, left: u32, right: u32) -> bool {
        let [a, b] = [left, right].map(|i| &self.entries[i as usize]);
        a.submitter != b.submitter && !(a.old && b.old)
    }
}

/// A running comparison. It advances some rows at a time, so that the caller can show progress and stop.
#[derive(Debug)]
pub struct Comparison {
    row: u32,
    outcome: MatchOutcome,
}

/// The results of one row.
#[derive(Default)]
struct RowMatches {
    pairs: Vec<MatchedPair>,
    count: u64,
    histogram: Vec<u64>,
    estimated: u64,
}

impl Default for Comparison {
    fn default() -> Self {
        Self { row: 0, outcome: MatchOutcome { histogram: vec![0; BINS], ..MatchOutcome::default() } }
    }
}

impl Comparison {
    /// Compares the next `rows` submissions with all later ones. Returns whether there are more.
    pub fn advance(&mut self, cohort: &Cohort, rows: u32) -> bool {
        let all = cohort.entries.len() as u32;
        let end = all.min(self.row.saturating_add(rows));
        let found: Vec<RowMatches> = (self.row..end)
            .into_par_iter()
            .map_init(|| (Aligner::default(), Vec::new()), |(aligner, shared), row| cohort.row(row, aligner, shared))
            .collect();
        for part in found {
            self.outcome.pairs.extend(part.pairs);
            self.outcome.count += part.count;
            self.outcome.estimated += part.estimated;
            for (bin, count) in self.outcome.histogram.iter_mut().zip(&part.histogram) {
                *bin += count;
            }
        }
        self.keep_best(cohort.settings.max_pairs);
        self.row = end;
        end < all
    }

    /// The results so far.
    pub fn finish(self) -> MatchOutcome {
        self.outcome
    }

    fn keep_best(&mut self, max_pairs: usize) {
        let order = |a: &MatchedPair, b: &MatchedPair| {
            b.score.total_cmp(&a.score).then((a.left, a.right).cmp(&(b.left, b.right)))
        };
        self.outcome.pairs.sort_by(order);
        self.outcome.pairs.truncate(max_pairs);
    }
}

impl Cohort {
    fn row(&self, row: u32, aligner: &mut Aligner, shared: &mut Vec<u64>) -> RowMatches {
        let mut found = RowMatches { histogram: vec![0; BINS], ..RowMatches::default() };
        if !self.classes.is_first(row) {
            return found;
        }
        self.twins(row, &mut found);
        let mut candidates = Vec::new();
        self.proposals.of(row, PROMISING * self.settings.min_score, shared, &mut candidates);
        if candidates.is_empty() {
            return found;
        }
        let index = Index::of(&self.entries[row as usize]);
        for candidate in candidates {
            self.compare(row, candidate, &index, aligner, &mut found);
        }
        found
    }

    /// Adds the pairs within the class of `row`.
    fn twins(&self, row: u32, found: &mut RowMatches) {
        let pairs = classes::within(self.classes.members(row), |a, b| self.may_pair(a, b));
        let Some((left, right)) = pairs.first().copied() else { return };
        let judged = self.judged(left, right);
        let alignment = align::whole(&self.entries[row as usize]);
        if let Some(score) = judged.score(&alignment) {
            self.write_out(&pairs, score, || judged.pair(left, right, score, &alignment), found);
        }
    }

    fn compare(&self, row: u32, candidate: Candidate, index: &Index, aligner: &mut Aligner, found: &mut RowMatches) {
        let other = candidate.other;
        let members = [row, other].map(|first| self.classes.members(first));
        let pairs = classes::between(members[0], members[1], |a, b| self.may_pair(a, b));
        if pairs.is_empty() {
            return;
        }
        if candidate.estimate < PROMISING * self.settings.min_score {
            found.estimated += pairs.len() as u64;
            found.histogram[bin(candidate.estimate)] += pairs.len() as u64;
            return;
        }
        let alignment = aligner.align(&self.entries[row as usize], index, &self.entries[other as usize]);
        let judged = self.judged(row, other);
        let Some(score) = judged.score(&alignment) else { return };
        self.write_out(&pairs, score, || judged.pair(row, other, score, &alignment), found);
    }

    /// Counts a score for pairs of one or two classes, and keeps the pairs if it is high enough.
    fn write_out(&self, pairs: &[(u32, u32)], score: f64, make: impl FnOnce() -> MatchedPair, found: &mut RowMatches) {
        found.histogram[bin(score)] += pairs.len() as u64;
        if score < self.settings.min_score || score <= 0.0 {
            return;
        }
        found.count += pairs.len() as u64;
        let pair = make();
        found.pairs.extend(pairs.iter().map(|(left, right)| oriented(&pair, *left, *right)));
    }
}

/// The same pair for other members of the classes: only the submissions and their order change.
fn oriented(pair: &MatchedPair, left: u32, right: u32) -> MatchedPair {
    let mut pair = MatchedPair { left, right, ..pair.clone() };
    if left > right {
        pair = MatchedPair { left: right, right: left, ..pair };
        pair.coverage.reverse();
        for passage in &mut pair.passages {
            passage.start.reverse();
            passage.end.reverse();
        }
        pair.passages.sort_by_key(|passage| (passage.start, passage.end));
    }
    pair
}

fn bin(score: f64) -> usize {
    ((score * BINS as f64) as usize).min(BINS - 1)
}

#[cfg(test)]
mod tests;
