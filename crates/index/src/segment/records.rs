//! Reads whole documents again from the tables of a segment, for export, upgrade and tests.
//!
//! Keys are stored by key. [`Segment::documents`] reads all tables of keys once per call, whatever the range. [`Records`] reads them
//! once for all documents, and sorts their keys by row within a memory budget (`lookalike_table::spill`).
//! Keys come back in ascending order and once each.

use super::{Segment, Which};
use crate::record::Document;
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
            push(document, which, row.key());
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

/// Adds a key to its document. Keys of a table come in ascending order; one that comes again is the same.
fn push(document: &mut Document, which: Which, key: u64) {
    let keys = match which {
        Which::Postings => &mut document.postings,
        Which::Literals => &mut document.literals,
        Which::Features => &mut document.features,
        Which::Samples => &mut document.samples,
    };
    if keys.last() != Some(&key) {
        keys.push(key);
    }
}

/// Keys of all tables that are being sorted by document.
pub(super) struct Sorting(Sorter<PairedKey>);

impl Sorting {
    pub(super) fn new(place: Option<(Arc<dyn Disk>, usize, PathBuf)>) -> Self {
        Self(Sorter::of(place.map(|(disk, memory, path)| (disk, memory, path.with_extension("keys")))))
    }

    /// Takes a row of a table of keys. REQUIRES: there is such a document. Errors: a file cannot be written.
    pub(super) fn add(&mut self, which: Which, document: u64, row: &Row<'_>) -> Result<()> {
        self.0.add(PairedKey { key: document, owner: which as u32, rest: row.key() })
    }

    pub(super) fn finish(self) -> Result<SortedKeys> {
        let mut rows = self.0.finish()?;
        let next = rows.next_row()?;
        Ok(SortedKeys { rows, next })
    }
}

/// Keys in order of document and table, with the next one.
#[derive(Debug)]
pub(super) struct SortedKeys {
    rows: Sorted<PairedKey>,
    next: Option<PairedKey>,
}

impl SortedKeys {
    /// Adds the keys of a row to its document. REQUIRES: rows ascend without gaps. Errors: a file cannot be read.
    pub(super) fn fill(&mut self, row: u64, document: &mut Document) -> Result<()> {
        while let Some(found) = self.take(row)? {
            if let Some(which) = Which::ALL.get(found.owner as usize) {
                push(document, *which, found.rest);
            }
        }
        Ok(())
    }

    /// The next key if it is of this document.
    fn take(&mut self, row: u64) -> Result<Option<PairedKey>> {
        let found = self.next.filter(|found| found.key == row);
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
        self.keys.fill(row, &mut document)?;
        let simhashes = self.segment.simhashes()?;
        if simhashes.rows.get(self.simhash).is_some_and(|at| u64::from(*at) == row) {
            document.simhash = simhashes.values.get(self.simhash).copied();
            self.simhash += 1;
        }
        self.next += 1;
        Ok(Some(document))
    }
}
