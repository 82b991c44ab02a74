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
use super::{Asked, Asker, Found, Match, Measure, Score, Wish, Work};
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
            if !self.may_contain(asked, &group, wish.threshold) {
                continue;
            }
            let (inside, holds) = self.containment_of(snapshot, asked, &group, &mut work)?;
            if inside.value.max(holds.value) >= wish.threshold {
                let measure = Measure::Containment(inside, holds);
                matches.push(Match { number: group.number, row: group.row, copies: group.copies, measure });
            }
        }
        let key = |measure: &Measure| match measure {
            Measure::Containment(inside, holds) => -inside.value.max(holds.value),
            _ => 0.0,
        };
        Ok(Found::of(matches, wish.top, key, work))
    }

    /// Whether the shared samples leave it open that either containment reaches the threshold.
    fn may_contain(&mut self, asked: &Asked, group: &Group, threshold: f64) -> bool {
        let least = |whole: u64| (threshold * whole as f64).ceil() as u64;
        let (mine, theirs) = (u64::from(asked.document.shingles), u64::from(group.row.shingles));
        let common = u64::from(group.shared);
        // The limit of the smaller document is the lower one.
        !self.limits.are_too_few(common, least(mine.min(theirs)))
    }

    fn containment_of(
        &mut self,
        snapshot: &Snapshot,
        asked: &Asked,
        group: &Group,
        work: &mut Work,
    ) -> Result<(Score, Score)> {
        if let Some(counts) = self.exact.counts(snapshot, &asked.shingles, group.number)? {
            work.texts += 1;
            let exact = |share: Option<f64>| Score::exact(share.unwrap_or(0.0));
            return Ok((exact(counts.containment()), exact(counts.turned().containment())));
        }
        let (mine, theirs) = (u64::from(asked.document.shingles), u64::from(group.row.shingles));
        let estimate = |whole: u64| estimated_share(u64::from(group.shared), self.modulus, mine.min(theirs), whole);
        Ok((estimate(mine), estimate(theirs)))
    }
}
