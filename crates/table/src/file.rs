//! Reads a file of tables: mapped, loaded, or page by page.
//!
//! **Trust.** Opening reads header, footer and trailer, and checks them against their checksums and against the length of the file. The
//! pages of a mapped file are verified when they are first read; those of a loaded file at the opening; those of a streamed one at every read.
//! [`TableFile::verify`] reads everything. Every answer is a [`Result`]: damage is an error, never a missing row.
//!
//! **Cost.** Opening takes 32 bytes of memory per page. A probe finds its page by interpolation among the first keys of all pages, and its
//! rows in the page without decoding it (`codec/keys.rs`).

use crate::codec::bits::Select;
use crate::codec::keys::Keys;
use crate::disk::{Bytes, Disk, OpenFile};
use crate::error::{Error, Result};
use crate::footer::{self, Directory, HEADER, TRAILER};
use crate::join;
use crate::memory::prefetch;
use crate::page::Page;
use crate::scan::Scan;
use crate::schema::{ColumnType, Schema};
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// How the bytes of a file are had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Mapped; pages are verified when they are first read. REQUIRES: nobody shortens the file while it is open.
    Mapped,
    /// Read into memory and verified at the opening.
    Loaded,
    /// Read from the file page by page, at most one page in memory: for scans and merges.
    Streamed,
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Parts(Box<dyn OpenFile>),
}

/// A file of tables that was opened.
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    content: Content,
    length: u64,
    seal: u64,
    tables: Vec<Directory>,
    /// The number of the first page of each table among all pages.
    firsts: Vec<usize>,
    /// One bit per verified page. Two threads may set it twice.
    verified: Vec<AtomicU64>,
}

impl TableFile {
    /// Opens a file. Errors: it is missing, damaged, or of another version.
    pub fn open(disk: &dyn Disk, path: &Path, access: Access) -> Result<Arc<Self>> {
        let wrong = |error| Error::io(path, error);
        match access {
            Access::Mapped => Self::of(path, disk.map(path).map_err(wrong)?),
            Access::Loaded => {
                let file = Self::of(path, disk.read(path).map_err(wrong)?)?;
                file.verify_pages()?;
                Ok(file)
            }
            Access::Streamed => Self::stream(path, disk.open(path).map_err(wrong)?),
        }
    }

    /// Opens the bytes of a file; `path` names it in errors. Pages are verified when they are first read.
    pub fn of(path: &Path, bytes: Bytes) -> Result<Arc<Self>> {
        footer::check_header(path, &bytes)?;
        let length = bytes.len() as u64;
        let at = bytes.len().saturating_sub(TRAILER).max(HEADER).min(bytes.len());
        let start = footer::footer_start(path, &bytes[at..], length)?;
        let (tables, seal) = footer::read(path, bytes.get(start as usize..).unwrap_or_default(), start)?;
        Ok(Arc::new(Self::with(path, Content::Whole(bytes), length, seal, tables)))
    }

    fn stream(path: &Path, file: Box<dyn OpenFile>) -> Result<Arc<Self>> {
        let wrong = |error| Error::io(path, error);
        let length = file.length().map_err(wrong)?;
        let read = |at: u64, count: u64| {
            let mut bytes = vec![0; count as usize];
            file.read_at(&mut bytes, at).map(|()| bytes).map_err(wrong)
        };
        footer::check_header(path, &read(0, length.min(HEADER as u64))?)?;
        let trailer = length.saturating_sub(TRAILER as u64).max(HEADER as u64);
        let start = footer::footer_start(path, &read(trailer, length - trailer)?, length)?;
        let (tables, seal) = footer::read(path, &read(start, length - start)?, start)?;
        Ok(Arc::new(Self::with(path, Content::Parts(file), length, seal, tables)))
    }

    fn with(path: &Path, content: Content, length: u64, seal: u64, tables: Vec<Directory>) -> Self {
        let (mut pages, mut firsts) = (0, Vec::with_capacity(tables.len()));
        for table in &tables {
            firsts.push(pages);
            pages += table.keys.len();
        }
        let verified = (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { path: path.to_owned(), content, length, seal, tables, firsts, verified }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length in bytes and the seal, by which the file is told from any other.
    pub fn identity(&self) -> (u64, u64) {
        (self.length, self.seal)
    }

    /// What tables it has, in order.
    pub fn schemas(&self) -> impl Iterator<Item = &Schema> {
        self.tables.iter().map(|table| &table.schema)
    }

    /// The table of this name. Errors: there is none.
    pub fn table(self: &Arc<Self>, name: &str) -> Result<Table> {
        let number = self.tables.iter().position(|table| table.schema.name == name);
        let number = number.ok_or_else(|| Error::damaged(&self.path, format!("it has no table `{name}`")))?;
        Ok(Table { file: self.clone(), number })
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::damaged(&self.path, reason)
    }

    /// Errors: a page differs from its checksum.
    fn verify_pages(&self) -> Result<()> {
        let mut buffer = Vec::new();
        for (number, table) in self.tables.iter().enumerate() {
            (0..table.keys.len()).try_for_each(|page| self.page(number, page, &mut buffer).map(drop))?;
        }
        Ok(())
    }

    /// Reads everything: each page has its checksum, can be decoded, and all rows are in order. Errors: damaged.
    pub fn verify(self: &Arc<Self>) -> Result<()> {
        for number in 0..self.tables.len() {
            let table = Table { file: self.clone(), number };
            let mut scan = table.scan();
            while scan.step()? {
                if !scan.is_ascending() {
                    return Err(self.damaged("its rows are not sorted"));
                }
            }
        }
        Ok(())
    }

    /// The bytes of a page, verified. A streamed file reads them into the buffer.
    #[inline]
    fn page<'a>(&'a self, table: usize, page: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let directory = &self.tables[table];
        let place = directory.offsets[page] as usize..directory.offsets[page + 1] as usize;
        match &self.content {
            Content::Whole(bytes) => {
                let bytes = bytes.get(place).ok_or_else(|| self.damaged("a page lies outside it"))?;
                let number = self.firsts[table] + page;
                let (word, bit) = (&self.verified[number / 64], 1 << (number % 64));
                if word.load(Ordering::Relaxed) & bit == 0 {
                    self.check(bytes, directory.sums[page], page)?;
                    word.fetch_or(bit, Ordering::Relaxed);
                }
                Ok(bytes)
            }
            Content::Parts(file) => {
                buffer.clear();
                buffer.resize(place.len(), 0);
                file.read_at(buffer, place.start as u64).map_err(|error| Error::io(&self.path, error))?;
                self.check(buffer, directory.sums[page], page)?;
                Ok(buffer)
            }
        }
    }

    /// Whether a page of a whole file has its checksum.
    #[inline(always)]
    fn is_sound(&self, table: usize, page: usize) -> bool {
        let number = self.firsts[table] + page;
        self.verified[number / 64].load(Ordering::Relaxed) & 1 << (number % 64) != 0
            || self.page(table, page, &mut Vec::new()).is_ok()
    }

    /// Errors: the bytes of a page differ from its checksum.
    #[cold]
    fn check(&self, bytes: &[u8], sum: u64, page: usize) -> Result<()> {
        match xxh3_64(bytes) == sum {
            true => Ok(()),
            false => Err(self.damaged(&format!("page `{page}` fails its checksum"))),
        }
    }
}

/// A table of an open file. Rows are numbered from 0 in the order of the table.
#[derive(Clone, Debug)]
pub struct Table {
    file: Arc<TableFile>,
    number: usize,
}

impl Table {
    fn directory(&self) -> &Directory {
        &self.file.tables[self.number]
    }

    /// What the table is.
    pub fn schema(&self) -> &Schema {
        &self.directory().schema
    }

    /// The file it is in.
    pub fn file(&self) -> &Arc<TableFile> {
        &self.file
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.directory().rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that its rows take in the file, without the directory of pages.
    pub fn size(&self) -> u64 {
        let offsets = &self.directory().offsets;
        offsets.last().zip(offsets.first()).map_or(0, |(end, start)| end - start)
    }

    /// Number of pages.
    pub(crate) fn pages(&self) -> usize {
        self.directory().keys.len()
    }

    /// The rows of a page.
    #[inline(always)]
    pub(crate) fn rows_of(&self, page: usize) -> Range<u64> {
        let directory = self.directory();
        directory.starts[page]..directory.starts.get(page + 1).copied().unwrap_or(directory.rows)
    }

    fn undecodable(&self, page: usize) -> Error {
        self.file.damaged(&format!("page `{page}` of table `{}` cannot be decoded", self.schema().name))
    }

    /// Calls `work` with a page; what it cannot read is damage.
    #[inline]
    pub(crate) fn with_page<T>(&self, page: usize, work: impl FnOnce(Page<'_>) -> Option<T>) -> Result<T> {
        let mut buffer = Vec::new();
        let bytes = self.file.page(self.number, page, &mut buffer)?;
        self.opened(bytes, page).and_then(work).ok_or_else(|| self.undecodable(page))
    }

    fn opened<'a>(&self, bytes: &'a [u8], page: usize) -> Option<Page<'a>> {
        let rows = self.rows_of(page);
        Page::open(bytes, (rows.end - rows.start) as usize, self.directory().sections)
    }

    /// Copies a page to the buffer, and calls `work` with it.
    pub(crate) fn copy_page<T>(
        &self,
        page: usize,
        buffer: &mut Vec<u8>,
        work: impl FnOnce(Page<'_>) -> Option<T>,
    ) -> Result<T> {
        if let Content::Whole(_) = self.file.content {
            let mut unused = Vec::new();
            let bytes = self.file.page(self.number, page, &mut unused)?;
            buffer.clear();
            buffer.extend_from_slice(bytes);
        } else {
            self.file.page(self.number, page, buffer)?;
        }
        self.opened(buffer, page).and_then(work).ok_or_else(|| self.undecodable(page))
    }

    /// The page with a row. REQUIRES: there is such a row.
    #[inline(always)]
    pub(crate) fn page_of_row(&self, row: u64) -> usize {
        let directory = self.directory();
        let starts = &directory.starts;
        let last = starts.len().saturating_sub(1);
        // Most pages have equally many rows.
        let mut page = ((row as f64 * directory.pages_per_row) as usize).min(last);
        if starts[page] > row || (page < last && starts[page + 1] <= row) {
            page = starts.partition_point(|start| *start <= row).saturating_sub(1);
        }
        page
    }

    /// The last page whose first key is below `key`, or the first page.
    #[inline(always)]
    pub(crate) fn page_of_key(&self, key: u64) -> usize {
        let keys = &self.directory().keys;
        let last = keys.len().saturating_sub(1);
        let first = keys[0];
        if key <= first {
            return 0;
        }
        // As floating-point numbers: a whole division takes several times as long, and a guess need not be exact.
        let guess = (((key - first) as f64 * self.directory().scale) as usize).min(last);
        let (mut from, mut to) = (guess, guess + 1);
        let mut step = 1;
        // Afterwards the wanted page is in from..to: keys[from] is lower, and keys[to] is not, or to is the end.
        if keys[from] < key {
            while to <= last && keys[to] < key {
                (from, to, step) = (to, (to + step).min(last + 1), step * 2);
            }
        } else {
            while keys[from] >= key {
                (to, from, step) = (from, from.saturating_sub(step), step * 2);
            }
        }
        from + keys[from..to].partition_point(|other| *other < key).saturating_sub(1)
    }

    /// The keys between which those of a page are.
    #[inline(always)]
    pub(crate) fn bounds(&self, page: usize) -> (u64, u64) {
        let keys = &self.directory().keys;
        (keys[page], keys.get(page + 1).copied().unwrap_or(u64::MAX))
    }

    /// Number of rows whose key is below `key`. Errors: damaged.
    pub fn below(&self, key: u64) -> Result<u64> {
        if self.is_empty() {
            return Ok(0);
        }
        let page = self.page_of_key(key);
        let (from, to) = self.bounds(page);
        let rows = self.with_page(page, |found| found.keys()?.below(key, from, to))?;
        Ok(self.rows_of(page).start + rows as u64)
    }

    /// The rows whose keys are from `low` to `high`, both included. Errors: damaged.
    pub fn between(&self, low: u64, high: u64) -> Result<Range<u64>> {
        if self.is_empty() || low > high {
            return Ok(self.len()..self.len());
        }
        let page = self.page_of_key(low);
        let (from, to) = self.bounds(page);
        let found = self.with_page(page, |found| found.keys()?.between(low, high, from, to))?;
        let rows = self.rows_of(page);
        let start = rows.start + found.start as u64;
        // Rows up to the end of the page may go on in the next one.
        match rows.start + found.end as u64 {
            end if end < rows.end || rows.end == self.len() || to > high => Ok(start..end),
            _ => Ok(start..high.checked_add(1).map_or(Ok(self.len()), |next| self.below(next))?.max(start)),
        }
    }

    /// The rows of a key. Errors: damaged.
    pub fn find(&self, key: u64) -> Result<Range<u64>> {
        self.between(key, key)
    }

    /// Calls `seen` with the number of each key and its rows, in order; several keys are looked up at a time, dense ones in one pass over
    /// the rows between. Errors: the keys do not ascend, or damaged.
    pub fn find_sorted(&self, keys: &[u64], seen: impl FnMut(usize, Range<u64>)) -> Result<()> {
        if !keys.is_sorted() {
            return Err(Error::refused("keys of a batch must ascend: sort them first"));
        }
        match join::dense(self, keys)? {
            Some(rows) => join::join(self, keys, rows, seen),
            None => join::search(self, keys, seen),
        }
    }

    /// Prefetches the beginning of a page, which says where its keys are.
    pub(crate) fn touch(&self, page: usize) {
        if let Content::Whole(bytes) = &self.file.content {
            prefetch(bytes, self.directory().offsets[page] as usize);
        }
    }

    /// Prefetches what a search for the key reads first in its page.
    pub(crate) fn hint(&self, page: usize, key: u64) -> Result<()> {
        let (from, to) = self.bounds(page);
        match self.file.content {
            Content::Whole(_) => self.with_page(page, |found| found.keys().map(|keys| keys.hint(key, from, to))),
            Content::Parts(_) => Ok(()),
        }
    }

    /// The page of a row, and the row's place in it. Errors: there is no such row.
    fn place(&self, row: u64) -> Result<(usize, usize)> {
        if row >= self.len() {
            let reason = format!("row `{row}` is not in table `{}` of `{}` rows", self.schema().name, self.len());
            return Err(Error::refused(reason));
        }
        let page = self.page_of_row(row);
        Ok((page, (row - self.rows_of(page).start) as usize))
    }

    /// Errors: there is no such column, or it has another type.
    fn check_column(&self, column: usize, is_number: bool) -> Result<()> {
        let kind = self.schema().columns.get(column).map(|(_, kind)| *kind);
        match kind.map(ColumnType::is_number) {
            Some(found) if found == is_number => Ok(()),
            _ => {
                let what = if is_number { "numbers" } else { "bytes" };
                Err(Error::refused(format!("column `{column}` of table `{}` has no {what}", self.schema().name)))
            }
        }
    }

    /// The key of a row. Errors: there is no such row, or damaged.
    pub fn key(&self, row: u64) -> Result<u64> {
        let (page, place) = self.place(row)?;
        self.with_page(page, |found| found.keys()?.get(place))
    }

    /// The number in a row of a column. Errors: there is none, or damaged.
    pub fn number(&self, column: usize, row: u64) -> Result<u64> {
        self.check_column(column, true)?;
        let (page, place) = self.place(row)?;
        self.with_page(page, |found| found.number(self.schema(), column, place))
    }

    /// Appends the numbers in rows of a column. Errors: as [`Self::number`].
    pub fn numbers(&self, column: usize, rows: Range<u64>, out: &mut Vec<u64>) -> Result<()> {
        self.check_column(column, true)?;
        self.each_page(rows, |page, places| {
            self.with_page(page, |found| found.numbers(self.schema(), column, places, out))
        })
    }

    /// Calls `seen` with the keys of rows, some at a time. Errors: there are no such rows, or damaged.
    pub fn keys(&self, rows: Range<u64>, mut seen: impl FnMut(&[u64])) -> Result<()> {
        self.each_page(rows, |page, places| {
            self.with_page(page, |found| found.keys()?.read(places, &mut |_, keys| seen(keys)))
        })
    }

    /// Calls `work` with each page that has some of the rows, and their places there.
    fn each_page(&self, rows: Range<u64>, mut work: impl FnMut(usize, Range<usize>) -> Result<()>) -> Result<()> {
        let mut at = rows.start;
        while at < rows.end {
            let (page, place) = self.place(at)?;
            let end = self.rows_of(page).end.min(rows.end);
            work(page, place..place + (end - at) as usize)?;
            at = end;
        }
        Ok(())
    }

    /// The bytes in a row of a column: borrowed, or read from a streamed file. Errors: there are none, or damaged.
    pub fn bytes(&self, column: usize, row: u64) -> Result<Cow<'_, [u8]>> {
        self.check_column(column, false)?;
        let (page, place) = self.place(row)?;
        let mut buffer = Vec::new();
        let bytes = self.file.page(self.number, page, &mut buffer)?;
        let range = self.opened(bytes, page).and_then(|found| found.bytes(self.schema(), column, place));
        let range = range.ok_or_else(|| self.undecodable(page))?;
        match &self.file.content {
            Content::Whole(bytes) => {
                let start = self.directory().offsets[page] as usize;
                Ok(Cow::Borrowed(&bytes[start + range.start..start + range.end]))
            }
            Content::Parts(_) => Ok(Cow::Owned(bytes[range].to_vec())),
        }
    }

    /// Whether all bytes of the file are in reach, mapped or loaded.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.file.content, Content::Whole(_))
    }

    /// The keys of a page of a whole file, verified; `None` if that is damaged.
    #[inline(always)]
    pub(crate) fn page_keys<S: Select>(&self, page: usize, machine: S) -> Option<Keys<'_, S>> {
        self.file.is_sound(self.number, page).then_some(())?;
        self.unverified_keys(page, machine)
    }

    /// The keys of a page of a whole file, which may be damaged: for prefetching.
    #[inline(always)]
    pub(crate) fn unverified_keys<S: Select>(&self, page: usize, machine: S) -> Option<Keys<'_, S>> {
        let Content::Whole(bytes) = &self.file.content else { return None };
        let directory = self.directory();
        let place = *directory.offsets.get(page)? as usize..*directory.offsets.get(page + 1)? as usize;
        let rows = self.rows_of(page);
        let keys = Page::keys_of(bytes.get(place)?, directory.sections)?;
        Some(Keys::inside(keys, (rows.end - rows.start) as usize, machine))
    }

    /// All rows in order.
    pub fn scan(&self) -> Scan {
        Scan::new(self.clone())
    }
}
