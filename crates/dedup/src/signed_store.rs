//! Stores the shingles and sketches of signed rows: in memory within a budget, in table files beyond it.
//!
//! Batches are kept in order. Reading a row searches for its batch, then borrows from memory or reads from a file. A file is one table,
//! row → numbers (`lookalike_table`); it is completed and mapped at the first read, and unlinked at once where the system allows that.
//! Its pages are verified when they are first read, so what another program changed is an error.
//!
//! Cost: 8 bytes per shingle and 4 per element, in memory or in a file, and 8 bytes per row.

use crate::sign::{Signed, SignedRow};
use lookalike_table::disk::{Disk, System};
use lookalike_table::{Access, Cell, ColumnType, Error, Result, Schema, Table, TableFile, Writer};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Numbers that can be written to a file.
trait Number: Copy {
    const BYTES: usize;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

impl Number for u64 {
    const BYTES: usize = 8;
    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(0, |bytes| Self::from_le_bytes(*bytes))
    }
}

impl Number for u32 {
    const BYTES: usize = 4;
    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(0, |bytes| Self::from_le_bytes(*bytes))
    }
}

/// The numbers of a batch: in memory, or in the file from a row of its table on.
enum Held<T> {
    Memory(Vec<T>),
    File(u64),
}

/// A batch: its first row, and where the numbers of each row end.
struct Segment<T> {
    first: u32,
    ends: Vec<u32>,
    numbers: Held<T>,
}

/// A list of numbers for each row.
struct RowColumn<T> {
    segments: Vec<Segment<T>>,
    file: ColumnFile,
}

/// The numbers of one row: borrowed from memory, or read from a file.
pub enum RowNumbers<'a, T> {
    /// Borrowed from memory.
    Borrowed(&'a [T]),
    /// Read from a file.
    Owned(Vec<T>),
}

impl<T> std::ops::Deref for RowNumbers<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(numbers) => numbers,
            Self::Owned(numbers) => numbers,
        }
    }
}

impl<T: Number> RowColumn<T> {
    fn new(path: PathBuf) -> Self {
        Self { segments: Vec::new(), file: ColumnFile::new(path) }
    }

    /// Appends a batch, in memory if the budget that is left allows it.
    fn push(&mut self, first: u32, ends: Vec<u32>, mut numbers: Vec<T>, left: &mut usize) -> Result<()> {
        let bytes = numbers.len() * T::BYTES;
        let numbers = if bytes <= *left {
            *left -= bytes;
            numbers.shrink_to_fit();
            Held::Memory(numbers)
        } else {
            let (from, mut out) = (self.file.rows, Vec::new());
            for (place, row) in (0..ends.len()).zip(first..) {
                let (start, end) = bounds(&ends, place);
                out.clear();
                numbers[start..end].iter().for_each(|number| number.put(&mut out));
                self.file.push(row, &out)?;
            }
            Held::File(from)
        };
        self.segments.push(Segment { first, ends, numbers });
        Ok(())
    }

    fn segment(&self, row: u32) -> Option<(&Segment<T>, usize)> {
        let at = self.segments.partition_point(|segment| segment.first <= row).checked_sub(1)?;
        let segment = self.segments.get(at)?;
        let place = (row - segment.first) as usize;
        (place < segment.ends.len()).then_some((segment, place))
    }

    fn count(&self, row: u32) -> usize {
        let Some((segment, place)) = self.segment(row) else { return 0 };
        let (start, end) = bounds(&segment.ends, place);
        end - start
    }

    fn get(&self, row: u32) -> Result<RowNumbers<'_, T>> {
        let Some((segment, place)) = self.segment(row) else { return Ok(RowNumbers::Borrowed(&[])) };
        let (start, end) = bounds(&segment.ends, place);
        match &segment.numbers {
            Held::Memory(numbers) => Ok(RowNumbers::Borrowed(&numbers[start..end])),
            Held::File(from) => {
                let table = self.file.table()?;
                let bytes = table.bytes(0, from + place as u64)?;
                if bytes.len() != (end - start) * T::BYTES {
                    return Err(Error::damaged(table.file().path(), format!("row `{row}` has another length")));
                }
                Ok(RowNumbers::Owned(bytes.chunks_exact(T::BYTES).map(T::get).collect()))
            }
        }
    }
}

/// A table file that is written, and from the first read on only read.
struct ColumnFile {
    path: PathBuf,
    /// The writer, once there is a row and until the first read.
    writer: Mutex<Option<Writer>>,
    table: OnceLock<Table>,
    rows: u64,
    bytes: u64,
}

impl ColumnFile {
    fn new(path: PathBuf) -> Self {
        Self { path, writer: Mutex::new(None), table: OnceLock::new(), rows: 0, bytes: 0 }
    }

    /// Appends a row. Errors: the file cannot be written, or was read already.
    fn push(&mut self, row: u32, bytes: &[u8]) -> Result<()> {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.table.get().is_some() {
            return Err(Error::refused("rows cannot be added after the first was read"));
        }
        if writer.is_none() {
            let mut new = Writer::temporary(Arc::new(System), &self.path)?;
            new.begin(Schema::new("rows", &[("numbers", ColumnType::Bytes)]))?;
            *writer = Some(new);
        }
        if let Some(writer) = writer {
            writer.push(u64::from(row), &[Cell::Bytes(bytes)])?;
        }
        (self.rows, self.bytes) = (self.rows + 1, self.bytes + bytes.len() as u64);
        Ok(())
    }

    /// The table of all rows; completes the file at the first call. Errors: it cannot be written or read.
    fn table(&self) -> Result<&Table> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have completed it meanwhile.
        if let Some(writer) = writer.take() {
            writer.finish()?;
            let file = TableFile::open(&System, &self.path, Access::Mapped)?;
            // The caller removes the folder at the end; unlinking now helps if the process is killed.
            System.remove(&self.path).map_err(|error| Error::io(&self.path, error))?;
            let table = file.table("rows")?;
            return Ok(self.table.get_or_init(|| table));
        }
        self.table.get().ok_or_else(|| Error::refused("a file of signed rows could not be completed before: run again"))
    }
}

/// The shingles and sketches of all rows.
pub struct SignedStore {
    ids: RowColumn<u64>,
    elements: RowColumn<u32>,
    rows: u32,
    /// Bytes of the memory budget that are left.
    left: usize,
}

impl SignedStore {
    /// Makes a store that keeps up to `budget_bytes` in memory, the rest in files in `folder`.
    pub fn new(budget_bytes: usize, folder: &Path) -> Self {
        let (ids, elements) = (RowColumn::new(folder.join("shingles")), RowColumn::new(folder.join("sketches")));
        Self { ids, elements, rows: 0, left: budget_bytes }
    }

    /// Bytes of numbers that went to files.
    pub fn written(&self) -> u64 {
        self.ids.file.bytes + self.elements.file.bytes
    }

    /// Appends a signed batch and returns its rows. Errors: a file cannot be written.
    pub fn push(&mut self, signed: Signed) -> Result<Vec<SignedRow>> {
        let first = self.rows;
        self.rows += signed.rows.len() as u32;
        // Sketches are read more often than shingles, so they get memory first.
        self.elements.push(first, signed.element_ends, signed.elements, &mut self.left)?;
        self.ids.push(first, signed.id_ends, signed.ids, &mut self.left)?;
        Ok(signed.rows)
    }

    /// The ids of a row's shingles in the order of the text, with repetitions. Errors: a file is damaged or cannot be read.
    pub fn ids(&self, row: u32) -> Result<RowNumbers<'_, u64>> {
        self.ids.get(row)
    }

    /// Number of ids of a row.
    pub fn id_count(&self, row: u32) -> usize {
        self.ids.count(row)
    }

    /// The elements of a row's sketch. Errors: a file is damaged or cannot be read.
    pub fn elements(&self, row: u32) -> Result<RowNumbers<'_, u32>> {
        self.elements.get(row)
    }
}

/// Start and end of the numbers of a row, by its place in the batch.
fn bounds(ends: &[u32], place: usize) -> (usize, usize) {
    let start = place.checked_sub(1).map_or(0, |before| ends[before] as usize);
    (start, ends[place] as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign::{Signer, Sketching};
    use lookalike_core::frontend::{Options, Unit};
    use lookalike_core::sketch::shingle::Shingling;

    fn batches() -> Vec<Signed> {
        let shingling =
            Shingling::new(Options { unit: Unit::Word, homoglyphs: false }, 2, false, 64).expect("in range");
        let mut signer = Signer::new(shingling, &Sketching::Fast { size: 8 }).expect("in range");
        let batch = |from: usize| {
            let mut signed = Signed::default();
            for length in from..from + 5 {
                let text: String = (0..length * 3).map(|word| format!("w{word} ")).collect();
                signer.push(&text, f64::NAN, &mut signed);
            }
            signed
        };
        (0..6).map(batch).collect()
    }

    fn stored(budget: usize, folder: &Path) -> SignedStore {
        let mut store = SignedStore::new(budget, folder);
        batches().into_iter().for_each(|batch| drop(store.push(batch).expect("written")));
        store
    }

    #[test]
    fn what_is_kept_does_not_depend_on_the_budget() {
        for budget in [0, 300, 2_000, usize::MAX] {
            let folder = tempfile::tempdir().expect("a folder");
            let store = stored(budget, folder.path());
            assert_eq!(store.written() == 0, budget == usize::MAX, "{budget}");
            let mut row = 0;
            for batch in &batches() {
                for place in 0..batch.rows.len() {
                    let ids = bounds(&batch.id_ends, place);
                    let elements = bounds(&batch.element_ends, place);
                    assert_eq!(&store.ids(row).expect("read")[..], &batch.ids[ids.0..ids.1]);
                    assert_eq!(&store.elements(row).expect("read")[..], &batch.elements[elements.0..elements.1]);
                    assert_eq!(store.id_count(row), ids.1 - ids.0);
                    row += 1;
                }
            }
            assert!(store.ids(row).expect("nothing there").is_empty());
            assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0, "files are unlinked");
        }
    }

    #[test]
    fn after_the_first_read_no_row_is_added() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = stored(0, folder.path());
        assert!(!store.ids(7).expect("read").is_empty());
        assert!(store.push(batches().remove(0)).is_err());
    }

    #[test]
    fn a_file_that_another_program_changed_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = stored(0, folder.path());
        let path = folder.path().join("shingles");
        // The footer is not written yet: all bytes so far are the header and nothing else, so the rows come with the first read.
        std::fs::File::create(&path).expect("cut");
        assert!(matches!(store.ids(3), Err(Error::Damaged { .. })));
        assert!(store.ids(4).is_err(), "and stays one");
    }
}
