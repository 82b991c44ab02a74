//! The keys of a mapped or loaded table as a [`Column`], for searches with many lookups by prefix.
//!
//! A lookup reads the directory of pages, which is in memory, one entry of a page's own directory, and the bits of some keys; `hint`
//! prefetches where these probably are. A bucket is found by decoding it, so `bucket_with` also returns its values. The interface of a column has no errors: a part that cannot be read counts as empty, and
//! is remembered. So whoever searches must ask [`KeyColumn::checked`] before an answer is given.

use crate::codec::bits::{Portable, Select};
use crate::column::Column;
use crate::error::{Error, Result};
use crate::file::Table;
#[cfg(target_arch = "x86_64")]
use crate::machine::BitInstructions;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The keys of a table, with a bucket for each prefix of `depth` bits.
#[derive(Debug)]
pub struct KeyColumn {
    table: Table,
    depth: u32,
    is_damaged: AtomicBool,
    /// Proves the instructions for single bits, if the processor has them.
    #[cfg(target_arch = "x86_64")]
    bit_instructions: Option<BitInstructions>,
}

impl KeyColumn {
    /// Makes a column of a table's keys. Errors: the file is streamed, or has 2^32 rows or more.
    pub fn new(table: Table, depth: u32) -> Result<Self> {
        if !table.is_whole() || table.len() > u64::from(u32::MAX) {
            let name = &table.schema().name;
            return Err(Error::refused(format!("table `{name}` is too large to search, or its file is streamed")));
        }
        Ok(Self {
            table,
            depth: depth.min(63),
            is_damaged: AtomicBool::new(false),
            #[cfg(target_arch = "x86_64")]
            bit_instructions: BitInstructions::detect(),
        })
    }

    /// The same column with the portable code.
    #[cfg(test)]
    pub(crate) fn portable(self) -> Self {
        #[cfg(target_arch = "x86_64")]
        return Self { bit_instructions: None, ..self };
        #[cfg(not(target_arch = "x86_64"))]
        self
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

    /// The rows with keys from `low` to `high`. Appends these keys, all or none.
    #[inline(always)]
    fn rows(&self, machine: impl Select, low: u64, high: u64, keys: &mut Vec<u64>) -> Option<Range<usize>> {
        let page = self.table.page_of_key(low);
        let (from, to) = self.table.bounds(page);
        let before = keys.len();
        let page_keys = self.table.page_keys(page, machine)?;
        let (found, is_complete) = page_keys.between_with((low, high), (from, to), |key| keys.push(key))?;
        if !is_complete {
            keys.truncate(before);
        }
        let rows = self.table.rows_of(page);
        let (start, end) = (rows.start as usize + found.start, rows.start as usize + found.end);
        // Rows up to the end of the page may go on in the next one.
        if end as u64 == rows.end && to <= high && rows.end < self.table.len() {
            keys.truncate(before);
            let end = high.checked_add(1).map_or(Ok(self.table.len()), |next| self.table.below(next)).ok()?;
            return Some(start..(end as usize).max(start));
        }
        Some(start..end)
    }

    #[inline(always)]
    fn bucket_as(&self, machine: impl Select, prefix: u64, values: &mut Vec<u64>) -> Range<usize> {
        let none = self.len()..self.len();
        if self.depth > 0 && prefix >> self.depth > 0 || self.depth == 0 && prefix > 0 || self.table.is_empty() {
            return none;
        }
        let ((low, high), before) = (self.span(prefix), values.len());
        self.rows(machine, low, high, values).unwrap_or_else(|| {
            values.truncate(before);
            self.report();
            none
        })
    }

    #[inline(always)]
    fn read_as(&self, machine: impl Select, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
        let (mut at, end) = (rows.start as u64, (rows.end as u64).min(self.table.len()));
        while at < end {
            let page = self.table.page_of_row(at);
            let found = self.table.rows_of(page);
            let first = found.start as usize;
            let places = (at - found.start) as usize..(end.min(found.end) - found.start) as usize;
            let read = self.table.page_keys(page, machine);
            let read = read.and_then(|keys| keys.read(places, &mut |place, keys| seen(first + place, keys)));
            if read.is_none() {
                return self.report();
            }
            at = found.end;
        }
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
            if let Some(keys) = self.table.unverified_keys(page, Portable) {
                keys.hint(low, from, to);
            }
        }
    }

    fn bucket(&self, prefix: u64) -> Range<usize> {
        self.bucket_with(prefix, &mut Vec::new())
    }

    #[inline]
    fn bucket_with(&self, prefix: u64, values: &mut Vec<u64>) -> Range<usize> {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = self.bit_instructions {
            // SAFETY: `machine` proves the features the function is compiled for.
            return unsafe { fast::bucket(machine, self, prefix, values) };
        }
        self.bucket_as(Portable, prefix, values)
    }

    #[inline]
    fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = self.bit_instructions {
            // SAFETY: `machine` proves the features the function is compiled for.
            return unsafe { fast::read(machine, self, rows, seen) };
        }
        self.read_as(Portable, rows, seen);
    }
}

/// The code for x86-64 with instructions for single bits.
#[cfg(target_arch = "x86_64")]
mod fast {
    use super::{BitInstructions, KeyColumn};
    use std::ops::Range;

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn bucket(
        machine: BitInstructions,
        column: &KeyColumn,
        prefix: u64,
        values: &mut Vec<u64>,
    ) -> Range<usize> {
        column.bucket_as(machine, prefix, values)
    }

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn read(
        machine: BitInstructions,
        column: &KeyColumn,
        rows: Range<usize>,
        seen: &mut dyn FnMut(usize, &[u64]),
    ) {
        column.read_as(machine, rows, seen);
    }
}
