//! A table of fingerprints that is updated and kept, as Python calls it.

use crate::column::{Column, Values};
use crate::detach::{detached, read, written};
use crate::error::{kept_to_python, unknown, ParameterError};
use crate::input::{GivenStrings, Hashes, Ids, Whole};
use lookalike_core::hamming::solve::Limit;
use lookalike_near::fingerprint_store::FingerprintStore;
use lookalike_near::manifest::TablePlan;
use lookalike_near::pairs::NamedPairs;
use lookalike_near::run::{FingerprintRow, Hold};
use lookalike_near::table_folder;
use lookalike_table::disk::System;
use lookalike_table::Result;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

/// Rows that are searched by distance, in memory or in a folder.
#[pyclass(frozen, module = "lookalike._core")]
pub struct HammingStore {
    /// Nothing once it is closed.
    store: RwLock<Option<FingerprintStore>>,
    /// How it holds its tables.
    hold: Hold,
}

/// Columns of what was found.
type Found = (Column, Column, Column);
type FoundBatch = (Column, Column, Column, Column);

fn hold_of(name: &str) -> PyResult<Hold> {
    match name {
        "plain" => Ok(Hold::Plain),
        "compressed" => Ok(Hold::Compressed),
        "mapped" => Ok(Hold::Mapped),
        other => Err(unknown("hold", other, &["plain", "compressed", "mapped"])),
    }
}

/// What a design may take: a name, or a number of tables.
fn limit_of(design: &str, tables: Option<Whole>) -> PyResult<Limit> {
    match (design, tables) {
        (_, Some(tables)) => Ok(Limit::Tables(tables.at_least_one("tables", "leave nothing to search in")?)),
        ("compact", None) => Ok(Limit::Compact),
        ("fast", None) => Ok(Limit::Fast),
        (other, None) => Err(unknown("design", other, &["compact", "fast"])),
    }
}

/// Errors: not as many ids as fingerprints.
fn check_counts(fingerprints: usize, ids: usize) -> PyResult<()> {
    match fingerprints == ids {
        true => Ok(()),
        false => Err(ParameterError::new_err(format!(
            "`{ids}` ids are not as many as the `{fingerprints}` fingerprints: give one id for each"
        ))),
    }
}

/// Rows whose ids are numbers. Errors: not as many ids as fingerprints.
fn rows_of(fingerprints: Hashes, ids: Vec<u64>) -> PyResult<Vec<FingerprintRow>> {
    check_counts(fingerprints.0.len(), ids.len())?;
    Ok(fingerprints.0.into_iter().zip(ids).collect())
}

/// Columns of pairs: ids of queries, ids of rows, distances.
fn pair_columns(pairs: NamedPairs) -> Found {
    (Values::Texts(pairs.left).into(), Values::Texts(pairs.right).into(), Values::U32(pairs.distances).into())
}

impl HammingStore {
    fn of(store: FingerprintStore, hold: Hold) -> Self {
        Self { store: RwLock::new(Some(store)), hold }
    }

    /// Reads the store. Errors: closed, or what the work has.
    fn read<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&FingerprintStore) -> Result<R> + Send) -> PyResult<R> {
        let done = read(py, &self.store, |store| store.as_ref().map(work));
        done.ok_or_else(closed)?.map_err(kept_to_python)
    }

    /// Changes the store. Errors: closed, or what the work has.
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut FingerprintStore) -> Result<R> + Send,
    ) -> PyResult<R> {
        let done = written(py, &self.store, |store| store.as_mut().map(work));
        done.ok_or_else(closed)?.map_err(kept_to_python)
    }
}

fn closed() -> PyErr {
    ParameterError::new_err("table is closed: open it again")
}

#[pymethods]
impl HammingStore {
    /// A table in memory of these rows; without ids they are numbered.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        fingerprints: Hashes,
        ids: Option<Ids>,
        distance: Whole,
        design: &str,
        tables: Option<Whole>,
        hold: &str,
    ) -> PyResult<Self> {
        let plan = TablePlan { distance: distance.distance()?, limit: limit_of(design, tables)? };
        // Made here, because counting in Python would take as long as sorting.
        let ids = ids.unwrap_or_else(|| Ids::Numbers((0..fingerprints.0.len() as u64).collect()));
        let hold = hold_of(hold)?;
        let built = match ids {
            Ids::Numbers(ids) => {
                let rows = rows_of(fingerprints, ids)?;
                detached(py, usize::MAX, || FingerprintStore::build(plan, hold, rows))
            }
            Ids::Strings(ids) => {
                let ids = ids.all()?;
                check_counts(fingerprints.0.len(), ids.len())?;
                detached(py, usize::MAX, || FingerprintStore::build_named(plan, hold, &fingerprints.0, &ids))
            }
        };
        built.map(|store| Self::of(store, hold)).map_err(kept_to_python)
    }

    /// The table in a folder.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf, hold: &str, write: bool) -> PyResult<Self> {
        let hold = hold_of(hold)?;
        let opened = detached(py, usize::MAX, || FingerprintStore::open(Arc::new(System), &folder, hold, write));
        opened.map(|store| Self::of(store, hold)).map_err(kept_to_python)
    }

    /// Reads everything of the table in a folder; how many rows it has.
    #[staticmethod]
    fn check(py: Python<'_>, folder: PathBuf) -> PyResult<usize> {
        detached(py, usize::MAX, || table_folder::check(Arc::new(System), &folder)).map_err(kept_to_python)
    }

    fn insert(&self, py: Python<'_>, fingerprints: Hashes, ids: Ids) -> PyResult<usize> {
        match ids {
            Ids::Numbers(ids) => {
                let rows = rows_of(fingerprints, ids)?;
                self.change(py, |store| store.insert_numbered(&rows))
            }
            Ids::Strings(ids) => {
                let ids = ids.all()?;
                check_counts(fingerprints.0.len(), ids.len())?;
                self.change(py, |store| store.insert_named(&fingerprints.0, &ids))
            }
        }
    }

    fn remove(&self, py: Python<'_>, fingerprints: Hashes, ids: Ids) -> PyResult<usize> {
        match ids {
            Ids::Numbers(ids) => {
                let rows = rows_of(fingerprints, ids)?;
                self.change(py, |store| store.remove_numbered(&rows))
            }
            Ids::Strings(ids) => {
                let ids = ids.all()?;
                check_counts(fingerprints.0.len(), ids.len())?;
                self.change(py, |store| store.remove_named(&fingerprints.0, &ids))
            }
        }
    }

    /// Ids, fingerprints and distances of what is near.
    fn query(&self, py: Python<'_>, fingerprint: u64, distance: Whole) -> PyResult<Found> {
        let distance = distance.distance()?;
        let (hits, names) = self.read(py, |store| {
            let hits = store.query(fingerprint, distance)?;
            store.named_hits(hits)
        })?;
        let ids = names.map_or_else(|| Values::U64(hits.iter().map(|hit| hit.id).collect()), Values::Texts);
        Ok((
            ids.into(),
            Values::U64(hits.iter().map(|hit| hit.value).collect()).into(),
            Values::U32(hits.iter().map(|hit| u32::from(hit.distance)).collect()).into(),
        ))
    }

    /// Numbers of queries, ids and distances of what is near them; with how many each was compared.
    fn query_batch(&self, py: Python<'_>, fingerprints: Hashes, distance: Whole) -> PyResult<FoundBatch> {
        let distance = distance.distance()?;
        let (found, names) = self.read(py, |store| {
            let found = store.query_batch(&fingerprints.0, distance)?;
            store.named_answers(found)
        })?;
        let distances = found.distances.iter().map(|distance| u32::from(*distance)).collect();
        Ok((
            Values::U32(found.queries).into(),
            names.map_or_else(|| Values::U64(found.ids), Values::Texts).into(),
            Values::U32(distances).into(),
            Values::U64(found.candidates).into(),
        ))
    }

    /// Pairs of queries, with the ids they are asked by, and rows: ids as texts, and distances.
    fn near(&self, py: Python<'_>, fingerprints: Hashes, asked: GivenStrings, distance: Whole) -> PyResult<Found> {
        let (distance, asked) = (distance.distance()?, asked.all()?);
        check_counts(fingerprints.0.len(), asked.len())?;
        self.read(py, |store| store.near(&fingerprints.0, &asked, distance)).map(pair_columns)
    }

    /// Pairs of rows, each once: ids as texts, and distances.
    fn join(&self, py: Python<'_>, distance: Whole) -> PyResult<Found> {
        let distance = distance.distance()?;
        self.read(py, |store| store.join(distance)).map(pair_columns)
    }

    /// Whether the ids are strings.
    #[getter]
    fn is_named(&self, py: Python<'_>) -> PyResult<bool> {
        self.read(py, |store| Ok(store.is_named()))
    }

    /// Fingerprints and ids of all rows.
    fn rows(&self, py: Python<'_>) -> PyResult<(Column, Column)> {
        let (rows, names) = self.read(py, FingerprintStore::named_rows)?;
        let (fingerprints, ids) = rows.into_iter().unzip();
        let ids = names.map_or_else(|| Values::U64(ids), Values::Texts);
        Ok((Values::U64(fingerprints).into(), ids.into()))
    }

    /// Puts all runs together.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, FingerprintStore::compact)
    }

    /// Makes everything durable in a folder.
    fn save(&self, py: Python<'_>, folder: Option<PathBuf>) -> PyResult<()> {
        self.change(py, |store| match &folder {
            Some(folder) => store.save(Arc::new(System), folder),
            None => store.commit(),
        })
    }

    /// Lets memory, files and the lock go; what was not saved is gone.
    fn close(&self, py: Python<'_>) {
        written(py, &self.store, |store| drop(store.take()));
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |store| Ok(store.len()))
    }

    #[getter]
    fn distance(&self, py: Python<'_>) -> PyResult<u32> {
        self.read(py, |store| Ok(store.plan().distance))
    }

    /// What `build` takes beside the rows: distance, design, tables, hold.
    fn recipe(&self, py: Python<'_>) -> PyResult<(u32, &'static str, Option<u64>, &'static str)> {
        let plan = self.read(py, |store| Ok(store.plan()))?;
        let hold = match self.hold {
            Hold::Plain => "plain",
            Hold::Compressed => "compressed",
            Hold::Mapped => "mapped",
        };
        Ok(match plan.limit {
            Limit::Compact => (plan.distance, "compact", None, hold),
            Limit::Fast => (plan.distance, "fast", None, hold),
            Limit::Tables(tables) | Limit::Bytes(tables) => (plan.distance, "", Some(tables), hold),
        })
    }

    #[getter]
    fn generation(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |store| Ok(store.generation()))
    }

    /// Bytes in memory of tables, and of ids; how many runs a query asks.
    #[getter]
    fn footprint(&self, py: Python<'_>) -> PyResult<(usize, usize, usize)> {
        self.read(py, |store| Ok((store.bytes().0, store.bytes().1, store.runs())))
    }
}
