//! Reads whole documents again from the tables of a segment, for export, upgrade and tests.
//!
//! Keys are stored by key, so all tables of keys are read once per call, whatever the range. Ask for large ranges.
//! Postings come back in order of token, literals, features and samples in ascending order and once each.

use super::{Segment, Which};
use crate::record::{Document, Posting};
use lookalike_table::{Error, Result, Table};
use std::borrow::Cow;
use std::ops::Range;

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

    fn without_keys(&self, row: u64) -> Result<Document> {
        let stored = self.row(row)?;
        let owned = |bytes: Option<Cow<'_, [u8]>>| bytes.map(Cow::into_owned).unwrap_or_default();
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
            sketch: self.sketch(row)?,
            tokens: owned(self.tokens(row)?),
            text: owned(self.text(row)?),
            ..Document::default()
        })
    }

    /// Adds the keys of a table to the documents from row `first` on.
    fn add_keys(&self, which: Which, first: u64, found: &mut [Document]) -> Result<()> {
        let Some(mut scan) = self.keyed(which).map(Table::scan) else { return Ok(()) };
        while let Some(row) = scan.next_row()? {
            let (key, number) = (row.key(), |column| row.number(column).unwrap_or(0));
            let at = self.checked(number(0))?.checked_sub(first).and_then(|at| found.get_mut(at as usize));
            let Some(document) = at else { continue };
            match which {
                Which::Postings => {
                    let token = number(1) as u32;
                    let last = token.checked_add(number(2) as u32);
                    let last = last.ok_or_else(|| self.damaged("a posting ends beyond the last token"))?;
                    document.postings.push(Posting { key, token, last });
                }
                Which::Literals => document.literals.push(key),
                Which::Features => document.features.push(key),
                Which::Samples => document.samples.push(key),
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
