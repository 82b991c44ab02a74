//! Files of submissions as bytes for an archive, and back.

use crate::compare::ReadFile;
use crate::detach::detached;
use crate::error::DamagedError;
use lookalike_compare::stored;
use lookalike_compare::submitted_file::SubmittedFile;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;
use std::sync::Arc;

impl ReadFile {
    /// A file of an archive.
    pub(crate) fn restored(file: Arc<SubmittedFile>) -> Self {
        Self { file, reading: ("utf-8".to_string(), false, 0) }
    }
}

/// The files of a submission, texts apart, with facts of the caller, as bytes for an archive.
#[pyfunction]
pub fn store_files<'py>(py: Python<'py>, files: Vec<Py<ReadFile>>, facts: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let files: Vec<Arc<SubmittedFile>> = files.iter().map(|file| file.get().file.clone()).collect();
    let size = files.iter().map(|file| file.text.len()).sum();
    let bytes = detached(py, size, || stored::store(&files, facts));
    Ok(PyBytes::new(py, &bytes.map_err(|error| PyOSError::new_err(error.to_string()))?))
}

/// The files of a submission from their bytes and texts, and the facts that were stored with them.
#[pyfunction]
pub fn restore_files(
    py: Python<'_>,
    bytes: &[u8],
    texts: Vec<String>,
) -> PyResult<(Vec<ReadFile>, Cow<'static, [u8]>)> {
    let size = texts.iter().map(String::len).sum();
    let found = detached(py, size, || stored::restore(bytes, texts));
    let found = found.ok_or_else(|| DamagedError::new_err("stored files differ from what was written"))?;
    let files = found.files.into_iter().map(Arc::new).map(ReadFile::restored).collect();
    Ok((files, Cow::Owned(found.facts)))
}
