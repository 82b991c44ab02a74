//! Distances, designs of tables, and batches of queries, as Python calls them.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::{to_python, unknown, ParameterError};
use crate::input::{Hashes, Whole};
use lookalike_core::error::Result;
use lookalike_core::hamming::batch::{Batch, Pair};
use lookalike_core::hamming::solve::{fewest_tables, frontier, longest_prefix, solve, Limit};
use lookalike_core::hamming::tables::Tables;
use lookalike_core::hamming::{design, Design, BITS};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A design and its cost: (prefix, radius) of each table, lookups, candidates, bytes, nanoseconds.
type Priced = (Vec<(u32, u32)>, u64, f64, u64, f64);

fn priced(design: &Design, rows: u64) -> Priced {
    let tables = design.arrangements.iter().map(|one| (one.prefix, one.radius)).collect();
    let nanoseconds = design.picoseconds(rows) as f64 / 1e3;
    (tables, design.lookups(rows), design.candidates(rows), design.bytes(rows), nanoseconds)
}

fn count(number: Whole) -> u64 {
    u64::try_from(number.0).unwrap_or(0)
}

/// In how many bits each pair of fingerprints differs.
#[pyfunction]
pub fn hamming_distances(left: Hashes, right: Hashes) -> PyResult<Column> {
    if left.0.len() != right.0.len() {
        let (left, right) = (left.0.len(), right.0.len());
        let reason = format!("`{left}` fingerprints cannot be compared with `{right}`: give as many of both");
        return Err(ParameterError::new_err(reason));
    }
    let distances = left.0.iter().zip(&right.0).map(|(left, right)| (left ^ right).count_ones());
    Ok(Values::U32(distances.collect()).into())
}

/// The designs that nothing beats in both time and number of tables.
#[pyfunction]
pub fn table_frontier(py: Python<'_>, distance: Whole, fingerprints: Whole) -> PyResult<Vec<Priced>> {
    let (distance, rows) = (distance.distance()?, count(fingerprints));
    let found = detached(py, usize::MAX, || frontier(BITS, distance, rows)).map_err(to_python)?;
    Ok(found.iter().map(|design| priced(design, rows)).collect())
}

/// The best design within a limit: `compact`, `fast`, `scan`, or so many `tables` or `bytes`; or the one of the `paper` with so many tables, or with so long a
/// `prefix`.
#[pyfunction]
pub fn table_design(
    py: Python<'_>,
    distance: Whole,
    fingerprints: Whole,
    limit: &str,
    most: Whole,
) -> PyResult<Priced> {
    let (distance, rows, most) = (distance.distance()?, count(fingerprints), count(most));
    let solved = |limit| detached(py, usize::MAX, || solve(BITS, distance, rows, limit));
    let found: Result<Design> = match limit {
        "compact" => solved(Limit::Compact),
        "fast" => solved(Limit::Fast),
        "tables" => solved(Limit::Tables(most)),
        "bytes" => solved(Limit::Bytes(most)),
        "paper" => longest_prefix(BITS, distance, most),
        "prefix" => fewest_tables(BITS, distance, most),
        "scan" => Ok(Design::scan(distance)),
        other => {
            return Err(unknown("limit", other, &["compact", "fast", "tables", "bytes", "paper", "prefix", "scan"]))
        }
    };
    found.map(|design| priced(&design, rows)).map_err(to_python)
}

/// How many rows each query is compared with, in tables of all fingerprints.
#[pyfunction]
pub fn table_candidates(
    py: Python<'_>,
    fingerprints: Hashes,
    queries: Hashes,
    distance: Whole,
    design: &str,
) -> PyResult<Column> {
    let limit = match design {
        "compact" => Limit::Compact,
        "fast" => Limit::Fast,
        other => return Err(unknown("design", other, &["compact", "fast"])),
    };
    let distance = distance.distance()?;
    let work = || {
        let design = solve(BITS, distance, fingerprints.0.len() as u64, limit)?;
        Tables::numbered(&design, &fingerprints.0)?.query_batch(&queries.0)
    };
    let answers = detached(py, usize::MAX, work).map_err(to_python)?;
    Ok(Values::U64(answers.candidates).into())
}

/// Queries that have fingerprints streamed past them.
#[pyclass(frozen, module = "lookalike._core")]
pub struct HammingBatch {
    batch: Batch,
    /// What the tables were built on; kept to build them again elsewhere.
    queries: Vec<u64>,
    distance: u32,
}

impl HammingBatch {
    /// The tables of the queries.
    pub fn core(&self) -> &Batch {
        &self.batch
    }
}

#[pymethods]
impl HammingBatch {
    #[new]
    fn new(py: Python<'_>, queries: Hashes, distance: Whole) -> PyResult<Self> {
        let distance = distance.distance()?;
        let batch = detached(py, usize::MAX, || Batch::new(&queries.0, distance)).map_err(to_python)?;
        Ok(Self { batch, queries: queries.0, distance })
    }

    /// Tells pickle how to make the batch again: from its queries and the distance.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Column, u32)) {
        (py.get_type::<Self>(), (Values::U64(self.queries.clone()).into(), self.distance))
    }

    /// The batch itself: it never changes.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The batch itself: it never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __len__(&self) -> usize {
        self.queries.len()
    }

    #[getter]
    fn distance(&self) -> u32 {
        self.distance
    }

    /// Numbers of queries, positions and distances of all pairs with a chunk whose first position is given.
    fn chunk(&self, py: Python<'_>, fingerprints: Hashes, first: u64) -> PyResult<(Column, Column, Column)> {
        let pairs = detached(py, usize::MAX, || self.batch.chunk(&fingerprints.0, first)).map_err(to_python)?;
        Ok(columns(&pairs))
    }
}

fn columns(pairs: &[Pair]) -> (Column, Column, Column) {
    (
        Values::U32(pairs.iter().map(|pair| pair.query).collect()).into(),
        Values::U64(pairs.iter().map(|pair| pair.position).collect()).into(),
        Values::U32(pairs.iter().map(|pair| u32::from(pair.distance)).collect()).into(),
    )
}

/// Nanoseconds of a table, a lookup and a row in the cost model.
pub fn cost_ns() -> (f64, f64, f64) {
    let ns = |picoseconds: u64| picoseconds as f64 / 1000.0;
    (ns(design::TABLE_PS), ns(design::LOOKUP_PS), ns(design::ROW_PS))
}
