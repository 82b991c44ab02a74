//! An index as the archive of a deduplication.
//!
//! Documents of the index that are no shadows lead, also those that were added without a deduplication. Removed
//! documents are not seen. A shadow goes with its leader; where one is left without it, as indexes of an earlier version
//! have them, a row with its text is decided like a new one.
//!
//! Cost: a lookup per text and key; flags, sketches and texts only of documents that are compared.

use crate::archive::{Archive, Found};
use crate::job::Link;
use lookalike_core::clustering::{Earlier, Reach, SeenHolders};
use lookalike_index::record::SHADOW;
use lookalike_index::segment::Which;
use lookalike_index::snapshot::Snapshot;
use lookalike_index::texts::TextUnpacker;
use lookalike_table::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// A snapshot of an index.
pub struct Indexed<'a> {
    snapshot: &'a Snapshot,
    /// Unpackers that are not at work.
    unpackers: Mutex<Vec<TextUnpacker>>,
}

impl<'a> Indexed<'a> {
    /// Takes the documents of a snapshot.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, unpackers: Mutex::default() }
    }

    /// The fingerprints of documents, whose numbers ascend. Errors: damaged.
    pub fn prints(&self, numbers: &[u64]) -> Result<Vec<Option<u64>>> {
        let mut found = vec![None; numbers.len()];
        for (number, print) in self.snapshot.simhashes()? {
            if let Ok(at) = numbers.binary_search(&number) {
                found[at] = Some(print);
            }
        }
        Ok(found)
    }

    fn is_shadow(&self, number: u64) -> Result<bool> {
        Ok(self.snapshot.flags(number)? & SHADOW != 0)
    }

    /// What was decided about a shadow; `None` if its leader is gone.
    fn shadow(&self, number: u64) -> Result<Option<Found>> {
        let Some(kept) = self.snapshot.row(number)?.leader else { return Ok(None) };
        let link = Link::ALL.get(kept.link as usize).copied().filter(|link| *link != Link::None);
        let leader = self.snapshot.find_hash(&kept.id)?;
        // A document that came later under the same id is another one.
        let (Some(link), Some(leader)) = (link, leader.filter(|leader| *leader < number)) else { return Ok(None) };
        Ok(Some(Found { leader, score: kept.score, link }))
    }
}

impl Earlier for Indexed<'_> {
    fn holders(&self, keys: &[u64], reach: Reach, seen: SeenHolders<'_>) -> Result<()> {
        self.snapshot.ends(Which::Features, keys, reach.first, reach.last, seen)
    }

    fn leads(&self, number: u64) -> Result<bool> {
        Ok(!self.is_shadow(number)?)
    }
}

impl Archive for Indexed<'_> {
    fn find(&self, content: u128) -> Result<Option<Found>> {
        let same = self.snapshot.find_content(content)?;
        for number in &same {
            if !self.is_shadow(*number)? {
                return Ok(Some(Found { leader: *number, score: 1.0, link: Link::Identical }));
            }
        }
        for number in same {
            if let Some(found) = self.shadow(number)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn sketch(&self, number: u64) -> Result<Vec<u32>> {
        self.snapshot.sketch(number)
    }

    fn text(&self, number: u64) -> Result<Vec<u8>> {
        let Some(packed) = self.snapshot.text(number)? else {
            return Err(Error::refused("the index keeps no texts, so that resemblance cannot be counted"));
        };
        let idle = self.unpackers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut unpacker = idle.map_or_else(TextUnpacker::new, Ok)?;
        let text = unpacker.unpack(&packed)?.joined;
        self.unpackers.lock().unwrap_or_else(PoisonError::into_inner).push(unpacker);
        Ok(text.into_bytes())
    }

    fn each_print(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<()> {
        self.snapshot.simhashes()?.for_each(|(number, print)| visit(number, print));
        Ok(())
    }

    fn has_shingles(&self, number: u64) -> Result<bool> {
        Ok(self.snapshot.row(number)?.shingles > 0)
    }
}
