//! Sorts keys with their owners within a memory budget, on disk if they do not fit.
//!
//! Within the budget, rows stay in memory and are sorted in place (`sort.rs`). Beyond it, each full budget is written as a sorted
//! file, and the files are merged, at most `FAN_IN` at a time. The order is the same at any budget and number of threads.
//!
//! Cost: 12 bytes per row up to the budget, and O(n log n) comparisons. On disk, 12 bytes per row, written and read once for every
//! factor of `FAN_IN` beyond the budget. The owners of one key are in memory together, 4 bytes each, outside the budget.
//!
//! No other file of the core touches a disk. The caller provides the folder, keeps it private and removes it. A file has a header
//! (magic, rows, rows per block, XXH3 of these) and blocks of little-endian rows, each followed by its XXH3.

use super::sort::{sort, Sortable};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Files merged at a time. Each has one block in memory; together they take at most the budget.
const FAN_IN: usize = 64;
/// The most rows of a block: 768 KiB, so that reading outweighs the seek time of a disk.
const BLOCK: usize = 1 << 16;
const MAGIC: [u8; 8] = *b"LKROWS\0\x01";
const HEADER: usize = 32;
const ROW: usize = 12;

/// The reason a table could not be built or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableError {
    /// The system refused to write or read a file of the table.
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A file differs from what was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There are more documents than 32 bits can number.
    TooMany {
        /// The number of documents.
        documents: usize,
    },
    /// A row belongs to a document that does not exist.
    Owner {
        /// The document of the row.
        owner: u32,
        /// The number of documents.
        documents: usize,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "table file `{}` cannot be used: {error}", path.display()),
            Self::Damaged { path, reason } => {
                write!(
                    f,
                    "table file `{}` {reason}: another program wrote to it or the disk fails; run again",
                    path.display()
                )
            }
            Self::TooMany { documents } => {
                write!(f, "`{documents}` documents are too many: numbers have 32 bits, so there must be fewer than 2^32; divide them")
            }
            Self::Owner { owner, documents } => {
                write!(
                    f,
                    "a row belongs to document `{owner}`, there are `{documents}`: give a rank for every document"
                )
            }
        }
    }
}

impl std::error::Error for TableError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The result of an operation on a table.
pub type Result<T> = std::result::Result<T, TableError>;

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

impl OwnedKey {
    fn to_bytes(self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.owner.to_le_bytes());
        bytes
    }

    /// Reads a row. REQUIRES: at least [`ROW`] bytes; missing bytes read as zeros.
    fn from_bytes(bytes: &[u8]) -> Self {
        let key = bytes.first_chunk().map_or(0, |key| u64::from_le_bytes(*key));
        let owner = bytes.get(8..).and_then(|rest| rest.first_chunk()).map_or(0, |owner| u32::from_le_bytes(*owner));
        Self { key, owner }
    }
}

/// Takes rows in any order and returns them sorted.
#[derive(Debug)]
pub struct Sorter {
    rows: Vec<OwnedKey>,
    /// The most rows in memory.
    most: usize,
    folder: Option<PathBuf>,
    files: Vec<PathBuf>,
    /// The number of files made so far, including merged ones; it numbers their names.
    made: usize,
}

impl Sorter {
    /// Makes a sorter that keeps at most `budget_bytes` of rows in memory and the rest in files of `folder`; without a folder, all rows
    /// stay in memory. REQUIRES: nothing else writes to the folder.
    pub fn new(budget_bytes: usize, folder: Option<&Path>) -> Self {
        let most = if folder.is_some() { (budget_bytes / ROW).max(1) } else { usize::MAX };
        Self { rows: Vec::new(), most, folder: folder.map(Path::to_path_buf), files: Vec::new(), made: 0 }
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

    fn block(&self) -> usize {
        (self.most / FAN_IN).clamp(1, BLOCK)
    }

    fn next_path(&mut self) -> PathBuf {
        self.made += 1;
        self.folder.clone().unwrap_or_default().join(format!("rows-{:06}", self.made))
    }

    fn spill(&mut self) -> Result<()> {
        sort(&mut self.rows);
        let path = self.next_path();
        let mut writer = Writer::create(&path, self.rows.len(), self.block())?;
        self.rows.iter().try_for_each(|row| writer.push(*row))?;
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
        let block = self.block();
        // Merges the oldest files first and puts the result last, so that all rows are merged about equally often.
        while self.files.len() > FAN_IN {
            let excess = (self.files.len() - FAN_IN + 1).min(FAN_IN);
            let old: Vec<PathBuf> = self.files.drain(..excess).collect();
            let path = self.next_path();
            let mut merge = Merge::open(&old)?;
            let mut writer = Writer::create(&path, merge.rows_left(), block)?;
            while let Some(row) = merge.next()? {
                writer.push(row)?;
            }
            writer.finish()?;
            self.files.push(path);
            for path in old {
                std::fs::remove_file(&path).map_err(|error| TableError::Io { path, error })?;
            }
        }
        Ok(Sorted { source: Source::Files(Merge::open(&self.files)?), owners: Vec::new() })
    }
}

/// Sorted rows, in ascending order of key and owner, which are read once.
#[derive(Debug)]
pub struct Sorted {
    source: Source,
    /// Owners of the latest run.
    owners: Vec<u32>,
}

#[derive(Debug)]
enum Source {
    Memory { rows: Vec<OwnedKey>, at: usize },
    Files(Merge),
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
            Source::Files(merge) => {
                let Some(first) = merge.next()? else { return Ok(None) };
                self.owners.push(first.owner);
                while merge.peek_key() == Some(first.key) {
                    self.owners.extend(merge.next()?.map(|row| row.owner));
                }
                first.key
            }
        };
        Ok(Some((key, &self.owners)))
    }
}

/// Writes one file.
struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: Vec<u8>,
    block: usize,
}

impl Writer {
    /// Creates a new file for `rows` rows.
    fn create(path: &Path, rows: usize, block: usize) -> Result<Self> {
        let file = File::create_new(path).map_err(|error| TableError::Io { path: path.to_path_buf(), error })?;
        let file = BufWriter::with_capacity(1 << 16, file);
        let mut writer = Self { path: path.to_path_buf(), file, bytes: Vec::with_capacity(block * ROW), block };
        writer.bytes.extend(MAGIC);
        writer.bytes.extend((rows as u64).to_le_bytes());
        writer.bytes.extend((block as u64).to_le_bytes());
        writer.flush_block()?;
        Ok(writer)
    }

    fn push(&mut self, row: OwnedKey) -> Result<()> {
        self.bytes.extend(row.to_bytes());
        match self.bytes.len() == self.block * ROW {
            true => self.flush_block(),
            false => Ok(()),
        }
    }

    fn flush_block(&mut self) -> Result<()> {
        let sum = xxh3_64(&self.bytes).to_le_bytes();
        let written = self.file.write_all(&self.bytes).and_then(|()| self.file.write_all(&sum));
        self.bytes.clear();
        written.map_err(|error| TableError::Io { path: self.path.clone(), error })
    }

    fn finish(mut self) -> Result<()> {
        if !self.bytes.is_empty() {
            self.flush_block()?;
        }
        self.file.flush().map_err(|error| TableError::Io { path: self.path.clone(), error })
    }
}

/// Reads one file, block by block.
#[derive(Debug)]
struct Reader {
    path: PathBuf,
    file: File,
    /// Rows in blocks that are not read yet.
    left: u64,
    block: usize,
    /// The current block with its checksum.
    bytes: Vec<u8>,
    /// Bytes of the block that were returned, and its length without the checksum.
    at: usize,
    end: usize,
}

impl Reader {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| TableError::Io { path: path.to_path_buf(), error })?;
        let mut reader = Self { path: path.to_path_buf(), file, left: 0, block: 0, bytes: Vec::new(), at: 0, end: 0 };
        reader.fill(HEADER - 8)?;
        let number =
            |at: usize| reader.bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b));
        let (rows, block) = (number(8), number(16));
        if reader.bytes[..8] != MAGIC || block == 0 || block > BLOCK as u64 {
            return Err(reader.damaged("is no table"));
        }
        (reader.left, reader.block, reader.end) = (rows, block as usize, 0);
        Ok(reader)
    }

    fn damaged(&self, reason: &'static str) -> TableError {
        TableError::Damaged { path: self.path.clone(), reason }
    }

    /// Reads `length` bytes and the checksum after them.
    fn fill(&mut self, length: usize) -> Result<()> {
        self.bytes.resize(length + 8, 0);
        self.file.read_exact(&mut self.bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.damaged("ends early"),
            _ => TableError::Io { path: self.path.clone(), error },
        })?;
        (self.at, self.end) = (0, length);
        match self.bytes[length..] == xxh3_64(&self.bytes[..length]).to_le_bytes() {
            true => Ok(()),
            false => Err(self.damaged("fails its checksum")),
        }
    }

    fn next(&mut self) -> Result<Option<OwnedKey>> {
        if self.at == self.end {
            if self.left == 0 {
                return Ok(None);
            }
            let rows = self.left.min(self.block as u64);
            self.left -= rows;
            self.fill(rows as usize * ROW)?;
        }
        let row = OwnedKey::from_bytes(&self.bytes[self.at..self.end]);
        self.at += ROW;
        Ok(Some(row))
    }
}

/// Merges several files, with a heap of their first rows.
#[derive(Debug)]
struct Merge {
    readers: Vec<Reader>,
    /// The order of the first row of each reader that has one, and the reader's number, which only decides between equal rows.
    heads: BinaryHeap<Reverse<(u128, u32)>>,
}

impl Merge {
    fn open(paths: &[PathBuf]) -> Result<Self> {
        let mut readers = paths.iter().map(|path| Reader::open(path)).collect::<Result<Vec<_>>>()?;
        let mut heads = BinaryHeap::with_capacity(readers.len());
        for (i, reader) in readers.iter_mut().enumerate() {
            if let Some(row) = reader.next()? {
                heads.push(Reverse((row.order(), i as u32)));
            }
        }
        Ok(Self { readers, heads })
    }

    fn rows_left(&self) -> usize {
        let given = |reader: &Reader| reader.left as usize + (reader.end - reader.at) / ROW;
        self.heads.len() + self.readers.iter().map(given).sum::<usize>()
    }

    fn peek_key(&self) -> Option<u64> {
        self.heads.peek().map(|Reverse((order, _))| (order >> 32) as u64)
    }

    fn next(&mut self) -> Result<Option<OwnedKey>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((order, reader)) = *head;
        match self.readers[reader as usize].next()? {
            Some(row) => *head = Reverse((row.order(), reader)),
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
        Ok(Some(OwnedKey { key: (order >> 32) as u64, owner: order as u32 }))
    }
}

#[cfg(test)]
mod tests;
