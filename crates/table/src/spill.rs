//! Sorts rows within a memory budget, on disk if they do not fit.
//!
//! Within the budget, rows stay in memory and are sorted in place (`sort.rs`). Beyond it, each full budget is written as a table file
//! (`writer.rs`), and the files are merged (`merge.rs`). The order is the same at any budget and number of threads.
//!
//! A sorter takes any row that is a [`Spillable`]. The usual one is a key with its owner ([`OwnedKey`]), 12 bytes; [`PairedKey`]
//! has one more number, of 64 bits.
//!
//! Cost: the bytes of each row up to the budget, and O(n log n) comparisons. On disk, about 4 bytes per row less, written and read once
//! for every factor of `FAN_IN` beyond the budget. The owners of one key are in memory together, 4 bytes each, outside the budget.
//!
//! Files are removed when the sorter or its rows are dropped.

use crate::disk::Disk;
use crate::error::Result;
use crate::merge::{self, Merge, FAN_IN};
use crate::scan::Row;
use crate::schema::{Cell, ColumnType, Schema};
use crate::sort::{sort, Sortable};
use crate::writer::Writer;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A row that can be written to a table and read again.
pub trait Spillable: Sortable + std::fmt::Debug {
    /// The columns beside the key. Rows of a table sort like these rows.
    fn columns() -> &'static [(&'static str, ColumnType)];

    /// Appends the row to a table of these columns. Errors: the system refuses.
    fn write(&self, writer: &mut Writer) -> Result<()>;

    /// Reads the row from a table of these columns; a column that is not there is 0.
    fn read(row: &Row<'_>) -> Self;
}

/// The number in a column that has numbers.
#[inline]
fn number(row: &Row<'_>, column: usize) -> u64 {
    row.number(column).unwrap_or(0)
}

/// A key and its owner, in 12 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct OwnedKey {
    /// The key.
    pub key: u64,
    /// Its owner.
    pub owner: u32,
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

impl Spillable for OwnedKey {
    fn columns() -> &'static [(&'static str, ColumnType)] {
        &[("owner", ColumnType::U32)]
    }

    fn write(&self, writer: &mut Writer) -> Result<()> {
        writer.push(self.key, &[Cell::Number(u64::from(self.owner))])
    }

    #[inline]
    fn read(row: &Row<'_>) -> Self {
        Self { key: row.key(), owner: number(row, 0) as u32 }
    }
}

/// A key, its owner, and the rest of a longer key, in 20 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct PairedKey {
    /// The key.
    pub key: u64,
    /// Its owner.
    pub owner: u32,
    /// The rest.
    pub rest: u64,
}

impl Sortable for PairedKey {
    type Order = (u64, u32, u64);

    fn key(&self) -> u64 {
        self.key
    }

    fn order(&self) -> (u64, u32, u64) {
        (self.key, self.owner, self.rest)
    }
}

impl Spillable for PairedKey {
    fn columns() -> &'static [(&'static str, ColumnType)] {
        &[("owner", ColumnType::U32), ("rest", ColumnType::U64)]
    }

    fn write(&self, writer: &mut Writer) -> Result<()> {
        writer.push(self.key, &[Cell::Number(u64::from(self.owner)), Cell::Number(self.rest)])
    }

    #[inline]
    fn read(row: &Row<'_>) -> Self {
        Self { key: row.key(), owner: number(row, 0) as u32, rest: number(row, 1) }
    }
}

/// Files that are removed when this is dropped.
#[derive(Debug)]
struct Files {
    disk: Arc<dyn Disk>,
    /// The beginning of the names of all files.
    stem: PathBuf,
    paths: Vec<PathBuf>,
    /// The number of files made so far, including merged ones; it numbers their names.
    made: usize,
}

impl Files {
    /// The name of the next file.
    fn next(stem: &Path, made: &mut usize) -> PathBuf {
        *made += 1;
        let mut name = stem.as_os_str().to_owned();
        name.push(format!("-{made:06}"));
        name.into()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // What cannot be removed only takes space.
        self.paths.iter().for_each(|path| drop(self.disk.remove(path)));
    }
}

/// Takes rows in any order and returns them sorted.
#[derive(Debug)]
pub struct Sorter<R = OwnedKey> {
    rows: Vec<R>,
    /// The most rows in memory.
    most: usize,
    /// Where files go; without it all rows stay in memory.
    files: Option<Files>,
}

impl Sorter<OwnedKey> {
    /// Makes a sorter that keeps all rows in memory.
    pub fn in_memory() -> Self {
        Self::of(None)
    }

    /// Makes a sorter that keeps at most `budget_bytes` of rows in memory and the rest in files of `folder`.
    /// REQUIRES: nothing else writes to the folder.
    pub fn new(disk: Arc<dyn Disk>, budget_bytes: usize, folder: &Path) -> Self {
        Self::of(Some((disk, budget_bytes, folder.join("rows"))))
    }

    /// Adds the keys of one owner. Errors: a file could not be written.
    pub fn push(&mut self, owner: u32, keys: &[u64]) -> Result<()> {
        keys.iter().try_for_each(|key| self.add(OwnedKey { key: *key, owner }))
    }
}

impl<R: Spillable> Sorter<R> {
    /// Makes a sorter that keeps at most so many bytes of rows in memory, and the rest in files whose names begin with the path; without
    /// these, all rows stay in memory. REQUIRES: nothing else has such names.
    pub fn of(place: Option<(Arc<dyn Disk>, usize, PathBuf)>) -> Self {
        let most = place.as_ref().map_or(usize::MAX, |(_, budget, _)| (budget / size_of::<R>()).max(1));
        let files = place.map(|(disk, _, stem)| Files { disk, stem, paths: Vec::new(), made: 0 });
        Self { rows: Vec::new(), most, files }
    }

    /// Adds a row. Errors: a file could not be written.
    #[inline]
    pub fn add(&mut self, row: R) -> Result<()> {
        if self.rows.len() == self.rows.capacity() || self.rows.len() >= self.most {
            self.make_room()?;
        }
        self.rows.push(row);
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

    /// Bytes of the rows in memory.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<R>()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.files.as_ref().is_none_or(|files| files.paths.is_empty())
    }

    /// The bytes of a page, so that the pages of a merge fit into the budget.
    fn page(&self) -> usize {
        self.most.saturating_mul(size_of::<R>()) / FAN_IN / 4
    }

    fn spill(&mut self) -> Result<()> {
        let page = self.page();
        let Some(files) = &mut self.files else { return Ok(()) };
        sort(&mut self.rows);
        let path = Files::next(&files.stem, &mut files.made);
        let mut writer = Writer::temporary(files.disk.clone(), &path)?.with_page(page);
        writer.begin(Schema::new("rows", R::columns()))?;
        self.rows.iter().try_for_each(|row| row.write(&mut writer))?;
        writer.finish()?;
        files.paths.push(path);
        self.rows.clear();
        Ok(())
    }

    /// Returns the sorted rows. Errors: a file could not be written or read, or is damaged.
    pub fn finish(mut self) -> Result<Sorted<R>> {
        let has_files = self.files.as_ref().is_some_and(|files| !files.paths.is_empty());
        if !has_files {
            sort(&mut self.rows);
            return Ok(Sorted { source: Source::Memory { rows: self.rows, at: 0 }, owners: Vec::new() });
        }
        if !self.rows.is_empty() {
            self.spill()?;
        }
        self.rows = Vec::new();
        let page = self.page();
        let Some(mut files) = self.files else { return Ok(Sorted::default()) };
        let Files { disk, stem, paths, made } = &mut files;
        merge::reduce(disk, paths, FAN_IN, page, || Files::next(stem, made))?;
        let mut merge = merge::open(&**disk, paths)?;
        let next = read(&mut merge)?;
        Ok(Sorted { source: Source::Files { merge: Box::new(merge), next, _files: files }, owners: Vec::new() })
    }
}

/// Sorted rows in ascending order, which are read once.
#[derive(Debug)]
pub struct Sorted<R = OwnedKey> {
    source: Source<R>,
    /// Owners of the latest run.
    owners: Vec<u32>,
}

#[derive(Debug)]
enum Source<R> {
    Memory { rows: Vec<R>, at: usize },
    Files { merge: Box<Merge>, next: Option<R>, _files: Files },
}

impl<R> Default for Sorted<R> {
    fn default() -> Self {
        Self { source: Source::Memory { rows: Vec::new(), at: 0 }, owners: Vec::new() }
    }
}

/// The next row of a merge.
#[inline]
fn read<R: Spillable>(merge: &mut Merge) -> Result<Option<R>> {
    Ok(merge.next_row()?.map(|row| R::read(&row)))
}

impl<R: Spillable> Sorted<R> {
    /// The next row, which stays.
    #[inline]
    fn peek(&self) -> Option<R> {
        match &self.source {
            Source::Memory { rows, at } => rows.get(*at).copied(),
            Source::Files { next, .. } => *next,
        }
    }

    /// Returns the next row. Errors: a file could not be read.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<R>> {
        let row = self.peek();
        match &mut self.source {
            Source::Memory { at, .. } => *at += 1,
            Source::Files { merge, next, .. } => *next = if row.is_some() { read(merge)? } else { None },
        }
        Ok(row)
    }
}

impl Sorted<OwnedKey> {
    /// Returns the next key and its owners in ascending order; an owner is repeated if it gave the key several times.
    ///
    /// Errors: a file could not be read.
    pub fn next_run(&mut self) -> Result<Option<(u64, &[u32])>> {
        self.owners.clear();
        let Some(key) = self.peek().map(|row| row.key) else { return Ok(None) };
        while let Some(row) = self.peek().filter(|row| row.key == key) {
            self.owners.push(row.owner);
            self.next_row()?;
        }
        Ok(Some((key, &self.owners)))
    }
}

#[cfg(test)]
mod tests;
