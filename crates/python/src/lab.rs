//! What experiments and benchmarks need of the core and nobody else: single stages, plain code, reference passes.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::{unknown, ParameterError};
use crate::input::Hashes;
use lookalike_core::hash::identity::token_value;
use lookalike_core::hash::mix64;
use lookalike_core::hash::rolling::Rolling;
use lookalike_core::naive;
use lookalike_core::scheme;
use lookalike_table::codec::elias_fano::EliasFano;
use lookalike_table::codec::huffman::{Huffman, BLOCK_BYTES};
use lookalike_table::codec::packed::{pack, Order, Packed};
use lookalike_table::column::Column as _;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// Reads `steps` values, each at a place that depends on the value before, so that no read can be prefetched.
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

/// Sorted fingerprints in one of the codecs.
enum Encoded {
    EliasFano(EliasFano),
    Packed(Vec<u8>),
    XorHuffman(Box<Huffman>),
}

impl Encoded {
    fn new(codec: &str, values: &[u64]) -> PyResult<Self> {
        match codec {
            "elias-fano" => Ok(Self::EliasFano(EliasFano::new(values, 64))),
            "packed" => Ok(Self::Packed(pack(values, Order::Ascending))),
            "xor-huffman" => Ok(Self::XorHuffman(Box::new(Huffman::new(values, BLOCK_BYTES)))),
            other => Err(unknown("codec", other, &["elias-fano", "packed", "xor-huffman"])),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::EliasFano(column) => column.bytes(),
            Self::Packed(bytes) => bytes.len(),
            Self::XorHuffman(column) => column.bytes(),
        }
    }

    /// Appends all values. Nothing: the bytes are damaged, which those just encoded never are.
    fn decode(&self, out: &mut Vec<u64>) -> Option<()> {
        match self {
            Self::EliasFano(column) => column.decode(out),
            Self::Packed(bytes) => Packed::open(&bytes[..], 0..bytes.len(), Order::Ascending)?.decode(out)?,
            Self::XorHuffman(column) => column.decode(out)?,
        }
        Some(())
    }

    /// Counts the values in each of some ranges.
    fn count(&self, ranges: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
        let mut count = 0;
        match self {
            Self::EliasFano(column) => {
                ranges.for_each(|(low, high)| column.visit(low, high, &mut |_, values| count += values.len() as u64))
            }
            Self::Packed(bytes) => {
                let column = Packed::open(&bytes[..], 0..bytes.len(), Order::Ascending)?;
                for (low, high) in ranges {
                    column.read(column.rows(low, high)?, &mut |_, values| count += values.len() as u64)?;
                }
            }
            Self::XorHuffman(column) => {
                for (low, high) in ranges {
                    column.visit(low, high, |_| count += 1)?;
                }
            }
        }
        Some(count)
    }
}

/// Sorted fingerprints, encoded by `elias-fano`, `packed` or the paper's `xor-huffman`.
#[pyclass(frozen, module = "lookalike._core")]
pub struct EncodedColumn(Encoded);

fn damaged() -> PyErr {
    ParameterError::new_err("the column cannot be decoded")
}

#[pymethods]
impl EncodedColumn {
    /// Sorts the values and encodes them.
    #[new]
    fn new(py: Python<'_>, codec: &str, values: Hashes) -> PyResult<Self> {
        let mut values = values.0;
        detached(py, usize::MAX, || {
            values.sort_unstable();
            Encoded::new(codec, &values)
        })
        .map(Self)
    }

    /// Bytes of the encoded values with everything that is needed to find them.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes()
    }

    /// Returns all values in ascending order.
    fn decode(&self, py: Python<'_>) -> PyResult<Column> {
        let mut values = Vec::new();
        detached(py, usize::MAX, || self.0.decode(&mut values)).ok_or_else(damaged)?;
        Ok(Values::U64(values).into())
    }

    /// As `decode`, for timing: decodes `times` times into the same memory and returns the sum of the values.
    fn decode_pass(&self, py: Python<'_>, times: usize) -> PyResult<u64> {
        let pass = || {
            let mut values = Vec::new();
            for _ in 0..times {
                values.clear();
                self.0.decode(&mut values)?;
            }
            Some(values.into_iter().fold(0, u64::wrapping_add))
        };
        detached(py, usize::MAX, pass).ok_or_else(damaged)
    }

    /// Counts, over all queries, the values that share the first `bits` bits with the query.
    fn count(&self, py: Python<'_>, queries: Hashes, bits: u32) -> PyResult<u64> {
        let rest = u64::MAX.checked_shr(bits).unwrap_or(0);
        let ranges = queries.0.iter().map(|query| (query & !rest, query | rest));
        detached(py, usize::MAX, || self.0.count(ranges)).ok_or_else(damaged)
    }
}
