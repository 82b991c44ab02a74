//! Columns handed to Python: read-only arrays that speak the buffer protocol and Arrow, so `numpy.asarray(column)` and
//! `pyarrow.array(column)` copy nothing. A pickle holds numbers as one block of bytes. Strings speak Arrow only.

use crate::arrow;
use crate::error::ParameterError;
use crate::input::Frozen;
use lookalike_core::frontend::Span;
use lookalike_near::names::Strings;
use pyo3::exceptions::{PyBufferError, PyIndexError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyCapsule, PyList, PySlice, PyString, PyTuple};
use std::ffi::{c_int, c_void, CStr};
use std::sync::Arc;

/// Letter of the byte order of this machine, as Python's `struct` has it.
const ORDER: char = if cfg!(target_endian = "little") { '<' } else { '>' };
/// From this protocol on a pickle may leave large blocks of bytes to the caller.
const OUT_OF_BAND: u8 = 5;

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
    /// Strings.
    Texts(Strings),
}

/// A read-only sequence of numbers, of (start, end) pairs, of rows of numbers, or of strings.
///
/// It compares equal to any sequence with the same items, and `numpy.asarray` sees its memory as it is.
#[pyclass(frozen, sequence, module = "lookalike._core")]
pub struct Column {
    /// Shared with what Arrow was handed, which may outlive the column.
    values: Arc<Values>,
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
            Values::Texts(items) => (items.len(), 1, 1),
        };
        let signed = |n: usize| n as ffi::Py_ssize_t;
        Self {
            values: Arc::new(values),
            shape: [signed(len), signed(width)],
            strides: [signed(item * width), signed(item)],
        }
    }
}

impl Column {
    fn count(&self) -> usize {
        self.shape[0] as usize
    }

    fn item<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyAny>> {
        let missing = || PyIndexError::new_err("column index out of range");
        match &*self.values {
            Values::U32(items) => Ok(items.get(i).ok_or_else(missing)?.into_pyobject(py)?.into_any()),
            Values::U64(items) => Ok(items.get(i).ok_or_else(missing)?.into_pyobject(py)?.into_any()),
            Values::Spans(items) => {
                let span = items.get(i).ok_or_else(missing)?;
                Ok(PyTuple::new(py, [span.start, span.end])?.into_any())
            }
            Values::Rows(items, width) => {
                Ok(PyTuple::new(py, items.chunks(*width).nth(i).ok_or_else(missing)?)?.into_any())
            }
            Values::Texts(items) if i < items.len() => Ok(PyString::new(py, items.get(i)).into_any()),
            Values::Texts(_) => Err(missing()),
        }
    }

    /// The 32-bit numbers of the column, on their way back in; none if it holds others.
    pub fn as_positions(&self) -> &[u32] {
        match &*self.values {
            Values::U32(items) => items,
            _ => &[],
        }
    }

    /// The 64-bit numbers of the column; none if it holds others.
    pub fn as_hashes(&self) -> &[u64] {
        match &*self.values {
            Values::U64(items) => items,
            _ => &[],
        }
    }

    /// The numbers of a matrix, row by row; none if it is no matrix.
    pub fn as_rows(&self) -> &[u64] {
        match &*self.values {
            Values::Rows(items, _) => items,
            _ => &[],
        }
    }

    /// The strings of the column; none if it holds numbers.
    pub fn as_texts(&self) -> Option<&Strings> {
        match &*self.values {
            Values::Texts(items) => Some(items),
            _ => None,
        }
    }

    fn slice(&self, indices: impl Iterator<Item = usize>) -> Self {
        let values = match &*self.values {
            Values::U32(items) => Values::U32(indices.filter_map(|i| items.get(i)).copied().collect()),
            Values::U64(items) => Values::U64(indices.filter_map(|i| items.get(i)).copied().collect()),
            Values::Spans(items) => Values::Spans(indices.filter_map(|i| items.get(i)).copied().collect()),
            Values::Rows(items, width) => {
                let row = |i: usize| items.chunks(*width).nth(i).unwrap_or_default();
                Values::Rows(indices.flat_map(row).copied().collect(), *width)
            }
            Values::Texts(items) => Values::Texts(indices.filter(|i| *i < items.len()).map(|i| items.get(i)).collect()),
        };
        Self::from(values)
    }

    fn format(&self) -> &'static CStr {
        match *self.values {
            Values::U64(_) | Values::Rows(..) => c"Q",
            _ => c"I",
        }
    }

    /// A matrix has two even if its rows have one element.
    fn dimensions(&self) -> c_int {
        match *self.values {
            Values::U32(_) | Values::U64(_) | Values::Texts(_) => 1,
            Values::Spans(_) | Values::Rows(..) => 2,
        }
    }

    fn pointer(&self) -> *const c_void {
        match &*self.values {
            Values::U32(items) => items.as_ptr().cast(),
            Values::U64(items) => items.as_ptr().cast(),
            Values::Spans(items) => items.as_ptr().cast(),
            Values::Rows(items, _) => items.as_ptr().cast(),
            Values::Texts(items) => items.texts.as_ptr().cast(),
        }
    }
}

/// Whole numbers of a block of bytes.
fn numbers<const N: usize, T>(data: &[u8], is_swapped: bool, number: fn([u8; N]) -> T) -> PyResult<Vec<T>> {
    if !data.len().is_multiple_of(N) {
        return Err(ParameterError::new_err(format!("`{}` bytes are no column of numbers of {N} bytes", data.len())));
    }
    let one = |bytes: &[u8]| {
        let mut own = [0; N];
        own.copy_from_slice(bytes);
        if is_swapped {
            own.reverse();
        }
        number(own)
    };
    Ok(data.chunks_exact(N).map(one).collect())
}

#[pymethods]
impl Column {
    /// A column of the numbers in a buffer, which are copied; a pickle is read this way.
    ///
    /// `format` is the byte order and the letter of Python's `struct`: `I` for 32 bits, `Q` for 64. `width` is the length of a row,
    /// none for a column of single numbers.
    #[new]
    #[pyo3(signature = (data, format, width = None))]
    fn new(data: Frozen, format: &str, width: Option<usize>) -> PyResult<Self> {
        let wrong =
            || ParameterError::new_err(format!("a column of format `{format}` and width `{width:?}` is unknown"));
        let (data, is_swapped) = (data.as_bytes(), !format.starts_with(ORDER));
        let values = match (format.trim_start_matches(['<', '>']), width) {
            ("I", None) => Values::U32(numbers(data, is_swapped, u32::from_ne_bytes)?),
            ("Q", None) => Values::U64(numbers(data, is_swapped, u64::from_ne_bytes)?),
            ("I", Some(2)) => {
                let ends = numbers(data, is_swapped, u32::from_ne_bytes)?;
                Values::Spans(ends.chunks_exact(2).map(|span| Span { start: span[0], end: span[1] }).collect())
            }
            ("Q", Some(width)) if width > 0 => Values::Rows(numbers(data, is_swapped, u64::from_ne_bytes)?, width),
            _ => return Err(wrong()),
        };
        let column = Self::from(values);
        match usize::try_from(column.shape[0] * column.strides[0]) == Ok(data.len()) {
            true => Ok(column),
            false => Err(wrong()),
        }
    }

    /// A column of strings.
    #[staticmethod]
    fn texts(strings: Vec<PyBackedStr>) -> Self {
        Values::Texts(strings.iter().map(|text| &**text).collect()).into()
    }

    /// Tells pickle how to make the column again. Protocol 5 takes the memory of numbers as it is, without a copy.
    fn __reduce_ex__<'py>(slf: &Bound<'py, Self>, protocol: u8) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, column) = (slf.py(), slf.get());
        let class = py.get_type::<Self>();
        if column.as_texts().is_some() {
            return Ok((class.getattr("texts")?, PyTuple::new(py, [column.tolist(py)?])?));
        }
        let data = if protocol >= OUT_OF_BAND {
            py.import("pickle")?.getattr("PickleBuffer")?.call1((slf,))?
        } else {
            py.get_type::<pyo3::types::PyBytes>().call1((slf,))?
        };
        let format = format!("{ORDER}{}", column.format().to_string_lossy());
        let width = (column.dimensions() == 2).then_some(column.shape[1]);
        Ok((class.into_any(), (data, format, width).into_pyobject(py)?))
    }

    /// The column itself: it never changes.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The column itself: it never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    /// The type as Arrow has it: unsigned numbers, or lists of fixed size of them.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.values)
    }

    /// The type and the column itself, whose memory Arrow shares. Another type than this is not made.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        Ok((arrow::schema(py, &self.values)?, arrow::array(py, &self.values)?))
    }

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
            return Ok(match (&*self.values, &*other.get().values) {
                (Values::U32(a), Values::U32(b)) => a == b,
                (Values::U64(a), Values::U64(b)) => a == b,
                (Values::Spans(a), Values::Spans(b)) => a == b,
                (Values::Rows(a, m), Values::Rows(b, n)) => (a, m) == (b, n),
                (Values::Texts(a), Values::Texts(b)) => a == b,
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

    /// SAFETY: `view` is null or a writable `Py_buffer`; CPython guarantees this, and null is checked below.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no buffer to fill"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("columns are read-only"));
        }
        let column = slf.get();
        if column.as_texts().is_some() {
            return Err(PyBufferError::new_err(
                "strings have no buffer: use `pyarrow.array(column)` or `list(column)`",
            ));
        }
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
