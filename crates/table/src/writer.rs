//! Writes a file of tables, row by row, in the order of each table.
//!
//! A writer keeps one page in memory, and 32 bytes for each page that it wrote. Rows that are out of order are refused, so what is in a
//! file is sorted. The file is written under another name, synced, renamed, and the folder is synced: under its own name it is
//! complete and durable, also after a power failure. A file for one run only ([`Writer::temporary`]) is neither synced nor renamed.
//!
//! Cost: per row, the codes of its columns (`page.rs`), some nanoseconds each; one XXH3 of each page.

use crate::disk::{Disk, NewFile, System};
use crate::error::{Error, Result};
use crate::footer::{footer, header, Directory};
use crate::page::{encode, ColumnBuffer, MAX_ROWS};
use crate::scan::Row;
use crate::schema::{Cell, Schema};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the rows of a page, before they are encoded: small enough to verify in microseconds, large enough that directory and
/// codes cost little. A longer row has a page of its own.
pub const PAGE: usize = 32 << 10;

/// What a finished file is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its length in bytes.
    pub length: u64,
    /// Its seal.
    pub seal: u64,
}

/// A file in memory that is being written; clones are the same file.
#[derive(Clone, Debug, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl NewFile for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file of tables that is being written.
#[derive(Debug)]
pub struct Writer {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// Where the bytes go until the file is complete; none for a temporary file.
    draft: Option<PathBuf>,
    file: Option<Box<dyn NewFile>>,
    is_finished: bool,
    /// Bytes written so far.
    written: u64,
    /// Bytes of the rows of a page.
    page: usize,
    tables: Vec<Directory>,
    rows: RowBuffer,
    /// The page that was encoded last, to reuse its memory.
    encoded: Vec<u8>,
}

/// The rows of the page that is being made.
#[derive(Debug, Default)]
struct RowBuffer {
    keys: Vec<u64>,
    columns: Vec<ColumnBuffer>,
    bytes: usize,
    /// The last row before these: its key and values.
    before: Option<(u64, Vec<OwnedCell>)>,
}

#[derive(Debug)]
enum OwnedCell {
    Number(u64),
    Bytes(Vec<u8>),
}

impl OwnedCell {
    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Number(number) => Self::Number(number),
            Cell::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Number(number) => Cell::Number(*number),
            Self::Bytes(bytes) => Cell::Bytes(bytes),
        }
    }
}

impl RowBuffer {
    /// Whether a row is not before the last one.
    #[inline]
    fn is_ascending<'a>(&self, key: u64, cell: impl Fn(usize) -> Option<Cell<'a>>) -> bool {
        let last = self.keys.last().copied().or_else(|| self.before.as_ref().map(|(key, _)| *key));
        match last {
            None => true,
            Some(last) if last != key => last < key,
            Some(_) => {
                let order = |column: usize| self.last(column).cmp(&cell(column));
                (0..self.columns.len()).map(order).find(|order| order.is_ne()).is_none_or(std::cmp::Ordering::is_lt)
            }
        }
    }

    /// The value of the last row in a column.
    fn last(&self, column: usize) -> Option<Cell<'_>> {
        let before = || self.before.as_ref().and_then(|(_, cells)| cells.get(column)).map(OwnedCell::cell);
        self.columns.get(column).and_then(ColumnBuffer::last).or_else(before)
    }

    /// Forgets the rows, but for the last one.
    fn clear(&mut self) {
        if let Some(key) = self.keys.last() {
            let cells = self.columns.iter().filter_map(ColumnBuffer::last).map(OwnedCell::of).collect();
            self.before = Some((*key, cells));
        }
        self.keys.clear();
        self.columns.iter_mut().for_each(ColumnBuffer::clear);
        self.bytes = 0;
    }
}

impl Writer {
    /// Begins a file that will be durable. Nothing has its name before [`Self::finish`]. Errors: the system refuses.
    pub fn create(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        let draft = path.with_extension("new");
        Self::new(disk, path, Some(draft))
    }

    /// Begins a file that the process reads again and removes. Errors: the system refuses.
    pub fn temporary(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        Self::new(disk, path, None)
    }

    fn new(disk: Arc<dyn Disk>, path: &Path, draft: Option<PathBuf>) -> Result<Self> {
        let at = draft.as_deref().unwrap_or(path);
        let file = disk.create(at).map_err(|error| Error::io(path, error))?;
        Self::with(file, disk, path, draft)
    }

    /// Begins a file that the caller opened, names `path` in errors, and keeps or removes. Errors: the system refuses.
    pub fn onto(file: Box<dyn NewFile>, path: &Path) -> Result<Self> {
        let mut writer = Self::with(file, Arc::new(System), path, None)?;
        writer.is_finished = true;
        Ok(writer)
    }

    fn with(file: Box<dyn NewFile>, disk: Arc<dyn Disk>, path: &Path, draft: Option<PathBuf>) -> Result<Self> {
        let mut writer = Self {
            disk,
            path: path.to_owned(),
            draft,
            file: Some(file),
            is_finished: false,
            written: 0,
            page: PAGE,
            tables: Vec::new(),
            rows: RowBuffer::default(),
            encoded: Vec::new(),
        };
        writer.write(&header())?;
        Ok(writer)
    }

    /// Makes a file in memory: `fill` writes its tables. Returns its bytes. Errors: those of `fill`.
    pub fn in_memory(fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<u8>> {
        let buffer = Buffer::default();
        let mut writer = Self::onto(Box::new(buffer.clone()), Path::new("memory"))?;
        fill(&mut writer)?;
        writer.finish()?;
        let mut bytes = buffer.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut bytes))
    }

    /// Makes pages of about this many bytes of rows; for merges of many files in little memory.
    #[must_use]
    pub fn with_page(mut self, bytes: usize) -> Self {
        self.page = bytes.clamp(1, PAGE);
        self
    }

    /// Ends the table before, if any, and begins the next one. Errors: a schema that is too wide, a name that the file has already, or
    /// the system refuses.
    pub fn begin(&mut self, schema: Schema) -> Result<()> {
        schema.check()?;
        if self.tables.iter().any(|table| table.schema.name == schema.name) {
            return Err(Error::refused(format!("table `{}` is in the file already: use another name", schema.name)));
        }
        self.flush()?;
        self.rows = RowBuffer {
            columns: schema.columns.iter().map(|(_, kind)| ColumnBuffer::new(*kind)).collect(),
            ..RowBuffer::default()
        };
        let (sections, offsets) = (schema.sections(), vec![self.written]);
        self.tables.push(Directory { schema, sections, offsets, ..Directory::default() });
        Ok(())
    }

    /// Appends a row. Errors: it is before the last one, a value does not fit its column, or the system refuses.
    pub fn push(&mut self, key: u64, cells: &[Cell<'_>]) -> Result<()> {
        if self.tables.last().is_some_and(|table| table.schema.columns.len() < cells.len()) {
            return Err(self.misfit());
        }
        self.append(key, |column| cells.get(column).copied())
    }

    /// Appends a row that was read. Errors: as [`Self::push`].
    pub fn push_row(&mut self, row: &Row<'_>) -> Result<()> {
        self.append(row.key(), |column| row.cell(column))
    }

    #[inline]
    fn append<'a>(&mut self, key: u64, cell: impl Fn(usize) -> Option<Cell<'a>>) -> Result<()> {
        let Some(table) = self.tables.last() else { return Err(self.misfit()) };
        let mut bytes = 8;
        for (column, (_, kind)) in table.schema.columns.iter().enumerate() {
            match cell(column).filter(|cell| kind.holds(*cell)) {
                Some(cell) => bytes += kind.size(cell),
                None => return Err(self.misfit()),
            }
        }
        if !self.rows.is_ascending(key, &cell) {
            let name = &table.schema.name;
            return Err(Error::refused(format!("a row of table `{name}` is before the last one: sort the rows first")));
        }
        let is_full = self.rows.keys.len() == MAX_ROWS || self.rows.bytes + bytes > self.page;
        if is_full && !self.rows.keys.is_empty() {
            self.flush()?;
        }
        self.rows.bytes += bytes;
        self.rows.keys.push(key);
        for (column, buffer) in self.rows.columns.iter_mut().enumerate() {
            cell(column).into_iter().for_each(|cell| buffer.push(cell));
        }
        Ok(())
    }

    fn misfit(&self) -> Error {
        match self.tables.last() {
            Some(table) => Error::refused(format!("a row does not have the columns of table `{}`", table.schema.name)),
            None => Error::refused("a row belongs to no table: begin one first"),
        }
    }

    /// Writes the page that is being made.
    fn flush(&mut self) -> Result<()> {
        let Some(table) = self.tables.last_mut().filter(|_| !self.rows.keys.is_empty()) else { return Ok(()) };
        encode(&self.rows.keys, &self.rows.columns, table.sections, &mut self.encoded);
        table.keys.push(self.rows.keys[0]);
        table.starts.push(table.rows);
        table.rows += self.rows.keys.len() as u64;
        table.sums.push(xxh3_64(&self.encoded));
        table.offsets.push(self.written + self.encoded.len() as u64);
        self.rows.clear();
        let encoded = std::mem::take(&mut self.encoded);
        let done = self.write(&encoded);
        self.encoded = encoded;
        done
    }

    /// Appends bytes to the file. After an error the file is given up: nothing more can be written to it.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(file) = &mut self.file else {
            return Err(Error::refused(format!("`{}` could not be written before: begin again", self.path.display())));
        };
        let done = file.write(bytes);
        self.done(done, bytes.len())?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Gives the file up if the system refused something.
    fn done(&mut self, done: std::io::Result<()>, needed: usize) -> Result<()> {
        done.map_err(|error| {
            self.file = None;
            Error::Io { path: self.path.clone(), error, needed: self.written + needed as u64 }
        })
    }

    /// Completes the file and gives it its name. Errors: the system refuses. Then nothing has that name, unless only the folder could
    /// not be synced: then the name may be lost with the power.
    pub fn finish(mut self) -> Result<Written> {
        self.flush()?;
        let (end, seal) = footer(&self.tables, self.written);
        self.write(&end)?;
        let written = Written { length: self.written, seal };
        if let Some(draft) = self.draft.clone() {
            let synced = self.file.as_mut().map_or(Ok(()), |file| file.sync());
            self.done(synced, 0)?;
            let renamed = self.disk.rename(&draft, &self.path);
            self.done(renamed, 0)?;
            self.is_finished = true;
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let synced = self.disk.sync_folder(folder.unwrap_or(Path::new(".")));
            synced.map_err(|error| Error::io(&self.path, error))?;
        }
        self.is_finished = true;
        Ok(written)
    }
}

impl Drop for Writer {
    /// Removes what was not finished.
    fn drop(&mut self) {
        self.file = None;
        if !self.is_finished {
            // It may be gone already; what is left only takes space.
            let _ = self.disk.remove(self.draft.as_deref().unwrap_or(&self.path));
        }
    }
}
