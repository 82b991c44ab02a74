//! The documents that share keys with the asked one, and their groups of one content.
//!
//! Cost: one sort of the holders, and one row read per distinct holder. A key that very many documents hold is read
//! once; nothing is done for pairs of holders.

use super::conditions::Conditions;
use super::Work;
use crate::segment::{StoredRow, Which};
use crate::snapshot::Snapshot;
use lookalike_table::Result;
use std::collections::hash_map::{Entry, HashMap};

/// Documents with one content.
pub(super) struct Group {
    /// The first of them.
    pub number: u64,
    /// What is stored of the first.
    pub row: StoredRow,
    /// How many there are.
    pub copies: u64,
    /// Keys that each shares with the asked document.
    pub shared: u32,
}

/// The live documents that hold some of the keys, ascending, with the number of keys that each holds. REQUIRES: the keys
/// ascend. Errors: damaged.
pub(super) fn holders(snapshot: &Snapshot, which: Which, keys: &[u64], work: &mut Work) -> Result<Vec<(u64, u32)>> {
    let mut numbers = Vec::new();
    snapshot.holders(which, keys, |_, number| numbers.push(number))?;
    work.holders += numbers.len() as u64;
    numbers.sort_unstable();
    Ok(numbers.chunk_by(|left, right| left == right).map(|run| (run[0], run.len() as u32)).collect())
}

/// The groups of documents that may be told, in order of their first. Errors: damaged.
pub(super) fn groups(
    snapshot: &Snapshot,
    numbers: impl IntoIterator<Item = (u64, u32)>,
    conditions: &Conditions,
    work: &mut Work,
) -> Result<Vec<Group>> {
    let (mut groups, mut places): (Vec<Group>, HashMap<u128, usize>) = Default::default();
    for (number, shared) in numbers {
        let row = snapshot.row(number)?;
        work.rows += 1;
        // Shadows and starter code have flags.
        if row.flags != 0 || !conditions.are_met(&row.meta) {
            continue;
        }
        match places.entry(row.content) {
            Entry::Occupied(place) => groups[*place.get()].copies += 1,
            Entry::Vacant(place) => {
                place.insert(groups.len());
                groups.push(Group { number, row, copies: 1, shared });
            }
        }
    }
    Ok(groups)
}

/// The group of the documents with this content, if there are any. Errors: damaged.
pub(super) fn identical(
    snapshot: &Snapshot,
    content: u128,
    conditions: &Conditions,
    work: &mut Work,
) -> Result<Option<Group>> {
    let numbers = snapshot.find_content(content)?;
    work.holders += numbers.len() as u64;
    Ok(groups(snapshot, numbers.into_iter().map(|number| (number, 0)), conditions, work)?.pop())
}
