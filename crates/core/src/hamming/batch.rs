//! Answers many queries at once: builds tables on the queries and streams the stored fingerprints past them.
//!
//! The pairs of a chunk of stored fingerprints depend only on the queries and the chunk. So any number of workers can take chunks of
//! any size in any order, and they find the same pairs.
//!
//! **Cost.** The tables of a million queries fit a cache. A streamed fingerprint takes 140 ns, while a query of large tables takes 2 µs
//! (100 million fingerprints past a million queries, `examples/hamming.rs`).
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.3.

use super::solve::{solve, Limit};
use super::tables::Tables;
use super::BITS;
use crate::error::Result;

/// Tables built on queries, past which fingerprints are streamed.
#[derive(Debug)]
pub struct Batch {
    tables: Tables,
}

/// A query and a stored fingerprint within the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Index of the query.
    pub query: u32,
    /// Position of the stored fingerprint.
    pub position: u64,
    /// The number of differing bits.
    pub distance: u8,
}

impl Batch {
    /// Builds tables on the queries.
    ///
    /// Errors: a distance out of range, or more queries than 32 bits can number.
    pub fn new(queries: &[u64], distance: u32) -> Result<Self> {
        let design = solve(BITS, distance, queries.len() as u64, Limit::Fast)?;
        Ok(Self { tables: Tables::numbered(&design, queries)? })
    }

    /// Returns all pairs of a query and one of `values`, ascending and without duplicates. The values have the positions `first`,
    /// `first` + 1, ….
    ///
    /// Errors: more values than 32 bits can number; give them in several chunks.
    pub fn chunk(&self, values: &[u64], first: u64) -> Result<Vec<Pair>> {
        let answers = self.tables.query_batch(values)?;
        let rows = answers.queries.iter().zip(&answers.ids).zip(&answers.distances);
        let mut pairs: Vec<Pair> = rows
            .map(|((at, id), distance)| Pair {
                query: *id as u32,
                position: first.saturating_add(u64::from(*at)),
                distance: *distance,
            })
            .collect();
        pairs.sort_unstable();
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables::tests::fingerprints;
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// Every query with every stored fingerprint.
    fn naive(queries: &[u64], stored: &[u64], most: u32) -> Vec<Pair> {
        let mut pairs = vec![];
        for (query, value) in queries.iter().enumerate() {
            for (position, other) in stored.iter().enumerate() {
                let distance = (value ^ other).count_ones();
                if distance <= most {
                    pairs.push(Pair { query: query as u32, position: position as u64, distance: distance as u8 });
                }
            }
        }
        pairs
    }

    proptest! {
        #![proptest_config(fixed(60))]
        #[test]
        fn chunks_of_any_size_match_naive(
            values in fingerprints(0..400), cut in any::<prop::sample::Index>(), size in 1usize..200, distance in 0u32..=10,
            overlap in 0usize..3,
        ) {
            let (queries, stored) = values.split_at(cut.index(values.len() + 1));
            let batch = Batch::new(queries, distance).expect("valid");
            let parts = (0..stored.len()).step_by(size).rev().map(|first| {
                let from = first.saturating_sub(overlap);
                batch.chunk(&stored[from..(first + size).min(stored.len())], from as u64).expect("valid")
            });
            let mut pairs: Vec<Pair> = parts.flatten().collect();
            pairs.sort_unstable();
            pairs.dedup();
            prop_assert_eq!(pairs, naive(queries, stored, distance));
        }
    }
}
