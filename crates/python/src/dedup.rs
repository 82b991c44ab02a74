//! A corpus is read and decided, as Python calls it.

use crate::column::{Column, Values};
use crate::detach::{detached, interruptible, locked};
use crate::error::{to_python, unknown, FormatError, ParameterError};
use crate::fingerprint::options_of;
use crate::input::{Frozen, Input, Whole};
use crate::pool::Pool;
use crate::references::{self, Contaminated};
use crate::simhash::SimhashMaker;
use crate::texts::ArrowTexts;
use lookalike_core::clustering::{self, Capped};
use lookalike_core::sketch::coordinates::Coordinates;
use lookalike_core::sketch::shingle::Shingling;
use lookalike_dedup::alike::Limits;
use lookalike_dedup::corpus::{Corpus as Core, Refusal};
use lookalike_dedup::job::{self, DedupSettings, Failure, Grouping, Keep, Link, SearchMethod};
use lookalike_dedup::pairs::{self, FoundPairs, LinkedPair};
use lookalike_dedup::reader::{GivenText, ReadSettings};
use lookalike_dedup::record::RecordColumns;
use lookalike_dedup::references::{Sought, Unfit};
use lookalike_dedup::sign::{KeptTraits, Sketching};
use lookalike_dedup::simhash_judge::Nearness;
use lookalike_table::Error as TableError;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyType};
use std::path::PathBuf;
use std::sync::Mutex;

pub(crate) fn refused(refusal: Refusal) -> PyErr {
    match refusal {
        Refusal::Table(error) => table_failed(error),
        Refusal::TooMany => ParameterError::new_err(format!(
            "a corpus has at most `{}` rows: divide it, and deduplicate one part with against=… the other",
            u32::MAX
        )),
    }
}

/// What went wrong with a temporary file.
fn table_failed(error: TableError) -> PyErr {
    match error {
        TableError::Io { error, .. } => PyErr::from(error),
        TableError::Damaged { .. } => {
            PyOSError::new_err(format!("{error}: another program wrote to it or the disk fails; run again"))
        }
        _ => PyOSError::new_err(error.to_string()),
    }
}

pub(crate) fn failed(failure: Failure) -> PyErr {
    match failure {
        Failure::Parameter(error) => to_python(error),
        Failure::Folder(error) => PyErr::from(error),
        Failure::Table(error) => table_failed(error),
        Failure::Stopped => PyKeyboardInterrupt::new_err(()),
    }
}

const SKETCHES: [&str; 6] = ["none", "shingles", "fast", "permutations", "modulo", "simhash"];

/// What is kept of a document whose sketch has coordinates: all of them, or only the features (k, s) of a filter.
fn kept(coordinates: Coordinates, size: usize, features: Option<(usize, usize)>) -> Sketching {
    match (features, coordinates) {
        (Some((k, s)), _) => Sketching::Features { coordinates, size, k, s },
        (None, Coordinates::Fast) => Sketching::Fast { size },
        (None, Coordinates::Permutations) => Sketching::Permutations { size },
    }
}

/// Rows of a corpus and what is kept of them.
#[pyclass(module = "lookalike._core")]
pub struct Corpus {
    pub(crate) core: Core,
    pub(crate) folder: PathBuf,
    pub(crate) pool: Pool,
}

/// Columns of what was decided: survivors, scores (32-bit floats), links (a byte each).
type Decided = (Column, Py<PyBytes>, Py<PyBytes>);
/// Pairs: left, right, scores, links.
type Pairs = (Column, Column, Py<PyBytes>, Py<PyBytes>);

#[pymethods]
impl Corpus {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        sketch: &str,
        size: usize,
        modulus: u64,
        shingle: Whole,
        unit: &str,
        labelled: bool,
        text_column: String,
        id_column: String,
        number_column: Option<String>,
        record_bytes: usize,
        memory_bytes: usize,
        threads: usize,
        folder: PathBuf,
        simhash: Option<&SimhashMaker>,
        with_shingles: bool,
        bits: Whole,
        features: Option<(usize, usize)>,
        lengths: bool,
        languages: bool,
    ) -> PyResult<Self> {
        let shingling = Shingling::new(options_of(unit, false)?, shingle.0, labelled, bits.0).map_err(to_python)?;
        let sketching = match (sketch, simhash) {
            ("none", _) => Sketching::None,
            ("shingles", _) => Sketching::Shingles,
            ("fast", _) => kept(Coordinates::Fast, size, features),
            ("permutations", _) => kept(Coordinates::Permutations, size, features),
            ("modulo", _) => Sketching::Modulo { modulus },
            ("simhash", Some(maker)) => Sketching::Simhash { recipe: maker.recipe.clone(), with_shingles },
            (other, _) => return Err(unknown("sketch", other, &SKETCHES)),
        };
        let columns = RecordColumns { text: text_column, number: number_column, name: Some(id_column) };
        let traits = match (languages, lengths) {
            (true, _) => KeptTraits::Language,
            (false, true) => KeptTraits::Length,
            (false, false) => KeptTraits::None,
        };
        let reading = ReadSettings { shingling, sketching, columns, most: record_bytes, traits, with_names: false };
        let pool = Pool::new(threads)?;
        let core = Core::new(reading, memory_bytes, &folder).map_err(to_python)?;
        Ok(Self { core, folder, pool })
    }

    /// Takes a chunk of a file of JSON Lines, cut anywhere. Returns the keys of the ids of the rows that end in it.
    fn push_lines(&mut self, py: Python<'_>, data: PyBackedBytes, last: bool) -> PyResult<Column> {
        let Self { core, pool, .. } = self;
        let keys = detached(py, usize::MAX, || pool.install(|| core.push_lines(&data, last))).map_err(refused)?;
        Ok(Values::U64(keys).into())
    }

    /// Takes the three buffers of an Arrow string array, whether its type promises text, and a number for each row.
    #[allow(clippy::too_many_arguments)]
    fn push_columns(
        &mut self,
        py: Python<'_>,
        validity: Option<Frozen>,
        offsets: Frozen,
        data: Frozen,
        width: usize,
        rows: usize,
        is_text: bool,
        numbers: Option<Vec<f64>>,
    ) -> PyResult<()> {
        let texts = ArrowTexts::new(validity.as_ref(), &offsets, &data, width, rows)?;
        let text = |row: usize| texts.get(row).map(|bytes| GivenText::new(bytes, is_text));
        let Self { core, pool, .. } = self;
        detached(py, usize::MAX, || pool.install(|| core.push_texts(&text, numbers.as_deref(), rows))).map_err(refused)
    }

    /// Takes texts one by one, `None` where there is none, and a number for each row.
    fn push_texts(&mut self, py: Python<'_>, texts: Vec<Option<Input>>, numbers: Option<Vec<f64>>) -> PyResult<()> {
        let text = |row: usize| texts[row].as_ref().map(Input::given);
        let Self { core, pool, .. } = self;
        let push = || core.push_texts(&text, numbers.as_deref(), texts.len());
        detached(py, usize::MAX, || pool.install(push)).map_err(refused)
    }

    /// Takes the place of each row in the order of rows. Errors: not as many as there are rows.
    fn set_places(&mut self, places: Frozen) -> PyResult<()> {
        let places: Vec<u32> = places.as_bytes().as_chunks().0.iter().map(|one| u32::from_ne_bytes(*one)).collect();
        if places.len() != self.core.rows.len() {
            let (places, rows) = (places.len(), self.core.rows.len());
            return Err(ParameterError::new_err(format!("`{places}` places for `{rows}` rows: give one for each")));
        }
        self.core.places = places;
        Ok(())
    }

    /// Rows so far.
    fn __len__(&self) -> usize {
        self.core.rows.len()
    }

    /// Rows by what became of them: compared, short, missing, bad, blank.
    #[getter]
    fn states(&self) -> [u64; 5] {
        self.core.states
    }

    /// Rows with a text from `first` on, and how many of them have a number that decides which row is kept.
    fn numbered(&self, first: usize) -> (usize, usize) {
        let with_text = self.core.rows.iter().skip(first).filter(|row| row.state.has_text());
        with_text.fold((0, 0), |(rows, numbers), row| (rows + 1, numbers + usize::from(!row.number.is_nan())))
    }

    /// The first rows that could not be read, and why.
    #[getter]
    fn problems(&self) -> Vec<(u32, String)> {
        self.core.problems.iter().map(|problem| (problem.row, problem.reason.clone())).collect()
    }

    /// How many rows have parts that are no characters, each of which became U+FFFD, and the first of these rows.
    #[getter]
    fn mended(&self) -> (u64, u32) {
        self.core.mended
    }

    /// Bytes that went to files because memory did not suffice.
    #[getter]
    fn spilled(&self) -> u64 {
        self.core.store.written()
    }

    /// The exact score of pairs of rows, `None` where it is undefined.
    fn scores(&self, py: Python<'_>, pairs: Vec<(u32, u32)>, containment: bool) -> PyResult<Vec<Option<f64>>> {
        let Self { core, pool, .. } = self;
        detached(py, usize::MAX, || pool.install(|| job::scores(core, &pairs, containment))).map_err(table_failed)
    }

    /// The fingerprints of rows, `None` for those without one.
    fn fingerprints(&self, rows: Vec<u32>) -> Vec<Option<u64>> {
        job::fingerprints(&self.core, &rows)
    }

    /// Makes references of all rows so far, to be looked up in further rows. Returns the bytes they need if these are
    /// more than `memory_bytes`; there are no references then.
    fn seal(
        &mut self,
        py: Python<'_>,
        contains: bool,
        contained: bool,
        threshold: f64,
        memory_bytes: u64,
        most_pairs: usize,
    ) -> PyResult<Option<u64>> {
        let sought = Sought { contains, contained, threshold };
        let Self { core, pool, .. } = self;
        match detached(py, usize::MAX, || pool.install(|| core.seal(sought, memory_bytes, most_pairs))) {
            Ok(()) => Ok(None),
            Err(Unfit::Memory(needed)) => Ok(Some(needed)),
            Err(Unfit::Table(error)) => Err(table_failed(error)),
        }
    }

    /// What was found of the references; `None` without any.
    fn contaminated(&self, py: Python<'_>) -> Option<(Outcome, Contaminated)> {
        Some((Outcome(references::outcome(&self.core)?), references::contaminated(py, &self.core)?))
    }

    /// Decides which rows are kept. Hears signals.
    fn decide(&self, py: Python<'_>, asked: Asked) -> PyResult<Outcome> {
        let settings = self.settings(asked)?;
        let outcome = interruptible(py, &self.pool, |stop| job::decide(&self.core, &settings, stop))?;
        outcome.map(Outcome).map_err(failed)
    }

    /// Finds every pair at or above the threshold that is proposed, for the same argument as `decide`. Hears signals.
    fn pairs(&self, py: Python<'_>, asked: Asked) -> PyResult<PairStream> {
        let settings = self.settings(asked)?;
        let found = interruptible(py, &self.pool, |stop| pairs::pairs(&self.core, &settings, stop))?;
        let mut found = found.map_err(failed)?;
        let (count, rows) = (found.count, std::mem::take(&mut found.rows));
        Ok(PairStream { count, rows, found: Mutex::new(found) })
    }
}

/// What is asked of a corpus: search, filter (k, s, r), threshold, clustering, keep, number of references, bytes of
/// memory, for simhash distance, length, same language and whether it is verified; limits of length and language.
#[derive(FromPyObject)]
pub struct Asked(
    String,
    (usize, usize, usize),
    f64,
    String,
    String,
    Option<u32>,
    usize,
    Option<(u32, Option<f64>, bool, bool)>,
    (Option<f64>, bool),
);

impl Corpus {
    /// The settings of a deduplication. Errors: a word that is not known.
    pub(crate) fn settings(&self, asked: Asked) -> PyResult<DedupSettings> {
        let Asked(search, (k, s, r), threshold, clustering, keep, references, budget_bytes, nearness, limits) = asked;
        let search = match (search.as_str(), nearness) {
            ("exact", _) => SearchMethod::Identical,
            ("minhash", _) => SearchMethod::Resemblance { k, s, r },
            ("join", _) => SearchMethod::Join,
            ("features", _) => SearchMethod::Features { k, s, r },
            ("containment", _) => SearchMethod::Containment,
            ("simhash", Some((distance, length, same_language, is_verified))) => {
                SearchMethod::Simhash(Nearness { distance, length, same_language, is_verified })
            }
            (other, _) => {
                return Err(unknown("method", other, &["exact", "minhash", "join", "containment", "simhash"]))
            }
        };
        let grouping = match clustering.as_str() {
            "star" => Grouping::Star,
            "components" => Grouping::Components,
            "greedy" => Grouping::Greedy,
            other => return Err(unknown("clustering", other, &["star", "components", "greedy"])),
        };
        let keep = match keep.as_str() {
            "first" => Keep::First,
            "longest" => Keep::Longest,
            "max" => Keep::Largest,
            other => return Err(unknown("keep", other, &["first", "longest", "max"])),
        };
        let folder = self.folder.clone();
        let limits = Limits { length: limits.0, same_language: limits.1 };
        Ok(DedupSettings { search, threshold, limits, grouping, keep, references, budget_bytes, folder })
    }
}

/// Pairs that come out in parts, in order of their rows.
#[pyclass(frozen, module = "lookalike._core")]
pub struct PairStream {
    found: Mutex<FoundPairs>,
    count: u64,
    rows: Vec<u8>,
}

#[pymethods]
impl PairStream {
    /// Pairs in all.
    fn __len__(&self) -> usize {
        self.count as usize
    }

    /// A byte for each row of the corpus: 1 if it is in a pair.
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.rows)
    }

    /// The next pairs, at most `most`: left and right rows, scores (32-bit floats), links (a byte each). Empty at the end.
    fn part(&self, py: Python<'_>, most: usize) -> PyResult<Pairs> {
        let read = |found: &mut FoundPairs| -> Result<Vec<LinkedPair>, Failure> {
            let mut part = Vec::new();
            while let Some(pair) = if part.len() < most { found.next_pair()? } else { None } {
                part.push(pair);
            }
            Ok(part)
        };
        let part = locked(py, &self.found, read).map_err(failed)?;
        let column = |of: fn(&LinkedPair) -> u32| Column::from(Values::U32(part.iter().map(of).collect()));
        let scores = floats(py, part.iter().map(|pair| pair.score));
        Ok((column(|pair| pair.left), column(|pair| pair.right), scores, links(py, part.iter().map(|pair| pair.link))))
    }
}

/// What was decided.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Outcome(pub(crate) job::DedupOutcome);

fn floats(py: Python<'_>, scores: impl Iterator<Item = f32>) -> Py<PyBytes> {
    PyBytes::new(py, &scores.flat_map(f32::to_ne_bytes).collect::<Vec<u8>>()).unbind()
}

fn links(py: Python<'_>, links: impl Iterator<Item = Link>) -> Py<PyBytes> {
    PyBytes::new(py, &links.map(|link| link as u8).collect::<Vec<u8>>()).unbind()
}

/// The links of bytes that `links` made. Errors: a number that is none of a link.
fn links_of(bytes: &[u8]) -> PyResult<Vec<Link>> {
    let refused = |number: &u8| FormatError::new_err(format!("`{number}` is no number of a link"));
    bytes.iter().map(|number| Link::ALL.get(*number as usize).copied().ok_or_else(|| refused(number))).collect()
}

/// The numbers of bytes that `floats` made.
fn floats_of(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|one| f32::from_ne_bytes([one[0], one[1], one[2], one[3]])).collect()
}

/// Rows as they come back from a pickle.
type GivenRows<'py> = (Bound<'py, Column>, PyBackedBytes, PyBackedBytes);
/// The answers of `rows`, `work`, `capped` and `giants`.
type Parts = (Decided, (u64, u64, u64, u64), Vec<(u64, u32, u64)>, Vec<Giant>);

#[pymethods]
impl Outcome {
    /// An outcome from the answers of `rows`, `work`, `capped` and `giants` of another one.
    #[new]
    fn new(
        rows: GivenRows<'_>,
        work: (u64, u64, u64, u64),
        capped: Vec<(u64, u32, u64)>,
        giants: Vec<Giant>,
    ) -> PyResult<Self> {
        let (survivor, score, link) = (rows.0.get().as_positions().to_vec(), floats_of(&rows.1), links_of(&rows.2)?);
        if [score.len(), link.len()] != [survivor.len(); 2] {
            return Err(FormatError::new_err("the columns of an outcome are not of one length"));
        }
        let (documents, glances, exacts, unsampled) = work;
        let capped = capped.into_iter().map(|(key, documents, untried)| Capped { key, documents, untried }).collect();
        let giant = |(leader, documents, keys)| clustering::Giant { leader, documents, keys };
        let giants = giants.into_iter().map(giant).collect();
        Ok(Self(job::DedupOutcome { survivor, score, link, documents, capped, giants, glances, exacts, unsampled }))
    }

    /// What makes the outcome again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, Parts) {
        (py.get_type::<Self>(), (self.rows(py), self.work(), self.capped(), self.giants()))
    }

    /// The outcome itself: it never changes.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The outcome itself: it never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    /// For each row its survivor, the score against it, and what that measures, by number: survives, identical, exact,
    /// distance, contained, filter.
    fn rows(&self, py: Python<'_>) -> Decided {
        let outcome = &self.0;
        let survivors = Column::from(Values::U32(outcome.survivor.clone()));
        (survivors, floats(py, outcome.score.iter().copied()), links(py, outcome.link.iter().copied()))
    }

    /// A byte for each of the rows from `first` on: 0 for those that go.
    fn mask<'py>(&self, py: Python<'py>, first: usize, count: usize) -> Bound<'py, PyBytes> {
        let link = |row: usize| u8::from(self.0.link.get(row).is_none_or(|link| *link == Link::None));
        PyBytes::new(py, &(first..first + count).map(link).collect::<Vec<u8>>())
    }

    /// Rows that go, by link: identical, exact, distance, contained, filter.
    #[getter]
    fn gone(&self) -> [u64; 5] {
        let mut counts = [0; 5];
        for link in self.0.link.iter().filter(|link| **link != Link::None) {
            counts[*link as usize - 1] += 1;
        }
        counts
    }

    /// Documents after identical texts were put together, pairs glanced at, pairs scored, documents without a sample.
    #[getter]
    fn work(&self) -> (u64, u64, u64, u64) {
        (self.0.documents, self.0.glances, self.0.exacts, self.0.unsampled)
    }

    /// Keys that very many documents share: the key, how many share it, pairs that it does not propose.
    #[getter]
    fn capped(&self) -> Vec<(u64, u32, u64)> {
        self.0.capped.iter().map(|capped| (capped.key, capped.documents, capped.untried)).collect()
    }

    /// Clusters someone should look at: the survivor's row, how many documents, and the keys most of them share.
    #[getter]
    fn giants(&self) -> Vec<Giant> {
        self.0.giants.iter().map(|giant| (giant.leader, giant.documents, giant.keys.clone())).collect()
    }
}

/// A large cluster: its survivor, its documents, and the keys most of them share.
type Giant = (u32, u32, Vec<(u64, u32)>);
