//! Proposes every pair that reaches a threshold of resemblance: the exact prefix join, which needs no filter.
//!
//! Two sets with resemblance ≥ t share one of the first n − ⌈tn⌉ + 1 of the n shingles of either, in any order of
//! shingles that is the same for all documents. Rare shingles come first, so that few documents share a key. How many
//! documents hold a shingle is counted in a table of fixed size, in which shingles may share a cell: a count is then too
//! high, which changes the order and the work, never the answer. A shingle of one document only is no key.
//!
//! Cost: two passes over the shingles, some 10 ns each; a sort of the keys, within the memory budget; 4 bytes per cell.
//!
//! **Source.** Chaudhuri, Ganti, Kaushik 2006, *A primitive operator for similarity joins in data cleaning*; Bayardo, Ma,
//! Srikant 2007, *Scaling up all pairs similarity search*.

use crate::job::Failure;
use crate::judge::IdSet;
use crate::signed_store::SignedStore;
use lookalike_core::hash::mix64;
use lookalike_table::spill::Sorter;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Documents that one task takes.
const TASK: usize = 1 << 10;
/// Fewest and most cells.
const CELLS: (usize, usize) = (1 << 10, 1 << 28);
/// What a product of two numbers may be off by, as a share: rounding adds a key, it never drops one.
const ROUNDING: f64 = 1e-9;

/// Counts how many documents hold a shingle, or more.
struct Rarity {
    counts: Vec<AtomicU32>,
    shift: u32,
}

impl Rarity {
    /// Makes a table for so many shingles, of at most `budget_bytes`.
    fn new(shingles: usize, budget_bytes: usize) -> Self {
        let most = (budget_bytes / 4).clamp(CELLS.0, CELLS.1).next_power_of_two() / 2;
        let cells = shingles.next_power_of_two().clamp(CELLS.0, most.max(CELLS.0));
        Self { counts: (0..cells).map(|_| AtomicU32::new(0)).collect(), shift: 64 - cells.trailing_zeros() }
    }

    fn cell(&self, id: u64) -> &AtomicU32 {
        &self.counts[(mix64(id) >> self.shift) as usize]
    }

    fn count(&self, id: u64) -> u32 {
        self.cell(id).load(Ordering::Relaxed)
    }
}

/// Pushes the keys of all documents, which are rows of the store.
///
/// Errors: the store cannot be read, the sorter cannot write, or the work was stopped.
pub fn push_keys(
    store: &SignedStore,
    documents: &[u32],
    threshold: f64,
    budget_bytes: usize,
    stop: &AtomicBool,
    sorter: &mut Sorter,
) -> Result<(), Failure> {
    let shingles = documents.iter().map(|row| store.id_count(*row)).sum();
    let rarity = Rarity::new(shingles, budget_bytes);
    documents.par_chunks(TASK).try_for_each(|rows| count(store, rows, &rarity, stop))?;
    // As many tasks at a time as keep all cores at work.
    let batch = TASK * 4 * rayon::current_num_threads();
    for (number, rows) in documents.chunks(batch).enumerate() {
        let tasks: Vec<Vec<Vec<u64>>> =
            rows.par_chunks(TASK).map(|rows| keys(store, rows, threshold, &rarity, stop)).collect::<Result<_, _>>()?;
        for (document, keys) in (number * batch..).zip(tasks.into_iter().flatten()) {
            sorter.push(document as u32, &keys)?;
        }
    }
    Ok(())
}

/// The distinct ids of a row.
fn distinct(store: &SignedStore, row: u32, set: &mut IdSet, out: &mut Vec<u64>) -> lookalike_table::Result<()> {
    let ids = store.ids(row)?;
    set.clear(ids.len());
    out.clear();
    out.extend(ids.iter().filter(|id| set.insert(**id)));
    Ok(())
}

fn count(store: &SignedStore, rows: &[u32], rarity: &Rarity, stop: &AtomicBool) -> Result<(), Failure> {
    let (mut set, mut ids) = (IdSet::default(), Vec::new());
    for row in rows {
        stopped(stop)?;
        distinct(store, *row, &mut set, &mut ids)?;
        for id in &ids {
            rarity.cell(*id).fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// The keys of rows: the rarest shingles of each that another document may hold.
fn keys(
    store: &SignedStore,
    rows: &[u32],
    threshold: f64,
    rarity: &Rarity,
    stop: &AtomicBool,
) -> Result<Vec<Vec<u64>>, Failure> {
    let (mut set, mut ids, mut ordered) = (IdSet::default(), Vec::new(), Vec::new());
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        stopped(stop)?;
        distinct(store, *row, &mut set, &mut ids)?;
        ordered.clear();
        ordered.extend(ids.iter().map(|id| (rarity.count(*id), *id)));
        let length = prefix(ordered.len(), threshold);
        if length < ordered.len() {
            ordered.select_nth_unstable(length);
        }
        all.push(ordered[..length].iter().filter(|(count, _)| *count > 1).map(|(_, id)| *id).collect());
    }
    Ok(all)
}

/// Number of shingles of which a set of n shares one with every set that resembles it by the threshold.
fn prefix(n: usize, threshold: f64) -> usize {
    let common = (threshold * n as f64 * (1.0 - ROUNDING)).ceil() as usize;
    (n + 1).saturating_sub(common.max(1)).min(n)
}

fn stopped(stop: &AtomicBool) -> Result<(), Failure> {
    match stop.load(Ordering::Relaxed) {
        true => Err(Failure::Stopped),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_as_long_as_the_lemma_asks() {
        assert_eq!((prefix(0, 0.8), prefix(1, 0.8), prefix(10, 0.8), prefix(11, 0.8)), (0, 1, 3, 3));
        assert_eq!((prefix(10, 1.0), prefix(10, 0.01)), (1, 10));
        // 0.7 · 10 is a little more than 7 in binary; a prefix of 3 would be too short.
        assert_eq!(prefix(10, 0.7), 4);
    }
}
