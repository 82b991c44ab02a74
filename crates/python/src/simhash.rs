//! Simhash fingerprints, as Python calls them.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::{to_python, unknown};
use crate::fingerprint::{options_of, reading, Note, Reading};
use crate::input::{Frozen, Input, Whole};
use crate::pool::Pool;
use crate::texts::{ArrowTexts, Opened, Texts};
use lookalike_core::error::Result;
use lookalike_core::hash::identity::token_value;
use lookalike_core::simhash::hashing::{Simhash, SimhashRecipe, Simhasher};
use lookalike_core::simhash::idf::{DocumentCounter, Idf};
use lookalike_core::simhash::ignore::{Ignore, NAMED};
use lookalike_core::simhash::language::TextLanguage;
use lookalike_core::simhash::paper::Paper;
use lookalike_core::simhash::vote::{feature_hash, Votes};
use lookalike_core::simhash::weight::{self, Weight};
use lookalike_core::sketch::shingle::Shingling;
use lookalike_dedup::reader::{GivenText, ReadSettings, RowReader};
use lookalike_dedup::record::RecordColumns;
use lookalike_dedup::sign::{KeptTraits, Print, Signed, Sketching};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyType};
use std::sync::Arc;

/// Makes fingerprints of texts, all by the same parameters.
#[pyclass(frozen, module = "lookalike._core")]
pub struct SimhashMaker {
    /// How they are made.
    pub recipe: SimhashRecipe,
}

/// Rows of a batch: fingerprints, whether each is one, lengths, numbers of languages, and notes.
type Rows = (Column, Py<PyBytes>, Column, Py<PyBytes>, Vec<Note>);

#[pymethods]
impl SimhashMaker {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        unit: &str,
        homoglyphs: bool,
        shingle: Whole,
        features: &str,
        language: Option<&str>,
        ignore: Vec<String>,
        languages: bool,
        idf: Option<&IdfTable>,
    ) -> PyResult<Self> {
        let recipe = SimhashRecipe::new(options_of(unit, homoglyphs)?, shingle.0).map_err(to_python)?;
        let recipe = recipe.ignoring(Ignore::new(&ignore).map_err(to_python)?).telling_language(languages);
        let recipe = match features {
            "words" => recipe,
            "paper" => recipe.with_paper(Paper { language: language_of(language)?, idf: idf.map(|idf| idf.0.clone()) }),
            other => return Err(unknown("features", other, &["words", "paper"])),
        };
        Ok(Self { recipe })
    }

    /// Makes the idf table of the features that at least `least` texts have. Unreadable texts are skipped.
    fn idf(&self, py: Python<'_>, batches: Vec<Texts>, least: u32) -> PyResult<IdfTable> {
        let (mut hasher, mut counter) = (Simhasher::new(&self.recipe), DocumentCounter::default());
        for texts in &batches {
            texts.view()?.each(py, |text| count(&mut hasher, text, &mut counter))?;
        }
        Ok(IdfTable(Arc::new(counter.table(least))))
    }

    /// The fingerprint of one text, its length, and how it was read.
    fn one(&self, py: Python<'_>, text: Input) -> PyResult<(Option<u64>, u32, Reading)> {
        let make = || -> Result<_> {
            let text = text.open()?;
            Ok((Simhasher::new(&self.recipe).text(&text.decoded.text)?, reading(&text)))
        };
        let (made, read) = detached(py, text.len_bytes(), make).map_err(to_python)?;
        Ok((made.fingerprint, made.length, read))
    }

    /// Fingerprints of many texts; one that cannot be read has none, and a note.
    fn many(&self, py: Python<'_>, texts: Texts) -> PyResult<Rows> {
        let mut batch = Batch { hasher: Simhasher::new(&self.recipe), made: Vec::new(), notes: Vec::new() };
        texts.view()?.each(py, |text| batch.add(text))?;
        Ok(batch.columns(py))
    }
}

/// Adds the features of a text.
fn count(hasher: &mut Simhasher, text: Opened, counter: &mut DocumentCounter) {
    let mut values = Vec::new();
    if text.is_ok_and(|text| hasher.values(&text.decoded.text, &mut values).is_ok()) {
        counter.add(&mut values);
    }
}

/// The language of a code; none if it is to be detected.
fn language_of(code: Option<&str>) -> PyResult<Option<TextLanguage>> {
    let known = |code: &str| TextLanguage::of_code(code).ok_or_else(|| unknown("language", code, &codes()));
    code.map(known).transpose()
}

fn codes() -> Vec<&'static str> {
    TextLanguage::codes().collect()
}

/// Languages by number, from 1 on: the codes that columns of languages stand for.
#[pyfunction]
pub fn simhash_languages() -> Vec<&'static str> {
    codes()
}

/// Patterns that have a name.
#[pyfunction]
pub fn simhash_patterns() -> Vec<(&'static str, &'static str)> {
    NAMED.to_vec()
}

/// What features weigh, fixed once; it never changes.
#[pyclass(frozen, module = "lookalike._core")]
pub struct IdfTable(Arc<Idf>);

#[pymethods]
impl IdfTable {
    /// The table that was stored.
    #[new]
    fn new(data: PyBackedBytes) -> PyResult<Self> {
        Idf::from_bytes(&data).map(|idf| Self(Arc::new(idf))).map_err(to_python)
    }

    /// What makes the table again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (py.get_type::<Self>(), (self.to_bytes(py),))
    }

    /// The table itself: it never changes.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The table itself: it never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Documents of its corpus.
    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents()
    }

    /// The weight of a feature by its value.
    fn weight(&self, value: u64) -> f64 {
        f64::from(self.0.weight(value).0) / f64::from(1 << weight::FRACTION)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
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
    fn add(&mut self, text: Opened) {
        let index = self.made.len();
        let made = text.and_then(|text| {
            let is_notable = text.decoded.guessed || text.decoded.replaced > 0;
            let made = self.hasher.text(&text.decoded.text).map_err(|error| error.to_string())?;
            Ok((made, is_notable.then(|| reading(&text))))
        });
        let made = match made {
            Ok((made, notable)) => {
                self.notes.extend(notable.map(|read| (index, Some(read), None)));
                made
            }
            Err(error) => {
                self.notes.push((index, None, Some(error)));
                Simhash::default()
            }
        };
        self.made.push(made);
    }

    fn columns(self, py: Python<'_>) -> Rows {
        let fingerprints = self.made.iter().map(|made| made.fingerprint.unwrap_or(0)).collect();
        let valid: Vec<u8> = self.made.iter().map(|made| u8::from(made.fingerprint.is_some())).collect();
        let lengths = self.made.iter().map(|made| made.length).collect();
        let languages: Vec<u8> = self.made.iter().map(|made| made.language.number()).collect();
        let (valid, languages) = (PyBytes::new(py, &valid).unbind(), PyBytes::new(py, &languages).unbind());
        (Values::U64(fingerprints).into(), valid, Values::U32(lengths).into(), languages, self.notes)
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

/// Distinct fingerprints of batches, and how many rows have the most common one; `valid` has a byte a row.
#[pyfunction]
pub fn simhash_groups(py: Python<'_>, batches: Vec<(Bound<'_, Column>, PyBackedBytes)>) -> (u64, u64) {
    let mut all = Vec::new();
    for (batch, valid) in &batches {
        let rows = batch.get().as_hashes().iter().zip(valid.iter());
        all.extend(rows.filter(|(_, is_valid)| **is_valid != 0).map(|(bits, _)| *bits));
    }
    detached(py, 8 * all.len(), || {
        all.sort_unstable();
        let groups = all.chunk_by(|left, right| left == right).map(<[u64]>::len);
        groups.fold((0, 0), |(distinct, largest), group| (distinct + 1, largest.max(group as u64)))
    })
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

/// Problems that are kept with their reasons; more are only counted.
const MAX_PROBLEMS: usize = 1_000;

/// Reads the rows of a corpus and hands out their fingerprints, batch by batch: nothing is kept.
#[pyclass(module = "lookalike._core")]
pub struct SimhashReader {
    reader: RowReader,
    pool: Pool,
    /// The source being read, and its rows so far.
    source: String,
    row: u64,
    states: [u64; 5],
    problems: Vec<(String, u64, String)>,
    /// Rows in which parts that are no characters became U+FFFD, and the source and number of the first.
    mended: (u64, String, u64),
}

/// Columns of a batch: where names end, all names, fingerprints, whether each is one, lengths, numbers of languages.
type Named = (Column, Py<PyBytes>, Column, Py<PyBytes>, Column, Py<PyBytes>);

#[pymethods]
impl SimhashReader {
    #[new]
    fn new(
        maker: &SimhashMaker,
        text_column: String,
        id_column: String,
        record_bytes: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let recipe = maker.recipe.clone();
        let shingling = Shingling::new(recipe.options(), 1, false, 64).map_err(to_python)?;
        let columns = RecordColumns { text: text_column, number: None, name: Some(id_column) };
        let sketching = Sketching::Simhash { recipe, with_shingles: false };
        let traits = KeptTraits::None;
        let how = ReadSettings { shingling, sketching, columns, most: record_bytes, traits, with_names: true };
        let pool = Pool::new(threads)?;
        let reader = RowReader::new(how).map_err(to_python)?;
        let mended = (0, String::new(), 0);
        Ok(Self { reader, pool, source: String::new(), row: 0, states: [0; 5], problems: Vec::new(), mended })
    }

    /// What comes next is of this source.
    fn begin(&mut self, source: String) {
        (self.source, self.row) = (source, 0);
    }

    /// Takes a chunk of a file of JSON Lines, cut anywhere. Returns also the keys of the ids.
    fn push_lines(&mut self, py: Python<'_>, data: PyBackedBytes, last: bool) -> (Named, Column) {
        let Self { reader, pool, .. } = self;
        let mut parts = detached(py, usize::MAX, || pool.install(|| reader.lines(&data, last)));
        let names = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.names)).collect();
        let keys = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.name_keys)).collect();
        (self.named(py, &parts, names), Values::U64(keys).into())
    }

    /// Takes the three buffers of an Arrow string array, whether its type promises text, and the names that rows have.
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
        names: Option<Vec<Option<String>>>,
    ) -> PyResult<Named> {
        let texts = ArrowTexts::new(validity.as_ref(), &offsets, &data, width, rows)?;
        let text = |row: usize| texts.get(row).map(|bytes| GivenText::new(bytes, is_text));
        let Self { reader, pool, .. } = self;
        let parts = detached(py, usize::MAX, || pool.install(|| reader.texts(&text, None, rows)));
        Ok(self.named(py, &parts, names.unwrap_or_default()))
    }

    /// Takes texts one by one, `None` where there is none, and their names.
    fn push_texts(&mut self, py: Python<'_>, texts: Vec<Option<Input>>, names: Vec<Option<String>>) -> Named {
        let text = |row: usize| texts[row].as_ref().map(Input::given);
        let Self { reader, pool, .. } = self;
        let parts = detached(py, usize::MAX, || pool.install(|| reader.texts(&text, None, texts.len())));
        self.named(py, &parts, names)
    }

    /// Rows by what became of them: fingerprinted, without features, missing, bad, blank.
    #[getter]
    fn states(&self) -> [u64; 5] {
        self.states
    }

    /// The first rows that could not be read: their source, number from 1 on, and why.
    #[getter]
    fn problems(&self) -> Vec<(String, u64, String)> {
        self.problems.clone()
    }

    /// How many rows have parts that are no characters, each of which became U+FFFD, and the source and number from 1 on of the first.
    #[getter]
    fn mended(&self) -> (u64, String, u64) {
        self.mended.clone()
    }
}

impl SimhashReader {
    /// Batches as columns; a row without a name is called by its source and number.
    fn named(&mut self, py: Python<'_>, parts: &[Signed], given: Vec<Option<String>>) -> Named {
        let (mut ends, mut names, mut prints) = (vec![0], Vec::new(), Vec::new());
        let mut given = given.into_iter();
        for part in parts {
            let room = MAX_PROBLEMS.saturating_sub(self.problems.len());
            let problem = |(at, why): &(u32, String)| (self.source.clone(), self.row + u64::from(*at) + 1, why.clone());
            self.problems.extend(part.problems.iter().take(room).map(problem));
            if let (0, Some(row)) = (self.mended.0, part.mended.first()) {
                (self.mended.1, self.mended.2) = (self.source.clone(), self.row + u64::from(*row) + 1);
            }
            self.mended.0 += part.mended.len() as u64;
            // Rows at the end without a text have no print.
            let all = part.prints.iter().copied().chain(std::iter::repeat(Print::default()));
            for (row, print) in part.rows.iter().zip(all) {
                self.row += 1;
                self.states[row.state as usize] += 1;
                prints.push(print);
                match given.next().flatten() {
                    Some(name) => names.extend_from_slice(name.as_bytes()),
                    None => names.extend_from_slice(format!("{}:{}", self.source, self.row).as_bytes()),
                }
                ends.push(names.len() as u64);
            }
        }
        let valid: Vec<u8> = prints.iter().map(|print| u8::from(print.fingerprint.is_some())).collect();
        let fingerprints = prints.iter().map(|print| print.fingerprint.unwrap_or(0)).collect();
        let lengths = prints.iter().map(|print| print.length).collect();
        let languages: Vec<u8> = prints.iter().map(|print| print.language.number()).collect();
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).unbind();
        let (ends, lengths) = (Values::U64(ends).into(), Values::U32(lengths).into());
        (ends, bytes(&names), Values::U64(fingerprints).into(), bytes(&valid), lengths, bytes(&languages))
    }
}
