//! Segments, merges and snapshots of an archive, as Python calls them.
//!
//! Records come as lists of `bytes`, which are borrowed and decoded without the GIL. Content hashes are 16 bytes, the highest first.

use crate::detach::{detached, interruptible, locked};
use crate::error::archive_to_python;
use crate::pool::Pool;
use lookalike_index::questions::conditions::Conditions;
use lookalike_index::segment::StoredRow as Row;
use lookalike_index::texts::{StoredTexts, TextUnpacker};
use lookalike_index::{self as index, Bitmap, Document, Part, Result, Settings, Written};
use lookalike_table::disk::{Disk, System};
use lookalike_table::Error;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Records that are taken from an iterator at a time.
const BATCH: usize = 1 << 10;

/// A record and whether nothing of it is missing; none for a row that cannot be read.
type Salvaged = Option<(Py<PyBytes>, bool)>;
/// Rows, length and seal of a finished segment.
type Finished = (u64, u64, u64);

/// Segments in order of arrival, each with the bitmap of its removed rows.
type Parts<'py> = Vec<(Bound<'py, Segment>, Option<PyBackedBytes>)>;

fn finished(written: Written) -> Finished {
    (written.rows, written.length, written.seal)
}

fn decoded(records: &[PyBackedBytes]) -> Result<Vec<Document>> {
    records.iter().map(|record| Document::decode(record)).collect()
}

fn disk() -> Arc<dyn Disk> {
    Arc::new(System)
}

/// Runs long work that a signal can end; then what its handler raised is returned.
fn until_stopped(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> Result<Written> + Send) -> PyResult<Finished> {
    let pool = Pool::new(0)?;
    interruptible(py, &pool, work)?.map(finished).map_err(archive_to_python)
}

/// A segment of an archive: documents in one immutable file, or in memory.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Segment(pub Arc<index::Segment>);

#[pymethods]
impl Segment {
    /// Opens a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = detached(py, usize::MAX, || index::Segment::open(&System, &path));
        opened.map(|segment| Self(Arc::new(segment))).map_err(archive_to_python)
    }

    /// Makes a segment in memory.
    #[staticmethod]
    fn of_records(py: Python<'_>, records: Vec<PyBackedBytes>, parameters: PyBackedBytes) -> PyResult<Self> {
        let made = detached(py, usize::MAX, || index::Segment::of_documents(&decoded(&records)?, &parameters));
        made.map(|segment| Self(Arc::new(segment))).map_err(archive_to_python)
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    #[getter]
    fn seal(&self) -> u64 {
        self.0.seal()
    }

    #[getter]
    fn length(&self) -> u64 {
        self.0.length()
    }

    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.parameters())
    }

    /// Name, rows and bytes of each table.
    fn sizes(&self) -> PyResult<Vec<(String, u64, u64)>> {
        self.0.sizes().map_err(archive_to_python)
    }

    /// Reads everything and checks that all tables agree.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, usize::MAX, || self.0.verify()).map_err(archive_to_python)
    }

    /// What is known of a document.
    fn row(&self, row: u64) -> PyResult<StoredRow> {
        self.0.row(row).map(StoredRow).map_err(archive_to_python)
    }

    /// All records in order, read once. Keys beyond so many bytes are kept in files of a folder.
    fn read_all(&self, py: Python<'_>, memory: usize, folder: PathBuf) -> PyResult<RecordReader> {
        let place = (disk(), memory, folder.join("records"));
        let records = detached(py, usize::MAX, || self.0.read_all(Some(place)));
        records.map(|records| RecordReader(Mutex::new(records))).map_err(archive_to_python)
    }

    /// Opens a damaged file for `salvage`.
    #[staticmethod]
    fn open_damaged(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = detached(py, usize::MAX, || index::Segment::open_damaged(&System, &path));
        opened.map(|segment| Self(Arc::new(segment))).map_err(archive_to_python)
    }

    /// What can be read of a damaged segment, in order, as `read_all`.
    fn salvage(&self, py: Python<'_>, memory: usize, folder: PathBuf) -> PyResult<Salvage> {
        let place = (disk(), memory, folder.join("records"));
        let found = detached(py, usize::MAX, || self.0.salvage(Some(place)));
        found.map(|found| Salvage(Mutex::new(found))).map_err(archive_to_python)
    }

    /// The records of some rows; all keys are read once per call.
    fn records(&self, py: Python<'_>, start: u64, end: u64) -> PyResult<Vec<Py<PyBytes>>> {
        let encode = |documents: Vec<Document>| documents.iter().map(Document::encode).collect::<Vec<_>>();
        let records = detached(py, usize::MAX, || self.0.documents(start..end).map(encode));
        let records = records.map_err(archive_to_python)?;
        Ok(records.iter().map(|record| PyBytes::new(py, record).unbind()).collect())
    }
}

/// What is known of a stored document, without its keys and texts.
#[pyclass(frozen, module = "lookalike._core")]
pub struct StoredRow(pub Row);

#[pymethods]
impl StoredRow {
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.id)
    }

    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.meta)
    }

    #[getter]
    fn submitter(&self) -> u64 {
        self.0.submitter
    }

    #[getter]
    fn known_as(&self) -> u64 {
        self.0.known_as
    }

    /// Seconds since 1970; `None` for none.
    #[getter]
    fn time(&self) -> Option<i64> {
        Some(self.0.time).filter(|time| *time != index::record::NO_TIME)
    }

    #[getter]
    fn flags(&self) -> u32 {
        self.0.flags
    }

    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.content.to_be_bytes())
    }

    /// The content hash, and a hash of what else its source said of it.
    #[getter]
    fn mark<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.mark())
    }

    #[getter]
    fn shingles(&self) -> u32 {
        self.0.shingles
    }

    #[getter]
    fn length(&self) -> u32 {
        self.0.length
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Of a shadow: hash of the id, score and link of the document that was kept for it.
    #[getter]
    fn leader<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, f32, u8)> {
        let told = |leader: &index::Leader| (PyBytes::new(py, &leader.id), leader.score, leader.link);
        self.0.leader.as_ref().map(told)
    }
}

/// The records of a segment in order.
#[pyclass(frozen, module = "lookalike._core")]
pub struct RecordReader(Mutex<index::Records>);

#[pymethods]
impl RecordReader {
    /// The next records, at most so many; an empty list at the end.
    fn next(&self, py: Python<'_>, count: usize) -> PyResult<Vec<Py<PyBytes>>> {
        let read = locked(py, &self.0, |records| {
            let mut found = Vec::new();
            while found.len() < count {
                let Some(document) = records.next_document()? else { break };
                found.push(document.encode());
            }
            Ok(found)
        });
        let found = read.map_err(archive_to_python)?;
        Ok(found.iter().map(|record| PyBytes::new(py, record).unbind()).collect())
    }
}

/// The documents of a damaged segment in order.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Salvage(Mutex<index::Salvage>);

#[pymethods]
impl Salvage {
    /// Number of keys that cannot be read; whose they are is not known.
    #[getter]
    fn missing(&self, py: Python<'_>) -> u64 {
        locked(py, &self.0, |found| found.missing())
    }

    /// The records of the next rows, at most so many, each with whether nothing of it is missing; `None` for a row that
    /// cannot be read. An empty list at the end.
    fn next(&self, py: Python<'_>, count: usize) -> PyResult<Vec<Salvaged>> {
        let read = locked(py, &self.0, |rows| {
            let mut found = Vec::new();
            while found.len() < count {
                let Some(one) = rows.next_document()? else { break };
                found.push(one.ok().map(|one| (one.document.encode(), one.is_whole)));
            }
            Ok(found)
        });
        let found = read.map_err(archive_to_python)?;
        let told = |(record, is_whole): &(Vec<u8>, bool)| (PyBytes::new(py, record).unbind(), *is_whole);
        Ok(found.iter().map(|one| one.as_ref().map(told)).collect())
    }
}

/// A segment that is being written.
#[pyclass(frozen, module = "lookalike._core")]
pub struct SegmentWriter(Mutex<Option<index::SegmentWriter>>);

fn ended() -> Error {
    Error::Refused { reason: "the segment is finished or could not be written: begin another".to_owned() }
}

#[pymethods]
impl SegmentWriter {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, parameters: PyBackedBytes, memory: usize) -> PyResult<Self> {
        let settings = Settings { memory_bytes: memory, parameters: parameters.to_vec() };
        let writer = detached(py, usize::MAX, || index::SegmentWriter::new(disk(), &path, settings));
        writer.map(|writer| Self(Mutex::new(Some(writer)))).map_err(archive_to_python)
    }

    /// Number of documents so far.
    #[getter]
    fn rows(&self, py: Python<'_>) -> u64 {
        locked(py, &self.0, |writer| writer.as_ref().map_or(0, index::SegmentWriter::rows))
    }

    /// Appends documents. After an error nothing more can be written, and no file is left.
    fn push(&self, py: Python<'_>, records: Vec<PyBackedBytes>) -> PyResult<()> {
        let pushed = locked(py, &self.0, |place| {
            let mut writer = place.take().ok_or_else(ended)?;
            records.iter().try_for_each(|record| writer.push(&Document::decode(record)?))?;
            *place = Some(writer);
            Ok(())
        });
        pushed.map_err(archive_to_python)
    }

    /// Completes the file: number of documents, length in bytes and seal.
    fn finish(&self, py: Python<'_>) -> PyResult<Finished> {
        let writer = locked(py, &self.0, |writer| writer.take().ok_or_else(ended)).map_err(archive_to_python)?;
        until_stopped(py, |stop| writer.finish_unless(stop))
    }

    /// Removes what was written.
    fn close(&self, py: Python<'_>) {
        locked(py, &self.0, |writer| drop(writer.take()));
    }
}

/// Writes a segment of all records of an iterable.
#[pyfunction]
pub fn write_segment(
    py: Python<'_>,
    path: PathBuf,
    records: &Bound<'_, PyAny>,
    parameters: PyBackedBytes,
    memory: usize,
) -> PyResult<Finished> {
    let writer = SegmentWriter::new(py, path, parameters, memory)?;
    let mut records: Bound<'_, PyIterator> = records.try_iter()?;
    loop {
        let batch = records.by_ref().take(BATCH).map(|record| Ok(record?.extract::<PyBackedBytes>()?));
        let batch = batch.collect::<PyResult<Vec<_>>>()?;
        if batch.is_empty() {
            return writer.finish(py);
        }
        writer.push(py, batch)?;
        py.check_signals()?;
    }
}

/// The bitmap of a segment. Errors: it has another length.
fn bitmap(segment: &index::Segment, bytes: Option<&PyBackedBytes>) -> Result<Option<Bitmap>> {
    bytes.map(|bytes| Bitmap::of_bytes(segment.rows(), bytes)).transpose()
}

/// Merges segments in order of arrival, without their removed rows. `memory` is not needed: a merge takes two pages per segment.
#[pyfunction]
pub fn merge_segments(
    py: Python<'_>,
    parts: Parts<'_>,
    path: PathBuf,
    parameters: PyBackedBytes,
    memory: usize,
) -> PyResult<Finished> {
    let _ = memory;
    let parts: Vec<_> = parts.iter().map(|(segment, removed)| (segment.get().0.clone(), removed.as_ref())).collect();
    until_stopped(py, |stop| {
        let maps = parts.iter().map(|(segment, removed)| bitmap(segment, *removed)).collect::<Result<Vec<_>>>()?;
        let parts: Vec<_> =
            parts.iter().zip(&maps).map(|((segment, _), map)| (segment.clone(), map.as_ref())).collect();
        index::merge_unless(&disk(), &parts, &path, &parameters, stop)
    })
}

/// Segments in order of arrival, asked as one. Its documents are numbered in order of arrival, the removed ones included.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Snapshot(pub Arc<index::Snapshot>);

#[pymethods]
impl Snapshot {
    #[new]
    #[pyo3(signature = (parts, shadows=None))]
    fn new(parts: Parts<'_>, shadows: Option<u64>) -> PyResult<Self> {
        let part = |(segment, removed): &(Bound<'_, Segment>, Option<PyBackedBytes>)| {
            let segment = segment.get().0.clone();
            match bitmap(&segment, removed.as_ref())? {
                Some(removed) => Part::without(segment, removed),
                None => Ok(Part::of(segment)),
            }
        };
        let snapshot = parts.iter().map(part).collect::<Result<Vec<_>>>().and_then(index::Snapshot::new);
        let snapshot = snapshot.map_err(archive_to_python)?;
        Ok(Self(Arc::new(match shadows {
            Some(shadows) => snapshot.with_shadows(shadows),
            None => snapshot,
        })))
    }

    /// Number of documents with the removed ones.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    /// Number of rows that dedup removed and that are kept as keys.
    #[getter]
    fn shadows(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, usize::MAX, || self.0.shadows()).map_err(archive_to_python)
    }

    /// The numbers of the shadows of rows with each id, in ascending order.
    fn find_shadows(&self, py: Python<'_>, ids: Vec<PyBackedBytes>) -> PyResult<Vec<Vec<u64>>> {
        let find = || ids.iter().map(|id| self.0.find_shadows(id)).collect::<Result<_>>();
        detached(py, usize::MAX, find).map_err(archive_to_python)
    }

    /// The numbers of the shadows that follow one of these documents, in ascending order.
    fn followers(&self, py: Python<'_>, numbers: Vec<u64>) -> PyResult<Vec<u64>> {
        detached(py, usize::MAX, || self.0.followers(&numbers)).map_err(archive_to_python)
    }

    /// Number of documents that meet all conditions, without starter code.
    fn count_where(&self, py: Python<'_>, conditions: Vec<(String, String)>) -> PyResult<u64> {
        let conditions = Conditions::new(conditions);
        detached(py, usize::MAX, || conditions.count(&self.0)).map_err(archive_to_python)
    }

    /// The numbers of all starter code, in ascending order.
    fn templates(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        detached(py, usize::MAX, || self.0.templates()).map_err(archive_to_python)
    }

    /// Number of documents and shadows that are not removed.
    #[getter]
    fn live(&self) -> u64 {
        self.0.live()
    }

    /// The number of the newest live document with each id.
    fn find_ids(&self, py: Python<'_>, ids: Vec<PyBackedBytes>) -> PyResult<Vec<Option<u64>>> {
        let find = || ids.iter().map(|id| self.0.find_id(id)).collect::<Result<_>>();
        detached(py, usize::MAX, find).map_err(archive_to_python)
    }

    /// The numbers of the live documents with each content hash, in ascending order.
    fn find_contents(&self, py: Python<'_>, contents: Vec<PyBackedBytes>) -> PyResult<Vec<Vec<u64>>> {
        let content = |bytes: &PyBackedBytes| {
            let wrong = || Error::Refused { reason: format!("a content hash has 16 bytes, not `{}`", bytes.len()) };
            bytes[..].try_into().map(u128::from_be_bytes).map_err(|_| wrong())
        };
        let find = || contents.iter().map(|bytes| self.0.find_content(content(bytes)?)).collect::<Result<_>>();
        detached(py, usize::MAX, find).map_err(archive_to_python)
    }

    /// The part of a document, and its row there.
    fn place(&self, number: u64) -> PyResult<(usize, u64)> {
        self.0.place(number).map_err(archive_to_python)
    }

    /// What is known of a document, removed or not.
    fn row(&self, number: u64) -> PyResult<StoredRow> {
        self.0.row(number).map(StoredRow).map_err(archive_to_python)
    }

    /// The readable texts of a document with the names of its files; none if texts are not kept.
    fn texts(&self, py: Python<'_>, number: u64) -> PyResult<Vec<(Py<PyBytes>, String)>> {
        let unpacked = detached(py, usize::MAX, || match self.0.text(number)? {
            Some(packed) => TextUnpacker::new()?.unpack(&packed),
            None => Ok(StoredTexts::default()),
        });
        let texts = unpacked.map_err(archive_to_python)?;
        let named = texts.files.iter().enumerate();
        Ok(named.map(|(at, (name, _))| (PyBytes::new(py, name).unbind(), texts.file(at).to_owned())).collect())
    }

    /// Whether a document is there and not removed.
    fn is_live(&self, number: u64) -> bool {
        self.0.is_live(number)
    }
}
