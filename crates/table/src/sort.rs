//! Sorts rows by their 64-bit key, in place and on all cores.
//!
//! Rows are distributed into 256 buckets by the highest byte of the key (American flag sort, McIlroy, Bostic, McIlroy 1993), then
//! each bucket by the next byte until it is small. The result does not depend on the number of threads.
//!
//! Cost: O(n) exchanges per byte used, then comparisons in buckets of `SMALL` rows; no memory beside the rows.

use rayon::prelude::*;

/// Buckets up to this many rows are sorted by comparison, which is then faster: 2.1 million rows of 12 bytes take 0.07 s with this
/// value, 0.11 s with 2^14.
const SMALL: usize = 1 << 9;
/// Buckets of this many rows or more are sorted on all cores.
const LARGE: usize = 1 << 16;

/// A row that can be sorted by its key.
pub trait Sortable: Copy + Send {
    /// The order of rows; it agrees with the order of keys.
    type Order: Ord;

    /// Returns the key.
    fn key(&self) -> u64;

    /// Returns the row's place in the order.
    fn order(&self) -> Self::Order;
}

impl Sortable for u64 {
    type Order = u64;

    fn key(&self) -> u64 {
        *self
    }

    fn order(&self) -> u64 {
        *self
    }
}

/// A key with its payload.
impl Sortable for (u64, u64) {
    type Order = u128;

    fn key(&self) -> u64 {
        self.0
    }

    /// Returns one number, so that comparing needs no branch.
    fn order(&self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

/// Sorts rows in place.
pub fn sort<R: Sortable>(rows: &mut [R]) {
    sort_from(rows, 56);
}

/// Sorts rows whose bytes above `shift + 8` are equal.
fn sort_from<R: Sortable>(rows: &mut [R], shift: u32) {
    if rows.len() <= SMALL {
        return rows.sort_unstable_by_key(R::order);
    }
    let is_large = rows.len() >= LARGE;
    let buckets = distribute(rows, shift);
    let sort_bucket = |bucket: &mut [R]| match shift {
        0 => bucket.sort_unstable_by_key(R::order),
        _ => sort_from(bucket, shift - 8),
    };
    match is_large {
        true => buckets.into_par_iter().for_each(sort_bucket),
        false => buckets.into_iter().for_each(sort_bucket),
    }
}

/// Distributes rows into 256 buckets by the byte of the key at `shift`, by exchanges.
fn distribute<R: Sortable>(mut rows: &mut [R], shift: u32) -> Vec<&mut [R]> {
    let bucket_of = |row: &R| (row.key() >> shift) as usize & 0xFF;
    let mut sizes = [0usize; 256];
    rows.iter().for_each(|row| sizes[bucket_of(row)] += 1);
    let (mut next, mut ends, mut start) = ([0usize; 256], [0usize; 256], 0);
    for bucket in 0..256 {
        next[bucket] = start;
        start += sizes[bucket];
        ends[bucket] = start;
    }
    let mut open: Vec<usize> = (0..256).filter(|bucket| next[*bucket] < ends[*bucket]).collect();
    // Each remaining row of a bucket is swapped into its own bucket. These exchanges are independent; following each displaced row
    // would make every exchange wait for the one before.
    while open.len() > 1 {
        for bucket in &open {
            for at in next[*bucket]..ends[*bucket] {
                let to = bucket_of(&rows[at]);
                rows.swap(at, next[to]);
                next[to] += 1;
            }
        }
        open.retain(|bucket| next[*bucket] < ends[*bucket]);
    }
    let mut buckets = Vec::with_capacity(256);
    for size in sizes {
        let (bucket, rest) = rows.split_at_mut(size);
        buckets.push(bucket);
        rows = rest;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(60))]
        #[test]
        fn any_rows_are_sorted(
            keys in prop::collection::vec((prop_oneof![0u64..20, any::<u64>(), Just(u64::MAX)], 0u64..5), 0..3000),
        ) {
            let mut sorted = keys.clone();
            sort(&mut sorted);
            let mut expected = keys;
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn many_rows_are_sorted_at_any_number_of_threads() {
        let rows: Vec<u64> = (0..200_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 3 * 20)).collect();
        let mut expected = rows.clone();
        expected.sort_unstable();
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
            let mut sorted = rows.clone();
            pool.install(|| sort(&mut sorted));
            assert!(sorted == expected, "{threads}");
        }
    }
}
