//! Which documents have a simhash within some bits of the asked one's. Complete: all simhashes are compared.
//!
//! Cost: one pass over the simhashes, 8 bytes per document, about 1 ms for a million. **Source.** Manku, Jain, Das Sarma
//! 2007, §3; a scan instead of their tables, because one document is asked about and the column is small.

use super::candidates::groups;
use super::{Asked, Asker, Found, Match, Measure, Wish, Work};
use crate::snapshot::Snapshot;
use lookalike_table::Result;

impl Asker {
    /// Finds the documents whose simhash differs in at most `distance` bits. Errors: damaged.
    pub fn distance(&mut self, snapshot: &Snapshot, asked: &Asked, distance: u32, wish: Wish<'_>) -> Result<Found> {
        let mut work = Work::default();
        let Some(simhash) = asked.document.simhash else { return Ok(Found::default()) };
        let near = within(snapshot, simhash, distance, &mut work)?;
        let mut matches = Vec::new();
        // The bits take the place of shared keys: documents with one content have one simhash.
        for group in groups(snapshot, near, wish.conditions, &mut work)? {
            let measure = Measure::Distance(group.shared);
            matches.push(Match { number: group.number, row: group.row, copies: group.copies, measure });
        }
        let key = |measure: &Measure| match measure {
            Measure::Distance(bits) => f64::from(*bits),
            _ => 0.0,
        };
        Ok(Found::of(matches, wish.top, key, work))
    }
}

/// Numbers and distances of the live documents near a simhash, ascending.
fn within(snapshot: &Snapshot, simhash: u64, distance: u32, work: &mut Work) -> Result<Vec<(u64, u32)>> {
    let mut near = Vec::new();
    for part in snapshot.parts() {
        let column = part.segment().simhashes()?;
        work.holders += column.values.len() as u64;
        scan(&column.values, simhash, distance, |at, bits| {
            if let Some(row) = column.rows.get(at) {
                near.push((part.first() + u64::from(*row), bits));
            }
        });
    }
    near.retain(|(number, _)| snapshot.is_live(*number));
    Ok(near)
}

/// Calls `hit` with the place and the distance of each value that is near. The inner loop has no branch, so that it is
/// compiled to vectors.
fn scan(values: &[u64], simhash: u64, distance: u32, mut hit: impl FnMut(usize, u32)) {
    const BLOCK: usize = 64;
    for (number, block) in values.chunks(BLOCK).enumerate() {
        let least = block.iter().map(|value| (value ^ simhash).count_ones()).min();
        if least.is_some_and(|least| least <= distance) {
            for (at, value) in block.iter().enumerate() {
                let bits = (value ^ simhash).count_ones();
                if bits <= distance {
                    hit(number * BLOCK + at, bits);
                }
            }
        }
    }
}
