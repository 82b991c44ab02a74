//! A corpus is decided after the documents of an index, as Python calls it.

use crate::column::{Column, Values};
use crate::dedup::{failed, Asked, Corpus, Outcome};
use crate::detach::{interruptible, locked};
use crate::error::archive_to_python;
use crate::segments::Snapshot;
use lookalike_dedup::indexed::Indexed;
use lookalike_dedup::job::{Failure, SearchMethod};
use lookalike_dedup::later::{self, LaterOutcome};
use lookalike_index::record::{Document, Leader};
use lookalike_index::shadows::shadow_of;
use lookalike_table::Error as TableError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;
use xxhash_rust::xxh3::xxh3_64;

/// What was decided after an index.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Later {
    found: LaterOutcome,
    /// The fingerprints of the leaders; empty unless the method is simhash.
    prints: Vec<Option<u64>>,
}

#[pymethods]
impl Later {
    /// The documents of the index that are kept for a row, by number, ascending.
    #[getter]
    fn leaders(&self) -> Column {
        Values::U64(self.found.leaders.clone()).into()
    }

    /// The fingerprint of each of them; empty unless the method is simhash.
    #[getter]
    fn prints(&self) -> Vec<Option<u64>> {
        self.prints.clone()
    }

    /// The places of those leaders that are no rows of the corpus, and the outcome for them and then the rows. `own` has,
    /// for each leader, the row of the corpus that it was made of in an earlier run over the same rows.
    fn outcome(&self, own: Vec<Option<u32>>) -> (Outcome, Vec<usize>) {
        let (left, outcome) = self.found.with_own(&own);
        (Outcome(outcome), left)
    }
}

/// Decides which rows of a corpus are kept after the documents of an index; `asked` as for `Corpus.decide`. Hears signals.
#[pyfunction]
pub fn decide_after(py: Python<'_>, corpus: PyRef<'_, Corpus>, asked: Asked, snapshot: &Snapshot) -> PyResult<Later> {
    let settings = corpus.settings(asked)?;
    let (archive, core) = (Indexed::new(&snapshot.0), &corpus.core);
    let found = interruptible(py, &corpus.pool, |stop| later::decide_after(core, &settings, &archive, stop))?;
    let failed = |failure| match failure {
        // What is not among the temporary files is the index.
        Failure::Table(error) if !is_below(&error, &corpus.folder) => archive_to_python(error),
        other => failed(other),
    };
    let found = found.map_err(failed)?;
    let is_by_bits = matches!(settings.search, SearchMethod::Simhash(_));
    let prints = if is_by_bits { archive.prints(&found.leaders).map_err(archive_to_python)? } else { Vec::new() };
    Ok(Later { found, prints })
}

/// Whether an error is that of a file in a folder.
fn is_below(error: &TableError, folder: &Path) -> bool {
    match error {
        TableError::Damaged { path, .. } | TableError::Io { path, .. } => path.starts_with(folder),
        _ => false,
    }
}

/// A digest of 16 bytes of the texts of all rows, in order.
#[pyfunction]
pub fn corpus_digest<'py>(py: Python<'py>, corpus: PyRef<'py, Corpus>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &corpus.core.digest().to_le_bytes())
}

/// The rows of a corpus that an index lacks, the first of each text, by their content.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Additions {
    rows: HashMap<u128, u32>,
    /// The rows that were taken.
    taken: Mutex<HashSet<u32>>,
    /// Hashes of the ids that were given away.
    ids: Mutex<HashSet<u64>>,
}

#[pymethods]
impl Additions {
    #[new]
    fn new(corpus: PyRef<'_, Corpus>, later: &Later) -> Self {
        let rows = &corpus.core.rows;
        let content = |row: &u32| rows.get(*row as usize).map(|known| (known.content, *row));
        let rows = later.found.lacking.iter().filter_map(content).collect();
        Self { rows, taken: Mutex::default(), ids: Mutex::default() }
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The row with this content hash, the first 16 bytes, that is to be added.
    fn row(&self, content: &[u8]) -> Option<u32> {
        self.rows.get(&u128::from_be_bytes(*content.first_chunk()?)).copied()
    }

    /// For each text, by its content hash, whether it is not to be added, because the index has it or it was taken before.
    fn known(&self, py: Python<'_>, contents: Vec<PyBackedBytes>) -> Vec<bool> {
        let is_known =
            |taken: &mut HashSet<u32>, content: &[u8]| self.row(content).is_none_or(|row| !taken.insert(row));
        locked(py, &self.taken, |taken| contents.iter().map(|content| is_known(taken, content)).collect())
    }

    /// Whether an id is used for the first time.
    fn is_new(&self, py: Python<'_>, id: &[u8]) -> bool {
        let hash = xxh3_64(id);
        locked(py, &self.ids, |ids| ids.insert(hash))
    }
}

/// The record of a shadow: `meta` is its metadata, `leader` the id, score and link of the document that was kept for it.
#[pyfunction]
pub fn shadowed(py: Python<'_>, record: &[u8], meta: &[u8], leader: (Vec<u8>, f32, u8)) -> PyResult<Py<PyBytes>> {
    let document = Document::decode(record).map_err(archive_to_python)?;
    let (id, score, link) = leader;
    let shadow = shadow_of(&document, meta.to_vec(), Leader { id, score, link });
    Ok(PyBytes::new(py, &shadow.encode()).unbind())
}

/// The mark of a record: its content hash, and a hash of what else its source said of it.
#[pyfunction]
pub fn record_mark<'py>(py: Python<'py>, record: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    Document::decode(record).map(|document| PyBytes::new(py, &document.mark())).map_err(archive_to_python)
}

/// A record with another id and with more fields of its metadata, a JSON object without its braces.
#[pyfunction]
pub fn readdressed(py: Python<'_>, record: &[u8], id: &[u8], fields: &[u8]) -> PyResult<Py<PyBytes>> {
    let mut document = Document::decode(record).map_err(archive_to_python)?;
    document.id = id.to_vec();
    // An object that has fields needs a comma.
    document.meta.pop();
    if document.meta.len() > 1 {
        document.meta.push(b',');
    }
    document.meta.extend_from_slice(fields);
    document.meta.push(b'}');
    Ok(PyBytes::new(py, &document.encode()).unbind())
}
