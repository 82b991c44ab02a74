//! Selects the n smallest distinct k-grams of a document, each at its first position (Heintze).
//!
//! Every document has the same number of fingerprints, so only near-copies of whole documents are found; there is no guarantee
//! (Schleimer, Wilkerson, Aiken 2003, §2.3).
//!
//! Cost: one comparison per k-gram. A k-gram at position i is inserted with probability n/i, so O(n log n log N) in all.

use super::{Block, Gram, Picks, Scheme, Selector};
use std::collections::BTreeMap;

/// The scheme.
#[derive(Clone, Copy, Debug)]
pub struct Smallest {
    /// n.
    pub count: usize,
}

impl Scheme for Smallest {
    fn window(&self, len: usize) -> usize {
        len
    }

    fn sample(&self, window: &[Gram], _previous: Option<usize>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..window.len()).collect();
        order.sort_by_key(|i| (window[*i].rank(), *i));
        order.dedup_by_key(|i| window[*i].rank());
        order.truncate(self.count);
        order.sort_unstable();
        order
    }

    fn selector(&self) -> Box<dyn Selector + Send> {
        Box::new(Running { count: self.count, seen: 0, kept: BTreeMap::new() })
    }
}

/// State of a running selection: the n smallest k-grams so far, by rank, with the first position of each.
struct Running {
    count: usize,
    seen: usize,
    kept: BTreeMap<(u32, u64), usize>,
}

impl Running {
    /// Returns whether a key can be inserted: there is room, or the key is not above the largest kept.
    fn admits(&self, key: u32) -> bool {
        self.kept.len() < self.count || self.kept.last_key_value().is_some_and(|((largest, _), _)| key <= *largest)
    }
}

impl Selector for Running {
    fn push(&mut self, block: &Block, _picks: &mut Picks) -> usize {
        for pos in self.seen.max(block.base)..block.end() {
            if self.admits(block.key(pos)) {
                self.kept.entry((block.key(pos), block.grams.identity(pos))).or_insert(pos);
                if self.kept.len() > self.count {
                    self.kept.pop_last();
                }
            }
        }
        self.seen = block.end();
        block.end()
    }

    fn finish(&mut self, _block: &Block, picks: &mut Picks) {
        let mut chosen: Vec<(usize, u64)> = self.kept.iter().map(|((_, identity), pos)| (*pos, *identity)).collect();
        chosen.sort_unstable();
        for (pos, identity) in chosen {
            picks.push(pos, identity);
        }
    }
}
