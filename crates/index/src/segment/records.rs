//! Reads whole documents again from the tables of a segment, for export, upgrade and tests.
//!
//! Keys are stored by key. [`Segment::documents`] reads all tables of keys once per call, whatever the range. [`Records`] reads them
//! once for all documents, and sorts their keys by row within a memory budget (`lookalike_table::spill`).
//! Postings come back in order of token, literals, features and samples in ascending order and once each.

use super::{Segment, Which};
use crate::record::{Document, Posting};
use lookalike_table::disk::Disk;
use lookalike_table::spill::{PairedKey, Sorted, Sorter};
use lookalike_table::{Error, Result, Row, Table};
use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

impl Segment {
    /// The documents of some rows. Errors: there are no such rows, or damaged.
    pub fn documents(&self, rows: Range<u64>) -> Result<Vec<Document>> {
        if rows.start > rows.end || rows.end > self.rows() {
            let Range { start, end } = rows;
            return Err(Error::refused(format!(
                "documents `{start}` to `{end}` are not in a segment of `{}` documents",
                self.rows()
            )));
        }
        let mut found = rows.clone().map(|row| self.without_keys(row)).collect::<Result<Vec<_>>>()?;
        for which in Which::ALL {
            self.add_keys(which, rows.start, &mut found)?;
        }
        self.add_simhashes(rows, &mut found)?;
        found.iter_mut().for_each(|document| document.postings.sort_by_key(|one| (one.token, one.last, one.key)));
        Ok(found)
    }

    /// All documents in order, to be read once. Keys beyond so many bytes are kept in files whose names begin with the path; without these,
    /// all are in memory. Errors: damaged, or the system refuses.
    pub fn read_all(self: &Arc<Self>, place: Option<(Arc<dyn Disk>, usize, PathBuf)>) -> Result<Records> {
        let mut keys = Sorting::new(place);
        for which in Which::ALL {
            let Some(mut scan) = self.keyed(which).map(Table::scan) else { continue };
            while let Some(row) = scan.next_row()? {
                keys.add(which, self.checked(number(&row, 0))?, &row)?;
            }
        }
        Ok(Records { segment: self.clone(), next: 0, keys: keys.finish()?, simhash: 0 })
    }

    /// Errors: a posting that ends beyond the last token.
    fn posting(&self, key: u64, token: u32, run: u32) -> Result<Posting> {
        let last = token.checked_add(run);
        let last = last.ok_or_else(|| self.damaged("a posting ends beyond the last token"))?;
        Ok(Posting { key, token, last })
    }

    fn without_keys(&self, row: u64) -> Result<Document> {
        let owned = |bytes: Option<Cow<'_, [u8]>>| bytes.map(Cow::into_owned).unwrap_or_default();
        let made = self.facts(row)?;
        let (tokens, text) = (owned(self.tokens(row)?), owned(self.text(row)?));
        Ok(Document { sketch: self.sketch(row)?, tokens, text, ..made })
    }

    /// A document with nothing but what the table of documents has of it.
    pub(super) fn facts(&self, row: u64) -> Result<Document> {
        let stored = self.row(row)?;
        Ok(Document {
            id: stored.id,
            meta: stored.meta,
            submitter: stored.submitter,
            known_as: stored.known_as,
            time: stored.time,
            flags: stored.flags,
            leader: stored.leader,
            content: stored.content,
            shingles: stored.shingles,
            length: stored.length,
            bytes: stored.bytes,
            ..Document::default()
        })
    }

    /// Adds the keys of a table to the documents from row `first` on.
    fn add_keys(&self, which: Which, first: u64, found: &mut [Document]) -> Result<()> {
        let Some(mut scan) = self.keyed(which).map(Table::scan) else { return Ok(()) };
        while let Some(row) = scan.next_row()? {
            let at = self.checked(number(&row, 0))?.checked_sub(first).and_then(|at| found.get_mut(at as usize));
            let Some(document) = at else { continue };
            match which {
                Which::Postings => {
                    let (token, run) = (number(&row, 1) as u32, number(&row, 2) as u32);
                    document.postings.push(self.posting(row.key(), token, run)?);
                }
                Which::Literals => document.literals.push(row.key()),
                Which::Features => document.features.push(row.key()),
                Which::Samples => document.samples.push(row.key()),
            }
        }
        Ok(())
    }

    fn add_simhashes(&self, rows: Range<u64>, found: &mut [Document]) -> Result<()> {
        let simhashes = self.simhashes()?;
        for (row, value) in simhashes.rows.iter().zip(&simhashes.values) {
            let at = u64::from(*row).checked_sub(rows.start).and_then(|at| found.get_mut(at as usize));
            at.into_iter().for_each(|document| document.simhash = Some(*value));
        }
        Ok(())
    }
}

/// The number in a column that has numbers.
pub(super) fn number(row: &Row<'_>, column: usize) -> u64 {
    row.number(column).unwrap_or(0)
}

/// Keys of all tables that are being sorted by document.
pub(super) struct Sorting {
    postings: Sorter<PairedKey>,
    others: Sorter<PairedKey>,
}

impl Sorting {
    pub(super) fn new(place: Option<(Arc<dyn Disk>, usize, PathBuf)>) -> Self {
        let part = |name: &str| {
            let (disk, memory, path) = place.clone()?;
            Some((disk, memory / 2, path.with_extension(name)))
        };
        Self { postings: Sorter::of(part("postings")), others: Sorter::of(part("others")) }
    }

    /// Takes a row of a table of keys. REQUIRES: there is such a document. Errors: a file cannot be written.
    pub(super) fn add(&mut self, which: Which, document: u64, row: &Row<'_>) -> Result<()> {
        let (document, rest) = (document << 32, row.key());
        match which {
            Which::Postings => {
                let (token, owner) = (number(row, 1), number(row, 2) as u32);
                self.postings.add(PairedKey { key: document | token, owner, rest })
            }
            _ => self.others.add(PairedKey { key: document | which as u64, owner: 0, rest }),
        }
    }

    pub(super) fn finish(self) -> Result<SortedKeys> {
        Ok(SortedKeys { postings: Keys::new(self.postings)?, others: Keys::new(self.others)? })
    }
}

/// Keys of all tables in order of document.
#[derive(Debug)]
pub(super) struct SortedKeys {
    postings: Keys,
    others: Keys,
}

impl SortedKeys {
    /// Adds the keys of a row to its document. REQUIRES: rows ascend without gaps. Errors: damaged, or a file cannot be read.
    pub(super) fn fill(&mut self, segment: &Segment, row: u64, document: &mut Document) -> Result<()> {
        while let Some(found) = self.postings.take(row)? {
            document.postings.push(segment.posting(found.rest, found.key as u32, found.owner)?);
        }
        while let Some(found) = self.others.take(row)? {
            match found.key as u32 {
                of if of == Which::Literals as u32 => document.literals.push(found.rest),
                of if of == Which::Features as u32 => document.features.push(found.rest),
                _ => document.samples.push(found.rest),
            }
        }
        Ok(())
    }
}

/// Keys in order of document, with the next one.
#[derive(Debug)]
struct Keys {
    rows: Sorted<PairedKey>,
    next: Option<PairedKey>,
}

impl Keys {
    fn new(sorter: Sorter<PairedKey>) -> Result<Self> {
        let mut rows = sorter.finish()?;
        let next = rows.next_row()?;
        Ok(Self { rows, next })
    }

    /// The next key if it is of this document.
    fn take(&mut self, row: u64) -> Result<Option<PairedKey>> {
        let found = self.next.filter(|found| found.key >> 32 == row);
        if found.is_some() {
            self.next = self.rows.next_row()?;
        }
        Ok(found)
    }
}

/// The documents of a segment in order. Cost: all keys are sorted once.
#[derive(Debug)]
pub struct Records {
    segment: Arc<Segment>,
    next: u64,
    keys: SortedKeys,
    /// The place of the next simhash.
    simhash: usize,
}

impl Records {
    /// The next document; none at the end. Errors: damaged, or a file cannot be read.
    pub fn next_document(&mut self) -> Result<Option<Document>> {
        let row = self.next;
        if row == self.segment.rows() {
            return Ok(None);
        }
        let mut document = self.segment.without_keys(row)?;
        self.keys.fill(&self.segment, row, &mut document)?;
        let simhashes = self.segment.simhashes()?;
        if simhashes.rows.get(self.simhash).is_some_and(|at| u64::from(*at) == row) {
            document.simhash = simhashes.values.get(self.simhash).copied();
            self.simhash += 1;
        }
        self.next += 1;
        Ok(Some(document))
    }
}
