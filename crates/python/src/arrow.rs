//! Columns as Arrow sees them: the two structs of the Arrow C data interface, handed over in capsules, without a copy.
//!
//! A column of numbers is an array of unsigned integers; spans and rows are lists of fixed size with such an array below them; strings are
//! an array of large strings. There are no nulls. The memory belongs to an `Arc`, so that whoever holds an array may let it go on any thread, without Python.
//!
//! **Source.** "The Arrow C data interface" and "The Arrow PyCapsule interface" of the Arrow specification.

use crate::column::Values;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{c_char, c_void, CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Says that values may be null: what every library makes by default.
const NULLABLE: i64 = 2;
/// What lists call their items.
const ITEM: &CStr = c"item";

/// A type, as the specification lays it out.
#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    /// None once it is released, or moved elsewhere.
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// Values, as the specification lays them out.
#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    /// None once it is released, or moved elsewhere.
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// What a schema points to. Its address does not change: it is only ever held in a box.
struct SchemaParts {
    format: CString,
    children: [*mut ArrowSchema; 1],
    child: Option<Box<ArrowSchema>>,
}

/// What an array points to. Its address does not change: it is only ever held in a box.
struct ArrayParts {
    _values: Arc<Values>,
    /// The bits that tell nulls, of which there are none, and the numbers; or where strings start, and the strings.
    buffers: [*const c_void; 3],
    children: [*mut ArrowArray; 1],
    child: Option<Box<ArrowArray>>,
}

// SAFETY: the pointers lead to what the struct itself owns, or into an `Arc` that it shares and nobody writes to.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArray {}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is `Some`, so the schema is not released yet; `release_schema` sets it to `None`.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is `Some`, so the array is not released yet; `release_array` sets it to `None`.
            unsafe { release(self) }
        }
    }
}

/// Frees what a schema points to, its child among it unless that was moved elsewhere.
///
/// SAFETY: `schema` was made by `schema_of` and is not released; whoever holds it calls this once, as the specification demands.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: `private_data` is the box that `schema_of` let go of.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<SchemaParts>()));
        (*schema).release = None;
    }
}

/// Frees what an array points to, its child among it unless that was moved elsewhere.
///
/// SAFETY: `array` was made by `array_of` and is not released; whoever holds it calls this once, as the specification demands.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: `private_data` is the box that `array_of` let go of.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<ArrayParts>()));
        (*array).release = None;
    }
}

fn schema_of(format: CString, name: &'static CStr, child: Option<ArrowSchema>) -> ArrowSchema {
    let mut parts = Box::new(SchemaParts { format, children: [null_mut()], child: child.map(Box::new) });
    if let Some(child) = &mut parts.child {
        parts.children[0] = &raw mut **child;
    }
    let n_children = i64::from(parts.child.is_some());
    let parts = Box::leak(parts);
    ArrowSchema {
        format: parts.format.as_ptr(),
        name: name.as_ptr(),
        metadata: null(),
        flags: NULLABLE,
        n_children,
        children: if n_children > 0 { parts.children.as_mut_ptr() } else { null_mut() },
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: (&raw mut *parts).cast(),
    }
}

/// `memory` lies in `values`: numbers, or starts and strings; a list has none of its own.
fn array_of(values: &Arc<Values>, length: usize, memory: &[*const c_void], child: Option<ArrowArray>) -> ArrowArray {
    let buffer = |i: usize| memory.get(i).copied().unwrap_or(null());
    let mut parts = Box::new(ArrayParts {
        _values: Arc::clone(values),
        buffers: [null(), buffer(0), buffer(1)],
        children: [null_mut()],
        child: child.map(Box::new),
    });
    if let Some(child) = &mut parts.child {
        parts.children[0] = &raw mut **child;
    }
    let n_children = i64::from(parts.child.is_some());
    let parts = Box::leak(parts);
    ArrowArray {
        length: length as i64,
        null_count: 0,
        offset: 0,
        n_buffers: 1 + memory.len() as i64,
        n_children,
        buffers: parts.buffers.as_mut_ptr(),
        children: if n_children > 0 { parts.children.as_mut_ptr() } else { null_mut() },
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: (&raw mut *parts).cast(),
    }
}

/// Numbers of a row of a list; none if there are no rows.
fn width(values: &Values) -> Option<usize> {
    match values {
        Values::U32(_) | Values::U64(_) | Values::Texts(_) => None,
        Values::Spans(_) => Some(2),
        Values::Rows(_, width) => Some(*width),
    }
}

/// The type of a column.
pub fn schema<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyCapsule>> {
    let letter = match values {
        Values::U32(_) | Values::Spans(_) => c"I",
        Values::U64(_) | Values::Rows(..) => c"L",
        // Strings with starts of 64 bits.
        Values::Texts(_) => c"U",
    };
    let made = match width(values) {
        None => schema_of(letter.to_owned(), c"", None),
        Some(width) => {
            let list = CString::new(format!("+w:{width}"))?;
            schema_of(list, c"", Some(schema_of(letter.to_owned(), ITEM, None)))
        }
    };
    PyCapsule::new_with_value(py, made, c"arrow_schema")
}

/// The values of a column.
pub fn array<'py>(py: Python<'py>, values: &Arc<Values>) -> PyResult<Bound<'py, PyCapsule>> {
    let (numbers, count): (*const c_void, usize) = match &**values {
        Values::U32(items) => (items.as_ptr().cast(), items.len()),
        Values::U64(items) => (items.as_ptr().cast(), items.len()),
        Values::Spans(items) => (items.as_ptr().cast(), 2 * items.len()),
        Values::Rows(items, _) => (items.as_ptr().cast(), items.len()),
        Values::Texts(items) => {
            let memory = [items.starts.as_ptr().cast(), items.texts.as_ptr().cast()];
            return PyCapsule::new_with_value(py, array_of(values, items.len(), &memory, None), c"arrow_array");
        }
    };
    let flat = array_of(values, count, &[numbers], None);
    let made = match width(values) {
        None => flat,
        Some(width) => array_of(values, count / width.max(1), &[], Some(flat)),
    };
    PyCapsule::new_with_value(py, made, c"arrow_array")
}
