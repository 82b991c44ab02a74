//! Pairs of documents from where they are proposed to where they are judged, as Python calls it: `steps::holders`,
//! `steps::bundles` and `steps::cell` of the deduplication.

use crate::detach::locked;
use crate::input::Frozen;
use crate::steps::{block, numbers, offsets, same, strings, view, Buffers, Strings};
use lookalike_core::clustering::Reach;
use lookalike_dedup::steps::bundles::{Bundles, Packer};
use lookalike_dedup::steps::cell::CellPairs as Cell;
use lookalike_dedup::steps::holders::{HolderStream as Holders, Role};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// The columns of bundles: cells (32-bit numbers), ranks, where the ranks of each bundle end, and pairs.
type BundleColumns = (Py<PyBytes>, Strings, Py<PyBytes>, Strings);

fn bundle_columns(py: Python<'_>, made: &Bundles) -> PyResult<BundleColumns> {
    let pairs = (PyBytes::new(py, &made.pairs).unbind(), offsets(py, made.pair_ends.iter().copied(), 1)?);
    let cells = block(py, made.cells.iter().map(|cell| cell.to_ne_bytes()));
    Ok((cells, strings(py, &made.ranks)?, offsets(py, made.rank_ends.iter().copied(), 1)?, pairs))
}

/// The bundles of a packer, if it is full or all is over.
fn taken(packer: &mut Packer, is_end: bool) -> Option<Bundles> {
    let made = (is_end || packer.is_full()).then(|| packer.take());
    made.filter(|made| !made.cells.is_empty())
}

/// Errors: there are no cells, or more than signed 32-bit numbers.
fn packer(side: u32, extra: usize) -> PyResult<Packer> {
    match side > 0 && i64::from(side).pow(2) <= i64::from(i32::MAX) {
        true => Ok(Packer::new(side, extra)),
        false => Err(PyValueError::new_err("the side of the cells is 0, or its square no signed 32-bit number")),
    }
}

/// Proposes pairs from rows (key, holder) sorted by key and rank.
#[pyclass(frozen, module = "lookalike._core")]
pub struct HolderStream(Mutex<(Holders, Packer)>);

#[pymethods]
impl HolderStream {
    /// With `is_against` only a reference and another row are paired. Pairs are for `side` × `side` cells.
    #[new]
    fn new(is_against: bool, side: u32) -> PyResult<Self> {
        Ok(Self(Mutex::new((Holders::new(Reach::CROWDED, is_against), packer(side, 0)?))))
    }

    /// Takes rows: keys (64-bit numbers), for fingerprints the other one and the role of the row, and ranks.
    fn push(&self, py: Python<'_>, keys: Frozen, others: Option<(Frozen, Frozen)>, ranks: Buffers) -> PyResult<()> {
        let (texts, rows) = (view(&ranks)?, ranks.4);
        let keys: Vec<u64> = numbers(keys.as_bytes(), u64::from_ne_bytes).collect();
        let others: Option<Vec<(u64, u8)>> = others.map(|(others, roles)| {
            numbers(others.as_bytes(), u64::from_ne_bytes).zip(roles.as_bytes().iter().copied()).collect()
        });
        same(&[keys.len(), rows, others.as_ref().map_or(rows, Vec::len)])?;
        locked(py, &self.0, |(stream, packer)| {
            let mut pairs = |left: &[u8], right: &[u8]| packer.push(left, right, &[]);
            for (row, key) in keys.iter().enumerate() {
                let other = others.as_ref().map(|others| others[row]);
                let role = other.map_or(Role::Both, |(_, role)| Role::of(role));
                let list = (*key, other.map(|(other, _)| other));
                stream.push(list, role, texts.get(row).unwrap_or_default(), &mut pairs);
            }
        });
        Ok(())
    }

    /// The bundles of the pairs since the last ones, as soon as there are enough of them, or at the end.
    fn bundles(&self, py: Python<'_>, is_end: bool) -> PyResult<Option<BundleColumns>> {
        locked(py, &self.0, |(_, packer)| taken(packer, is_end)).map(|made| bundle_columns(py, &made)).transpose()
    }

    /// Lists that ended and did not propose all their pairs: key, holders, pairs left out. At the end, also the last list.
    fn capped(&self, py: Python<'_>, is_end: bool) -> Vec<(u64, u64, u64)> {
        let lists = locked(py, &self.0, |(stream, _)| stream.capped(is_end));
        lists.iter().map(|list| (list.key, list.documents, list.untried)).collect()
    }
}

/// Makes bundles of pairs that have further bytes.
#[pyclass(frozen, module = "lookalike._core")]
pub struct PairPacker(Mutex<Packer>, usize);

#[pymethods]
impl PairPacker {
    /// Pairs are for `side` × `side` cells and have `extra` further bytes each.
    #[new]
    fn new(side: u32, extra: usize) -> PyResult<Self> {
        Ok(Self(Mutex::new(packer(side, extra)?), extra))
    }

    /// Takes pairs of ranks, and the further bytes of all.
    fn push(&self, py: Python<'_>, left: Buffers, right: Buffers, extras: Frozen) -> PyResult<()> {
        let (lefts, rights, rows) = (view(&left)?, view(&right)?, left.4);
        same(&[rows, right.4])?;
        same(&[extras.as_bytes().len(), rows * self.1])?;
        locked(py, &self.0, |packer| {
            for row in 0..rows {
                let extra = &extras.as_bytes()[row * self.1..][..self.1];
                packer.push(lefts.get(row).unwrap_or_default(), rights.get(row).unwrap_or_default(), extra);
            }
        });
        Ok(())
    }

    /// The bundles of the pairs since the last ones, as soon as there are enough of them, or at the end.
    fn bundles(&self, py: Python<'_>, is_end: bool) -> PyResult<Option<BundleColumns>> {
        locked(py, &self.0, |packer| taken(packer, is_end)).map(|made| bundle_columns(py, &made)).transpose()
    }
}

/// The documents and waiting pairs of a cell.
#[pyclass(frozen, module = "lookalike._core")]
pub struct CellPairs(Mutex<Cell>);

#[pymethods]
impl CellPairs {
    /// Pairs have `extra` further bytes each, and wait until they take `window` bytes.
    #[new]
    fn new(extra: usize, window: usize) -> Self {
        Self(Mutex::new(Cell::new(extra, window)))
    }

    /// Takes the ranks of the next documents.
    fn push_documents(&self, py: Python<'_>, ranks: Buffers) -> PyResult<()> {
        let (texts, rows) = (view(&ranks)?, ranks.4);
        locked(py, &self.0, |cell| (0..rows).for_each(|row| cell.push_document(texts.get(row).unwrap_or_default())));
        Ok(())
    }

    /// Takes bundles: how many ranks each has (32-bit numbers), the ranks and the pairs. Returns whether they are pairs of
    /// documents of the cell.
    fn push_bundles(&self, py: Python<'_>, counts: Frozen, ranks: Buffers, pairs: Buffers) -> PyResult<bool> {
        let counts: Vec<usize> = numbers(counts.as_bytes(), u32::from_ne_bytes).map(|count| count as usize).collect();
        let (ranks, named, pairs, bundles) = (view(&ranks)?, ranks.4, view(&pairs)?, pairs.4);
        same(&[counts.len(), bundles])?;
        same(&[counts.iter().sum(), named])?;
        Ok(locked(py, &self.0, |cell| {
            let mut first = 0;
            counts.iter().enumerate().all(|(bundle, count)| {
                let own = (first..first + count).map(|rank| ranks.get(rank).unwrap_or_default());
                first += count;
                cell.push_bundle(own, pairs.get(bundle).unwrap_or_default()).is_ok()
            })
        }))
    }

    /// Whether so many pairs wait that they should be taken.
    fn is_full(&self, py: Python<'_>) -> bool {
        locked(py, &self.0, |cell| cell.is_full())
    }

    /// The waiting pairs, each once, without those that were accepted before: places of both documents (32-bit numbers), and
    /// further bytes.
    fn take(&self, py: Python<'_>) -> (Py<PyBytes>, Py<PyBytes>, Py<PyBytes>) {
        let pairs = locked(py, &self.0, Cell::take);
        let places = |places: &[u32]| block(py, places.iter().map(|place| place.to_ne_bytes()));
        (places(&pairs.left), places(&pairs.right), PyBytes::new(py, &pairs.extras).unbind())
    }

    /// Remembers accepted pairs.
    fn accept(&self, py: Python<'_>, left: Frozen, right: Frozen) -> PyResult<()> {
        let places = |block: &Frozen| numbers(block.as_bytes(), u32::from_ne_bytes).collect::<Vec<u32>>();
        let (left, right) = (places(&left), places(&right));
        same(&[left.len(), right.len()])?;
        locked(py, &self.0, |cell| cell.accept(&left, &right));
        Ok(())
    }
}
