//! Sketches of hash values as documents of an archive, found by their bands; for `MinHashLSH` on disk.

use crate::archive::{signed, SignedDocument};
use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::archive_to_python;
use crate::segments::Snapshot;
use lookalike_index::bands::{stored_values, Bands};
use lookalike_index::Result;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

fn bands_of((count, width): (usize, usize)) -> PyResult<Bands> {
    Bands::new(count, width).map_err(archive_to_python)
}

/// Ids, marks and records of documents with these ids and hash values; all have the same metadata.
#[pyfunction]
pub fn band_records(
    py: Python<'_>,
    documents: Vec<(PyBackedBytes, Py<Column>)>,
    meta: PyBackedBytes,
    bands: (usize, usize),
) -> PyResult<Vec<SignedDocument>> {
    let bands = bands_of(bands)?;
    let columns: Vec<_> = documents.iter().map(|(id, values)| (id, values.get().as_hashes())).collect();
    let bytes = columns.iter().map(|(_, values)| 8 * values.len()).sum();
    let make = || columns.iter().map(|(id, values)| bands.document(id, &meta, values)).collect::<Result<Vec<_>>>();
    let made = detached(py, bytes, make).map_err(archive_to_python)?;
    Ok(made.iter().map(|document| signed(py, document)).collect())
}

/// The ids of the documents that share one of the first `most` bands with these hash values: band by band, in order of arrival.
#[pyfunction]
pub fn band_sharing(
    py: Python<'_>,
    snapshot: &Snapshot,
    values: &Column,
    bands: (usize, usize),
    most: usize,
) -> PyResult<Vec<Py<PyBytes>>> {
    let (bands, values) = (bands_of(bands)?, values.as_hashes());
    let find = || {
        let numbers = bands.sharing(&snapshot.0, values, most)?;
        numbers.into_iter().map(|number| snapshot.0.id(number)).collect::<Result<Vec<_>>>()
    };
    let ids = detached(py, usize::MAX, find).map_err(archive_to_python)?;
    Ok(ids.iter().map(|id| PyBytes::new(py, id).unbind()).collect())
}

/// The hash values of a document, which `band_records` stored.
#[pyfunction]
pub fn band_values(snapshot: &Snapshot, number: u64) -> PyResult<Column> {
    let values = stored_values(&snapshot.0, number).map_err(archive_to_python)?;
    Ok(Values::U64(values).into())
}
