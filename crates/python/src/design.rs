//! What `design` asks of the core: the measured curve of a filter.

use crate::detach::detached;
use crate::error::to_python;
use lookalike_core::sketch::filter::Filter;
use pyo3::prelude::*;

/// How many of `trials` pairs the filter (k, s, r) lets pass, for each number of `shared` shingles of `union`.
#[pyfunction]
pub fn simulate_filter(
    py: Python<'_>,
    filter: (usize, usize, usize),
    union: usize,
    shared: Vec<usize>,
    trials: u64,
    seed: u64,
) -> PyResult<Vec<u64>> {
    let (k, s, r) = filter;
    let work = || Filter::new(k, s, r)?.simulate(union, &shared, trials, seed);
    detached(py, usize::MAX, work).map_err(to_python)
}
