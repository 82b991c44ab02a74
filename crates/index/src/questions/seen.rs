//! Whether a document like the asked one is in the archive, and the nearest one.
//!
//! **Definition.** A document is seen if one with its text is there, or one that shares a key of the filter and whose
//! resemblance reaches the threshold. The nearest is the one with its text; otherwise, of the candidates that share a
//! key in order of the estimate of their sketches (highest first, then by number), the one with the highest exact
//! resemblance among the first [`COUNTED`] and all further ones up to the first that reaches the threshold. Further
//! candidates that a sketch rejects at the threshold are not counted.
//!
//! So the verdict is never wrong because of a limit on work: counting ends only when the threshold is reached, or nothing
//! is left that could reach it. Without texts, estimates decide, and the answer is marked. In an index that keeps features
//! alone, each document that passes the filter is one that was seen.
//!
//! Cost: one probe for the content, and one text if it is there; one batch of probes for the keys; one sketch per distinct
//! candidate; few texts.

use super::candidates::Group;
use super::{Asked, Asker, Match, Measure, SameHash, Score, Wish, Work};
use crate::snapshot::Snapshot;
use lookalike_table::Result;

/// Candidates that are counted exactly before a verdict ends the search.
pub const COUNTED: usize = 8;

/// Whether a document was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The verdict.
    pub is_seen: bool,
    /// The nearest document, if any shares a key or the content.
    pub nearest: Option<Match>,
    /// Number of distinct contents that share a key.
    pub candidates: u64,
    /// Documents with its content hash that have another text, or were not compared with it.
    pub same_hash: SameHash,
    /// What was read.
    pub work: Work,
}

impl Asker {
    /// Tells whether a document like the asked one is there. Errors: damaged.
    pub fn seen(&mut self, snapshot: &Snapshot, asked: &Asked, wish: Wish<'_>) -> Result<Seen> {
        let mut work = Work::default();
        if asked.is_starter() {
            return Ok(Seen::default());
        }
        let (identical, same_hash) = self.with_its_text(snapshot, asked, wish, 0, &mut work)?;
        if let Some((group, measure)) = identical {
            let nearest = Some(group.told(snapshot, measure)?);
            return Ok(Seen { is_seen: true, nearest, candidates: 1, same_hash, work });
        }
        let mut found = self.sketched(snapshot, asked, wish, &mut work)?;
        found.sort_by_key(|one| (std::cmp::Reverse(one.common), one.group.number));
        let (candidates, mut nearest) = (found.len() as u64, None::<(Group, Score)>);
        let mut is_seen = false;
        for (place, one) in found.into_iter().enumerate() {
            if place >= COUNTED && (is_seen || self.rejects(&one, asked.whole_threshold(wish.threshold))) {
                break;
            }
            let Some(score) = self.resemblance_of(snapshot, asked, &one, &mut work)? else { continue };
            if score.value == 0.0 && !asked.starter.is_empty() {
                // It shares starter code only.
                continue;
            }
            is_seen |= self.accepts(score, wish.threshold);
            if nearest.is_none_or(|(_, best)| score.value > best.value) {
                nearest = Some((one.group, score));
            }
        }
        let told = |(group, score): (Group, Score)| group.told(snapshot, Measure::Resemblance(score));
        Ok(Seen { is_seen, nearest: nearest.map(told).transpose()?, candidates, same_hash, work })
    }
}
