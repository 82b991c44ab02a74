//! Which documents resemble the asked one at or above a threshold.
//!
//! Documents that share a key of the filter are candidates. A sketch rejects as in `dedup`, and never accepts: what is
//! told is the exact resemblance of the stored texts. Without a text it is the estimate of the sketches. In an index that
//! keeps features alone, the filter decides (`filtered.rs`).
//!
//! Cost: one sketch and at most one text per distinct content that shares a key. **Source.** Broder 2000, §3.

use super::candidates::{groups, holders, Group};
use super::{Asked, Asker, Found, Measure, Score, Wish, Work, CONFIDENCE};
use crate::segment::Which;
use crate::snapshot::Snapshot;
use lookalike_core::sketch::estimate::{collision_bound, interval, Population};
use lookalike_table::Result;

/// A group that shares a key, and how many elements of the sketches are equal.
pub(super) struct Sketched {
    pub(super) group: Group,
    pub(super) common: usize,
    pub(super) size: usize,
}

impl Asker {
    /// Finds the documents whose resemblance reaches the threshold, among those that share a key. Errors: damaged.
    pub fn resemblance(&mut self, snapshot: &Snapshot, asked: &Asked, wish: Wish<'_>) -> Result<Found> {
        let mut work = Work::default();
        let (mut matches, whole_threshold) = (Vec::new(), asked.whole_threshold(wish.threshold));
        for found in self.sketched(snapshot, asked, wish, &mut work)? {
            if self.rejects(&found, whole_threshold) {
                continue;
            }
            let Some(score) = self.resemblance_of(snapshot, asked, &found, &mut work)? else { continue };
            if self.accepts(score, wish.threshold) {
                matches.push((found.group, Measure::Resemblance(score)));
            }
        }
        Found::of(snapshot, matches, wish.top, work)
    }

    /// The groups that share a key, with their sketches compared, in order of their first document. Errors: damaged.
    pub(super) fn sketched(
        &self,
        snapshot: &Snapshot,
        asked: &Asked,
        wish: Wish<'_>,
        work: &mut Work,
    ) -> Result<Vec<Sketched>> {
        match self.filtered {
            Some(filtered) => filtered.passing(snapshot, asked, wish, work),
            None => sketched(snapshot, asked, wish, work),
        }
    }

    /// Whether the sketches rule the threshold out.
    pub(super) fn rejects(&mut self, found: &Sketched, threshold: f64) -> bool {
        self.filtered.is_none() && self.limits.rejects(found.common, found.size, threshold)
    }

    /// Whether a candidate of this resemblance is an answer. One that passed a filter without texts is.
    pub(super) fn accepts(&self, score: Score, threshold: f64) -> bool {
        self.filtered.is_some() || score.value >= threshold
    }

    /// The resemblance of a candidate: exact if its text is kept, otherwise estimated. Errors: damaged.
    pub(super) fn resemblance_of(
        &mut self,
        snapshot: &Snapshot,
        asked: &Asked,
        found: &Sketched,
        work: &mut Work,
    ) -> Result<Option<Score>> {
        if let Some(filtered) = self.filtered {
            return Ok(filtered.estimate(found));
        }
        if let Some(counts) = self.exact.counts(snapshot, asked, found.group.number)? {
            work.texts += 1;
            return Ok(counts.resemblance().map(Score::exact));
        }
        let estimate = interval(found.common as u64, found.size as u64, Population::Unknown, CONFIDENCE);
        let bound = collision_bound(64 * self.shingling.width as u64, self.shingling.bits);
        let union = u64::from(asked.document.shingles) + u64::from(snapshot.shingles(found.group.number)?);
        Ok(estimate.map(|estimate| {
            let estimate = estimate.with_collisions(bound, union, CONFIDENCE);
            Score { value: estimate.value, low: estimate.low, high: estimate.high, is_exact: false }
        }))
    }
}

/// The groups that share a key, with their sketches compared, in order of their first document. Errors: damaged.
fn sketched(snapshot: &Snapshot, asked: &Asked, wish: Wish<'_>, work: &mut Work) -> Result<Vec<Sketched>> {
    let numbers = holders(snapshot, Which::Features, &keys_of(asked), work)?;
    let mut found = Vec::new();
    for group in groups(snapshot, numbers, wish.conditions, work)? {
        let sketch = snapshot.sketch(group.number)?;
        work.sketches += 1;
        let pairs = sketch.iter().zip(&asked.document.sketch);
        let common = pairs.clone().filter(|(left, right)| left == right).count();
        found.push(Sketched { group, common, size: pairs.len() });
    }
    Ok(found)
}

/// The keys of the filter of the asked document, ascending.
pub(super) fn keys_of(asked: &Asked) -> Vec<u64> {
    let mut keys = asked.document.features.clone();
    keys.sort_unstable();
    keys.dedup();
    keys
}
