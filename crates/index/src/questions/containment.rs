//! Which documents contain the asked one, or are contained in it, at or above a threshold.
//!
//! Documents that share a sampled shingle are candidates. Of two documents with X common shingles, each of the X is
//! sampled with probability 1/m; so few shared samples rule out that X is large, with an error of at most [`super::DOUBT`].
//! What is told is the exact containment of the stored texts, both ways. Without a text it is estimated from the samples.
//!
//! Cost: linear in the holders of the samples; at most one text per distinct content that is not ruled out. **Source.**
//! Broder 1997, §2 and §3 (MOD_m).

use super::candidates::{groups, holders, Group};
use super::limits::estimated_share;
use super::{Asked, Asker, Found, Measure, Score, Wish, Work};
use crate::segment::Which;
use crate::snapshot::Snapshot;
use lookalike_table::Result;

impl Asker {
    /// Finds the documents whose containment reaches the threshold either way, among those that share a sampled shingle.
    /// Errors: damaged.
    pub fn containment(&mut self, snapshot: &Snapshot, asked: &Asked, wish: Wish<'_>) -> Result<Found> {
        let mut work = Work::default();
        let numbers = holders(snapshot, Which::Samples, &asked.document.samples, &mut work)?;
        let mut matches = Vec::new();
        for group in groups(snapshot, numbers, wish.conditions, &mut work)? {
            let sizes = [asked.counted(), u64::from(snapshot.shingles(group.number)?)];
            // How much starter code the other document has is not known before its text is read.
            let least_sizes = [sizes[0], sizes[1].saturating_sub(asked.starter.len() as u64)];
            if !self.may_contain(least_sizes, &group, wish.threshold) {
                continue;
            }
            let (inside, holds) = self.containment_of(snapshot, asked, sizes, &group, &mut work)?;
            if inside.value.max(holds.value) >= wish.threshold {
                matches.push((group, Measure::Containment(inside, holds)));
            }
        }
        Found::of(snapshot, matches, wish.top, work)
    }

    /// Whether the shared samples leave it open that either containment reaches the threshold, for documents of at least so
    /// many shingles.
    fn may_contain(&mut self, [mine, theirs]: [u64; 2], group: &Group, threshold: f64) -> bool {
        let least = |whole: u64| (threshold * whole as f64).ceil() as u64;
        let common = u64::from(group.shared);
        // The limit of the smaller document is the lower one.
        !self.limits.are_too_few(common, least(mine.min(theirs)))
    }

    fn containment_of(
        &mut self,
        snapshot: &Snapshot,
        asked: &Asked,
        [mine, theirs]: [u64; 2],
        group: &Group,
        work: &mut Work,
    ) -> Result<(Score, Score)> {
        if let Some(counts) = self.exact.counts(snapshot, asked, group.number)? {
            work.texts += 1;
            let exact = |share: Option<f64>| Score::exact(share.unwrap_or(0.0));
            return Ok((exact(counts.containment()), exact(counts.turned().containment())));
        }
        let estimate = |whole: u64| estimated_share(u64::from(group.shared), self.modulus, mine.min(theirs), whole);
        Ok((estimate(mine), estimate(theirs)))
    }
}
