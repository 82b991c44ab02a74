//! Reads what can be read of a damaged segment, document by document, for repair.
//!
//! A page that differs from its checksum is passed over: in tables by row it costs the documents of the page, in tables of
//! keys it costs keys. A document is there if its row of `documents` can be read, and its text where texts are kept. It is
//! whole if nothing else of it can be missing either: whose keys stood on a page cannot be known, so no document of a
//! segment with a bad page of keys is whole. The tables of ids and contents are not needed: they are made again.
//!
//! Cost: as [`super::records::Records`].

use super::records::{number, SortedKeys, Sorting};
use super::{tables, Segment, Which};
use crate::record::Document;
use lookalike_table::disk::Disk;
use lookalike_table::{Error, Result, Row, Table};
use std::path::PathBuf;
use std::sync::Arc;

/// What is left of one document.
#[derive(Clone, Debug, PartialEq)]
pub struct Salvaged {
    /// The document, with the keys that could be read.
    pub document: Document,
    /// Whether nothing of it is missing.
    pub is_whole: bool,
}

/// The documents of a damaged segment in order.
#[derive(Debug)]
pub struct Salvage {
    segment: Arc<Segment>,
    next: u64,
    keys: SortedKeys,
    /// Rows and their simhashes, ascending.
    simhashes: std::iter::Peekable<std::vec::IntoIter<(u64, u64)>>,
    missing: u64,
}

impl Segment {
    /// What can be read of a segment, with the files of [`Self::read_all`]. Errors: these cannot be written.
    pub fn salvage(self: &Arc<Self>, place: Option<(Arc<dyn Disk>, usize, PathBuf)>) -> Result<Salvage> {
        let (mut keys, mut missing) = (Sorting::new(place), 0);
        for which in Which::ALL {
            let Some(table) = self.keyed(which) else { continue };
            missing +=
                self.each_readable(table, |document, row| keys.add(which, document, row), |row| number(row, 0))?;
        }
        let mut simhashes = Vec::new();
        if let Ok(Some(table)) = self.table(tables::SIMHASHES) {
            let take = |document, row: &Row<'_>| {
                simhashes.push((document, number(row, 0)));
                Ok(())
            };
            missing += self.each_readable(&table, take, |row| row.key())?;
        }
        simhashes.sort_unstable();
        simhashes.dedup_by_key(|(row, _)| *row);
        Ok(Salvage {
            segment: self.clone(),
            next: 0,
            keys: keys.finish()?,
            simhashes: simhashes.into_iter().peekable(),
            missing,
        })
    }

    /// Calls `take` with the rows of all pages that can be read and the documents that they name; returns how many rows could not be
    /// read, or name no document. Errors: those of `take`.
    fn each_readable(
        &self,
        table: &Table,
        mut take: impl FnMut(u64, &Row<'_>) -> Result<()>,
        document: impl Fn(&Row<'_>) -> u64,
    ) -> Result<u64> {
        let (mut scan, mut missing) = (table.scan(), 0);
        loop {
            match scan.next_row() {
                Ok(None) => return Ok(missing),
                Ok(Some(row)) if document(&row) < self.rows() => take(document(&row), &row)?,
                Ok(Some(_)) => missing += 1,
                Err(_) => missing += scan.skip_page(),
            }
        }
    }

    /// The bytes of a row in a table that may not have all rows. The row after a bad page is looked for there in vain, but
    /// a table that has all rows has it at its own place. Errors: damaged.
    fn salvaged_bytes(&self, name: &str, row: u64) -> Result<Vec<u8>> {
        let Some(table) = self.table(name)? else { return Ok(Vec::new()) };
        match self.sparse(Some(&table), row) {
            Ok(found) => Ok(found.map(std::borrow::Cow::into_owned).unwrap_or_default()),
            Err(_) if table.len() == self.rows() && table.key(row)? == row => Ok(table.bytes(0, row)?.into_owned()),
            Err(error) => Err(error),
        }
    }

    /// Errors: the text or what is known of a document cannot be read.
    fn salvaged(&self, row: u64) -> Result<Salvaged> {
        let mut document = self.facts(row)?;
        document.text = self.salvaged_bytes(tables::TEXTS, row)?;
        let tokens = self.salvaged_bytes(tables::TOKENS, row);
        let sketch = self.salvaged_bytes(tables::SKETCHES, row).and_then(|bytes| {
            let (elements, rest) = bytes.as_chunks();
            let cut = || self.damaged(format!("the sketch of document `{row}` is cut"));
            let elements = elements.iter().map(|element| u32::from_le_bytes(*element)).collect();
            rest.is_empty().then_some(elements).ok_or_else(cut)
        });
        let is_whole = tokens.is_ok() && sketch.is_ok();
        (document.tokens, document.sketch) = (tokens.unwrap_or_default(), sketch.unwrap_or_default());
        Ok(Salvaged { document, is_whole })
    }
}

impl Salvage {
    /// Number of keys and simhashes that cannot be read.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// What is left of the next document, or the error why there is nothing; none at the end. Errors: a file beside cannot be read.
    pub fn next_document(&mut self) -> Result<Option<std::result::Result<Salvaged, Error>>> {
        let row = self.next;
        if row == self.segment.rows() {
            return Ok(None);
        }
        let mut keys = Document::default();
        self.keys.fill(row, &mut keys)?;
        let simhash = self.simhashes.next_if(|(at, _)| *at == row).map(|(_, simhash)| simhash);
        self.next += 1;
        Ok(Some(self.segment.salvaged(row).map(|found| {
            let Document { postings, literals, features, samples, .. } = keys;
            let document = Document { postings, literals, features, samples, simhash, ..found.document };
            Salvaged { document, is_whole: found.is_whole && self.missing == 0 }
        })))
    }
}
