//! What experiments and benchmarks need of the core and nobody else: single stages, plain code, reference passes.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::input::Hashes;
use lookalike_core::hash::identity::token_value;
use lookalike_core::hash::mix64;
use lookalike_core::hash::rolling::Rolling;
use lookalike_core::naive;
use lookalike_core::scheme;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// Reads so many values at places that each depend on the value before: accesses to memory that nobody could foresee.
#[pyfunction]
pub fn memory_walk(py: Python<'_>, values: Hashes, steps: u64) -> u64 {
    let values = values.0;
    let step = |last: u64, i: u64| {
        let place = (u128::from(mix64(last ^ i)) * values.len() as u128) >> 64;
        values.get(place as usize).copied().unwrap_or(0)
    };
    detached(py, usize::MAX, || (0..steps).fold(1, step))
}

/// Sum of the 64-bit words of `data`: one pass over memory, the unit that speeds are told in.
#[pyfunction]
pub fn memory_pass(py: Python<'_>, data: PyBackedBytes) -> u64 {
    let sum = |bytes: &[u8]| {
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().fold(0u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
    };
    detached(py, data.len(), || sum(&data))
}

/// XXH3-64 of `data`.
#[pyfunction]
pub fn xxh3(py: Python<'_>, data: PyBackedBytes) -> u64 {
    detached(py, data.len(), || token_value(&data))
}

/// Figure 5 of the winnowing paper on given hashes: positions, partial first windows included.
#[pyfunction]
pub fn figure5(hashes: Hashes, w: usize) -> Column {
    Values::U32(naive::figure5(&hashes.0, w)).into()
}

/// ASCII text → Figure 5's positions by plain scalar code.
#[pyfunction]
pub fn figure5_text(py: Python<'_>, text: PyBackedBytes, k: usize, w: usize) -> Column {
    Values::U32(detached(py, text.len(), || naive::figure5_text(&text, k, w))).into()
}

/// H′ of every k-gram of byte tokens; `from_scratch` computes each anew instead of rolling.
#[pyfunction]
pub fn kgram_keys(py: Python<'_>, tokens: PyBackedBytes, k: usize, from_scratch: bool) -> Column {
    Values::U32(detached(py, tokens.len(), || keys(&tokens, k, from_scratch))).into()
}

/// As [`kgram_keys`], for timing: only the sum of the keys is returned.
#[pyfunction]
pub fn rolling_pass(py: Python<'_>, tokens: PyBackedBytes, k: usize, from_scratch: bool) -> u64 {
    detached(py, tokens.len(), || keys(&tokens, k, from_scratch).into_iter().map(u64::from).sum())
}

fn keys(tokens: &[u8], k: usize, from_scratch: bool) -> Vec<u32> {
    let mut keys = Vec::new();
    if k == 0 {
        return keys;
    }
    if from_scratch {
        keys.extend(tokens.windows(k).map(Rolling::from_scratch));
    } else {
        Rolling::new(k).keys(tokens, &mut keys);
    }
    keys
}

/// The modulus a scheme takes for windows of `window` when none is given.
#[pyfunction]
pub fn modulus_for(scheme: &str, window: usize) -> u64 {
    match scheme {
        "safe-modulo" => scheme::modulus_of_least_density(window),
        _ => scheme::modulus_at_density_of_winnowing(window),
    }
}
