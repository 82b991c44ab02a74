//! Tokens that the caller made, as 64-bit values, in place of a text: values of strings, fingerprints, sketches, simhashes, measures.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::{to_python, ParameterError};
use crate::fingerprint::Fingerprinter;
use crate::input::{Hashes, Whole};
use crate::simhash::SimhashMaker;
use crate::sketch::{measures, Measures, Sketch, SketchMaker};
use lookalike_core::frontend::{Options, Stream, Unit};
use lookalike_core::hash::identity::token_value;
use lookalike_core::simhash::hashing::Simhasher;
use lookalike_core::sketch::exact::Counts;
use lookalike_core::sketch::shingle::{into_set, Shingler, Shingling};
use lookalike_core::sketch::sketching::TextSketcher;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

/// Values of tokens: whole numbers as they are, of strings XXH3-64 of their UTF-8.
#[pyfunction]
pub fn token_values(tokens: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(strings) = tokens.extract::<Vec<PyBackedStr>>() {
        return Ok(Values::U64(strings.iter().map(|string| token_value(string.as_bytes())).collect()).into());
    }
    let numbers = tokens.extract::<Hashes>().map_err(|_| {
        ParameterError::new_err("tokens must be whole numbers from 0 to 2^64 − 1, or strings that UTF-8 can write")
    })?;
    Ok(Values::U64(numbers.0).into())
}

/// Fingerprints of tokens: hashes and positions. REQUIRES: the unit of `maker` is word or line.
#[pyfunction]
pub fn fingerprint_tokens(py: Python<'_>, maker: &Fingerprinter, tokens: Hashes) -> (Column, Column) {
    let stream = Stream { tokens: tokens.0, spans: Vec::new(), unit: Unit::Word };
    let picks = detached(py, 8 * stream.tokens.len(), || maker.core().stream(&stream));
    (Values::U64(picks.hashes).into(), Values::U32(picks.positions).into())
}

/// The sketch of tokens.
#[pyfunction]
pub fn sketch_tokens(py: Python<'_>, maker: &SketchMaker, tokens: Hashes) -> PyResult<Sketch> {
    let make = || TextSketcher::new(maker.recipe()).map(|mut maker| maker.tokens(&tokens.0));
    detached(py, 8 * tokens.0.len(), make).map(Sketch::from).map_err(to_python)
}

/// The simhash of tokens; none if there are no features. REQUIRES: the features of `maker` are tokens or shingles of them.
#[pyfunction]
pub fn simhash_tokens(py: Python<'_>, maker: &SimhashMaker, tokens: Hashes) -> Option<u64> {
    detached(py, 8 * tokens.0.len(), || Simhasher::new(&maker.recipe).tokens(&tokens.0))
}

/// Distinct shingles of two sequences of tokens, common ones, resemblance, and containment both ways.
#[pyfunction]
pub fn measure_tokens(
    py: Python<'_>,
    left: Hashes,
    right: Hashes,
    shingle: Whole,
    labelled: bool,
) -> PyResult<Measures> {
    let options = Options { unit: Unit::Word, homoglyphs: false };
    let shingling = Shingling::new(options, shingle.0, labelled, 64).map_err(to_python)?;
    let mut shingler = Shingler::new(shingling);
    let mut set = |tokens: &[u64]| {
        let mut ids = Vec::new();
        shingler.token_ids(tokens, &mut ids);
        into_set(&mut ids);
        ids
    };
    let count = || Counts::new(&set(&left.0), &set(&right.0));
    Ok(measures(&detached(py, 8 * (left.0.len() + right.0.len()), count)))
}
