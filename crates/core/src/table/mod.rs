//! The one structure of the product: 64-bit keys, sorted, with a payload.
//!
//! MOSS's inverted index (fingerprint → submission, position) is this; so are the lists of Broder and the tables of Manku.
//! Nothing here knows which scheme made the keys. A table is built once and then read run by run, a run being the rows of
//! one key.
//!
//! Where positions are not asked for and rows may not fit the memory, `external.rs` does the same for keys with owners.
//!
//! Cost: that of `sort.rs`; 16 bytes a row.

pub mod codec;
pub mod column;
pub mod external;
pub mod memory;
pub mod plain;
pub mod sort;

use sort::{sort, Sortable};
use std::ops::Range;

/// A row: a key, whose it is and where it stands.
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
pub struct Table {
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

impl Table {
    /// Sorts the rows. The result does not depend on their order nor on the number of threads.
    pub fn new(rows: &[PlacedKey]) -> Self {
        let mut rows = rows.to_vec();
        sort(&mut rows);
        Self { rows }
    }

    /// All rows.
    pub fn rows(&self) -> &[PlacedKey] {
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
            let mut rows: Vec<PlacedKey> = keys.iter().map(|(key, owner, at)| PlacedKey { key: *key, owner: *owner, at: *at }).collect();
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
