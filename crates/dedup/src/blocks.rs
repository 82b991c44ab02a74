//! Makes keys of fingerprints such that two fingerprints that differ in at most k of 64 bits share a key.
//!
//! The bits are cut into r blocks, r > k. At most k blocks hold a difference, so at least one choice of r − k blocks
//! holds none. A document has one key for each of the C(r, k) choices, made of the bits of the chosen blocks. More
//! blocks give more keys with more bits, and so fewer unrelated documents per key. [`Blocks::for_documents`] finds the
//! cheapest number.
//!
//! The designs of `hamming::solve` are different: they have a few tables that are probed. Here all documents are sorted
//! once by every key, so hundreds of keys are affordable.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.1.

use lookalike_core::error::{Error, Result};
use lookalike_core::hamming::MAX_DISTANCE;
use lookalike_core::hash::mix64;

/// Most keys per document. 286 are enough for ten bits; sorting a thousand would take longer than comparing unrelated
/// documents.
const MAX_KEYS: usize = 300;

/// How much more often unrelated documents share a key than with uniform fingerprints, because fingerprints of texts
/// cluster. Among 100,000 documents, 686 keys of 16 bits were too common for clustering to try all pairs.
const SKEW: f64 = 8.0;

/// The masks that make keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The bits of each key.
    masks: Vec<u64>,
}

impl Blocks {
    /// Finds the cheapest keys for a distance and a number of documents. Sorting a key and comparing a document that
    /// shares it cost about the same; unrelated documents share keys `SKEW` times as often as with uniform
    /// fingerprints. Errors: a distance above [`MAX_DISTANCE`].
    pub fn for_documents(distance: u32, documents: usize) -> Result<Self> {
        if distance > MAX_DISTANCE {
            let reason = format!("must be 0 to {MAX_DISTANCE}");
            return Err(Error::Parameter { name: "distance", value: i64::from(distance), reason });
        }
        let designs = (distance + 1..=64).map(|blocks| Self::new(distance, blocks));
        let affordable = designs.take_while(|design| design.masks.len() <= MAX_KEYS);
        let cheapest = affordable.min_by(|left, right| left.cost(documents).total_cmp(&right.cost(documents)));
        Ok(cheapest.unwrap_or_else(|| Self::new(distance, distance + 1)))
    }

    /// Makes keys from all but `distance` of `blocks` blocks. REQUIRES: distance < blocks ≤ 64.
    pub fn new(distance: u32, blocks: u32) -> Self {
        let bounds: Vec<u32> = (0..=blocks).map(|block| 64 * block / blocks).collect();
        let block_masks: Vec<u64> = bounds.windows(2).map(|ends| below(ends[1]) & !below(ends[0])).collect();
        let mut masks = Vec::new();
        choose(&block_masks, blocks - distance, 0, &mut masks);
        Self { masks }
    }

    /// Expected cost per document: keys sorted plus unrelated documents compared.
    fn cost(&self, documents: usize) -> f64 {
        let strangers = |mask: &u64| SKEW * documents as f64 * (-f64::from(mask.count_ones())).exp2();
        self.masks.iter().map(|mask| 1.0 + strangers(mask)).sum()
    }

    /// Appends the keys of a fingerprint.
    pub fn keys(&self, fingerprint: u64, out: &mut Vec<u64>) {
        out.extend((0..).zip(&self.masks).map(|(index, mask)| mix64((fingerprint & mask) ^ mix64(index))));
    }
}

/// The bits below `end`.
fn below(end: u32) -> u64 {
    1u64.checked_shl(end).map_or(u64::MAX, |bit| bit - 1)
}

/// Appends the union of every choice of `count` masks.
fn choose(masks: &[u64], count: u32, chosen: u64, out: &mut Vec<u64>) {
    match (count, masks) {
        (0, _) => out.push(chosen),
        (_, []) => {}
        (_, [first, rest @ ..]) => {
            choose(rest, count - 1, chosen | first, out);
            // Otherwise too few masks are left.
            if rest.len() >= count as usize {
                choose(rest, count, chosen, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    #[test]
    fn paper_manku2007_designs_are_among_them() {
        let lengths = |blocks| {
            let mut bits: Vec<u32> = Blocks::new(3, blocks).masks.iter().map(|mask| mask.count_ones()).collect();
            bits.sort_unstable();
            (bits.len(), bits[0], bits[bits.len() - 1])
        };
        assert_eq!([lengths(4), lengths(5), lengths(6)], [(4, 16, 16), (10, 25, 26), (20, 31, 33)]);
    }

    #[test]
    fn every_pattern_of_three_bits_leaves_a_key() {
        for documents in [10, 100_000, 100_000_000] {
            let blocks = Blocks::for_documents(3, documents).expect("in range");
            for (a, b, c) in (0..64).flat_map(|a| (0..=a).flat_map(move |b| (0..=b).map(move |c| (a, b, c)))) {
                let pattern = 1u64 << a | 1 << b | 1 << c;
                assert!(blocks.masks.iter().any(|mask| mask & pattern == 0), "{pattern:x} of {documents}");
            }
        }
    }

    proptest! {
        #![proptest_config(fixed(400))]
        #[test]
        fn near_fingerprints_share_a_key(
            fingerprint: u64, flips in prop::collection::vec(0u32..64, 0..11), documents in 1usize..10_000_000,
        ) {
            let other = flips.iter().fold(fingerprint, |bits, flip| bits ^ 1 << flip);
            let blocks = Blocks::for_documents(flips.len() as u32, documents).expect("in range");
            let (mut left, mut right) = (Vec::new(), Vec::new());
            blocks.keys(fingerprint, &mut left);
            blocks.keys(other, &mut right);
            prop_assert!(left.iter().any(|key| right.contains(key)));
        }
    }

    #[test]
    fn more_documents_have_longer_keys() {
        let keys = |documents| Blocks::for_documents(3, documents).expect("in range").masks.len();
        assert!(keys(1_000) <= keys(1_000_000) && keys(1_000_000) < keys(1_000_000_000));
        assert_eq!(Blocks::for_documents(0, 1).expect("in range").masks, [u64::MAX]);
    }

    #[test]
    fn a_distance_above_ten_is_refused() {
        let error = Blocks::for_documents(11, 1).expect_err("too far").to_string();
        assert_eq!(error, "distance `11` must be 0 to 10");
    }
}
