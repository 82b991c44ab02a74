//! Reads a corpus: signs batches of rows on all cores and keeps them in order.
//!
//! Cost: that of `reader.rs`; 40 bytes per row in memory, beside the store.

use crate::reader::{GivenText, ReadSettings, RowReader};
use crate::sign::{Signed, SignedRow};
use crate::signed_store::SignedStore;
use lookalike_core::error::Result;
use std::io;
use std::path::Path;

/// Problems kept with their reasons; further ones are only counted.
const MAX_PROBLEMS: usize = 1_000;

/// A row that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its number in the corpus.
    pub row: u32,
    /// The reason.
    pub reason: String,
}

/// The rows of a corpus and what was computed from them.
pub struct Corpus {
    reader: RowReader,
    /// Content hash, length and state of each row.
    pub rows: Vec<SignedRow>,
    /// The shingles and sketches of the rows.
    pub store: SignedStore,
    /// The first rows that could not be read.
    pub problems: Vec<Problem>,
    /// Number of rows that could not be read.
    pub bad: u64,
    /// Number of rows in which parts that are no characters became U+FFFD, and the first of them.
    pub mended: (u64, u32),
    /// Number of rows in each `RowState`, in its order.
    pub states: [u64; 5],
}

/// The reason why a corpus could not take more rows.
#[derive(Debug)]
pub enum Refusal {
    /// The store's file cannot be written.
    Io(io::Error),
    /// There are more rows than 32 bits can number.
    TooMany,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Corpus {
    /// Makes an empty corpus that keeps up to `budget_bytes` in memory and the rest in files in `folder`.
    ///
    /// Errors: a parameter outside its range.
    pub fn new(reading: ReadSettings, budget_bytes: usize, folder: &Path) -> Result<Self> {
        let (reader, store) = (RowReader::new(reading)?, SignedStore::new(budget_bytes, folder));
        Ok(Self { reader, rows: Vec::new(), store, problems: Vec::new(), bad: 0, mended: (0, 0), states: [0; 5] })
    }

    /// Takes a chunk of a file of JSON Lines. Errors: the store's file cannot be written, or there are too many rows.
    pub fn push_lines(&mut self, chunk: &[u8], is_last: bool) -> std::result::Result<(), Refusal> {
        let parts = self.reader.lines(chunk, is_last);
        parts.into_iter().try_for_each(|signed| self.take(signed))
    }

    /// Takes texts in memory, as [`RowReader::texts`] does. Errors: as [`Corpus::push_lines`].
    pub fn push_texts<'t>(
        &mut self,
        texts: &(impl Fn(usize) -> Option<GivenText<'t>> + Sync),
        numbers: Option<&[f64]>,
        count: usize,
    ) -> std::result::Result<(), Refusal> {
        let parts = self.reader.texts(texts, numbers, count);
        parts.into_iter().try_for_each(|signed| self.take(signed))
    }

    fn take(&mut self, mut signed: Signed) -> std::result::Result<(), Refusal> {
        let first = self.rows.len();
        if first + signed.rows.len() > u32::MAX as usize {
            return Err(Refusal::TooMany);
        }
        self.bad += signed.problems.len() as u64;
        if let (0, Some(row)) = (self.mended.0, signed.mended.first()) {
            self.mended.1 = first as u32 + row;
        }
        self.mended.0 += signed.mended.len() as u64;
        let room = MAX_PROBLEMS.saturating_sub(self.problems.len());
        let problems = std::mem::take(&mut signed.problems);
        self.problems
            .extend(problems.into_iter().take(room).map(|(row, reason)| Problem { row: first as u32 + row, reason }));
        signed.rows.iter().for_each(|row| self.states[row.state as usize] += 1);
        self.rows.extend(self.store.push(signed)?);
        Ok(())
    }
}
