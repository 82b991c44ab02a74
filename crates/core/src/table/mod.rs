//! The one structure of the product: 64-bit keys, sorted, with a payload.
//!
//! MOSS's inverted index (fingerprint → submission, position) is this; so are the lists of Broder and the tables of Manku.
//! Nothing here knows which scheme made the keys. A table is built once and then read run by run, a run being the rows of
//! one key.
//!
//! Where positions are not asked for and rows may not fit the memory, `external.rs` does the same for keys with owners.
//!
//! Cost: one pass that deals the rows into 256 heaps by their highest byte, then each heap is sorted where it fits the cache,
//! on all cores; 16 bytes a row, twice while building.

pub mod column;
pub mod external;

use rayon::prelude::*;
use std::ops::Range;

/// A row: a key, whose it is and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Row {
    /// The key.
    pub key: u64,
    /// Index of the owner.
    pub owner: u32,
    /// Position within the owner.
    pub at: u32,
}

/// Rows in ascending order of key, owner and position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    rows: Vec<Row>,
}

const HEAPS: usize = 256;

fn heap_of(row: &Row) -> usize {
    (row.key >> 56) as usize
}

impl Table {
    /// Sorts the rows. The result does not depend on their order nor on the number of threads.
    pub fn new(rows: &[Row]) -> Self {
        let mut ends = [0usize; HEAPS];
        for row in rows {
            ends[heap_of(row)] += 1;
        }
        let mut start = 0;
        let mut next = [0usize; HEAPS];
        for (heap, end) in ends.iter_mut().enumerate() {
            next[heap] = start;
            start += *end;
            *end = start;
        }
        let mut dealt = vec![Row { key: 0, owner: 0, at: 0 }; rows.len()];
        for row in rows {
            let heap = heap_of(row);
            dealt[next[heap]] = *row;
            next[heap] += 1;
        }
        let mut heaps: Vec<&mut [Row]> = Vec::with_capacity(HEAPS);
        let mut rest = dealt.as_mut_slice();
        let mut taken = 0;
        for end in ends {
            let (heap, tail) = rest.split_at_mut(end - taken);
            heaps.push(heap);
            rest = tail;
            taken = end;
        }
        heaps.into_par_iter().for_each(|heap| heap.sort_unstable());
        Self { rows: dealt }
    }

    /// All rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The ranges of rows with one key, in ascending order of key.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut start = 0;
        std::iter::from_fn(move || {
            let key = self.rows.get(start)?.key;
            let length = self.rows[start..].iter().take_while(|row| row.key == key).count();
            let run = start..start + length;
            start = run.end;
            Some(run)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(200))]
        #[test]
        fn a_table_is_the_sorted_rows_whatever_their_order(
            keys in prop::collection::vec((prop_oneof![0u64..20, any::<u64>()], 0u32..5, 0u32..9), 0..300),
        ) {
            let mut rows: Vec<Row> = keys.iter().map(|(key, owner, at)| Row { key: *key, owner: *owner, at: *at }).collect();
            let table = Table::new(&rows);
            rows.sort_unstable();
            prop_assert_eq!(table.rows(), &rows[..]);
            let mut covered = 0;
            for run in table.runs() {
                prop_assert_eq!(run.start, covered);
                let key = table.rows()[run.start].key;
                prop_assert!(table.rows()[run.clone()].iter().all(|row| row.key == key));
                prop_assert!(table.rows().get(run.end).is_none_or(|row| row.key != key));
                covered = run.end;
            }
            prop_assert_eq!(covered, rows.len());
        }
    }
}
