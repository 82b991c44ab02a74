//! Finds ids that several rows have, from a 64-bit key of each id.
//!
//! An id is a string or any other value: `"1"` and `1` are two ids. Two different ids have the same key with
//! probability 2^-64, so that a corpus of n ids has a false repetition with probability below n²/2^65: 0.0003 for
//! 10^8 rows. Cost: 8 bytes per row, and as many again while repetitions are searched; one sort of the keys.

use rayon::prelude::*;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The key of a row without an id.
pub const NO_ID: u64 = 0;

/// The key of an id. An empty id is none.
pub fn key(id: &[u8], is_string: bool) -> u64 {
    if id.is_empty() {
        NO_ID
    } else {
        xxh3_64_with_seed(id, u64::from(is_string)).max(NO_ID + 1)
    }
}

/// Ids that several rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedIds {
    /// Number of such ids.
    pub ids: u64,
    /// Number of rows that have one of them.
    pub rows: u64,
    /// The first row whose id an earlier row has, after that earlier row.
    pub example: (u64, u64),
}

/// The repeated ids of rows by their keys, if there are any.
pub fn repeated(keys: &[u64]) -> Option<RepeatedIds> {
    let mut sorted: Vec<u64> = keys.iter().copied().filter(|key| *key != NO_ID).collect();
    sorted.par_sort_unstable();
    let (mut ids, mut rows) = (0, 0);
    let mut run = 1;
    for at in 1..=sorted.len() {
        if sorted.get(at) == Some(&sorted[at - 1]) {
            run += 1;
            continue;
        }
        if run > 1 {
            (ids, rows) = (ids + 1, rows + run);
        }
        run = 1;
    }
    if ids == 0 {
        return None;
    }
    // Only repeated keys are looked up: the map of all rows before the example would need much more memory.
    let is_repeated = |key: u64| {
        let first = sorted.partition_point(|one| *one < key);
        sorted.get(first + 1) == Some(&key)
    };
    let mut firsts = HashMap::new();
    for (row, key) in keys.iter().enumerate().filter(|(_, key)| **key != NO_ID && is_repeated(**key)) {
        if let Some(first) = firsts.insert(*key, row as u64) {
            return Some(RepeatedIds { ids, rows, example: (first, row as u64) });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    #[test]
    fn a_number_and_a_string_are_two_ids() {
        assert_ne!(key(b"1", true), key(b"1", false));
        assert_eq!(key(b"", true), NO_ID);
    }

    proptest! {
        #![proptest_config(fixed(300))]

        #[test]
        fn repetitions_match_a_count_of_all_ids(ids in prop::collection::vec(prop::option::of(0u8..40), 0..40)) {
            let keys: Vec<u64> = ids.iter().map(|id| id.map_or(NO_ID, |id| key(&[id], false))).collect();
            let counts: Vec<usize> =
                (0u8..40).map(|id| ids.iter().filter(|one| **one == Some(id)).count()).filter(|many| *many > 1).collect();
            let second = (0..ids.len()).find(|row| ids[*row].is_some() && ids[..*row].contains(&ids[*row]));
            let expected = second.map(|second| RepeatedIds {
                ids: counts.len() as u64,
                rows: counts.iter().sum::<usize>() as u64,
                example: (ids.iter().position(|id| *id == ids[second]).unwrap_or(0) as u64, second as u64),
            });
            prop_assert_eq!(repeated(&keys), expected);
        }
    }
}
