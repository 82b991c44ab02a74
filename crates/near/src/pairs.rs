//! Pairs of near fingerprints with their ids, gathered while a file is streamed past queries, and written as CSV.
//!
//! Cost: 24 bytes per pair, and the ids of the stored side.

use crate::cells::push_cell;
use crate::names::Strings;
use lookalike_core::hamming::batch::Pair;
use std::io::Write;

/// Pairs in the order in which they were found.
#[derive(Debug, Default)]
pub struct PairSheet {
    pairs: Vec<Pair>,
    /// The ids of the stored side.
    right: Strings,
}

/// Pairs in the order of query and position.
#[derive(Debug, Default)]
pub struct NamedPairs {
    /// The ids of the queries.
    pub left: Strings,
    /// The ids of the stored side.
    pub right: Strings,
    /// Number of bits in which they differ.
    pub distances: Vec<u32>,
}

impl PairSheet {
    /// Adds the pairs of a chunk whose first row has position `first`. Of a file that is compared with itself a pair is
    /// kept once, the earlier row first. `is_allowed` is asked for the numbers of a query and of a row of the chunk.
    pub fn add(
        &mut self,
        pairs: &[Pair],
        ids: &[&str],
        first: u64,
        is_own: bool,
        is_allowed: impl Fn(usize, usize) -> bool,
    ) {
        for pair in pairs.iter().filter(|pair| !is_own || u64::from(pair.query) < pair.position) {
            let row = usize::try_from(pair.position.saturating_sub(first)).unwrap_or(usize::MAX);
            if is_allowed(pair.query as usize, row) {
                self.right.push(ids.get(row).copied().unwrap_or_default());
                self.pairs.push(*pair);
            }
        }
    }

    /// All pairs, with the ids of the queries.
    pub fn finish(self, asked: &[&str]) -> NamedPairs {
        let Self { pairs, right } = self;
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by_key(|i| (pairs[*i].query, pairs[*i].position));
        let query = |i: &usize| asked.get(pairs[*i].query as usize).copied().unwrap_or_default();
        NamedPairs {
            left: order.iter().map(query).collect(),
            right: order.iter().map(|i| right.get(*i)).collect(),
            distances: order.iter().map(|i| u32::from(pairs[*i].distance)).collect(),
        }
    }
}

/// Pairs as lines of CSV.
pub fn csv<'a>(rows: impl Iterator<Item = (&'a str, &'a str, u32)>) -> Vec<u8> {
    let mut out = Vec::new();
    for (left, right, distance) in rows {
        push_cell(&mut out, left);
        out.push(b',');
        push_cell(&mut out, right);
        // Writing to memory does not fail.
        let _ = write!(out, ",{distance}\r\n");
    }
    out
}
