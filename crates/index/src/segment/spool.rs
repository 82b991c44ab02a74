//! Rows that wait until the tables before theirs are written, in memory up to a limit and then in a temporary file.
//!
//! Rows arrive in the order of their table, so nothing is sorted: they are written as pages and read again. Cost: the bytes of the pages
//! up to the limit, on disk beyond it, written and read once.

use lookalike_table::disk::{Bytes, Disk, NewFile};
use lookalike_table::{Access, Cell, Result, Schema, TableFile, Writer};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes of a spool.
#[derive(Debug)]
struct State {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    limit: usize,
    bytes: Vec<u8>,
    file: Option<Box<dyn NewFile>>,
}

impl State {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            return file.write(bytes);
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > self.limit {
            self.file = Some(self.disk.create(&self.path)?);
            let bytes = std::mem::take(&mut self.bytes);
            self.file.as_mut().map_or(Ok(()), |file| file.write(&bytes))?;
        }
        Ok(())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // It may be gone already; what is left only takes space.
            let _ = self.disk.remove(&self.path);
        }
    }
}

/// The file that a writer writes to; it shares the bytes with the spool.
#[derive(Debug)]
struct SpoolFile(Arc<Mutex<State>>);

impl NewFile for SpoolFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Rows of one table that wait.
#[derive(Debug)]
pub(crate) struct Spool {
    writer: Writer,
    state: Arc<Mutex<State>>,
    rows: u64,
}

impl Spool {
    /// Makes a spool for a table that keeps at most so many bytes in memory. Errors: the schema is not possible.
    pub fn new(disk: Arc<dyn Disk>, path: PathBuf, limit: usize, schema: Schema) -> Result<Self> {
        let state = State { disk, path: path.clone(), limit, bytes: Vec::new(), file: None };
        let state = Arc::new(Mutex::new(state));
        let mut writer = Writer::onto(Box::new(SpoolFile(state.clone())), &path)?;
        writer.begin(schema)?;
        Ok(Self { writer, state, rows: 0 })
    }

    /// Appends a row. Errors: it is before the last one, a value does not fit, or the system refuses.
    pub fn push(&mut self, key: u64, cells: &[Cell<'_>]) -> Result<()> {
        self.rows += 1;
        self.writer.push(key, cells)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends all rows to a table of another file, which is begun. Errors: the system refuses, or the temporary file is damaged.
    pub fn write_to(self, name: &str, to: &mut Writer) -> Result<()> {
        self.writer.finish()?;
        let (path, disk, bytes) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let bytes = state.file.is_none().then(|| std::mem::take(&mut state.bytes));
            (state.path.clone(), state.disk.clone(), bytes)
        };
        let file = match bytes {
            Some(bytes) => TableFile::of(Path::new("memory"), Bytes::Memory(bytes))?,
            None => TableFile::open(&*disk, &path, Access::Streamed)?,
        };
        let mut scan = file.table(name)?.scan();
        while let Some(row) = scan.next_row()? {
            to.push_row(&row)?;
        }
        Ok(())
    }
}
