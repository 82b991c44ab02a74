//! A running comparison: it advances some steps at a time, so that the caller can show progress and stop.
//!
//! First all rows are scored. Then clusters are made of all pairs and the list is cut to the best, and last the passages
//! of the listed pairs are made. Pairs of the same two contents are aligned once. Memory: a small record for each pair
//! in a cluster, and for at most three times as many others as are listed.

use super::classes::count_within;
use super::cluster::{clusters, Link, MatchCluster};
use super::{Buffers, Cohort, MatchedPair, RowMatches, Scored, BINS};
use rayon::prelude::*;

/// Result of a comparison.
#[derive(Debug, Default)]
pub struct MatchOutcome {
    /// Pairs, best first, then in the order of names; at most `max_pairs`.
    pub pairs: Vec<MatchedPair>,
    /// Number of pairs at or above the cut-off.
    pub count: u64,
    /// Number of pairs below the cut-off, or without anything in common; they have no score here.
    pub below: u64,
    /// Number of pairs at or above the cut-off by score in [`BINS`] intervals.
    pub histogram: Vec<u64>,
    /// Number of pairs of contents that were aligned.
    pub aligned: u64,
    /// Number of pairs that reached a limit of work, listed or not: their scores may be too low.
    pub limited: u64,
    /// Clusters of all pairs at or above the cut-off and the threshold of clusters.
    pub clusters: Vec<MatchCluster>,
}

/// A running comparison.
#[derive(Debug)]
pub struct Comparison {
    pub(super) row: u32,
    best: Vec<Scored>,
    links: Vec<Link>,
    /// Places in `best` of the pairs without passages yet, by their contents.
    waiting: Vec<usize>,
    outcome: MatchOutcome,
}

impl Default for Comparison {
    fn default() -> Self {
        let outcome = MatchOutcome { histogram: vec![0; BINS], ..MatchOutcome::default() };
        Self { row: 0, best: Vec::new(), links: Vec::new(), waiting: Vec::new(), outcome }
    }
}

impl Comparison {
    /// Compares the next `steps` submissions with all later ones; after the last, makes the passages of so many pairs.
    /// Returns whether there is more to do.
    pub fn advance(&mut self, cohort: &Cohort, steps: u32) -> bool {
        let all = cohort.entries.len() as u32;
        if self.row < all {
            self.score(cohort, all.min(self.row.saturating_add(steps.max(1))));
            if self.row == all {
                self.list(cohort);
            }
        } else {
            self.tell(cohort, steps.max(1) as usize);
        }
        self.row < all || !self.waiting.is_empty()
    }

    /// The results.
    pub fn finish(mut self) -> MatchOutcome {
        self.outcome.pairs.sort_by_key(|pair| pair.place);
        self.outcome
    }

    fn score(&mut self, cohort: &Cohort, end: u32) {
        let rows: Vec<RowMatches> = (self.row..end)
            .into_par_iter()
            .map_init(Buffers::default, |buffers, row| cohort.row(row, buffers))
            .collect();
        for row in rows {
            self.outcome.aligned += row.aligned;
            self.outcome.limited += row.limited;
            for scored in row.scored {
                self.outcome.count += scored.stands_for;
                self.outcome.histogram[bin(scored.link.score)] += scored.stands_for;
                if scored.link.score >= cohort.settings.cluster_threshold {
                    self.links.push(scored.link);
                }
                self.best.push(scored);
            }
        }
        if self.best.len() / 3 > cohort.settings.max_pairs {
            self.keep_best(cohort);
        }
        self.row = end;
    }

    fn keep_best(&mut self, cohort: &Cohort) {
        let names = |link: &Link| [link.left, link.right].map(|i| cohort.places[i as usize]);
        self.best.sort_by(|a, b| b.link.score.total_cmp(&a.link.score).then(names(&a.link).cmp(&names(&b.link))));
        self.best.truncate(cohort.settings.max_pairs);
    }

    /// Makes what is known once all pairs have their scores.
    fn list(&mut self, cohort: &Cohort) {
        let everybody: Vec<u32> = (0..cohort.entries.len() as u32).collect();
        self.outcome.below = count_within(&cohort.entries, &everybody) - self.outcome.count;
        self.outcome.clusters = clusters(cohort, &std::mem::take(&mut self.links));
        self.keep_best(cohort);
        self.waiting = (0..self.best.len()).collect();
        self.waiting.sort_by_key(|i| (contents(cohort, &self.best[*i]), std::cmp::Reverse(*i)));
        self.waiting.reverse();
    }

    /// Makes the passages of about `most` pairs.
    fn tell(&mut self, cohort: &Cohort, most: usize) {
        let same = |a: &usize, b: &usize| contents(cohort, &self.best[*a]) == contents(cohort, &self.best[*b]);
        let mut start = self.waiting.len().saturating_sub(most);
        while start > 0 && same(&self.waiting[start - 1], &self.waiting[start]) {
            start -= 1;
        }
        let now = self.waiting.split_off(start);
        let groups: Vec<&[usize]> = now.chunk_by(same).collect();
        let told: Vec<Vec<MatchedPair>> = groups
            .into_par_iter()
            .map_init(Buffers::default, |buffers, group| self.told(cohort, group, buffers))
            .collect();
        self.outcome.pairs.extend(told.into_iter().flatten());
    }

    /// The pairs of two contents in one order.
    fn told(&self, cohort: &Cohort, group: &[usize], buffers: &mut Buffers) -> Vec<MatchedPair> {
        let Some(first) = group.first().map(|i| cohort.pair(&self.best[*i], &mut buffers.aligner)) else {
            return Vec::new();
        };
        let each = |i: &usize| {
            let Scored { link, stands_for } = self.best[*i];
            MatchedPair { left: link.left, right: link.right, stands_for, place: *i as u32, ..first.clone() }
        };
        group.iter().map(each).collect()
    }
}

/// First members of the classes of a pair.
fn contents(cohort: &Cohort, scored: &Scored) -> [u32; 2] {
    [scored.link.left, scored.link.right].map(|i| cohort.classes.of(i))
}

fn bin(score: f64) -> usize {
    ((score * BINS as f64) as usize).min(BINS - 1)
}
