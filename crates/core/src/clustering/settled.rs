//! Earlier documents, whose clusters are settled: new documents are decided after them.
//!
//! Star clustering in order of rank knows no later document. So a corpus can be clustered in parts: of an earlier part
//! only its leaders can claim new documents, and its other documents, the *shadows*, matter only because they take
//! places in the lists of holders. Of an earlier list with `h` holders only the first [`FIRST`](super::FIRST) and the
//! last [`LAST`](super::LAST) can reach a new document. A list without the holders between them therefore proposes the
//! same pairs: no position below `FIRST` and no distance of up to `LAST` to a new document changes.
//!
//! Cost: that of the new documents and of the earlier holders that are looked at; nothing else of the earlier part is
//! read.

use super::{Capped, Reach};
use lookalike_table::Result;
use std::collections::HashMap;

/// Earlier documents with keys, by their numbers in order of rank.
pub trait Earlier {
    /// Appends the first `reach.first` and the last `reach.last` holders of a key, each once, ascending. Returns the
    /// number of all. Errors: they cannot be read.
    fn holders(&self, key: u64, reach: Reach, out: &mut Vec<u64>) -> Result<u64>;

    /// Whether a document leads; otherwise it is a shadow. Errors: it cannot be read.
    fn leads(&self, number: u64) -> Result<bool>;
}

/// No earlier documents.
pub struct NoEarlier;

impl Earlier for NoEarlier {
    fn holders(&self, _key: u64, _reach: Reach, _out: &mut Vec<u64>) -> Result<u64> {
        Ok(0)
    }

    fn leads(&self, _number: u64) -> Result<bool> {
        Ok(true)
    }
}

/// The earlier documents of a clustering. They are numbered before all new ones.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Whether each of them leads.
    pub leads: Vec<bool>,
    /// The number of all earlier holders of a key, where the clustering does not have all of them.
    pub crowds: HashMap<u64, u64>,
}

impl Settled {
    /// The number of the first new document.
    pub fn count(&self) -> u32 {
        self.leads.len() as u32
    }

    /// Whether a document may lead: it is new, or it leads already.
    pub fn may_lead(&self, document: u32) -> bool {
        self.leads.get(document as usize).copied().unwrap_or(true)
    }

    /// What a key leaves out if documents `holders` hold it, ascending; only pairs with a new document count.
    pub(super) fn capped(&self, key: u64, holders: &[u32], reach: Reach) -> Option<Capped> {
        let known = holders.partition_point(|document| *document < self.count());
        let before = self.crowds.get(&key).map_or(known, |all| *all as usize);
        let all = before + holders.len() - known;
        let untried = reach.left_out(all) - reach.left_out(before);
        (untried > 0).then_some(Capped { key, documents: all.min(u32::MAX as usize) as u32, untried })
    }
}
