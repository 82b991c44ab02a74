//! Stores the shingles and sketches of signed rows: in memory within a budget, in one file beyond it.
//!
//! Batches are kept in order. Reading a row searches for its batch, then borrows from memory or reads from the file.
//! The file is private, written once, and unlinked as soon as it is open where the system allows that.
//!
//! Cost: 8 bytes per shingle and 4 per element, in memory or in the file, and 8 bytes per row.

use crate::sign::Signed;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The numbers of a batch, in memory or in the file.
enum StoredColumn<T> {
    Memory(Vec<T>),
    File { offset: u64 },
}

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

/// The shingles and sketches of a batch.
struct Segment {
    first: u32,
    id_ends: Vec<u32>,
    ids: StoredColumn<u64>,
    element_ends: Vec<u32>,
    elements: StoredColumn<u32>,
}

/// The shingles and sketches of all rows.
pub struct SignedStore {
    segments: Vec<Segment>,
    rows: u32,
    /// Bytes of the memory budget that are left.
    left: usize,
    folder: PathBuf,
    file: Option<File>,
    written: u64,
}

/// The numbers of one row: borrowed from memory, or read from the file.
pub enum RowNumbers<'a, T> {
    /// Borrowed from memory.
    Borrowed(&'a [T]),
    /// Read from the file.
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

impl SignedStore {
    /// Makes a store that keeps up to `budget_bytes` in memory, the rest in a file in `folder`.
    pub fn new(budget_bytes: usize, folder: &Path) -> Self {
        Self { segments: Vec::new(), rows: 0, left: budget_bytes, folder: folder.to_owned(), file: None, written: 0 }
    }

    /// Bytes written to the file.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends a signed batch and returns its rows. Errors: the file cannot be written.
    pub fn push(&mut self, signed: Signed) -> io::Result<Vec<crate::sign::SignedRow>> {
        let first = self.rows;
        self.rows += signed.rows.len() as u32;
        // Sketches are read more often than shingles, so they get memory first.
        let elements = self.hold(signed.elements)?;
        let ids = self.hold(signed.ids)?;
        let (id_ends, element_ends) = (signed.id_ends, signed.element_ends);
        self.segments.push(Segment { first, id_ends, ids, element_ends, elements });
        Ok(signed.rows)
    }

    fn hold<T: Number>(&mut self, mut numbers: Vec<T>) -> io::Result<StoredColumn<T>> {
        let bytes = numbers.len() * T::BYTES;
        if bytes <= self.left {
            self.left -= bytes;
            numbers.shrink_to_fit();
            return Ok(StoredColumn::Memory(numbers));
        }
        let mut out = Vec::with_capacity(bytes);
        numbers.iter().for_each(|number| number.put(&mut out));
        let offset = self.written;
        self.file()?.write_all_at(&out, offset)?;
        self.written += out.len() as u64;
        Ok(StoredColumn::File { offset })
    }

    fn file(&mut self) -> io::Result<&File> {
        if self.file.is_none() {
            let path = self.folder.join("signed");
            let file = File::options().read(true).write(true).create_new(true).open(&path)?;
            // The caller removes the folder at the end; unlinking now helps if the process is killed.
            std::fs::remove_file(&path)?;
            self.file = Some(file);
        }
        self.file.as_ref().ok_or_else(|| io::Error::other("the file of the store is closed"))
    }

    fn segment(&self, row: u32) -> Option<(&Segment, usize)> {
        let at = self.segments.partition_point(|segment| segment.first <= row).checked_sub(1)?;
        let segment = self.segments.get(at)?;
        let place = (row - segment.first) as usize;
        (place < segment.id_ends.len()).then_some((segment, place))
    }

    /// The ids of a row's shingles in the order of the text, with repetitions. Errors: the file cannot be read.
    pub fn ids(&self, row: u32) -> io::Result<RowNumbers<'_, u64>> {
        match self.segment(row) {
            Some((segment, place)) => self.numbers(&segment.ids, &segment.id_ends, place),
            None => Ok(RowNumbers::Borrowed(&[])),
        }
    }

    /// Number of ids of a row.
    pub fn id_count(&self, row: u32) -> usize {
        let Some((segment, place)) = self.segment(row) else { return 0 };
        let (start, end) = bounds(&segment.id_ends, place);
        end - start
    }

    /// The elements of a row's sketch. Errors: the file cannot be read.
    pub fn elements(&self, row: u32) -> io::Result<RowNumbers<'_, u32>> {
        match self.segment(row) {
            Some((segment, place)) => self.numbers(&segment.elements, &segment.element_ends, place),
            None => Ok(RowNumbers::Borrowed(&[])),
        }
    }

    fn numbers<'a, T: Number>(
        &'a self,
        held: &'a StoredColumn<T>,
        ends: &[u32],
        place: usize,
    ) -> io::Result<RowNumbers<'a, T>> {
        let (start, end) = bounds(ends, place);
        match (held, &self.file) {
            (StoredColumn::Memory(numbers), _) => Ok(RowNumbers::Borrowed(&numbers[start..end])),
            (StoredColumn::File { offset }, Some(file)) => {
                let mut bytes = vec![0; (end - start) * T::BYTES];
                file.read_exact_at(&mut bytes, offset + (start * T::BYTES) as u64)?;
                Ok(RowNumbers::Owned(bytes.chunks_exact(T::BYTES).map(T::get).collect()))
            }
            (StoredColumn::File { .. }, None) => Err(io::Error::other("the file of the store is closed")),
        }
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

    #[test]
    fn what_is_kept_does_not_depend_on_the_budget() {
        let whole = batches();
        for budget in [0, 300, 2_000, usize::MAX] {
            let folder = std::env::temp_dir().join(format!("lookalike-store-{}-{budget}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a folder");
            let mut store = SignedStore::new(budget, &folder);
            for batch in &whole {
                store.push(batch.clone()).expect("written");
            }
            assert_eq!(store.written() == 0, budget == usize::MAX, "{budget}");
            let mut row = 0;
            for batch in &whole {
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
            std::fs::remove_dir_all(&folder).expect("removed");
        }
    }
}
