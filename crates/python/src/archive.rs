//! Signing of documents for an index, as Python calls it.

use crate::compare::ReadFile;
use crate::detach::detached;
use crate::error::{archive_to_python, to_python, unknown};
use crate::fingerprint::options_of;
use crate::input::Whole;
use crate::pool::Pool;
use crate::simhash::SimhashMaker;
use crate::texts::Texts;
use lookalike_compare::places::Ruler;
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_core::sketch::shingle::Shingling;
use lookalike_index::again::{self, KeptFile};
use lookalike_index::idle::Idle;
use lookalike_index::marks::{Marked, MARK_BYTES};
use lookalike_index::moments;
use lookalike_index::record::{Document, NO_TIME};
use lookalike_index::sign::{
    content_hash, person_key, unnamed, Coordinates, KeptResemblance, RecordSigner as Signer, SignSettings,
};
use lookalike_table::Result;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Rows that one core signs at a time.
const TASK_ROWS: usize = 32;

/// Id, mark and record of a document.
pub type SignedDocument = (Py<PyBytes>, Py<PyBytes>, Py<PyBytes>);
/// Documents of a batch, the rows that could not be signed with the reason, and how many rows are known.
pub type SignedRows = (Vec<SignedDocument>, Vec<(usize, String)>, usize);
/// Sketch, its size, its filter (k, s, r), and whether only features are kept.
type Resemblance<'a> = (&'a str, usize, (usize, usize, usize), bool);

/// The seconds since 1970 that a text means; `None` if it is no moment.
#[pyfunction]
pub fn moment(text: &str) -> Option<i64> {
    moments::moment(text)
}

/// Signs documents by the parameters of an index.
#[pyclass(frozen, module = "lookalike._core")]
pub struct RecordSigner {
    pub(crate) settings: SignSettings,
    pub(crate) pool: Pool,
    idle: Idle<Signer>,
}

#[pymethods]
impl RecordSigner {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        passages: bool,
        thresholds: (u32, u32),
        unit: &str,
        shingle: Whole,
        labelled: bool,
        bits: Whole,
        resemblance: Option<Resemblance<'_>>,
        modulus: Option<u64>,
        simhash: Option<&SimhashMaker>,
        texts: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let shingling = Shingling::new(options_of(unit, false)?, shingle.0, labelled, bits.0).map_err(to_python)?;
        let resemblance = resemblance.map(kept).transpose()?;
        let simhash = simhash.map(|maker| maker.recipe.clone());
        let settings = SignSettings { passages, thresholds, shingling, resemblance, modulus, simhash, texts };
        let first = Signer::new(&settings).map_err(archive_to_python)?;
        let pool = Pool::new(threads)?;
        Ok(Self { settings, pool, idle: Idle::new(first) })
    }

    /// Signs rows of a corpus: texts, ids (the content hash where there is none), meta data, and times as they are written.
    /// `known` takes ids and marks, and tells for each whether the document need not be signed.
    fn rows(
        &self,
        py: Python<'_>,
        texts: Texts,
        ids: Vec<Option<PyBackedBytes>>,
        metas: Vec<PyBackedBytes>,
        times: Option<Vec<Option<String>>>,
        known: Option<Bound<'_, PyAny>>,
    ) -> PyResult<SignedRows> {
        let view = texts.view()?;
        let id = |row: usize| ids.get(row).and_then(|id| id.as_deref());
        let meta = |row: usize| metas.get(row).map_or(&[][..], |meta| meta);
        let time = |row: usize| times.as_ref().and_then(|times| times.get(row)?.as_deref());
        let name = |row: usize| Some(identity(&view.text(row).ok()?.decoded.text, id(row), meta(row), time(row)));
        let skip = self.known(py, view.len(), known, name)?;
        let sign = |signer: &mut Signer, row: usize| -> std::result::Result<Document, String> {
            let opened = view.text(row)?;
            row_of(signer, &opened.decoded.text, id(row), meta(row).to_vec(), time(row))
        };
        let made = detached(py, usize::MAX, || self.map(view.len(), &skip, sign));
        Ok(documents(py, made))
    }

    /// Signs stored rows again from their texts; `None` for a record that keeps no text, is not a row, or whose text is not the one
    /// that it was made of. What is not made of the text stays.
    fn again(&self, py: Python<'_>, records: Vec<PyBackedBytes>) -> PyResult<Vec<Option<Py<PyBytes>>>> {
        let sign =
            |signer: &mut Signer, row: usize| signed_again(signer, records.get(row).map_or(&[][..], |record| record));
        let made = detached(py, usize::MAX, || self.map(records.len(), &[], sign));
        Ok(made.into_iter().map(|one| one.ok().flatten().map(|(_, _, record)| bytes(py, &record))).collect())
    }

    /// Signs a stored submission again, whose files were read again; facts as they were stored.
    fn submission_again(
        &self,
        py: Python<'_>,
        record: &[u8],
        files: Vec<(PyBackedBytes, Py<ReadFile>)>,
        facts: &[u8],
    ) -> PyResult<Py<PyBytes>> {
        let files = named(&files);
        let sign = |signer: &mut Signer| signer.submission_again(Document::decode(record)?, &files, facts);
        let made = detached(py, usize::MAX, || self.with_signer(sign)).map_err(archive_to_python)?;
        Ok(bytes(py, &made.encode()))
    }

    /// Signs a submission: its files with their names, facts for a comparison, id, meta data, keys of its person, time, and
    /// flags.
    #[allow(clippy::too_many_arguments)]
    fn submission(
        &self,
        py: Python<'_>,
        files: Vec<(PyBackedBytes, Py<ReadFile>)>,
        facts: PyBackedBytes,
        id: PyBackedBytes,
        meta: PyBackedBytes,
        submitter: Option<PyBackedBytes>,
        known_as: Option<PyBackedBytes>,
        time: Option<&str>,
        flags: u32,
    ) -> PyResult<SignedDocument> {
        let files = named(&files);
        let made = detached(py, usize::MAX, || self.with_signer(|signer| signer.submission(&files, &facts)));
        let mut made = made.map_err(archive_to_python)?;
        (made.id, made.meta, made.flags) = (id.to_vec(), meta.to_vec(), flags);
        made.submitter = submitter.map_or(0, |key| person_key(&key));
        made.known_as = known_as.map_or(0, |key| person_key(&key));
        made.time = time_of(time);
        Ok(signed(py, &made))
    }
}

fn kept((kind, size, filter, features_only): Resemblance<'_>) -> PyResult<KeptResemblance> {
    let kind = match kind {
        "fast" => Coordinates::Fast,
        "permutations" => Coordinates::Permutations,
        other => return Err(unknown("sketch", other, &["fast", "permutations"])),
    };
    Ok(KeptResemblance { kind, size, filter, features_only })
}

impl RecordSigner {
    /// Works with a signer that is not at work.
    pub(crate) fn with_signer<T>(&self, work: impl FnOnce(&mut Signer) -> Result<T>) -> Result<T> {
        self.idle.with(|| Signer::new(&self.settings), work)
    }

    /// Tells for each row whether it is known. `name` gives id and mark of a row, if it has a text.
    pub(crate) fn known(
        &self,
        py: Python<'_>,
        count: usize,
        known: Option<Bound<'_, PyAny>>,
        name: impl Fn(usize) -> Option<Identity> + Sync,
    ) -> PyResult<Vec<bool>> {
        let Some(known) = known else { return Ok(Vec::new()) };
        let names: Vec<Option<Identity>> =
            detached(py, usize::MAX, || self.pool.install(|| (0..count).into_par_iter().map(&name).collect()));
        let told = || names.iter().flatten();
        let ids: Vec<_> = told().map(|(id, _)| bytes(py, id)).collect();
        let marks: Vec<_> = told().map(|(_, mark)| bytes(py, mark)).collect();
        let mut found = known.call1((ids, marks))?.extract::<Vec<bool>>()?.into_iter();
        Ok(names.iter().map(|name| name.is_some() && found.next().unwrap_or(false)).collect())
    }

    /// Signs `count` rows on all cores, in order, but not those to `skip`.
    pub(crate) fn map(
        &self,
        count: usize,
        skip: &[bool],
        sign: impl Fn(&mut Signer, usize) -> std::result::Result<Document, String> + Sync,
    ) -> Vec<SignedRow> {
        let starts: Vec<usize> = (0..count).step_by(TASK_ROWS).collect();
        let task = |start: usize| {
            let rows = start..(start + TASK_ROWS).min(count);
            let one = |signer: &mut Signer, row: usize| match skip.get(row) {
                Some(true) => Ok(None),
                _ => encoded(sign(signer, row)),
            };
            let work = |signer: &mut Signer| Ok(rows.clone().map(|row| one(signer, row)).collect());
            self.with_signer(work).unwrap_or_else(|error| rows.clone().map(|_| Err(error.to_string())).collect())
        };
        self.pool.install(|| starts.into_par_iter().flat_map_iter(|start| -> Vec<SignedRow> { task(start) }).collect())
    }
}

/// The id and the mark of a row.
pub(crate) type Identity = (Vec<u8>, [u8; MARK_BYTES]);
/// The id, mark and record of a row, or the reason why there is none; `None` for a row that is known.
pub(crate) type SignedRow = std::result::Result<Option<(Vec<u8>, [u8; MARK_BYTES], Vec<u8>)>, String>;

fn encoded(made: std::result::Result<Document, String>) -> SignedRow {
    made.map(|made| Some((made.id.clone(), made.mark(), made.encode())))
}

/// The id and the mark of a row, as [`row_of`] makes them.
pub(crate) fn identity(text: &str, id: Option<&[u8]>, meta: &[u8], time: Option<&str>) -> Identity {
    let content = content_hash([text].into_iter());
    let marked = Marked { meta, time: time_of(time), persons: [0; 2], flags: 0 };
    (id.map_or_else(|| unnamed(content), <[u8]>::to_vec), marked.mark(content))
}

/// A time as it is stored.
fn time_of(time: Option<&str>) -> i64 {
    time.and_then(moments::moment).unwrap_or(NO_TIME)
}

/// Signs one row.
pub(crate) fn row_of(
    signer: &mut Signer,
    text: &str,
    id: Option<&[u8]>,
    meta: Vec<u8>,
    time: Option<&str>,
) -> std::result::Result<Document, String> {
    if text.trim_start().is_empty() {
        return Err("there is no text".to_owned());
    }
    let mut made = signer.row(text).map_err(|error| error.to_string())?;
    made.id = id.map_or_else(|| unnamed(made.content), <[u8]>::to_vec);
    (made.meta, made.time) = (meta, time_of(time));
    Ok(made)
}

/// The files of a stored submission: name, readable text, and for each stretch its language and its characters; and the
/// facts that were stored with them. `None` if its text is not kept, or is another one.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn kept_files(
    py: Python<'_>,
    record: &[u8],
) -> PyResult<Option<(Vec<(Py<PyBytes>, String, Vec<(String, u32, u32)>)>, Py<PyBytes>)>> {
    let found =
        detached(py, record.len(), || Document::decode(record).and_then(|document| again::kept_files(&document)));
    let Some((files, facts)) = found.map_err(archive_to_python)? else { return Ok(None) };
    let shown = |file: KeptFile| {
        let ruler = Ruler::new(&file.text);
        let place = |(language, range): (String, Range<usize>)| {
            (language, ruler.character(range.start as u32), ruler.character(range.end as u32))
        };
        let stretches = file.stretches.into_iter().map(place).collect();
        (bytes(py, &file.name), file.text, stretches)
    };
    Ok(Some((files.into_iter().map(shown).collect(), bytes(py, &facts))))
}

/// Files with their names, as the core takes them.
fn named(files: &[(PyBackedBytes, Py<ReadFile>)]) -> Vec<(Vec<u8>, Arc<SubmittedFile>)> {
    files.iter().map(|(name, file)| (name.to_vec(), file.get().file.clone())).collect()
}

/// Signs a stored row again. Errors: it cannot be, with the reason.
fn signed_again(signer: &mut Signer, record: &[u8]) -> std::result::Result<Document, String> {
    let made = Document::decode(record).and_then(|old| signer.again(old));
    made.map_err(|error| error.to_string())?.ok_or_else(|| "it cannot be made of its text".to_owned())
}

/// Hands over what was signed.
pub(crate) fn documents(py: Python<'_>, made: Vec<SignedRow>) -> SignedRows {
    let (mut documents, mut skipped, mut known) = (Vec::with_capacity(made.len()), Vec::new(), 0);
    for (row, one) in made.into_iter().enumerate() {
        match one {
            Ok(None) => known += 1,
            Ok(Some((id, mark, record))) => documents.push((bytes(py, &id), bytes(py, &mark), bytes(py, &record))),
            Err(reason) => skipped.push((row, reason)),
        }
    }
    (documents, skipped, known)
}

pub(crate) fn signed(py: Python<'_>, made: &Document) -> SignedDocument {
    (bytes(py, &made.id), bytes(py, &made.mark()), bytes(py, &made.encode()))
}

fn bytes(py: Python<'_>, data: &[u8]) -> Py<PyBytes> {
    PyBytes::new(py, data).unbind()
}
