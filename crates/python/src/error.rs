//! The one place where the core's errors become Python exceptions.

use lookalike_core::error::Error;
use lookalike_near::error::Error as Near;
use pyo3::exceptions::{PyOSError, PyValueError};
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

create_exception!(lookalike._core, DamagedError, FormatError, "A file is not what was written; the message names it.");
create_exception!(
    lookalike._core,
    VersionError,
    FormatError,
    "A file was made by another version; the message says which."
);
create_exception!(lookalike._core, LockedError, PyOSError, "Another process is writing; the message says which.");

/// Maps an error of a kept table to its class. What the system said becomes the `OSError` of that number.
pub fn near_to_python(error: Near) -> PyErr {
    let message = error.to_string();
    match error {
        Near::Core(error) => to_python(error),
        Near::Damaged { .. } => DamagedError::new_err(message),
        Near::Version { .. } => VersionError::new_err(message),
        Near::Locked { .. } => LockedError::new_err(message),
        Near::Io { path, error, needed } => {
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
