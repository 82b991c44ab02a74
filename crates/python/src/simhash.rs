//! Simhash fingerprints, as Python calls them.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::to_python;
use crate::fingerprint::{first_helping, options_of, reading, Note, Reading};
use crate::input::{Input, Whole};
use lookalike_core::error::Result;
use lookalike_core::frontend::Options;
use lookalike_core::hash::identity::token_value;
use lookalike_core::simhash::hashing::{Simhash, Simhasher};
use lookalike_core::simhash::vote::{feature_hash, Votes};
use lookalike_core::simhash::weight::{self, Weight};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

/// Makes fingerprints of texts, all by the same parameters.
#[pyclass(frozen, module = "lookalike._core")]
pub struct SimhashMaker {
    options: Options,
    width: i64,
}

/// Rows of a batch: fingerprints, whether each is one, lengths, and notes.
type Rows = (Column, Py<PyBytes>, Column, Vec<Note>);

#[pymethods]
impl SimhashMaker {
    #[new]
    fn new(unit: &str, homoglyphs: bool, shingle: Whole) -> PyResult<Self> {
        let options = options_of(unit, homoglyphs)?;
        Simhasher::new(options, shingle.0).map_err(to_python)?;
        Ok(Self { options, width: shingle.0 })
    }

    /// The fingerprint of one text, its length, and how it was read.
    fn one(&self, py: Python<'_>, text: Input) -> PyResult<(Option<u64>, u32, Reading)> {
        let make = || -> Result<_> {
            let text = text.open()?;
            Ok((self.hasher()?.text(&text.decoded.text)?, reading(&text)))
        };
        let (made, read) = detached(py, text.len_bytes(), make).map_err(to_python)?;
        Ok((made.fingerprint, made.length, read))
    }

    /// Fingerprints of many texts; one that cannot be read has none, and a note.
    fn many(&self, py: Python<'_>, texts: Vec<Input>) -> PyResult<Rows> {
        let mut batch = Batch { hasher: self.hasher().map_err(to_python)?, made: Vec::new(), notes: Vec::new() };
        let mut rest = texts.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(first_helping(rest));
            let len_bytes = now.iter().map(Input::len_bytes).sum();
            detached(py, len_bytes, || now.iter().for_each(|input| batch.add(input)));
            py.check_signals()?;
            rest = later;
        }
        Ok(batch.columns(py))
    }
}

impl SimhashMaker {
    fn hasher(&self) -> Result<Simhasher> {
        Simhasher::new(self.options, self.width)
    }
}

/// Rows in the making.
struct Batch {
    hasher: Simhasher,
    made: Vec<Simhash>,
    notes: Vec<Note>,
}

impl Batch {
    /// Appends one text.
    fn add(&mut self, input: &Input) {
        let index = self.made.len();
        let made = input.open().and_then(|text| {
            let is_notable = text.decoded.guessed || text.decoded.replaced > 0;
            Ok((self.hasher.text(&text.decoded.text)?, is_notable.then(|| reading(&text))))
        });
        let made = match made {
            Ok((made, notable)) => {
                self.notes.extend(notable.map(|read| (index, Some(read), None)));
                made
            }
            Err(error) => {
                self.notes.push((index, None, Some(error.to_string())));
                Simhash::default()
            }
        };
        self.made.push(made);
    }

    fn columns(self, py: Python<'_>) -> Rows {
        let fingerprints = self.made.iter().map(|made| made.fingerprint.unwrap_or(0)).collect();
        let valid: Vec<u8> = self.made.iter().map(|made| u8::from(made.fingerprint.is_some())).collect();
        let lengths = self.made.iter().map(|made| made.length).collect();
        let valid = PyBytes::new(py, &valid).unbind();
        (Values::U64(fingerprints).into(), valid, Values::U32(lengths).into(), self.notes)
    }
}

/// The fingerprint of features that the caller made; none if nothing is left of them.
#[pyfunction]
pub fn simhash_features(py: Python<'_>, features: Vec<(PyBackedStr, f64)>) -> PyResult<Option<u64>> {
    let make = || -> Result<_> {
        weight::check_count(features.len())?;
        let hashed: Result<Vec<_>> = features
            .iter()
            .map(|(name, weight)| Ok((feature_hash(token_value(name.as_bytes())), Weight::new(*weight)?)))
            .collect();
        let mut votes = Votes::default();
        votes.weigh(&hashed?);
        Ok(votes.fingerprint())
    };
    detached(py, 16 * features.len(), make).map_err(to_python)
}

/// Joins batches end to end: fingerprints and lengths.
#[pyfunction]
pub fn concatenate_simhashes(batches: Vec<(Bound<'_, Column>, Bound<'_, Column>)>) -> (Column, Column) {
    let (mut fingerprints, mut lengths) = (Vec::new(), Vec::new());
    for (batch, counts) in &batches {
        fingerprints.extend_from_slice(batch.get().as_hashes());
        lengths.extend_from_slice(counts.get().as_positions());
    }
    (Values::U64(fingerprints).into(), Values::U32(lengths).into())
}
