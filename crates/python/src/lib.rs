//! The Python binding of `lookalike-core`: validate, borrow, call, convert. No algorithm and no default value lives here.
//!
//! In: `str` and bytes-like objects, borrowed for the call. Out: whole columns that speak the buffer protocol, never a
//! Python object a token. The GIL is released in `detach.rs` and nowhere else.

mod column;
mod detach;
mod error;
mod fingerprint;
mod input;
mod lab;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::error::FrontendError;
    #[pymodule_export]
    use crate::error::ParameterError;
    #[pymodule_export]
    use crate::fingerprint::{canonical, concatenate, locate, select, stream, Fingerprinter};
    #[pymodule_export]
    use crate::lab::{figure5, figure5_text, kgram_keys, memory_pass, modulus_for, rolling_pass, xxh3};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TEXT_VERSION", lookalike_core::frontend::canonical::TEXT_VERSION)?;
        module.add("MAX_T", lookalike_core::fingerprint::MAX_T)
    }
}
