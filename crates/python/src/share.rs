//! Records for another institution: keyed hashes of everything that is asked, and nothing that can be read.

use crate::archive::{signed, SignedDocument};
use crate::detach::detached;
use crate::error::{archive_to_python, ParameterError};
use lookalike_index::share::{ShareKey, SECRET};
use lookalike_index::Document;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

pub(crate) fn key_of(secret: &[u8]) -> PyResult<ShareKey> {
    let told = || ParameterError::new_err(format!("a secret has {SECRET} bytes, this one has {}", secret.len()));
    secret.try_into().map(ShareKey::new).map_err(|_| told())
}

/// Ids, marks and records of documents as they may leave the house.
#[pyfunction]
pub fn share_records(py: Python<'_>, records: Vec<PyBackedBytes>, secret: &[u8]) -> PyResult<Vec<SignedDocument>> {
    let key = key_of(secret)?;
    let bytes = records.iter().map(|record| record.len()).sum();
    let shared = |record: &PyBackedBytes| Document::decode(record).map(|document| key.shared(&document));
    let made: Result<Vec<_>, _> = detached(py, bytes, || records.iter().map(shared).collect());
    Ok(made.map_err(archive_to_python)?.iter().map(|document| signed(py, document)).collect())
}

/// The number by which an index knows its secret.
#[pyfunction]
pub fn share_check(secret: &[u8]) -> PyResult<u64> {
    key_of(secret).map(|key| key.check())
}
