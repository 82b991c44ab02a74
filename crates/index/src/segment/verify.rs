//! Reads a whole segment, and checks that its tables agree.
//!
//! Beyond the checksums and the order of each table (`TableFile::verify`): documents are numbered from 0 without gaps; every row that a
//! table names is there; tables by row have a document at most once; the id and the content hash of every document, and nothing else, are
//! found by their hashes; leaders and sketches can be decoded.
//!
//! Cost: one pass over the file, and one lookup per document in `ids` and `contents`.

use super::{tables, Segment, Which};
use crate::shadows::key_of;
use lookalike_table::{Result, Table};

impl Segment {
    /// Reads everything and checks it. Errors: damaged.
    pub fn verify(&self) -> Result<()> {
        self.file().verify()?;
        let known = [&tables::BY_ROW[..], &tables::BY_KEY, &[tables::PARAMETERS]].concat();
        if let Some(other) = self.file().schemas().find(|schema| !known.contains(&schema.name.as_str())) {
            return Err(self.damaged(format!("it has an unknown table `{}`", other.name)));
        }
        for name in tables::BY_ROW {
            self.verify_rows(name)?;
        }
        for name in tables::BY_KEY {
            self.verify_keys(name)?;
        }
        (0..self.rows()).try_for_each(|row| self.verify_document(row))
    }

    /// Errors: a table by row has a row twice, names one that is not there, or `documents` has gaps.
    fn verify_rows(&self, name: &str) -> Result<()> {
        let Some(table) = self.table(name)? else { return Ok(()) };
        let (mut next, mut last, mut is_distinct) = (0, None, true);
        table.keys(0..table.len(), |rows| {
            for row in rows {
                is_distinct &= *row >= next;
                (next, last) = (row.saturating_add(1), Some(*row));
            }
        })?;
        last.map_or(Ok(0), |last| self.checked(last))?;
        match is_distinct && (name != tables::DOCUMENTS || next == table.len()) {
            true => Ok(()),
            false => Err(self.damaged(format!("table `{name}` does not have each document once"))),
        }
    }

    /// Errors: a table by key names a row that is not there, or has a key of a row twice.
    fn verify_keys(&self, name: &str) -> Result<()> {
        let Some(table) = self.table(name)? else { return Ok(()) };
        let may_repeat = tables::may_repeat(table.schema());
        let mut before = None;
        let mut scan = table.scan();
        while let Some(row) = scan.next_row()? {
            let found = (row.key(), self.checked(row.number(0).unwrap_or(u64::MAX))?);
            if before == Some(found) && !may_repeat {
                return Err(self.damaged(format!("table `{name}` has a key of document `{}` twice", found.1)));
            }
            before = Some(found);
        }
        Ok(())
    }

    /// Errors: a document cannot be decoded, or is not found by its id and content.
    fn verify_document(&self, row: u64) -> Result<()> {
        let stored = self.row(row)?;
        self.sketch(row)?;
        let (upper, lower) = ((stored.content >> 64) as u64, stored.content as u64);
        let is_listed = self.lists(self.ids(), key_of(stored.flags, &stored.id), row, None)?
            && self.lists(self.contents(), upper, row, Some(lower))?;
        let total = |table: Option<&Table>| table.map_or(0, Table::len);
        // As many rows as documents, and all documents among them: nothing else is there.
        let is_all = total(self.ids()) == self.rows() && total(self.contents()) == self.rows();
        match is_listed && is_all {
            true => Ok(()),
            false => Err(self.damaged(format!("document `{row}` is not found by its id and content"))),
        }
    }

    /// Whether a table has a row under a key, with this second number.
    fn lists(&self, table: Option<&Table>, key: u64, row: u64, second: Option<u64>) -> Result<bool> {
        let Some(table) = table else { return Ok(false) };
        let found = table.find(key)?;
        let (mut rows, mut seconds) = (Vec::new(), Vec::new());
        table.numbers(0, found.clone(), &mut rows)?;
        let Ok(at) = rows.binary_search(&row) else { return Ok(false) };
        let Some(second) = second else { return Ok(true) };
        table.numbers(1, found, &mut seconds)?;
        Ok(seconds.get(at) == Some(&second))
    }

    /// Number of keys of a table.
    pub fn keys(&self, which: Which) -> u64 {
        self.keyed(which).map_or(0, Table::len)
    }
}
