//! Which documents pass the filter of an index that keeps features alone: those that share r of k features with the asked one.
//!
//! Nothing is verified: the curve of the filter says which share of the documents of a resemblance passes, and which share of
//! the others does. What is told is an estimate: a feature of s elements is shared with probability ρ^s, so a document that
//! shares i of k features has a resemblance of about (i/k)^(1/s); the limits of its interval are those of i/k under the same
//! power.
//!
//! Cost: one row per document that shares r features. **Source.** Broder 2000, *Identifying and filtering near-duplicate
//! documents*, §3; the same rule as `dedup --no-verify`.

use super::candidates::{groups, holders};
use super::resemblance::{keys_of, Sketched};
use super::{Asked, Score, Wish, Work, CONFIDENCE};
use crate::segment::Which;
use crate::sign::SignSettings;
use crate::snapshot::Snapshot;
use lookalike_core::sketch::estimate::{interval, Population};
use lookalike_table::Result;

/// The filter (k, s, r).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filtered {
    k: usize,
    s: usize,
    r: usize,
}

impl Filtered {
    /// The filter of an index that keeps features alone.
    pub(super) fn of(settings: &SignSettings) -> Option<Self> {
        let kept = settings.resemblance.filter(|kept| kept.features_only)?;
        let (k, s, r) = kept.filter;
        Some(Self { k, s, r })
    }

    /// The groups that share r features, in order of their first document; `common` of `size` features are equal. Features of
    /// different places are never equal, so a document shares as many as it holds. Errors: damaged.
    pub(super) fn passing(
        self,
        snapshot: &Snapshot,
        asked: &Asked,
        wish: Wish<'_>,
        work: &mut Work,
    ) -> Result<Vec<Sketched>> {
        let numbers = holders(snapshot, Which::Features, &keys_of(asked), work)?;
        let numbers = numbers.into_iter().filter(|(_, shared)| *shared as usize >= self.r);
        let found = groups(snapshot, numbers, wish.conditions, work)?;
        Ok(found.into_iter().map(|group| Sketched { common: group.shared as usize, size: self.k, group }).collect())
    }

    /// The estimated resemblance of a group.
    pub(super) fn estimate(self, found: &Sketched) -> Option<Score> {
        let estimate = interval(found.common as u64, found.size as u64, Population::Unknown, CONFIDENCE)?;
        let root = |share: f64| share.powf(1.0 / self.s as f64);
        Some(Score { value: root(estimate.value), low: root(estimate.low), high: root(estimate.high), is_exact: false })
    }
}
