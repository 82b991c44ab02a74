//! The one place where the core's errors become Python exceptions.

use lookalike_core::error::Error;
use pyo3::exceptions::PyValueError;
use pyo3::{create_exception, PyErr};

create_exception!(
    lookalike._core,
    ParameterError,
    PyValueError,
    "A parameter is outside its range; the message says what to use instead."
);
create_exception!(
    lookalike._core,
    FrontendError,
    PyValueError,
    "A document cannot be read as text; the message says where and why."
);

create_exception!(
    lookalike._core,
    FormatError,
    PyValueError,
    "Stored bytes are damaged or of another version; the message says which."
);

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
