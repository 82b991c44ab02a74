//! The keys of a mapped or loaded table as a [`Column`], for searches with many lookups by prefix.
//!
//! A lookup reads the directory of pages, which is in memory, one entry of a page's own directory, and the bits of one heap. The first is
//! prefetched by `hint`, the last by `bucket`. The interface of a column has no errors: a part that cannot be read counts as empty, and
//! is remembered. So whoever searches must ask [`KeyColumn::checked`] before an answer is given.

use crate::codec::keys::Keys;
use crate::column::Column;
use crate::error::{Error, Result};
use crate::file::Table;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The keys of a table, with a bucket for each prefix of `depth` bits.
#[derive(Debug)]
pub struct KeyColumn {
    table: Table,
    depth: u32,
    is_damaged: AtomicBool,
}

impl KeyColumn {
    /// Makes a column of a table's keys. Errors: the file is streamed, or has 2^32 rows or more.
    pub fn new(table: Table, depth: u32) -> Result<Self> {
        if !table.is_whole() || table.len() > u64::from(u32::MAX) {
            let name = &table.schema().name;
            return Err(Error::refused(format!("table `{name}` is too large to search, or its file is streamed")));
        }
        Ok(Self { table, depth: depth.min(63), is_damaged: AtomicBool::new(false) })
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Errors: a part that was read so far is damaged, so an answer may lack rows.
    pub fn checked(&self) -> Result<()> {
        match self.is_damaged.load(Ordering::Relaxed) {
            true => Err(Error::damaged(self.table.file().path(), "a page fails its checksum or cannot be decoded")),
            false => Ok(()),
        }
    }

    /// Remembers damage, so that [`Self::checked`] reports it.
    #[cold]
    fn report(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    /// The least and the greatest key with a prefix.
    #[inline(always)]
    fn span(&self, prefix: u64) -> (u64, u64) {
        match self.depth {
            0 => (0, u64::MAX),
            depth => (prefix << (64 - depth), prefix << (64 - depth) | u64::MAX >> depth),
        }
    }

    #[inline(always)]
    fn rows(&self, low: u64, high: u64) -> Option<Range<usize>> {
        let page = self.table.page_of_key(low);
        let (from, to) = self.table.bounds(page);
        let found = self.keys(page)?.between(low, high, from, to)?;
        let rows = self.table.rows_of(page);
        let (start, end) = (rows.start as usize + found.start, rows.start as usize + found.end);
        // Rows up to the end of the page may go on in the next one.
        if end as u64 == rows.end && to <= high && rows.end < self.table.len() {
            let end = high.checked_add(1).map_or(Ok(self.table.len()), |next| self.table.below(next)).ok()?;
            return Some(start..(end as usize).max(start));
        }
        Some(start..end)
    }

    #[inline(always)]
    fn keys(&self, page: usize) -> Option<Keys<'_>> {
        self.table.page_keys(page)
    }
}

impl Column for KeyColumn {
    fn len(&self) -> usize {
        self.table.len() as usize
    }

    #[inline]
    fn depth(&self) -> u32 {
        self.depth
    }

    #[inline(always)]
    fn hint(&self, prefix: u64) {
        if prefix.checked_shr(self.depth).unwrap_or(0) == 0 && !self.table.is_empty() {
            let low = self.span(prefix).0;
            let page = self.table.page_of_key(low);
            let (from, to) = self.table.bounds(page);
            if let Some(keys) = self.table.unverified_keys(page) {
                keys.hint(low, from, to);
            }
        }
    }

    #[inline(always)]
    fn bucket(&self, prefix: u64) -> Range<usize> {
        let none = self.len()..self.len();
        if self.depth > 0 && prefix >> self.depth > 0 || self.depth == 0 && prefix > 0 || self.table.is_empty() {
            return none;
        }
        let (low, high) = self.span(prefix);
        self.rows(low, high).unwrap_or_else(|| {
            self.report();
            none
        })
    }

    fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
        let (mut at, end) = (rows.start as u64, (rows.end as u64).min(self.table.len()));
        while at < end {
            let page = self.table.page_of_row(at);
            let found = self.table.rows_of(page);
            let first = found.start as usize;
            let places = (at - found.start) as usize..(end.min(found.end) - found.start) as usize;
            let read = self.keys(page).and_then(|keys| keys.read(places, &mut |place, keys| seen(first + place, keys)));
            if read.is_none() {
                return self.report();
            }
            at = found.end;
        }
    }
}
