//! The one place where the core's errors become Python exceptions.
//!
//! All of them are a `LookalikeError`, and also the built-in error that says what kind they are. A class with two bases cannot be made
//! by `create_exception!`, so each is made on first use and kept.

use lookalike_core::error::Error;
use lookalike_table::Error as Table;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyTuple, PyType};

/// Where Python finds the classes, which is also what a traceback shows and what a pickle stores.
const MODULE: &str = "lookalike.errors";

/// Declares an exception class: its name, its bases, and what it means.
macro_rules! exception {
    ($name:ident, [$($base:expr),+], $doc:literal) => {
        #[doc = $doc]
        pub struct $name;

        impl $name {
            /// The class.
            pub fn class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
                static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
                let made = CLASS.get_or_try_init(py, || made(py, stringify!($name), [$($base(py)?),+], $doc))?;
                Ok(made.bind(py).clone())
            }

            /// An exception of this class.
            #[allow(dead_code)]
            pub fn new_err(message: impl Into<String>) -> PyErr {
                let message = message.into();
                Python::attach(|py| Self::class(py).map_or_else(|error| error, |class| PyErr::from_type(class, message)))
            }
        }
    };
}

/// Makes a class.
fn made<const N: usize>(py: Python<'_>, name: &str, bases: [Bound<'_, PyType>; N], doc: &str) -> PyResult<Py<PyType>> {
    let content = [("__module__", MODULE), ("__doc__", doc)].into_py_dict(py)?;
    let class = py.get_type::<PyType>().call1((name, PyTuple::new(py, bases)?, content))?;
    Ok(class.cast_into::<PyType>()?.unbind())
}

/// A class of Python's own.
fn builtin<T: pyo3::PyTypeInfo>(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    Ok(py.get_type::<T>())
}

exception!(LookalikeError, [builtin::<PyException>], "The base of all exceptions of this package.");
exception!(
    ParameterError,
    [LookalikeError::class, builtin::<PyValueError>],
    "A parameter is outside its range; the message says what to use instead."
);
exception!(
    FrontendError,
    [LookalikeError::class, builtin::<PyValueError>],
    "A document cannot be read as text; the message says where and why."
);
exception!(
    FormatError,
    [LookalikeError::class, builtin::<PyValueError>],
    "Stored bytes are damaged or of another version; the message says which."
);
exception!(DamagedError, [FormatError::class], "A file is not what was written; the message names it.");
exception!(VersionError, [FormatError::class], "A file was made by another version; the message says which.");
exception!(
    LockedError,
    [LookalikeError::class, builtin::<PyOSError>],
    "Another process is writing; the message says which."
);

/// Adds all classes to the module.
pub fn export(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let all = [
        LookalikeError::class(py)?,
        ParameterError::class(py)?,
        FrontendError::class(py)?,
        FormatError::class(py)?,
        DamagedError::class(py)?,
        VersionError::class(py)?,
        LockedError::class(py)?,
    ];
    all.iter().try_for_each(|class| module.add(class.name()?, class))
}

/// Maps an error of a kept table to its class. What the system said becomes the `OSError` of that number.
pub fn kept_to_python(error: Table) -> PyErr {
    stored_to_python(error, "restore it from a copy or rebuild the table")
}

/// Maps an error of an archive to its class.
pub fn archive_to_python(error: Table) -> PyErr {
    stored_to_python(error, "`lookalike index check` lists all damage")
}

/// Maps an error of stored tables to its class; the advice says what to do about damage.
fn stored_to_python(error: Table, advice: &str) -> PyErr {
    let message = error.to_string();
    match error {
        Table::Damaged { .. } => DamagedError::new_err(format!("{message}; {advice}")),
        Table::Version { .. } => VersionError::new_err(message),
        Table::Locked { .. } => LockedError::new_err(message),
        Table::Io { path, error, needed } => {
            let needed = if needed > 0 { format!("; `{needed}` bytes are needed") } else { String::new() };
            let Some(number) = error.raw_os_error() else { return PyOSError::new_err(message) };
            let said = error.to_string();
            let said = said.split(" (os error").next().unwrap_or_default();
            PyOSError::new_err((number, format!("{said}{needed}"), path.into_os_string()))
        }
        _ => ParameterError::new_err(message),
    }
}

/// Maps a core error to its class.
pub fn to_python(error: Error) -> PyErr {
    match error {
        Error::Parameter { .. }
        | Error::Unlike { .. }
        | Error::NoContainment { .. }
        | Error::NoUpdate { .. }
        | Error::Pattern { .. }
        | Error::Weight { .. } => ParameterError::new_err(error.to_string()),
        Error::Format { .. } => FormatError::new_err(error.to_string()),
        other => FrontendError::new_err(other.to_string()),
    }
}

/// A refused parameter that only the binding can see, such as an unknown name.
pub fn unknown(what: &str, given: &str, known: &[&str]) -> PyErr {
    ParameterError::new_err(format!("{what} `{given}` is not known: use one of {}", known.join(", ")))
}
