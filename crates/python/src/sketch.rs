//! Exact measures and sketches, as Python calls them.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::{to_python, unknown, ParameterError};
use crate::fingerprint::{options_of, reading, Note, Reading};
use crate::input::{Input, Whole};
use crate::texts::{Opened, Texts};
use lookalike_core::error::Result;
use lookalike_core::sketch::estimate::Estimate;
use lookalike_core::sketch::exact::Counts;
use lookalike_core::sketch::features::Features;
use lookalike_core::sketch::kind::{SketchKind, SketchRecipe, KINDS};
use lookalike_core::sketch::shingle::{into_set, Shingler, Shingling};
use lookalike_core::sketch::sketching::{Sketch as Core, TextSketcher};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyType};

fn kind_of(name: &str) -> PyResult<SketchKind> {
    let found = KINDS.iter().find(|(_, known)| *known == name);
    found.map(|(kind, _)| *kind).ok_or_else(|| unknown("sketch", name, &KINDS.map(|(_, name)| name)))
}

/// Refuses what is no confidence.
fn confidence_of(confidence: f64) -> PyResult<f64> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(confidence);
    }
    let reason = "is not a share of cases: use a number above 0 and below 1, such as 0.95";
    Err(ParameterError::new_err(format!("confidence `{confidence}` {reason}")))
}

/// Shingles of both, common ones, and what follows from them; the measures are missing where they are undefined.
pub type Measures = (u64, u64, u64, Option<f64>, Option<f64>, Option<f64>);

/// Distinct shingles of two texts, common ones, resemblance, and containment both ways.
#[pyfunction]
pub fn measure(
    py: Python<'_>,
    left: Input,
    right: Input,
    shingle: Whole,
    unit: &str,
    homoglyphs: bool,
    labelled: bool,
) -> PyResult<Measures> {
    let shingling = Shingling::new(options_of(unit, homoglyphs)?, shingle.0, labelled, 64).map_err(to_python)?;
    let count = || -> Result<Counts> {
        let mut shingler = Shingler::new(shingling);
        let mut set = |input: &Input| -> Result<Vec<u64>> {
            let mut ids = Vec::new();
            shingler.ids(&input.open()?.decoded.text, &mut ids);
            into_set(&mut ids);
            Ok(ids)
        };
        Ok(Counts::new(&set(&left)?, &set(&right)?))
    };
    let counts = detached(py, left.len_bytes() + right.len_bytes(), count).map_err(to_python)?;
    Ok(measures(&counts))
}

/// What follows from counts.
pub fn measures(counts: &Counts) -> Measures {
    let (there, back) = (counts.containment(), counts.turned().containment());
    (counts.left, counts.right, counts.common, counts.resemblance(), there, back)
}

/// Makes sketches of texts, all by the same parameters.
#[pyclass(frozen, module = "lookalike._core")]
pub struct SketchMaker(SketchRecipe);

impl SketchMaker {
    /// How they are made.
    pub fn recipe(&self) -> SketchRecipe {
        self.0
    }
}

/// Rows of a batch: a matrix with one row per document, the shingles of each, and notes.
type Rows = (Column, Column, Vec<Note>);

#[pymethods]
impl SketchMaker {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        kind: &str,
        size: Whole,
        modulus: Whole,
        shingle: Whole,
        unit: &str,
        homoglyphs: bool,
        labelled: bool,
        bits: Whole,
    ) -> PyResult<Self> {
        let options = options_of(unit, homoglyphs)?;
        let shingling = Shingling::new(options, shingle.0, labelled, bits.0).map_err(to_python)?;
        SketchRecipe::new(kind_of(kind)?, size.0, modulus.0, shingling).map(Self).map_err(to_python)
    }

    /// The sketch of no text: what updates begin with.
    fn empty(&self) -> Sketch {
        Sketch(Core::empty(self.0))
    }

    /// The sketch of one text, and how it was read.
    fn one(&self, py: Python<'_>, text: Input) -> PyResult<(Sketch, Reading)> {
        let make = || -> Result<_> {
            let text = text.open()?;
            Ok((TextSketcher::new(self.0)?.sketch(&text.decoded.text), reading(&text)))
        };
        let (made, read) = detached(py, text.len_bytes(), make).map_err(to_python)?;
        Ok((Sketch(made), read))
    }

    /// Coordinates of many texts; one that cannot be read has a row of all ones and a note.
    fn rows(&self, py: Python<'_>, texts: Texts) -> PyResult<Rows> {
        let mut maker = TextSketcher::new(self.0).map_err(to_python)?;
        let texts = texts.view()?;
        let (mut rows, mut shingles, mut notes) = (vec![0; texts.len() * self.0.size], Vec::new(), Vec::new());
        texts.each(py, |text| {
            let index = shingles.len();
            let row = &mut rows[index * self.0.size..][..self.0.size];
            shingles.push(fill(&mut maker, text, index, row, &mut notes));
        })?;
        Ok((Values::Rows(rows, self.0.size).into(), Values::U32(shingles).into(), notes))
    }
}

/// Fills the row of one document of a batch and returns its shingles.
fn fill(maker: &mut TextSketcher, text: Opened, index: usize, row: &mut [u64], notes: &mut Vec<Note>) -> u32 {
    match text {
        Ok(text) => {
            if text.decoded.guessed || text.decoded.replaced > 0 {
                notes.push((index, Some(reading(&text)), None));
            }
            maker.coordinates(&text.decoded.text, row) as u32
        }
        Err(error) => {
            row.fill(u64::MAX);
            notes.push((index, None, Some(error)));
            0
        }
    }
}

/// Joins batches of rows end to end: the matrix, and the shingles of each document.
#[pyfunction]
pub fn concatenate_rows(batches: Vec<(Bound<'_, Column>, Bound<'_, Column>)>, size: usize) -> (Column, Column) {
    let (mut rows, mut shingles) = (Vec::new(), Vec::new());
    for (batch, counts) in &batches {
        rows.extend_from_slice(batch.get().as_rows());
        shingles.extend_from_slice(counts.get().as_positions());
    }
    (Values::Rows(rows, size).into(), Values::U32(shingles).into())
}

/// Value, lower and upper limit, common elements, size of the sample, and what collisions add to the interval; missing where undefined.
type Found = Option<(f64, f64, f64, u64, u64, f64)>;

fn found(estimate: Option<Estimate>, counts: Option<(u64, u64)>) -> Found {
    let (estimate, (common, sample)) = estimate.zip(counts)?;
    Some((estimate.value, estimate.low, estimate.high, common, sample, estimate.collisions))
}

/// What is kept of a document; it never changes.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Sketch(Core);

impl From<Core> for Sketch {
    fn from(core: Core) -> Self {
        Self(core)
    }
}

#[pymethods]
impl Sketch {
    /// The sketch that was stored.
    #[new]
    fn new(data: PyBackedBytes) -> PyResult<Self> {
        Core::from_bytes(&data).map(Self).map_err(to_python)
    }

    /// What makes the sketch again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (py.get_type::<Self>(), (self.to_bytes(py),))
    }

    /// The sketch itself: it never changes.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The sketch itself: it never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Kind, size, modulus, shingle, unit, homoglyphs, labelled, bits: as `SketchMaker` takes them.
    fn parameters(&self) -> (&'static str, usize, u64, usize, String, bool, bool, u32) {
        let (recipe, shingling) = (self.0.recipe(), self.0.recipe().shingling);
        let unit = format!("{:?}", shingling.options.unit).to_lowercase();
        let (homoglyphs, labelled) = (shingling.options.homoglyphs, shingling.labelled);
        (recipe.kind.name(), recipe.size, recipe.modulus, shingling.width, unit, homoglyphs, labelled, shingling.bits)
    }

    /// Elements: coordinates, or the ids of the sample.
    #[getter]
    fn values(&self) -> Column {
        Values::U64(self.0.values().to_vec()).into()
    }

    /// The greatest probability that two different shingles have the same id.
    #[getter]
    fn collision_bound(&self) -> f64 {
        self.0.collision_bound()
    }

    /// The features of the filter (k, s, r); none for a document without shingles. REQUIRES: a sketch with coordinates.
    fn features(&self, filter: (usize, usize, usize)) -> PyResult<Column> {
        let features = Features::new(filter.0, filter.1, filter.2).map_err(to_python)?;
        let mut out = Vec::new();
        if !self.0.is_empty() {
            features.features(&self.0.values().iter().map(|value| *value as u32).collect::<Vec<_>>(), &mut out);
        }
        Ok(Values::U64(out).into())
    }

    /// Distinct shingles where they were counted, else an estimate.
    fn count(&self) -> f64 {
        self.0.count()
    }

    #[getter]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[getter]
    fn len_bytes(&self) -> usize {
        self.0.len_bytes()
    }

    /// Common elements and the size of the sample, without an interval; missing where undefined.
    fn agreement(&self, other: &Self) -> PyResult<Option<(u64, u64)>> {
        self.0.agreement(&other.0).map_err(to_python)
    }

    fn resemblance(&self, other: &Self, confidence: f64) -> PyResult<Found> {
        let confidence = confidence_of(confidence)?;
        let counts = self.0.agreement(&other.0).map_err(to_python)?;
        Ok(found(self.0.resemblance(&other.0, confidence).map_err(to_python)?, counts))
    }

    fn containment(&self, other: &Self, confidence: f64) -> PyResult<Found> {
        let confidence = confidence_of(confidence)?;
        let counts = self.0.inclusion(&other.0).map_err(to_python)?;
        Ok(found(self.0.containment(&other.0, confidence).map_err(to_python)?, counts))
    }

    /// The sketch of both documents' shingles together.
    fn merged(&self, other: &Self) -> PyResult<Self> {
        let mut merged = self.0.clone();
        merged.merge(&other.0).map_err(to_python)?;
        Ok(Self(merged))
    }

    /// The sketch with these shingles added.
    fn updated(&self, py: Python<'_>, shingles: Vec<PyBackedBytes>) -> PyResult<Self> {
        let mut updated = self.0.clone();
        let len_bytes = shingles.iter().map(|shingle| shingle.len()).sum();
        let add =
            || TextSketcher::new(*updated.recipe())?.update(&mut updated, shingles.iter().map(|shingle| &**shingle));
        detached(py, len_bytes, add).map_err(to_python)?;
        Ok(Self(updated))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
