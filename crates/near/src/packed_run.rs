//! The file of a run in tables of version 1 and 2, which is read and no longer written: distinct fingerprints sorted once per table, and
//! their ids in the order of the first table.
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 64 | `header.rs` |
//! | body | | ids, starts, tables, each packed as `table/codec/packed.rs` says and beginning at a multiple of 8 |
//! | directory | 16 | offset and length of the ids, in bytes |
//! | | 16 | the same of the starts: the start of the ids of each fingerprint, and the number of ids; 0 bytes if each has one |
//! | | 32 per table | bits at its top, radius, offset, length in bytes |
//! | sums | 8 per page | XXH3 of each 16 KiB of the body |
//! | seal | 8 | XXH3 of header, directory and sums |
//!
//! Opening reads header, directory and sums, and compares them with the length of the file. Pages of the body are
//! verified when they are first read. Numbers from a file are checked before they are used. A run in such a file is read into memory.

use crate::footer::Footer;
use crate::header::{number_at, FileHeader, FileKind, HEADER};
use crate::verified_pages::{PagedBody, VerifiedPages, PAGE};
use lookalike_core::hamming::design::MAX_TABLES;
use lookalike_core::hamming::{Arrangement, Design, MAX_DISTANCE};
use lookalike_table::codec::packed::{Order, Packed};
use lookalike_table::disk::Bytes;
use lookalike_table::error::{Error, Result};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Bytes of the directory for ids and starts, and for each table.
const OWNERS_ENTRY: usize = 32;
const TABLE_ENTRY: usize = 32;

/// The end of the body and the start of the sums; `None` if the header does not fit a file of this length.
fn layout(header: &FileHeader, length: usize) -> Option<(usize, usize)> {
    let tables = header.count as usize;
    let end = usize::try_from(header.body).ok()?.checked_add(HEADER).filter(|end| *end < length)?;
    let sums = end + OWNERS_ENTRY + tables.min(MAX_TABLES) * TABLE_ENTRY;
    let is_sound = (1..=MAX_TABLES).contains(&tables)
        && sums + (end - HEADER).div_ceil(PAGE) * 8 + 8 == length
        && header.distance <= MAX_DISTANCE
        && header.rows < 1 << 32
        && header.more <= header.rows;
    is_sound.then_some((end, sums))
}

/// A file that was opened.
#[derive(Debug)]
pub struct PackedRun {
    /// Its header.
    pub header: FileHeader,
    /// Its seal.
    pub seal: u64,
    /// The tables in it, in order.
    pub design: Design,
    pages: Arc<VerifiedPages>,
    ids: Range<usize>,
    starts: Range<usize>,
    columns: Vec<Range<usize>>,
}

impl PackedRun {
    /// Opens a file. Errors: it is damaged, cut, of another kind or version.
    pub fn open(path: &Path, bytes: Bytes) -> Result<Self> {
        let header = FileHeader::read(path, &bytes, FileKind::Run)?;
        let damaged = |reason: &str| Error::damaged(path, reason);
        let (end, sums) = layout(&header, bytes.len()).ok_or_else(|| damaged("its header is inconsistent"))?;
        let footer = Footer::read(path, &bytes, end)?;
        let entries = (0..header.count as usize).map(|table| OWNERS_ENTRY + table * TABLE_ENTRY);
        let columns: Option<Vec<_>> = entries.clone().map(|entry| footer.column(entry + 16)).collect();
        let (Some(ids), Some(starts), Some(columns)) = (footer.column(0), footer.column(16), columns) else {
            return Err(damaged("a column lies outside its body"));
        };
        let arrangement = |entry: usize| {
            let radius = number_at(footer.bytes, entry + 8).min(u64::from(MAX_DISTANCE)) as u32;
            Arrangement::new(number_at(footer.bytes, entry), radius)
        };
        let design = Design { distance: header.distance, arrangements: entries.map(arrangement).collect() };
        let seal = footer.seal;
        let pages = VerifiedPages::new(path, bytes, HEADER..end, sums);
        Ok(Self { header, seal, design, pages, ids, starts, columns })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.pages.path()
    }

    /// Number of rows.
    fn rows(&self) -> usize {
        self.header.rows as usize
    }

    /// Number of distinct fingerprints.
    pub fn distinct(&self) -> usize {
        self.header.more as usize
    }

    /// The ids in the order of the first table, and where those of each fingerprint start, if one has several. Errors: damaged.
    pub fn owners(&self) -> Result<(Vec<u64>, Option<Vec<u64>>)> {
        let ids = self.decode(&self.packed(&self.ids, Order::Any, self.rows())?)?;
        if self.starts.is_empty() && self.rows() == self.distinct() {
            return Ok((ids, None));
        }
        let starts = self.packed(&self.starts, Order::Any, self.distinct() + 1)?;
        Ok((ids, Some(self.decode(&starts)?)))
    }

    fn packed(&self, range: &Range<usize>, order: Order, len: usize) -> Result<Packed<PagedBody>> {
        let column =
            Packed::open(PagedBody(self.pages.clone()), range.clone(), order).filter(|column| column.len() == len);
        column.ok_or_else(|| {
            self.pages.report();
            Error::damaged(self.pages.path(), "a column cannot be decoded")
        })
    }

    /// All numbers of a column. Errors: damaged.
    fn decode(&self, column: &Packed<PagedBody>) -> Result<Vec<u64>> {
        let mut values = Vec::new();
        if column.decode(&mut values).is_none() {
            self.pages.report();
        }
        self.pages.checked()?;
        Ok(values)
    }

    /// The values of a table, read into memory. Errors: damaged, they do not ascend, or there is no such table.
    pub fn ascending(&self, table: usize) -> Result<Vec<u64>> {
        let column = self.packed(self.columns.get(table).unwrap_or(&(0..0)), Order::Ascending, self.distinct())?;
        let values = self.decode(&column)?;
        match values.is_sorted() {
            true => Ok(values),
            false => Err(Error::damaged(self.pages.path(), "a table is not sorted")),
        }
    }
}
