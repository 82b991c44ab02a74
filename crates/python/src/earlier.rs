//! Documents of indexes as earlier submissions of a comparison, as Python calls them.

use crate::compare::ReadFile;
use crate::detach::detached;
use crate::error::archive_to_python;
use crate::pool::Pool;
use crate::segments::{Snapshot, StoredRow};
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_index::earlier::loading::Loader;
use lookalike_index::earlier::sieve::Sieve;
use lookalike_index::earlier::{At, Earlier as All, Handed};
use lookalike_index::segment::StoredRow as Row;
use lookalike_index::Result;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// Index, number, person, what is stored of it, its files, and the facts that were stored with them.
type EarlierRow = (u32, u64, Option<u32>, StoredRow, Vec<ReadFile>, Py<PyBytes>);
type Found = (At, Row, Vec<Arc<SubmittedFile>>, Vec<u8>);

/// The documents of indexes that new submissions are compared with.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Earlier {
    pub(crate) all: All,
    sieve: OnceLock<Sieve>,
    thresholds: (u32, u32),
    pool: Pool,
}

#[pymethods]
impl Earlier {
    /// Reads the persons of snapshots. Handed in are, for each submission that is not of an index: the key of its person,
    /// the name by which a new person is known, and whether the person counts. `thresholds` are those of prose.
    #[new]
    fn new(
        py: Python<'_>,
        snapshots: Vec<Py<Snapshot>>,
        handed: Vec<(PyBackedBytes, Option<PyBackedBytes>, bool)>,
        thresholds: (u32, u32),
        threads: usize,
    ) -> PyResult<Self> {
        let handed: Vec<Handed> = handed
            .iter()
            .map(|(person, known_as, counts)| Handed {
                person: person.to_vec(),
                known_as: known_as.as_ref().map(|name| name.to_vec()),
                counts: *counts,
            })
            .collect();
        let snapshots = snapshots.iter().map(|snapshot| snapshot.get().0.clone()).collect();
        let all = detached(py, usize::MAX, || All::new(snapshots, &handed)).map_err(archive_to_python)?;
        let pool = Pool::new(threads)?;
        Ok(Self { all, sieve: OnceLock::new(), thresholds, pool })
    }

    /// The persons of what was handed in, in its order.
    #[getter]
    fn handed(&self) -> Vec<u32> {
        self.all.handed().to_vec()
    }

    /// Number of persons of everything.
    #[getter]
    fn submitters(&self) -> u32 {
        self.all.submitters()
    }

    /// Number of documents that take part.
    #[getter]
    fn documents(&self) -> u64 {
        self.all.documents()
    }

    /// Number of documents of each of some persons.
    fn documents_of(&self, persons: Vec<u32>) -> Vec<u64> {
        self.all.documents_of(&persons)
    }

    /// Index, number and id of the documents of some persons.
    fn places_of(&self, py: Python<'_>, persons: Vec<u32>) -> PyResult<Vec<(u32, u64, Py<PyBytes>)>> {
        let mut found = Vec::new();
        for at in self.all.places_of(&persons) {
            let Some(snapshot) = self.all.snapshots().get(at.index as usize) else { continue };
            let id = snapshot.id(at.number).map_err(archive_to_python)?;
            found.push((at.index, at.number, PyBytes::new(py, &id).unbind()));
        }
        Ok(found)
    }

    /// Index and number of all starter code.
    fn templates(&self) -> Vec<(u32, u64)> {
        self.all.templates().iter().map(|at| (at.index, at.number)).collect()
    }

    /// Index and number of the documents that hold a k-gram or a literal of a new submission.
    fn candidates(&self, py: Python<'_>, new: Vec<Vec<Py<ReadFile>>>) -> PyResult<Vec<(u32, u64)>> {
        let found = detached(py, usize::MAX, || {
            let sieve = self.sieve.get_or_init(|| {
                let mut sieve = Sieve::default();
                for files in &new {
                    sieve.add(&files.iter().map(|file| file.get().file.clone()).collect::<Vec<_>>());
                }
                sieve
            });
            self.all.candidates(&sieve.picks(), &sieve.literals())
        });
        Ok(found.map_err(archive_to_python)?.iter().map(|at| (at.index, at.number)).collect())
    }

    /// Reads documents again: those that may be listed with a new submission, or `every` one.
    fn load(&self, py: Python<'_>, places: Vec<(u32, u64)>, every: bool) -> PyResult<Vec<EarlierRow>> {
        let found = detached(py, usize::MAX, || self.pool.install(|| self.loaded(&places, every)));
        let rows = found.map_err(archive_to_python)?.into_iter().map(|(at, row, files, facts)| {
            let files = files.into_iter().map(ReadFile::restored).collect();
            (at.index, at.number, self.all.person(at), StoredRow(row), files, PyBytes::new(py, &facts).unbind())
        });
        Ok(rows.collect())
    }
}

impl Earlier {
    fn loaded(&self, places: &[(u32, u64)], every: bool) -> Result<Vec<Found>> {
        let load = |loader: &mut Result<Loader>, (index, number): &(u32, u64)| {
            let loader = match loader {
                Ok(loader) => loader,
                Err(_) => return Loader::new(self.thresholds).map(|_| None),
            };
            let Some(snapshot) = self.all.snapshots().get(*index as usize) else { return Ok(None) };
            let loaded = loader.load(snapshot, *number)?;
            let is_kept = every || self.sieve.get().is_none_or(|sieve| sieve.keeps(&loaded.files));
            let at = At { index: *index, number: *number };
            let row = || snapshot.row(*number).map(|row| (at, row, loaded.files, loaded.facts));
            is_kept.then(row).transpose()
        };
        let found: Result<Vec<Option<Found>>> =
            places.par_iter().map_init(|| Loader::new(self.thresholds), load).collect();
        Ok(found?.into_iter().flatten().collect())
    }
}
