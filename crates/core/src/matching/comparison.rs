//! A running comparison: it advances some steps at a time, so that the caller can show progress and stop.
//!
//! First all rows are scored. Then clusters are made of all pairs of the main list, each list is cut to the best, and last
//! the passages of the listed pairs are made. Pairs of the same two contents are aligned once. Memory: a small record for
//! each pair in a cluster, and for at most three times as many others in each list as are listed.

use super::classes::count_within;
use super::cluster::{clusters, Link, MatchCluster};
use super::{Buffers, Cohort, MatchedPair, RowMatches, Scored, BINS, CONTAINED, LISTS, LITTLE, MAIN, SHARED};
use rayon::prelude::*;

/// A list, and a place in it.
type At = (usize, usize);

/// Result of a comparison.
#[derive(Debug, Default)]
pub struct MatchOutcome {
    /// Pairs at or above the cut-off, best first, then in the order of names; at most `max_pairs`.
    pub pairs: Vec<MatchedPair>,
    /// Pairs of which the smaller side is contained in the other, in the same way by containment.
    pub contained: Vec<MatchedPair>,
    /// Pairs at or above the cut-off that share too little to say anything, best first.
    pub little: Vec<MatchedPair>,
    /// Pairs of no other list that share a strong passage, in the same way by its strength.
    pub shared: Vec<MatchedPair>,
    /// Number of pairs in the first list before it is cut.
    pub count: u64,
    /// Number of contained pairs.
    pub contained_count: u64,
    /// Number of pairs that share too little.
    pub little_count: u64,
    /// Number of pairs of the last list.
    pub shared_count: u64,
    /// Number of pairs that stand in no list.
    pub below: u64,
    /// Number of pairs of the first list by score in [`BINS`] intervals.
    pub histogram: Vec<u64>,
    /// Number of pairs of contents that were aligned.
    pub aligned: u64,
    /// Number of pairs that reached a limit of work, listed or not: their scores may be too low.
    pub limited: u64,
    /// Clusters of all pairs at or above the cut-off and the threshold of clusters.
    pub clusters: Vec<MatchCluster>,
}

impl MatchOutcome {
    /// The lists, by their numbers.
    fn lists(&mut self) -> [&mut Vec<MatchedPair>; LISTS] {
        [&mut self.pairs, &mut self.contained, &mut self.little, &mut self.shared]
    }
}

/// A running comparison.
#[derive(Debug)]
pub struct Comparison {
    pub(super) row: u32,
    /// The best of each list.
    best: [Vec<Scored>; LISTS],
    links: Vec<Link>,
    /// Number of pairs in any list.
    listed: u64,
    /// Lists and places in `best` of the pairs without passages yet, by their contents.
    waiting: Vec<At>,
    outcome: MatchOutcome,
}

impl Default for Comparison {
    fn default() -> Self {
        let outcome = MatchOutcome { histogram: vec![0; BINS], ..MatchOutcome::default() };
        Self { row: 0, best: Default::default(), links: Vec::new(), listed: 0, waiting: Vec::new(), outcome }
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
        self.outcome.lists().into_iter().for_each(|list| list.sort_by_key(|pair| pair.place));
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
            for scored in &row.scored[MAIN] {
                self.outcome.histogram[bin(scored.link.score)] += scored.stands_for;
                if scored.link.score >= cohort.settings.cluster_threshold {
                    self.links.push(scored.link);
                }
            }
            self.listed += row.listed;
            self.outcome.count += count(&row.scored[MAIN]);
            self.outcome.contained_count += count(&row.scored[CONTAINED]);
            self.outcome.little_count += count(&row.scored[LITTLE]);
            self.outcome.shared_count += count(&row.scored[SHARED]);
            for (best, scored) in self.best.iter_mut().zip(row.scored) {
                best.extend(scored);
            }
        }
        for list in 0..LISTS {
            if self.best[list].len() / 3 > cohort.settings.max_pairs {
                self.keep_best(cohort, list);
            }
        }
        self.row = end;
    }

    fn keep_best(&mut self, cohort: &Cohort, list: usize) {
        let names = |link: &Link| [link.left, link.right].map(|i| cohort.places[i as usize]);
        let value = |scored: &Scored| match list {
            CONTAINED => scored.contained,
            SHARED => scored.strength.unwrap_or(0) as f64,
            _ => scored.link.score,
        };
        self.best[list].sort_by(|a, b| value(b).total_cmp(&value(a)).then(names(&a.link).cmp(&names(&b.link))));
        self.best[list].truncate(cohort.settings.max_pairs);
    }

    /// Makes what is known once all pairs have their scores.
    fn list(&mut self, cohort: &Cohort) {
        let everybody: Vec<u32> = (0..cohort.entries.len() as u32).collect();
        self.outcome.below = count_within(&cohort.entries, &everybody) - self.listed;
        self.outcome.clusters = clusters(cohort, &std::mem::take(&mut self.links));
        (0..LISTS).for_each(|list| self.keep_best(cohort, list));
        self.waiting = (0..LISTS).flat_map(|list| (0..self.best[list].len()).map(move |i| (list, i))).collect();
        self.waiting.sort_by_key(|at| (contents(cohort, &self.best, *at), std::cmp::Reverse(*at)));
        self.waiting.reverse();
    }

    /// Makes the passages of about `most` pairs.
    fn tell(&mut self, cohort: &Cohort, most: usize) {
        let best = &self.best;
        let same = |a: &At, b: &At| contents(cohort, best, *a) == contents(cohort, best, *b);
        let mut start = self.waiting.len().saturating_sub(most);
        while start > 0 && same(&self.waiting[start - 1], &self.waiting[start]) {
            start -= 1;
        }
        let now = self.waiting.split_off(start);
        let groups: Vec<&[At]> = now.chunk_by(same).collect();
        let told: Vec<Vec<(usize, MatchedPair)>> = groups
            .into_par_iter()
            .map_init(Buffers::default, |buffers, group| self.told(cohort, group, buffers))
            .collect();
        for (list, pair) in told.into_iter().flatten() {
            self.outcome.lists()[list].push(pair);
        }
    }

    /// The pairs of two contents in one order, with their lists.
    fn told(&self, cohort: &Cohort, group: &[At], buffers: &mut Buffers) -> Vec<(usize, MatchedPair)> {
        let Some(first) = group.first().map(|at| cohort.pair(&self.best[at.0][at.1], &mut buffers.aligner)) else {
            return Vec::new();
        };
        let each = |at: &At| {
            let Scored { link, stands_for, .. } = self.best[at.0][at.1];
            let pair =
                MatchedPair { left: link.left, right: link.right, stands_for, place: at.1 as u32, ..first.clone() };
            (at.0, pair)
        };
        group.iter().map(each).collect()
    }
}

/// How many pairs some rows stand for.
fn count(scored: &[Scored]) -> u64 {
    scored.iter().map(|one| one.stands_for).sum()
}

/// First members of the classes of a pair.
fn contents(cohort: &Cohort, best: &[Vec<Scored>; LISTS], at: At) -> [u32; 2] {
    let link = &best[at.0][at.1].link;
    [link.left, link.right].map(|i| cohort.classes.of(i))
}

fn bin(score: f64) -> usize {
    ((score * BINS as f64) as usize).min(BINS - 1)
}
