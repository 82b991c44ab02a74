//! Sorts keys with their owners within a memory budget, on disk if they do not fit.
//!
//! Within the budget, rows stay in memory and are sorted in place (`sort.rs`). Beyond it, each full budget is written as a table file
//! (`writer.rs`), and the files are merged (`merge.rs`). The order is the same at any budget and number of threads.
//!
//! Cost: 12 bytes per row up to the budget, and O(n log n) comparisons. On disk, 8 to 12 bytes per row, written and read once for every
//! factor of `FAN_IN` beyond the budget. The owners of one key are in memory together, 4 bytes each, outside the budget.
//!
//! The caller provides the folder, keeps it private and removes it.

use crate::disk::Disk;
use crate::error::Result;
use crate::merge::{self, Merge, FAN_IN};
use crate::schema::{Cell, ColumnType, Schema};
use crate::sort::{sort, Sortable};
use crate::writer::Writer;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a row in memory.
const ROW: usize = 12;

/// A key and its owner, in 12 bytes: a [`super::PlacedKey`] without a position.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct OwnedKey {
    key: u64,
    owner: u32,
}

impl Sortable for OwnedKey {
    type Order = u128;

    fn key(&self) -> u64 {
        self.key
    }

    /// Returns one number, so that comparing needs no branch.
    fn order(&self) -> u128 {
        u128::from(self.key) << 32 | u128::from(self.owner)
    }
}

/// Takes rows in any order and returns them sorted.
#[derive(Debug)]
pub struct Sorter {
    rows: Vec<OwnedKey>,
    /// The most rows in memory.
    most: usize,
    /// Where files go; without it all rows stay in memory.
    place: Option<(Arc<dyn Disk>, PathBuf)>,
    files: Vec<PathBuf>,
    /// The number of files made so far, including merged ones; it numbers their names.
    made: usize,
}

impl Sorter {
    /// Makes a sorter that keeps all rows in memory.
    pub fn in_memory() -> Self {
        Self { rows: Vec::new(), most: usize::MAX, place: None, files: Vec::new(), made: 0 }
    }

    /// Makes a sorter that keeps at most `budget_bytes` of rows in memory and the rest in files of `folder`.
    /// REQUIRES: nothing else writes to the folder.
    pub fn new(disk: Arc<dyn Disk>, budget_bytes: usize, folder: &Path) -> Self {
        let most = (budget_bytes / ROW).max(1);
        Self { most, place: Some((disk, folder.to_owned())), ..Self::in_memory() }
    }

    /// Adds the keys of one owner. Errors: a file could not be written.
    pub fn push(&mut self, owner: u32, keys: &[u64]) -> Result<()> {
        for key in keys {
            if self.rows.len() == self.rows.capacity() {
                self.make_room()?;
            }
            self.rows.push(OwnedKey { key: *key, owner });
        }
        Ok(())
    }

    /// Doubles the rows in memory up to the budget, then writes them out.
    fn make_room(&mut self) -> Result<()> {
        let more = self.rows.len().max(1 << 10).min(self.most.saturating_sub(self.rows.len()));
        if more == 0 {
            return self.spill();
        }
        self.rows.reserve_exact(more);
        Ok(())
    }

    /// Bytes of the rows of a page: the two pages of each merged file take less than the budget together.
    fn page(&self) -> usize {
        self.most.saturating_mul(ROW) / FAN_IN / 4
    }

    fn spill(&mut self) -> Result<()> {
        let page = self.page();
        let Some((disk, folder)) = &self.place else { return Ok(()) };
        sort(&mut self.rows);
        self.made += 1;
        let path = folder.join(name(self.made));
        let mut writer = Writer::temporary(disk.clone(), &path)?.with_page(page);
        writer.begin(Schema::new("rows", &[("owner", ColumnType::U32)]))?;
        for row in &self.rows {
            writer.push(row.key, &[Cell::Number(u64::from(row.owner))])?;
        }
        writer.finish()?;
        self.files.push(path);
        self.rows.clear();
        Ok(())
    }

    /// Returns the sorted rows. Errors: a file could not be written or read, or is damaged.
    pub fn finish(mut self) -> Result<Sorted> {
        if self.files.is_empty() {
            sort(&mut self.rows);
            return Ok(Sorted { source: Source::Memory { rows: self.rows, at: 0 }, owners: Vec::new() });
        }
        if !self.rows.is_empty() {
            self.spill()?;
        }
        self.rows = Vec::new();
        let (page, mut made) = (self.page(), self.made);
        let Some((disk, folder)) = self.place else { return Ok(Sorted::default()) };
        merge::reduce(&disk, &mut self.files, FAN_IN, page, || {
            made += 1;
            folder.join(name(made))
        })?;
        let mut merge = merge::open(&*disk, &self.files)?;
        let next = read(&mut merge)?;
        Ok(Sorted { source: Source::Files { merge: Box::new(merge), next }, owners: Vec::new() })
    }
}

/// The name of a file by its number.
fn name(number: usize) -> String {
    format!("rows-{number:06}")
}

/// Sorted rows, in ascending order of key and owner, which are read once.
#[derive(Debug, Default)]
pub struct Sorted {
    source: Source,
    /// Owners of the latest run.
    owners: Vec<u32>,
}

#[derive(Debug)]
enum Source {
    Memory { rows: Vec<OwnedKey>, at: usize },
    Files { merge: Box<Merge>, next: Option<(u64, u32)> },
}

impl Default for Source {
    fn default() -> Self {
        Self::Memory { rows: Vec::new(), at: 0 }
    }
}

/// The next row of a merge.
#[inline]
fn read(merge: &mut Merge) -> Result<Option<(u64, u32)>> {
    Ok(merge.next_row()?.map(|row| (row.key(), row.number(0).unwrap_or(0) as u32)))
}

impl Sorted {
    /// Returns the next key and its owners in ascending order; an owner is repeated if it gave the key several times.
    ///
    /// Errors: a file could not be read.
    pub fn next_run(&mut self) -> Result<Option<(u64, &[u32])>> {
        self.owners.clear();
        let key = match &mut self.source {
            Source::Memory { rows, at } => {
                let Some(key) = rows.get(*at).map(|row| row.key) else { return Ok(None) };
                while let Some(row) = rows.get(*at).filter(|row| row.key == key) {
                    self.owners.push(row.owner);
                    *at += 1;
                }
                key
            }
            Source::Files { merge, next } => {
                let Some((key, _)) = *next else { return Ok(None) };
                while let Some((_, owner)) = next.filter(|row| row.0 == key) {
                    self.owners.push(owner);
                    *next = read(merge)?;
                }
                key
            }
        };
        Ok(Some((key, &self.owners)))
    }
}

#[cfg(test)]
mod tests;
