//! Pairs of documents on their way to the cells where they are judged, many pairs in one row.
//!
//! A pair belongs to the cell (part of the left, part of the right), of G × G, where a part is a hash of the rank modulo
//! G. A *bundle* is a cell, a list of ranks, and pairs of places in that list, each with further bytes. So an engine that
//! moves rows around moves a row per bundle, not one per pair, and a rank once per bundle, not once per pair.
//!
//! Pairs are collected in a window of bounded size; at its end they are sorted by cell and cut into bundles. Of pairs
//! that are equal within a window one remains.
//!
//! Cost: two lookups per pair and the sort, about 0.2 µs; `WINDOW_BYTES` of memory, and as much for the bundles.

use super::holders::RankColumn;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a window: of its ranks in memory, and of its pairs as if each of them named both ranks. The second is a bound
/// of its bundles, which name ranks again and again if these are long.
pub const WINDOW_BYTES: usize = 16 << 20;
/// Bytes that a rank of a window takes beside itself: two lists, its number and its part, an entry of a hash table that
/// may be half empty, and what the allocator needs for two strings.
const RANK_BYTES: usize = 160;
/// Bytes from which on a bundle ends. Engines put thousands of rows into one batch, so bundles are small.
const BUNDLE_BYTES: usize = 2 << 10;

/// Rows (cell, ranks, pairs). A pair is two places in the ranks (32 bits each, little-endian), and its further bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundles {
    /// The cell of each bundle.
    pub cells: Vec<u32>,
    /// The ranks of all bundles.
    pub ranks: RankColumn,
    /// Where the ranks of each bundle end.
    pub rank_ends: Vec<u32>,
    /// The pairs of all bundles.
    pub pairs: Vec<u8>,
    /// Where the pairs of each bundle end.
    pub pair_ends: Vec<u32>,
}

/// A pair of a window: its cell, its ranks by their number in the window, and which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    cell: u32,
    left: u32,
    right: u32,
    at: u32,
}

/// Collects pairs, and makes bundles of them.
#[derive(Debug)]
pub struct Packer {
    side: u32,
    extra: usize,
    numbers: HashMap<Vec<u8>, u32>,
    /// The ranks of the window, and the part of each.
    ranks: Vec<Vec<u8>>,
    parts: Vec<u32>,
    pairs: Vec<Listed>,
    extras: Vec<u8>,
    bytes: usize,
}

impl Packer {
    /// Makes bundles for `side` × `side` cells, of pairs that have `extra` further bytes.
    ///
    /// REQUIRES: `side` is at least 1, and `side` × `side` is a signed 32-bit number, as engines have them.
    pub fn new(side: u32, extra: usize) -> Self {
        let (numbers, ranks, parts, pairs, extras) = Default::default();
        Self { side: side.max(1), extra, numbers, ranks, parts, pairs, extras, bytes: 0 }
    }

    /// Takes a pair. REQUIRES: `extra` has as many bytes as was said.
    pub fn push(&mut self, left: &[u8], right: &[u8], extra: &[u8]) {
        let at = self.pairs.len() as u32;
        let (first, second) = (self.number(left), self.number(right));
        let cell = self.parts[first as usize] * self.side + self.parts[second as usize];
        self.pairs.push(Listed { cell, left: first, right: second, at });
        self.extras.extend_from_slice(extra);
        self.bytes += left.len() + right.len() + extra.len() + size_of::<Listed>();
    }

    /// Whether the window is full, so that bundles should be taken.
    pub fn is_full(&self) -> bool {
        self.bytes >= WINDOW_BYTES
    }

    /// Returns the bundles of the window, sorted by cell, and begins another window.
    pub fn take(&mut self) -> Bundles {
        self.pairs.sort_unstable();
        self.pairs.dedup_by_key(|pair| (pair.left, pair.right));
        let mut made = Bundles::default();
        let mut local = vec![u32::MAX; self.ranks.len()];
        for of_cell in self.pairs.chunk_by(|one, next| one.cell == next.cell) {
            let mut rest = of_cell;
            while !rest.is_empty() {
                rest = &rest[self.bundle(rest, &mut local, &mut made)..];
            }
        }
        (self.numbers, self.ranks, self.parts, self.pairs, self.extras, self.bytes) = Default::default();
        made
    }

    /// Makes a bundle of the first of these pairs of one cell, and returns how many they are.
    fn bundle(&self, pairs: &[Listed], local: &mut [u32], made: &mut Bundles) -> usize {
        let (first_rank, first_byte, start) = (made.ranks.ends.len(), made.ranks.bytes.len(), made.pairs.len());
        let mut named = Vec::new();
        let mut taken = 0;
        for pair in pairs {
            for number in [pair.left, pair.right] {
                let place = &mut local[number as usize];
                if *place == u32::MAX {
                    *place = (made.ranks.ends.len() - first_rank) as u32;
                    made.ranks.push(&self.ranks[number as usize]);
                    named.push(number);
                }
                made.pairs.extend_from_slice(&place.to_le_bytes());
            }
            let at = pair.at as usize * self.extra;
            made.pairs.extend_from_slice(&self.extras[at..at + self.extra]);
            taken += 1;
            if made.pairs.len() - start + made.ranks.bytes.len() - first_byte >= BUNDLE_BYTES {
                break;
            }
        }
        named.iter().for_each(|number| local[*number as usize] = u32::MAX);
        made.cells.push(pairs[0].cell);
        made.rank_ends.push(made.ranks.ends.len() as u32);
        made.pair_ends.push(made.pairs.len() as u32);
        taken
    }

    fn number(&mut self, rank: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(rank) {
            return *number;
        }
        let number = self.ranks.len() as u32;
        self.bytes += 2 * rank.len() + RANK_BYTES;
        self.numbers.insert(rank.to_vec(), number);
        self.ranks.push(rank.to_vec());
        self.parts.push((xxh3_64(rank) % u64::from(self.side)) as u32);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Bytes of the two places of a pair.
    const PLACES: usize = 8;

    /// (cell, left, right, further bytes) of all pairs of bundles.
    type Pairs = Vec<(u32, Vec<u8>, Vec<u8>, Vec<u8>)>;

    fn unpacked(made: &Bundles, extra: usize) -> Pairs {
        let starts = |ends: &[u32]| std::iter::once(0).chain(ends.iter().copied()).collect::<Vec<u32>>();
        let (of_ranks, of_pairs, bytes) = (starts(&made.rank_ends), starts(&made.pair_ends), starts(&made.ranks.ends));
        let mut found = Vec::new();
        for (row, cell) in made.cells.iter().enumerate() {
            let rank = |place: u32| {
                let at = (of_ranks[row] + place) as usize;
                assert!(at < of_ranks[row + 1] as usize);
                made.ranks.bytes[bytes[at] as usize..bytes[at + 1] as usize].to_vec()
            };
            for pair in made.pairs[of_pairs[row] as usize..of_pairs[row + 1] as usize].chunks(PLACES + extra) {
                let place = |at: usize| u32::from_le_bytes([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]);
                found.push((*cell, rank(place(0)), rank(place(4)), pair[PLACES..].to_vec()));
            }
        }
        found
    }

    fn cell(left: &[u8], right: &[u8], side: u32) -> u32 {
        let part = |rank: &[u8]| (xxh3_64(rank) % u64::from(side)) as u32;
        part(left) * side + part(right)
    }

    proptest! {
        #![proptest_config(fixed(100))]

        #[test]
        fn bundles_hold_every_pair_once(pairs in prop::collection::vec((0u8..20, 0u8..20), 0..200), side in 1u32..5, extra in 0usize..5) {
            let mut packer = Packer::new(side, extra);
            let mut expected = BTreeSet::new();
            for (left, right) in &pairs {
                let (left, right) = (vec![1, *left], vec![1, 7, *right]);
                let bytes = vec![left[1] ^ right[2]; extra];
                packer.push(&left, &right, &bytes);
                expected.insert((cell(&left, &right, side), left, right, bytes));
            }
            let found = unpacked(&packer.take(), extra);
            prop_assert_eq!(found.len(), expected.len());
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
            prop_assert_eq!(packer.take(), Bundles::default());
        }
    }

    #[test]
    fn a_cell_of_many_pairs_becomes_several_small_bundles() {
        let mut packer = Packer::new(1, 0);
        for left in 0..100u32 {
            for right in 0..100u32 {
                packer.push(&left.to_be_bytes(), &(1000 + right).to_be_bytes(), &[]);
            }
        }
        let made = packer.take();
        assert_eq!(unpacked(&made, 0).len(), 10_000);
        assert!(made.cells.len() > 3 && made.cells.iter().all(|cell| *cell == 0));
        let sizes = made.pair_ends.windows(2).map(|ends| ends[1] - ends[0]);
        assert!(sizes.max() <= Some(BUNDLE_BYTES as u32));
    }

    #[test]
    fn long_ranks_fill_a_window_sooner() {
        let (mut packer, mut pairs) = (Packer::new(8, 0), 0u32);
        while !packer.is_full() {
            let rank = [pairs.to_be_bytes().as_slice(), &[1; 4000]].concat();
            packer.push(&rank, &rank, &[]);
            pairs += 1;
        }
        assert!(pairs as usize <= WINDOW_BYTES / 8000 + 1);
    }

    #[test]
    fn a_window_of_short_ranks_is_bounded_by_what_they_take_in_memory() {
        let (mut packer, mut pairs) = (Packer::new(8, 0), 0u64);
        while !packer.is_full() {
            packer.push(&(2 * pairs).to_be_bytes(), &(2 * pairs + 1).to_be_bytes(), &[]);
            pairs += 1;
        }
        // Both lists of ranks, the hash table and their strings, without what the allocator adds.
        let each = 2 * (2 * (size_of::<Vec<u8>>() + 8) + 12) + size_of::<Listed>();
        assert!((pairs as usize * each) < WINDOW_BYTES, "{pairs} pairs");
    }
}
