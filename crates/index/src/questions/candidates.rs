//! The documents that share keys with the asked one, and their groups of one content.
//!
//! Cost: one sort of the holders; flags and content hash of each distinct holder, 50 ns together. A key that very many documents
//! hold is read once; nothing is done for pairs of holders. Rows are read of the documents that are told.

use super::conditions::Conditions;
use super::Work;
use crate::segment::Which;
use crate::snapshot::Snapshot;
use lookalike_table::Result;
use std::collections::hash_map::{Entry, HashMap};

/// Documents with one content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The first of them.
    pub number: u64,
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
    let mut told = Vec::new();
    for (number, shared) in numbers {
        if may_be_told(snapshot, number, conditions, work)? {
            told.push((number, shared));
        }
    }
    by_content(snapshot, told)
}

/// The groups of these documents, in order of their first. REQUIRES: the numbers ascend. Errors: damaged.
pub(super) fn by_content(snapshot: &Snapshot, numbers: impl IntoIterator<Item = (u64, u32)>) -> Result<Vec<Group>> {
    let (mut groups, mut places): (Vec<Group>, HashMap<u128, usize>) = Default::default();
    for (number, shared) in numbers {
        match places.entry(snapshot.content(number)?) {
            Entry::Occupied(place) => groups[*place.get()].copies += 1,
            Entry::Vacant(place) => {
                place.insert(groups.len());
                groups.push(Group { number, copies: 1, shared });
            }
        }
    }
    Ok(groups)
}

/// Whether a document is neither a shadow nor starter code, and meets the conditions. Errors: damaged.
pub(super) fn may_be_told(snapshot: &Snapshot, number: u64, conditions: &Conditions, work: &mut Work) -> Result<bool> {
    work.rows += 1;
    // Shadows and starter code have flags.
    Ok(snapshot.flags(number)? == 0 && (conditions.is_empty() || conditions.are_met(&snapshot.meta(number)?)))
}
