//! Which documents have the same content. Complete: content hashes of 128 bits are compared.
//!
//! Cost: one probe, and one row per document with that content.

use super::{candidates, Asked, Asker, Found, Match, Measure, Wish, Work};
use crate::snapshot::Snapshot;
use lookalike_table::Result;

impl Asker {
    /// Finds the documents with the content of the asked one. Errors: damaged.
    pub fn identical(&mut self, snapshot: &Snapshot, asked: &Asked, wish: Wish<'_>) -> Result<Found> {
        let mut work = Work::default();
        let group = candidates::identical(snapshot, asked.document.content, wish.conditions, &mut work)?;
        let told = |group: candidates::Group| Match {
            number: group.number,
            row: group.row,
            copies: group.copies,
            measure: Measure::Identical,
        };
        Ok(Found::of(group.map(told).into_iter().collect(), wish.top, |_| 0.0, work))
    }
}
