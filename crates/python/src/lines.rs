//! Lines are taken out of files, as Python calls it.

use crate::detach::detached;
use crate::steps::{view, Buffers};
use lookalike_dedup::line_filter::{self, RemovedLine};
use lookalike_dedup::record;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};

/// A line that was taken out: its row, the bytes of the output before it, and itself.
type Taken = (u64, u64, Py<PyBytes>);

/// Takes lines out of a file.
#[pyclass(module = "lookalike._core")]
pub struct LineFilter {
    mask: PyBackedBytes,
    lines: line_filter::LineFilter,
}

#[pymethods]
impl LineFilter {
    #[new]
    fn new(mask: PyBackedBytes) -> Self {
        Self { mask, lines: line_filter::LineFilter::default() }
    }

    /// What is kept of a chunk, and the lines that end in it and are taken out.
    fn feed<'py>(&mut self, py: Python<'py>, data: PyBackedBytes, last: bool) -> (Bound<'py, PyBytes>, Vec<Taken>) {
        let (mut kept, mut removed) = (Vec::with_capacity(data.len()), Vec::new());
        let Self { mask, lines } = self;
        detached(py, data.len(), || lines.push(&data, last, mask, &mut kept, &mut removed));
        let taken = |one: RemovedLine| (one.row, one.at, PyBytes::new(py, &one.line).unbind());
        (PyBytes::new(py, &kept), removed.into_iter().map(taken).collect())
    }

    /// The lines that end in a chunk and that the mask marks with 0: their rows and themselves.
    fn pick(&mut self, py: Python<'_>, data: PyBackedBytes, last: bool) -> Vec<(u64, Py<PyBytes>)> {
        let mut picked = Vec::new();
        let Self { mask, lines } = self;
        detached(py, data.len(), || lines.pick(&data, last, mask, &mut picked));
        picked.into_iter().map(|one| (one.row, PyBytes::new(py, &one.line).unbind())).collect()
    }

    /// Of the lines that [`LineFilter::pick`] tells, the value of a column as a `str` of JSON; a line of which that cannot be told is
    /// told whole, as bytes.
    fn values(&mut self, py: Python<'_>, data: PyBackedBytes, last: bool, column: &str) -> Vec<(u64, Py<PyAny>)> {
        let mut picked = Vec::new();
        let Self { mask, lines } = self;
        detached(py, data.len(), || lines.pick(&data, last, mask, &mut picked));
        let told = |line: &[u8]| match record::value(line, column) {
            Some(value) => PyString::new(py, value).into_any().unbind(),
            None => PyBytes::new(py, line).into_any().unbind(),
        };
        picked.into_iter().map(|one| (one.row, told(&one.line))).collect()
    }

    /// Lines that have ended.
    #[getter]
    fn rows(&self) -> u64 {
        self.lines.rows()
    }
}

/// Of each line of a column 1 if something stands behind its first value of JSON, else 0.
#[pyfunction]
pub fn json_tails(py: Python<'_>, lines: Buffers) -> PyResult<Py<PyBytes>> {
    let texts = view(&lines)?;
    let has_tail = |row| u8::from(texts.get(row).is_some_and(lookalike_json::has_tail));
    let found: Vec<u8> = detached(py, usize::MAX, || (0..lines.4).map(has_tail).collect());
    Ok(PyBytes::new(py, &found).unbind())
}
