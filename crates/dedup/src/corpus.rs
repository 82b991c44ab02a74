//! Reads a corpus: signs batches of rows on all cores and keeps them in order.
//!
//! With a table of references, the shingles of a row are looked up in it and then dropped.
//!
//! Cost: that of `reader.rs`; 40 bytes per row in memory, and 24 with simhashes, beside the store.

use crate::alike::Traits;
use crate::reader::{GivenText, ReadSettings, RowReader};
use crate::references::{FoundMatches, Match, References, Sought, Unfit};
use crate::sign::{Print, Signed, SignedRow};
use crate::signed_store::SignedStore;
use lookalike_core::error::Result;
use lookalike_core::sketch::shingle::Shingling;
use lookalike_table::Error as TableError;
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

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

/// The references that were found in the rows after them.
pub struct Contamination {
    table: References,
    /// Number of rows that are references.
    pub references: u32,
    /// Of each row that has a reference, the pair with the highest score; of equal ones that with the first reference.
    pub best: Vec<Match>,
    /// All pairs by row and reference, up to a limit.
    pub pairs: Vec<Match>,
    /// Number of pairs beyond it.
    pub unlisted: u64,
    /// Number of pairs that were counted.
    pub counted: u64,
    found: HashSet<u32>,
    most_pairs: usize,
}

impl Contamination {
    /// What was sought.
    pub fn sought(&self) -> Sought {
        self.table.sought()
    }

    /// Takes what was found in a batch whose first row has this number.
    fn take(&mut self, first: u32, found: FoundMatches) {
        let sought = self.sought();
        self.counted += found.counted;
        for mut one in found.matches {
            one.row += first;
            self.found.insert(one.reference);
            let order = |one: &Match| (one.is_identical, one.score(sought), std::cmp::Reverse(one.reference));
            match self.best.last_mut().filter(|best| best.row == one.row) {
                Some(best) if order(best) < order(&one) => *best = one,
                Some(_) => {}
                None => self.best.push(one),
            }
            if self.pairs.len() < self.most_pairs {
                self.pairs.push(one);
            } else {
                self.unlisted += 1;
            }
        }
    }
}

/// The rows of a corpus and what was computed from them.
pub struct Corpus {
    reader: RowReader,
    folder: PathBuf,
    contamination: Option<Contamination>,
    /// Content hash, length and state of each row.
    pub rows: Vec<SignedRow>,
    /// The shingles and sketches of the rows.
    pub store: SignedStore,
    /// The simhashes of the rows if they are made; the last rows without a text may lack them.
    pub prints: Vec<Print>,
    /// Length and language of the rows if they are kept; the last rows without a text may lack them.
    pub traits: Vec<Traits>,
    /// The place of each row in the order of rows, among references and among others; empty if they stand in order.
    pub places: Vec<u32>,
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
    /// A file of the store cannot be written.
    Table(TableError),
    /// There are more rows than 32 bits can number.
    TooMany,
}

impl From<TableError> for Refusal {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl Corpus {
    /// Makes an empty corpus that keeps up to `budget_bytes` in memory and the rest in files in `folder`.
    ///
    /// Errors: a parameter outside its range.
    pub fn new(reading: ReadSettings, budget_bytes: usize, folder: &Path) -> Result<Self> {
        let (reader, store) = (RowReader::new(reading)?, SignedStore::new(budget_bytes, folder));
        let folder = folder.to_owned();
        let (rows, prints, traits, problems) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            reader,
            folder,
            contamination: None,
            rows,
            store,
            prints,
            traits,
            places: Vec::new(),
            problems,
            bad: 0,
            mended: (0, 0),
            states: [0; 5],
        })
    }

    /// How texts become shingles.
    pub fn shingling(&self) -> Shingling {
        self.reader.shingling()
    }

    /// A digest of the texts of all rows in order, for telling whether two corpora have the same rows: XXH3-128 of the
    /// content hash and the state of each row.
    pub fn digest(&self) -> u128 {
        let mut hasher = Xxh3::new();
        for row in &self.rows {
            hasher.update(&row.content.to_le_bytes());
            hasher.update(&[row.state as u8]);
        }
        hasher.digest128()
    }

    /// Makes references of all rows so far. Of further rows, the references they have are kept, not their shingles.
    ///
    /// Errors: the references need more than `budget_bytes`, or the store cannot be read.
    pub fn seal(&mut self, sought: Sought, budget_bytes: u64, most_pairs: usize) -> std::result::Result<(), Unfit> {
        let table = References::new(&self.rows, &self.store, sought, budget_bytes)?;
        self.store = SignedStore::new(0, &self.folder);
        let (references, found) = (self.rows.len() as u32, HashSet::new());
        let (best, pairs) = (Vec::new(), Vec::new());
        let (unlisted, counted) = (0, 0);
        self.contamination =
            Some(Contamination { table, references, best, pairs, unlisted, counted, found, most_pairs });
        Ok(())
    }

    /// Hands over the pairs that were found since the last call, and forgets the rows that are no references.
    pub fn drain_matches(&mut self) -> Vec<Match> {
        let Some(known) = &mut self.contamination else { return Vec::new() };
        known.best.clear();
        known.found.clear();
        self.rows.truncate(known.references as usize);
        self.store = SignedStore::new(0, &self.folder);
        std::mem::take(&mut known.pairs)
    }

    /// What was found of the references, if there are any.
    pub fn contamination(&self) -> Option<&Contamination> {
        self.contamination.as_ref()
    }

    /// Number of references, and of those that were found. References with the same text are counted each.
    pub fn references(&self) -> (u64, u64) {
        let Some(found) = &self.contamination else { return (0, 0) };
        let rows = &self.rows[..found.references as usize];
        let with_text = rows.iter().filter(|known| known.state.has_text()).count();
        (with_text as u64, found.table.count(rows, &found.found))
    }

    /// Takes a chunk of a file of JSON Lines. Returns the keys of the ids of the rows that end in it, if they are read.
    ///
    /// Errors: a file of the store cannot be written, or there are too many rows.
    pub fn push_lines(&mut self, chunk: &[u8], is_last: bool) -> std::result::Result<Vec<u64>, Refusal> {
        let mut parts = self.reader.lines(chunk, is_last);
        let keys = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.name_keys)).collect();
        self.take_all(parts)?;
        Ok(keys)
    }

    /// Takes texts in memory, as [`RowReader::texts`] does. Errors: as [`Corpus::push_lines`].
    pub fn push_texts<'t>(
        &mut self,
        texts: &(impl Fn(usize) -> Option<GivenText<'t>> + Sync),
        numbers: Option<&[f64]>,
        count: usize,
    ) -> std::result::Result<(), Refusal> {
        let parts = self.reader.texts(texts, numbers, count);
        self.take_all(parts)
    }

    /// Takes rows that were signed elsewhere. Errors: as [`Corpus::push_lines`].
    pub fn push_signed(&mut self, signed: Signed) -> std::result::Result<(), Refusal> {
        self.take(signed)
    }

    /// Forgets all rows; what may be held of further ones in memory is `budget_bytes`.
    pub fn clear(&mut self, budget_bytes: usize) {
        self.store = SignedStore::new(budget_bytes, &self.folder);
        self.rows.clear();
        self.prints.clear();
        self.traits.clear();
        self.problems.clear();
        (self.bad, self.mended, self.states) = (0, (0, 0), [0; 5]);
    }

    fn take_all(&mut self, parts: Vec<Signed>) -> std::result::Result<(), Refusal> {
        let Some(known) = &self.contamination else {
            return parts.into_iter().try_for_each(|signed| self.take(signed));
        };
        let found: Vec<FoundMatches> = parts.par_iter().map(|signed| known.table.look_up(signed)).collect();
        for (mut signed, found) in parts.into_iter().zip(found) {
            let first = self.rows.len() as u32;
            signed.ids = Vec::new();
            signed.id_ends.fill(0);
            self.take(signed)?;
            if let Some(known) = &mut self.contamination {
                known.take(first, found);
            }
        }
        Ok(())
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
        if !signed.prints.is_empty() {
            self.prints.resize(first, Print::default());
            self.prints.append(&mut signed.prints);
        }
        if !signed.traits.is_empty() {
            self.traits.resize(first, Traits::default());
            self.traits.append(&mut signed.traits);
        }
        signed.rows.iter().for_each(|row| self.states[row.state as usize] += 1);
        self.rows.extend(self.store.push(signed)?);
        Ok(())
    }
}
