//! Which documents have a simhash within some bits of the asked one's. Complete: all simhashes are compared.
//!
//! Documents with one content have one simhash. So content hashes are read only where several near documents have the same
//! simhash, and the number of distinct contents is still exact.
//!
//! Cost: one pass over the simhashes, 8 bytes per document, about 1 ms for a million; the flags of each near document. **Source.**
//! Manku, Jain, Das Sarma 2007, §3; a scan instead of their tables, because one document is asked about and the column is small.

use super::candidates::{by_content, may_be_told, Group};
use super::{Asked, Asker, Found, Measure, Wish, Work};
use crate::snapshot::Snapshot;
use lookalike_core::hamming::scan::scan;
use lookalike_table::Result;

/// A document whose simhash is near: simhash, number.
type Near = (u64, u64);

impl Asker {
    /// Finds the documents whose simhash differs in at most `distance` bits. Errors: damaged.
    pub fn distance(&mut self, snapshot: &Snapshot, asked: &Asked, distance: u32, wish: Wish<'_>) -> Result<Found> {
        let mut work = Work::default();
        let Some(simhash) = asked.document.simhash.filter(|_| !asked.is_starter()) else { return Ok(Found::default()) };
        let mut near = Vec::new();
        for one in within(snapshot, simhash, distance, &mut work)? {
            if may_be_told(snapshot, one.1, wish.conditions, &mut work)? {
                near.push(one);
            }
        }
        near.sort_unstable();
        let mut matches = Vec::new();
        for run in near.chunk_by(|left, right| left.0 == right.0) {
            let measure = Measure::Distance((run[0].0 ^ simhash).count_ones());
            match run {
                [(_, number)] => matches.push((Group { number: *number, copies: 1, shared: 0 }, measure)),
                _ => {
                    let groups = by_content(snapshot, run.iter().map(|(_, number)| (*number, 0)))?;
                    matches.extend(groups.into_iter().map(|group| (group, measure)));
                }
            }
        }
        if !asked.starter.is_empty() {
            self.leave_out(snapshot, asked, &mut matches, &mut work)?;
        }
        Found::of(snapshot, matches, wish.top, work)
    }

    /// Takes out documents that share no shingle with the asked one but those of starter code. Errors: damaged.
    fn leave_out(
        &mut self,
        snapshot: &Snapshot,
        asked: &Asked,
        matches: &mut Vec<(Group, Measure)>,
        work: &mut Work,
    ) -> Result<()> {
        let mut kept = Vec::new();
        for one in matches.drain(..) {
            let counts = self.exact.counts(snapshot, asked, one.0.number)?;
            work.texts += u64::from(counts.is_some());
            if counts.is_none_or(|counts| counts.common > 0) {
                kept.push(one);
            }
        }
        *matches = kept;
        Ok(())
    }
}

/// The live documents near a simhash, in order of number. Errors: damaged.
fn within(snapshot: &Snapshot, simhash: u64, distance: u32, work: &mut Work) -> Result<Vec<Near>> {
    let (mut near, mut places) = (Vec::new(), Vec::new());
    for part in snapshot.parts() {
        let column = part.segment().simhashes()?;
        work.holders += column.values.len() as u64;
        places.clear();
        scan(&column.values, simhash, distance, &mut places);
        let rows = places.iter().filter_map(|at| column.values.get(*at).zip(column.rows.get(*at)));
        let rows = rows.filter(|(_, row)| part.is_live(u64::from(**row)));
        near.extend(rows.map(|(value, row)| (*value, part.first() + u64::from(*row))));
    }
    Ok(near)
}
