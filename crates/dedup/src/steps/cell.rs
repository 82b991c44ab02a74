//! The pairs of one cell: the documents come first, then bundles of pairs, whose ranks become places among the documents.
//!
//! Bundles repeat pairs: several keys propose the same two documents. Pairs wait until a window is full, and are then
//! sorted and judged, each once. Of pairs judged before, only those that the caller accepts are remembered. A caller whose
//! pairs are an answer accepts those, so that each is found once; one that only rules pairs out accepts none, and its
//! memory is the window.
//!
//! Cost: a lookup per rank of a bundle; per pair the sort, about 30 ns.

use std::collections::{HashMap, HashSet};

/// A rank that none of the documents of the cell has, or bytes that are no pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDocument;

/// Distinct pairs: places of the left and of the right documents, and the further bytes of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedPairs {
    /// Places of the left documents.
    pub left: Vec<u32>,
    /// Places of the right documents.
    pub right: Vec<u32>,
    /// Further bytes.
    pub extras: Vec<u8>,
}

/// The documents and waiting pairs of a cell.
#[derive(Debug, Default)]
pub struct CellPairs {
    extra: usize,
    window: usize,
    places: HashMap<Vec<u8>, u32>,
    documents: u32,
    /// Both places in one word, and which pair it is.
    waiting: Vec<(u64, u32)>,
    extras: Vec<u8>,
    accepted: HashSet<u64>,
}

impl CellPairs {
    /// An empty cell, of pairs that have `extra` further bytes; they wait until they take `window` bytes.
    pub fn new(extra: usize, window: usize) -> Self {
        Self { extra, window, ..Self::default() }
    }

    /// Takes the next document.
    pub fn push_document(&mut self, rank: &[u8]) {
        self.places.entry(rank.to_vec()).or_insert(self.documents);
        self.documents += 1;
    }

    /// Takes the pairs of a bundle. Errors: a rank has no document, or the bytes are no pairs.
    pub fn push_bundle<'a>(&mut self, ranks: impl Iterator<Item = &'a [u8]>, pairs: &[u8]) -> Result<(), NoDocument> {
        let places =
            ranks.map(|rank| self.places.get(rank).copied().ok_or(NoDocument)).collect::<Result<Vec<_>, _>>()?;
        let place = |bytes: [u8; 4]| places.get(u32::from_le_bytes(bytes) as usize).copied().ok_or(NoDocument);
        for pair in pairs.chunks(8 + self.extra) {
            let whole = pair.split_first_chunk::<8>().filter(|(_, extra)| extra.len() == self.extra);
            let (&[a, b, c, d, e, f, g, h], extra) = whole.ok_or(NoDocument)?;
            let both = u64::from(place([a, b, c, d])?) << 32 | u64::from(place([e, f, g, h])?);
            self.waiting.push((both, self.waiting.len() as u32));
            self.extras.extend_from_slice(extra);
        }
        Ok(())
    }

    /// Whether so many pairs wait that they should be taken.
    pub fn is_full(&self) -> bool {
        size_of_val(self.waiting.as_slice()) + self.extras.len() >= self.window
    }

    /// Returns the waiting pairs, each once and sorted, without those that were accepted before.
    pub fn take(&mut self) -> PlacedPairs {
        let (mut waiting, extras) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.extras));
        waiting.sort_unstable();
        waiting.dedup_by_key(|pair| pair.0);
        waiting.retain(|pair| !self.accepted.contains(&pair.0));
        let extra = |at: u32| &extras[at as usize * self.extra..][..self.extra];
        PlacedPairs {
            left: waiting.iter().map(|pair| (pair.0 >> 32) as u32).collect(),
            right: waiting.iter().map(|pair| pair.0 as u32).collect(),
            extras: waiting.iter().flat_map(|pair| extra(pair.1)).copied().collect(),
        }
    }

    /// Remembers accepted pairs: they are not returned again.
    pub fn accept(&mut self, left: &[u32], right: &[u32]) {
        self.accepted.extend(left.iter().zip(right).map(|(left, right)| u64::from(*left) << 32 | u64::from(*right)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::bundles::Packer;
    use super::*;

    const WINDOW: usize = 1 << 10;

    fn cell(documents: u8, extra: usize) -> CellPairs {
        let mut cell = CellPairs::new(extra, WINDOW);
        (0..documents).for_each(|document| cell.push_document(&[document]));
        cell
    }

    fn push(cell: &mut CellPairs, pairs: &[(u8, u8)], extra: usize) -> Result<(), NoDocument> {
        let mut packer = Packer::new(1, extra);
        pairs.iter().for_each(|(left, right)| packer.push(&[*left], &[*right], &vec![left ^ right; extra]));
        let made = packer.take();
        let ranks = made.ranks.bytes.chunks(1);
        cell.push_bundle(ranks, &made.pairs)
    }

    #[test]
    fn pairs_are_returned_once_and_not_after_they_were_accepted() {
        let mut cell = cell(9, 2);
        push(&mut cell, &[(3, 5), (1, 2)], 2).expect("all documents are there");
        push(&mut cell, &[(1, 2), (0, 8)], 2).expect("all documents are there");
        let found = cell.take();
        assert_eq!((found.left, found.right), (vec![0, 1, 3], vec![8, 2, 5]));
        assert_eq!(found.extras, [8, 8, 3, 3, 6, 6]);
        cell.accept(&[1], &[2]);
        push(&mut cell, &[(1, 2), (3, 5)], 2).expect("all documents are there");
        let found = cell.take();
        assert_eq!((found.left, found.right), (vec![3], vec![5]));
        assert_eq!(cell.take(), PlacedPairs::default());
    }

    #[test]
    fn a_pair_without_its_document_is_refused() {
        assert_eq!(push(&mut cell(4, 0), &[(1, 4)], 0), Err(NoDocument));
        assert_eq!(cell(4, 0).push_bundle([[1u8].as_slice()].into_iter(), &[0; 7]), Err(NoDocument));
        assert_eq!(cell(4, 2).push_bundle([[1u8].as_slice()].into_iter(), &[0; 9]), Err(NoDocument));
        assert_eq!(cell(4, 0).push_bundle([[1u8].as_slice()].into_iter(), &[1; 8]), Err(NoDocument));
    }

    #[test]
    fn a_full_cell_says_so() {
        let mut cell = cell(2, 0);
        let pairs = [0u32.to_le_bytes(), 1u32.to_le_bytes()].concat().repeat(WINDOW / 16);
        assert!(!cell.is_full());
        cell.push_bundle([[0u8].as_slice(), &[1]].into_iter(), &pairs).expect("all documents are there");
        assert!(cell.is_full());
        assert_eq!(cell.take().left, [0]);
    }
}
