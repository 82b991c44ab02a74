//! The keys of all submissions in one sorted table: key, owner, position.
//!
//! This is MOSS's inverted index (fingerprint → submission, position). It is built once and then read run by run; a run is the rows
//! of one key.
//!
//! Cost: that of `lookalike_table::sort`; 16 bytes per row.

use lookalike_table::sort::{sort, Sortable};
use std::ops::Range;

/// A row of a table: a key, its owner and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct PlacedKey {
    /// The key.
    pub key: u64,
    /// Index of the owner.
    pub owner: u32,
    /// Position within the owner.
    pub at: u32,
}

/// Rows in ascending order of key, owner and position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedKeys {
    rows: Vec<PlacedKey>,
}

impl Sortable for PlacedKey {
    type Order = PlacedKey;

    fn key(&self) -> u64 {
        self.key
    }

    fn order(&self) -> PlacedKey {
        *self
    }
}

impl PlacedKeys {
    /// Sorts the rows. The result does not depend on their order nor on the number of threads.
    pub fn new(rows: &[PlacedKey]) -> Self {
        let mut rows = rows.to_vec();
        sort(&mut rows);
        Self { rows }
    }

    /// Returns all rows.
    pub fn rows(&self) -> &[PlacedKey] {
        &self.rows
    }

    /// Iterates over the ranges of rows with one key, in ascending order of key.
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
            let mut rows: Vec<PlacedKey> = keys.iter().map(|(key, owner, at)| PlacedKey { key: *key, owner: *owner, at: *at }).collect();
            let table = PlacedKeys::new(&rows);
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
