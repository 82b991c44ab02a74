//! Finds all fingerprints within a distance by keys that can be sorted anywhere.
//!
//! The bits are cut into blocks. Two fingerprints that differ in at most d bits agree on all but d of b blocks, so they
//! share one of the C(b, d) choices of b − d blocks. Each choice is a key: its number and the bits it leaves. Of rows
//! sorted by choice, bits and fingerprint, each is compared with those before it that share both. A pair is told under the
//! first choice that both share, so each once.
//!
//! Cost: C(b, d) rows per fingerprint, and a comparison per two fingerprints that share a key; 8 bytes per fingerprint of
//! the current key. More blocks make longer keys and more of them.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.1.

use lookalike_core::hamming::BITS;

/// Bits of a key beyond those that number the fingerprints: so few fingerprints share a key by chance.
const SPARE_BITS: u32 = 2;
/// The most choices.
const MOST: usize = 220;

/// The choices of blocks that a search by keys takes.
#[derive(Clone, Debug)]
pub struct PrintKeys {
    distance: u32,
    /// The bits that each choice leaves.
    masks: Vec<u64>,
}

impl PrintKeys {
    /// Chooses blocks for so many fingerprints.
    pub fn new(distance: u32, count: u64) -> Self {
        let wanted = 64 - count.max(1).leading_zeros() + SPARE_BITS;
        let fits = |blocks: &u32| combinations(*blocks, distance) <= MOST;
        let blocks = (distance + 1..=BITS).take_while(fits);
        let (mut last, mut chosen) = (distance + 1, None);
        for blocks in blocks {
            last = blocks;
            if chosen.is_none() && BITS * (blocks - distance) / blocks >= wanted {
                chosen = Some(blocks);
            }
        }
        Self::of_blocks(distance, chosen.unwrap_or(last))
    }

    fn of_blocks(distance: u32, blocks: u32) -> Self {
        let edge = |block: u32| u64::from(BITS) * u64::from(block) / u64::from(blocks);
        let below = |bits: u64| if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let of_block: Vec<u64> = (0..blocks).map(|block| below(edge(block + 1)) & !below(edge(block))).collect();
        let mut masks = Vec::new();
        choose(&of_block, distance, u64::MAX, &mut masks);
        Self { distance, masks }
    }

    /// Appends the number and the bits of each key of a fingerprint.
    pub fn keys(&self, print: u64, out: &mut Vec<(u32, u64)>) {
        out.extend((0..).zip(&self.masks).map(|(choice, mask)| (choice, print & mask)));
    }

    /// Whether two fingerprints are near, and this is the first choice that they share.
    fn is_told(&self, choice: u32, left: u64, right: u64) -> bool {
        let differ = left ^ right;
        let is_shared = |mask: &u64| differ & mask == 0;
        differ.count_ones() <= self.distance && !self.masks[..choice as usize].iter().any(is_shared)
    }
}

fn combinations(blocks: u32, distance: u32) -> usize {
    (1..=distance).fold(1usize, |all, i| all.saturating_mul((blocks + 1 - i) as usize) / i as usize)
}

/// Appends `mask` without every choice of so many of the blocks.
fn choose(blocks: &[u64], left_out: u32, mask: u64, out: &mut Vec<u64>) {
    if left_out == 0 {
        return out.push(mask);
    }
    for (place, block) in blocks.iter().enumerate() {
        choose(&blocks[place + 1..], left_out - 1, mask & !block, out);
    }
}

/// Takes rows (choice, bits, fingerprint) in that order, each fingerprint once per key.
pub struct PrintStream {
    keys: PrintKeys,
    key: Option<(u32, u64)>,
    held: Vec<u64>,
}

impl PrintStream {
    /// Makes a stream of keys that these choices made.
    pub fn new(keys: PrintKeys) -> Self {
        Self { keys, key: None, held: Vec::new() }
    }

    /// Takes the next row and appends the near pairs that it makes with those before it.
    pub fn push(&mut self, choice: u32, bits: u64, print: u64, pairs: &mut Vec<(u64, u64)>) {
        if self.key != Some((choice, bits)) {
            self.key = Some((choice, bits));
            self.held.clear();
        }
        let near = self.held.iter().filter(|other| self.keys.is_told(choice, **other, print));
        pairs.extend(near.map(|other| (*other, print)));
        self.held.push(print);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use lookalike_core::hash::mix64;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(fixed(300))]

        #[test]
        fn every_near_pair_is_told_once(
            seeds in prop::collection::vec((0u64..4, prop::collection::vec(0u32..64, 0..5)), 0..30), distance in 0u32..7, count in 0u64..5_000_000,
        ) {
            let flip = |(seed, flips): &(u64, Vec<u32>)| flips.iter().fold(mix64(*seed), |print, bit| print ^ 1 << bit);
            let prints: BTreeSet<u64> = seeds.iter().map(flip).collect();
            let keys = PrintKeys::new(distance, count);
            let mut rows = Vec::new();
            for print in &prints {
                let mut own = Vec::new();
                keys.keys(*print, &mut own);
                rows.extend(own.into_iter().map(|(choice, bits)| (choice, bits, *print)));
            }
            rows.sort_unstable();
            let (mut stream, mut found) = (PrintStream::new(keys), Vec::new());
            rows.iter().for_each(|(choice, bits, print)| stream.push(*choice, *bits, *print, &mut found));
            found.sort_unstable();
            let is_near = |left: &u64, right: &u64| left < right && (left ^ right).count_ones() <= distance;
            let all = prints.iter().flat_map(|left| prints.iter().map(move |right| (*left, *right)));
            prop_assert_eq!(found, all.filter(|(left, right)| is_near(left, right)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn keys_grow_with_the_number_of_fingerprints() {
        let bits = |count| PrintKeys::new(3, count).masks[0].count_ones();
        assert!(bits(1_000) >= 12 && bits(100_000_000) >= 28);
        assert!(PrintKeys::new(0, 1 << 40).masks.len() == 1);
        assert!((0..=64).all(|distance| PrintKeys::new(distance.min(20), 1 << 40).masks.len() <= MOST));
    }
}
