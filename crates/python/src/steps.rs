//! The stages of a deduplication for an engine that sorts and joins by itself, as Python calls them. Columns go in and out
//! as blocks of bytes, in the order of the machine, which Arrow takes as they are.

use crate::dedup::{failed, refused, Asked, Corpus};
use crate::detach::{detached, locked};
use crate::error::{to_python, unknown, ParameterError};
use crate::input::Frozen;
use crate::references::{columns, Matches};
use crate::texts::ArrowTexts;
use lookalike_core::clustering::Method;
use lookalike_core::simhash::language::TextLanguage;
use lookalike_dedup::alike::Traits;
use lookalike_dedup::corpus::Corpus as Core;
use lookalike_dedup::job::Failure;
use lookalike_dedup::proposing::KeyMaker;
use lookalike_dedup::sign::{Print, RowState, Signed, SignedRow};
use lookalike_dedup::steps::edges::{follow, Follower, GivenEdge};
use lookalike_dedup::steps::holders::RankColumn;
use lookalike_dedup::steps::listed;
use lookalike_dedup::steps::pass::StarPass as Pass;
use lookalike_dedup::steps::print_keys::{PrintKeys as Keys, PrintStream as Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// The buffers of an Arrow array of strings of bytes: validity, offsets, bytes, bytes per offset, rows.
pub type Buffers = (Option<Frozen>, Frozen, Frozen, usize, usize);
/// Bytes, and where each string of them ends, with a 0 before the first.
pub type Strings = (Py<PyBytes>, Py<PyBytes>);

pub fn numbers<'a, const N: usize, T: 'a>(bytes: &'a [u8], of: fn([u8; N]) -> T) -> impl Iterator<Item = T> + 'a {
    bytes.chunks_exact(N).filter_map(move |one| one.first_chunk().map(|one| of(*one)))
}

pub fn block<const N: usize>(py: Python<'_>, values: impl Iterator<Item = [u8; N]>) -> Py<PyBytes> {
    PyBytes::new(py, &values.flatten().collect::<Vec<u8>>()).unbind()
}

/// What to do about columns that 32-bit offsets cannot tell apart.
const TOO_LARGE: &str = "what is kept of one batch of rows takes more than 2 GiB: lower \
    spark.sql.execution.arrow.maxRecordsPerBatch";

/// Offsets as Arrow has them, of strings that end here, in units of so many bytes or numbers.
///
/// Errors: they are beyond 31 bits.
pub fn offsets(py: Python<'_>, ends: impl Iterator<Item = u32>, unit: u32) -> PyResult<Py<PyBytes>> {
    let offset = |end: u32| end.checked_mul(unit).and_then(|at| i32::try_from(at).ok());
    let all: Option<Vec<i32>> = std::iter::once(0).chain(ends).map(offset).collect();
    let all = all.ok_or_else(|| ParameterError::new_err(TOO_LARGE))?;
    Ok(block(py, all.into_iter().map(i32::to_ne_bytes)))
}

pub fn strings(py: Python<'_>, column: &RankColumn) -> PyResult<Strings> {
    Ok((PyBytes::new(py, &column.bytes).unbind(), offsets(py, column.ends.iter().copied(), 1)?))
}

pub fn view(buffers: &Buffers) -> PyResult<ArrowTexts<'_>> {
    let (validity, offsets, data, width, rows) = buffers;
    ArrowTexts::new(validity.as_ref(), offsets, data, *width, *rows)
}

/// Errors: columns of different lengths.
pub fn same(lengths: &[usize]) -> PyResult<()> {
    match lengths.iter().all(|length| *length == lengths[0]) {
        true => Ok(()),
        false => Err(PyValueError::new_err("columns of one batch have different lengths")),
    }
}

/// What was computed of the rows of a corpus.
#[pyclass(frozen, get_all, module = "lookalike._core")]
pub struct SignedColumns {
    /// 16 bytes a row.
    contents: Py<PyBytes>,
    /// A byte a row: compared, short, missing, bad, blank.
    states: Py<PyBytes>,
    /// 32-bit numbers: bytes of the text, and shingles.
    sizes: Py<PyBytes>,
    shingles: Py<PyBytes>,
    /// Elements of the sketches, 4 bytes each.
    elements: Strings,
    /// 64-bit numbers, and where those of each row end.
    keys: Strings,
    /// 64-bit numbers, and a byte for each row: 1 if it has a fingerprint.
    prints: Strings,
    /// 32-bit numbers of tokens, and a byte for the language.
    lengths: Py<PyBytes>,
    languages: Py<PyBytes>,
}

/// Returns what was computed of the rows of a corpus, for the same argument as `decide`.
#[pyfunction]
pub fn signed_columns(py: Python<'_>, corpus: &Corpus, asked: Asked) -> PyResult<SignedColumns> {
    let maker = KeyMaker::new(corpus.settings(asked)?.search).map_err(to_python)?;
    let core = &corpus.core;
    let drawn = detached(py, usize::MAX, || drawn(core, &maker)).map_err(|error| failed(Failure::Table(error)))?;
    let rows = &core.rows;
    let of_row = |row: usize| (core.prints.get(row).copied().unwrap_or_default(), core.traits.get(row).copied());
    let told = |row: usize| match of_row(row) {
        (_, Some(traits)) => (traits.length, traits.language),
        (print, None) => (print.length, print.language),
    };
    let all = || 0..rows.len();
    let print = |row: usize| of_row(row).0.fingerprint;
    Ok(SignedColumns {
        contents: block(py, rows.iter().map(|row| row.content.to_be_bytes())),
        states: block(py, rows.iter().map(|row| [row.state as u8])),
        sizes: block(py, rows.iter().map(|row| row.bytes.to_ne_bytes())),
        shingles: block(py, all().map(|row| (core.store.id_count(row as u32) as u32).to_ne_bytes())),
        elements: (
            block(py, drawn.elements.iter().map(|one| one.to_le_bytes())),
            offsets(py, drawn.element_ends.iter().copied(), 4)?,
        ),
        keys: (
            block(py, drawn.keys.iter().map(|one| one.to_ne_bytes())),
            offsets(py, drawn.key_ends.iter().copied(), 1)?,
        ),
        prints: (
            block(py, all().map(|row| print(row).unwrap_or(0).to_ne_bytes())),
            block(py, all().map(|row| [u8::from(print(row).is_some())])),
        ),
        lengths: block(py, all().map(|row| told(row).0.to_ne_bytes())),
        languages: block(py, all().map(|row| [told(row).1.number()])),
    })
}

/// Elements and keys of all rows, and where those of each end.
#[derive(Default)]
struct Drawn {
    elements: Vec<u32>,
    element_ends: Vec<u32>,
    keys: Vec<u64>,
    key_ends: Vec<u32>,
}

fn drawn(core: &Core, maker: &KeyMaker) -> lookalike_table::Result<Drawn> {
    let mut drawn = Drawn::default();
    for row in 0..core.rows.len() as u32 {
        let elements = core.store.elements(row)?;
        drawn.elements.extend_from_slice(&elements);
        drawn.element_ends.push(drawn.elements.len() as u32);
        maker.keys(&elements, &mut drawn.keys);
        drawn.key_ends.push(drawn.keys.len() as u32);
    }
    Ok(drawn)
}

/// The content hashes of the rows of a corpus from `first` on, 16 bytes each.
#[pyfunction]
pub fn corpus_contents(py: Python<'_>, corpus: &Corpus, first: usize) -> Py<PyBytes> {
    block(py, corpus.core.rows.iter().skip(first).map(|row| row.content.to_be_bytes()))
}

/// Forgets the rows of a corpus.
#[pyfunction]
pub fn clear_corpus(mut corpus: PyRefMut<'_, Corpus>, memory_bytes: usize) {
    corpus.core.clear(memory_bytes);
}

/// The references found in the rows since the last call, as columns; forgets these rows.
#[pyfunction]
pub fn drain_matches(py: Python<'_>, mut corpus: PyRefMut<'_, Corpus>) -> Matches {
    columns(py, &corpus.core.drain_matches())
}

/// Adds rows that were signed elsewhere: their elements, and if they are needed fingerprints (numbers and whether there
/// is one), lengths and languages.
#[pyfunction]
pub fn push_signed(
    mut corpus: PyRefMut<'_, Corpus>,
    elements: Buffers,
    prints: Option<(Frozen, Frozen)>,
    traits: Option<(Frozen, Frozen)>,
) -> PyResult<()> {
    let (texts, rows) = (view(&elements)?, elements.4);
    let mut signed = Signed { id_ends: vec![0; rows], ..Signed::default() };
    signed.rows = vec![SignedRow { state: RowState::Compared, ..SignedRow::default() }; rows];
    for row in 0..rows {
        signed.elements.extend(numbers(texts.get(row).unwrap_or_default(), u32::from_le_bytes));
        signed.element_ends.push(signed.elements.len() as u32);
    }
    let mut told: Vec<Traits> = Vec::new();
    if let Some((lengths, languages)) = &traits {
        let pairs = numbers(lengths.as_bytes(), u32::from_ne_bytes).zip(languages.as_bytes());
        let of = |(length, language): (u32, &u8)| Traits { length, language: TextLanguage::of_number(*language) };
        told = pairs.map(of).collect();
        same(&[told.len(), rows])?;
    }
    if let Some((values, present)) = &prints {
        let pairs = numbers(values.as_bytes(), u64::from_ne_bytes).zip(present.as_bytes());
        let of = |(row, (value, is_there)): (usize, (u64, &u8))| {
            let Traits { length, language } = told.get(row).copied().unwrap_or_default();
            Print { fingerprint: (*is_there != 0).then_some(value), length, language }
        };
        signed.prints = pairs.enumerate().map(of).collect();
        same(&[signed.prints.len(), rows])?;
    }
    signed.traits = told;
    corpus.core.push_signed(signed).map_err(refused)
}

/// Pairs of rows. Errors: columns of different lengths, or a row that is not there.
fn pairs(corpus: &Corpus, left: &Frozen, right: &Frozen) -> PyResult<Vec<(u32, u32)>> {
    let of = |column: &Frozen| numbers(column.as_bytes(), u32::from_ne_bytes).collect::<Vec<u32>>();
    let (left, right) = (of(left), of(right));
    same(&[left.len(), right.len()])?;
    let rows = corpus.core.rows.len();
    match left.iter().chain(&right).any(|row| *row as usize >= rows) {
        true => Err(PyValueError::new_err("a pair names a row that is not there")),
        false => Ok(left.into_iter().zip(right).collect()),
    }
}

/// What sketches say of pairs of rows, the earlier first: estimates (32-bit floats), and a byte each, 1 if an edge is
/// possible.
#[pyfunction]
pub fn glance_pairs(
    py: Python<'_>,
    corpus: &Corpus,
    asked: Asked,
    left: Frozen,
    right: Frozen,
) -> PyResult<(Py<PyBytes>, Py<PyBytes>)> {
    let (settings, pairs) = (corpus.settings(asked)?, pairs(corpus, &left, &right)?);
    let found = detached(py, usize::MAX, || listed::glances(&corpus.core, &settings, &pairs)).map_err(failed)?;
    let estimates = block(py, found.iter().map(|glance| glance.estimate.to_ne_bytes()));
    Ok((estimates, block(py, found.iter().map(|glance| [u8::from(glance.is_possible)]))))
}

/// The exact scores of pairs of rows, the earlier first (32-bit floats), and a byte each, 1 if there is one. With `is_edge`
/// only those that reach the threshold.
#[pyfunction]
pub fn score_pairs(
    py: Python<'_>,
    corpus: &Corpus,
    asked: Asked,
    left: Frozen,
    right: Frozen,
    is_edge: bool,
) -> PyResult<(Py<PyBytes>, Py<PyBytes>)> {
    let (settings, pairs) = (corpus.settings(asked)?, pairs(corpus, &left, &right)?);
    let scored = || corpus.pool.install(|| listed::scores(&corpus.core, &settings, &pairs, is_edge));
    let found = detached(py, usize::MAX, scored).map_err(failed)?;
    let scores = block(py, found.iter().map(|score| score.unwrap_or(0.0).to_ne_bytes()));
    Ok((scores, block(py, found.iter().map(|score| [u8::from(score.is_some())]))))
}

/// Columns of edges: left, right (32-bit numbers), estimates, scores (32-bit floats).
type EdgeColumns = (Frozen, Frozen, Frozen, Frozen);

fn edges((left, right, estimates, scores): &EdgeColumns) -> PyResult<Vec<GivenEdge>> {
    let whole = |column: &Frozen| numbers(column.as_bytes(), u32::from_ne_bytes).collect::<Vec<u32>>();
    let real = |column: &Frozen| numbers(column.as_bytes(), f32::from_ne_bytes).collect::<Vec<f32>>();
    let (left, right, estimates, scores) = (whole(left), whole(right), real(estimates), real(scores));
    same(&[left.len(), right.len(), estimates.len(), scores.len()])?;
    let ends = left.into_iter().zip(right).zip(estimates.into_iter().zip(scores));
    Ok(ends.map(|((left, right), (estimate, score))| GivenEdge { left, right, estimate, score }).collect())
}

/// Columns of followers: documents, leaders (32-bit numbers), scores (32-bit floats), and a byte each, 1 if the score is
/// known.
type FollowerColumns = (Py<PyBytes>, Py<PyBytes>, Py<PyBytes>, Py<PyBytes>);

fn followers(py: Python<'_>, found: &[Follower]) -> FollowerColumns {
    (
        block(py, found.iter().map(|one| one.document.to_ne_bytes())),
        block(py, found.iter().map(|one| one.leader.to_ne_bytes())),
        block(py, found.iter().map(|one| one.score.unwrap_or(0.0).to_ne_bytes())),
        block(py, found.iter().map(|one| [u8::from(one.score.is_some())])),
    )
}

/// Clusters so many documents, numbered in order of rank, along edges.
#[pyfunction]
pub fn follow_edges(
    py: Python<'_>,
    columns: EdgeColumns,
    documents: u32,
    clustering: &str,
) -> PyResult<FollowerColumns> {
    let method = match clustering {
        "star" => Method::Star,
        "components" => Method::Components,
        other => return Err(unknown("clustering", other, &["star", "components"])),
    };
    let edges = edges(&columns)?;
    Ok(followers(py, &detached(py, usize::MAX, || follow(&edges, documents, method))))
}

/// Star clustering of edges that are sorted by their right, then by their left document.
#[pyclass(frozen, module = "lookalike._core")]
pub struct StarPass(Mutex<Pass>);

#[pymethods]
impl StarPass {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Takes edges; returns the documents that are decided by them and follow.
    fn push(&self, py: Python<'_>, columns: EdgeColumns) -> PyResult<FollowerColumns> {
        let edges = edges(&columns)?;
        let push = |pass: &mut Pass| edges.iter().filter_map(|edge| pass.push(*edge)).collect::<Vec<Follower>>();
        Ok(followers(py, &locked(py, &self.0, push)))
    }

    /// Ends the last document.
    fn end(&self, py: Python<'_>) -> FollowerColumns {
        let last = locked(py, &self.0, Pass::end);
        followers(py, last.as_slice())
    }
}

/// Keys of fingerprints for the search within a distance.
#[pyclass(frozen, module = "lookalike._core")]
pub struct PrintKeys(Keys);

#[pymethods]
impl PrintKeys {
    /// Chooses keys for so many fingerprints.
    #[new]
    fn new(distance: u32, count: u64) -> Self {
        Self(Keys::new(distance, count))
    }

    /// Number of keys of a fingerprint.
    fn __len__(&self) -> usize {
        let mut keys = Vec::new();
        self.0.keys(0, &mut keys);
        keys.len()
    }

    /// The keys of fingerprints (64-bit numbers), `len` after `len`: choices (32-bit numbers) and bits (64-bit numbers).
    fn keys(&self, py: Python<'_>, prints: Frozen) -> (Py<PyBytes>, Py<PyBytes>) {
        let mut keys = Vec::new();
        numbers(prints.as_bytes(), u64::from_ne_bytes).for_each(|print| self.0.keys(print, &mut keys));
        (block(py, keys.iter().map(|key| key.0.to_ne_bytes())), block(py, keys.iter().map(|key| key.1.to_ne_bytes())))
    }

    /// A stream of rows with these keys.
    fn stream(&self) -> PrintStream {
        PrintStream(Mutex::new(Stream::new(self.0.clone())))
    }
}

/// Finds near fingerprints among rows that are sorted by choice, bits and fingerprint.
#[pyclass(frozen, module = "lookalike._core")]
pub struct PrintStream(Mutex<Stream>);

#[pymethods]
impl PrintStream {
    /// Takes choices (32-bit numbers), bits and fingerprints (64-bit numbers). Returns pairs of fingerprints.
    fn push(
        &self,
        py: Python<'_>,
        choices: Frozen,
        bits: Frozen,
        prints: Frozen,
    ) -> PyResult<(Py<PyBytes>, Py<PyBytes>)> {
        let choices: Vec<u32> = numbers(choices.as_bytes(), u32::from_ne_bytes).collect();
        let of = |column: &Frozen| numbers(column.as_bytes(), u64::from_ne_bytes).collect::<Vec<u64>>();
        let (bits, prints) = (of(&bits), of(&prints));
        same(&[choices.len(), bits.len(), prints.len()])?;
        let pairs = locked(py, &self.0, |stream| {
            let mut pairs = Vec::new();
            for (row, choice) in choices.iter().enumerate() {
                stream.push(*choice, bits[row], prints[row], &mut pairs);
            }
            pairs
        });
        Ok((
            block(py, pairs.iter().map(|pair| pair.0.to_ne_bytes())),
            block(py, pairs.iter().map(|pair| pair.1.to_ne_bytes())),
        ))
    }
}
