//! Columns handed to Python: read-only arrays that speak the buffer protocol, so `numpy.asarray(column)` copies nothing.

use lookalike_core::frontend::Span;
use pyo3::exceptions::{PyBufferError, PyIndexError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use std::ffi::{c_int, c_void, CStr};

/// What a column holds.
pub enum Values {
    /// Positions and counts.
    U32(Vec<u32>),
    /// Hashes.
    U64(Vec<u64>),
    /// Two offsets an item.
    Spans(Vec<Span>),
    /// A matrix of hashes, row by row, and the length of a row.
    Rows(Vec<u64>, usize),
}

/// A read-only sequence of numbers, of (start, end) pairs, or of rows of numbers.
///
/// It compares equal to any sequence with the same items, and `numpy.asarray` sees its memory as it is.
#[pyclass(frozen, sequence, module = "lookalike._core")]
pub struct Column {
    values: Values,
    /// What the buffer protocol points to: the shape, and the strides in bytes.
    shape: [ffi::Py_ssize_t; 2],
    strides: [ffi::Py_ssize_t; 2],
}

impl From<Values> for Column {
    fn from(values: Values) -> Self {
        let (len, item, width) = match &values {
            Values::U32(items) => (items.len(), 4, 1),
            Values::U64(items) => (items.len(), 8, 1),
            Values::Spans(items) => (items.len(), 4, 2),
            Values::Rows(items, width) => (items.len() / (*width).max(1), 8, *width),
        };
        let signed = |n: usize| n as ffi::Py_ssize_t;
        Self { values, shape: [signed(len), signed(width)], strides: [signed(item * width), signed(item)] }
    }
}

impl Column {
    fn count(&self) -> usize {
        self.shape[0] as usize
    }

    fn item<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyAny>> {
        let missing = || PyIndexError::new_err("column index out of range");
        match &self.values {
            Values::U32(items) => Ok(items.get(i).ok_or_else(missing)?.into_pyobject(py)?.into_any()),
            Values::U64(items) => Ok(items.get(i).ok_or_else(missing)?.into_pyobject(py)?.into_any()),
            Values::Spans(items) => {
                let span = items.get(i).ok_or_else(missing)?;
                Ok(PyTuple::new(py, [span.start, span.end])?.into_any())
            }
            Values::Rows(items, width) => {
                Ok(PyTuple::new(py, items.chunks(*width).nth(i).ok_or_else(missing)?)?.into_any())
            }
        }
    }

    /// The 32-bit numbers of the column, on their way back in; none if it holds others.
    pub fn as_positions(&self) -> &[u32] {
        match &self.values {
            Values::U32(items) => items,
            _ => &[],
        }
    }

    /// The 64-bit numbers of the column; none if it holds others.
    pub fn as_hashes(&self) -> &[u64] {
        match &self.values {
            Values::U64(items) => items,
            _ => &[],
        }
    }

    /// The numbers of a matrix, row by row; none if it is no matrix.
    pub fn as_rows(&self) -> &[u64] {
        match &self.values {
            Values::Rows(items, _) => items,
            _ => &[],
        }
    }

    fn slice(&self, indices: impl Iterator<Item = usize>) -> Self {
        let values = match &self.values {
            Values::U32(items) => Values::U32(indices.filter_map(|i| items.get(i)).copied().collect()),
            Values::U64(items) => Values::U64(indices.filter_map(|i| items.get(i)).copied().collect()),
            Values::Spans(items) => Values::Spans(indices.filter_map(|i| items.get(i)).copied().collect()),
            Values::Rows(items, width) => {
                let row = |i: usize| items.chunks(*width).nth(i).unwrap_or_default();
                Values::Rows(indices.flat_map(row).copied().collect(), *width)
            }
        };
        Self::from(values)
    }

    fn format(&self) -> &'static CStr {
        match self.values {
            Values::U64(_) | Values::Rows(..) => c"Q",
            _ => c"I",
        }
    }

    /// A matrix has two even if its rows have one element.
    fn dimensions(&self) -> c_int {
        match self.values {
            Values::U32(_) | Values::U64(_) => 1,
            Values::Spans(_) | Values::Rows(..) => 2,
        }
    }

    fn pointer(&self) -> *const c_void {
        match &self.values {
            Values::U32(items) => items.as_ptr().cast(),
            Values::U64(items) => items.as_ptr().cast(),
            Values::Spans(items) => items.as_ptr().cast(),
            Values::Rows(items, _) => items.as_ptr().cast(),
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.count()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(self.shape[0])?;
            let indices = (0..range.slicelength as isize).map(|i| (range.start + i * range.step) as usize);
            return Ok(self.slice(indices).into_pyobject(py)?.into_any());
        }
        let i: isize = index.extract()?;
        let i = if i < 0 { i + self.count() as isize } else { i };
        self.item(py, usize::try_from(i).unwrap_or(usize::MAX))
    }

    /// The items as a list of Python objects: for small columns.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let items: PyResult<Vec<_>> = (0..self.count()).map(|i| self.item(py, i)).collect();
        PyList::new(py, items?)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(other) = other.cast::<Self>() {
            return Ok(match (&self.values, &other.get().values) {
                (Values::U32(a), Values::U32(b)) => a == b,
                (Values::U64(a), Values::U64(b)) => a == b,
                (Values::Spans(a), Values::Spans(b)) => a == b,
                (Values::Rows(a, m), Values::Rows(b, n)) => (a, m) == (b, n),
                _ => self.tolist(py)?.eq(other.get().tolist(py)?)?,
            });
        }
        match other.try_iter() {
            Ok(items) => self.tolist(py)?.eq(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?),
            Err(_) => Ok(false),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 12;
        let head = self.slice(0..SHOWN.min(self.count())).tolist(py)?.repr()?.to_string();
        if self.count() <= SHOWN {
            return Ok(head);
        }
        Ok(format!("{}, … {} in all]", head.trim_end_matches(']'), self.count()))
    }

    /// SAFETY: called by Python with a buffer to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no buffer to fill"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("columns are read-only"));
        }
        let column = slf.get();
        // SAFETY: `view` is not null; everything it points to lives in `column`, which `view.obj` keeps alive and which never
        // changes; the exporter's fields below follow the buffer protocol for a C-contiguous array.
        unsafe {
            (*view).buf = column.pointer().cast_mut();
            (*view).len = column.shape[0] * column.strides[0];
            (*view).readonly = 1;
            (*view).itemsize = column.strides[1];
            (*view).format = column.format().as_ptr().cast_mut();
            (*view).ndim = column.dimensions();
            (*view).shape = column.shape.as_ptr().cast_mut();
            (*view).strides = column.strides.as_ptr().cast_mut();
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = slf.clone().into_any().into_ptr();
        }
        Ok(())
    }
}
