//! The ids of the rows of a corpus, as Python hands them over, to find those that several rows have.

use crate::column::Column;
use crate::detach::detached;
use crate::input::Frozen;
use crate::texts::ArrowTexts;
use lookalike_dedup::ids::{key, repeated, NO_ID};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// A key of 64 bits for the id of each row.
#[pyclass(module = "lookalike._core")]
pub struct SeenIds(Vec<u64>);

#[pymethods]
impl SeenIds {
    #[new]
    fn new() -> Self {
        Self(Vec::new())
    }

    /// Rows so far.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Takes rows without ids.
    fn skip(&mut self, rows: usize) {
        self.0.resize(self.0.len() + rows, NO_ID);
    }

    /// Takes rows by their keys, as readers of lines return them.
    fn push_keys(&mut self, keys: &Bound<'_, Column>) {
        self.0.extend_from_slice(keys.get().as_hashes());
    }

    /// Takes ids one by one, `None` for a row without one, and a byte for each: 1 if it is a string.
    fn push_names(&mut self, names: Vec<Option<PyBackedBytes>>, strings: &[u8]) -> PyResult<()> {
        if names.len() != strings.len() {
            return Err(PyValueError::new_err("there are not as many kinds as ids"));
        }
        let key = |(name, is_string): (&Option<PyBackedBytes>, &u8)| {
            name.as_ref().map_or(NO_ID, |name| key(name, *is_string != 0))
        };
        self.0.extend(names.iter().zip(strings).map(key));
        Ok(())
    }

    /// Takes the three buffers of an Arrow array of ids, and whether they are strings or other values as they are written.
    #[allow(clippy::too_many_arguments)]
    fn push_columns(
        &mut self,
        py: Python<'_>,
        validity: Option<Frozen>,
        offsets: Frozen,
        data: Frozen,
        width: usize,
        rows: usize,
        is_string: bool,
    ) -> PyResult<()> {
        let ids = ArrowTexts::new(validity.as_ref(), &offsets, &data, width, rows)?;
        let key = |row: usize| ids.get(row).map_or(NO_ID, |id| key(id, is_string));
        detached(py, usize::MAX, || self.0.extend((0..rows).map(key)));
        Ok(())
    }

    /// Number of ids that several rows have, number of these rows, and the first two rows with one id, if there are any.
    fn repeated(&self, py: Python<'_>) -> Option<(u64, u64, u64, u64)> {
        let found = detached(py, usize::MAX, || repeated(&self.0))?;
        Some((found.ids, found.rows, found.example.0, found.example.1))
    }
}
