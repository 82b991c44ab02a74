//! Counts the shingles that the asked document shares with a stored one, from the stored text.
//!
//! Cost: unpacking, reading the words, one sort; about 20 µs for a text of 2 KB.

use super::Asked;
use crate::snapshot::Snapshot;
use crate::texts::TextUnpacker;
use lookalike_core::sketch::exact::Counts;
use lookalike_core::sketch::shingle::{into_set, Shingler, Shingling};
use lookalike_table::Result;

/// Counts with the same memory.
pub struct ExactCounter {
    unpacker: TextUnpacker,
    shingler: Shingler,
    ids: Vec<u64>,
}

impl ExactCounter {
    /// Makes a counter. Errors: memory that it cannot have.
    pub fn new(shingling: Shingling) -> Result<Self> {
        Ok(Self { unpacker: TextUnpacker::new()?, shingler: Shingler::new(shingling), ids: Vec::new() })
    }

    /// Counts the shingles of the asked document (left), of a stored one (right) and of both, those of starter code left out;
    /// `None` if its text is not kept. Errors: damaged.
    pub fn counts(&mut self, snapshot: &Snapshot, asked: &Asked, number: u64) -> Result<Option<Counts>> {
        if !self.read(snapshot, number)? {
            return Ok(None);
        }
        without(&mut self.ids, &asked.starter);
        Ok(Some(Counts::new(&asked.shingles, &self.ids)))
    }

    /// The distinct ids of the shingles of all starter code of a snapshot whose text is kept, ascending. Cost: the flags of all
    /// documents. Errors: damaged.
    pub fn starter(&mut self, snapshot: &Snapshot) -> Result<Vec<u64>> {
        let mut all = Vec::new();
        for number in snapshot.templates()? {
            if self.read(snapshot, number)? {
                all.append(&mut self.ids);
            }
        }
        into_set(&mut all);
        Ok(all)
    }

    /// Reads the distinct ids of the shingles of a stored document. Returns whether its text is kept. Errors: damaged.
    fn read(&mut self, snapshot: &Snapshot, number: u64) -> Result<bool> {
        self.ids.clear();
        let Some(packed) = snapshot.text(number)?.filter(|packed| !packed.is_empty()) else { return Ok(false) };
        let texts = self.unpacker.unpack(&packed)?;
        self.shingler.ids(&texts.joined, &mut self.ids);
        into_set(&mut self.ids);
        Ok(true)
    }

    /// Whether the texts of a stored document are these; `None` if one of both is not kept. Errors: damaged.
    pub fn is_text(&mut self, snapshot: &Snapshot, texts: &[String], number: u64) -> Result<Option<bool>> {
        let packed = if texts.is_empty() { None } else { snapshot.text(number)? };
        let Some(packed) = packed.filter(|packed| !packed.is_empty()) else { return Ok(None) };
        let stored = self.unpacker.unpack(&packed)?;
        let are_equal = texts.iter().enumerate().all(|(place, text)| stored.file(place) == text);
        Ok(Some(stored.files.len() == texts.len() && are_equal))
    }
}

/// Takes the ids of `others` out of `ids`. REQUIRES: both ascend. Cost: linear in `ids`, times the logarithm of `others`.
pub(super) fn without(ids: &mut Vec<u64>, others: &[u64]) {
    if !others.is_empty() {
        ids.retain(|id| others.binary_search(id).is_err());
    }
}
