//! Text → fingerprints, spans and streams, as Python calls them.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::{to_python, unknown};
use crate::input::{Hashes, Input, Text, Whole};
use crate::texts::{Opened, Texts};
use lookalike_core::error::Result;
use lookalike_core::fingerprint::{Fingerprinter as Core, Thresholds};
use lookalike_core::frontend::{self, Options, Unit};
use lookalike_core::scheme::{self, Picks, SchemeKind};
use pyo3::prelude::*;

const UNITS: [&str; 3] = ["character", "word", "line"];
const SCHEMES: [&str; 8] =
    ["every", "modulo", "safe-modulo", "winnow", "robust", "compact", "compact-robust", "smallest"];

/// What the options of the surface call for.
pub fn options_of(unit: &str, homoglyphs: bool) -> PyResult<Options> {
    let unit = match unit {
        "character" => Unit::Character,
        "word" => Unit::Word,
        "line" => Unit::Line,
        other => return Err(unknown("unit", other, &UNITS)),
    };
    Ok(Options { unit, homoglyphs })
}

fn kind_of(scheme: &str, modulus: Whole, count: Whole) -> PyResult<SchemeKind> {
    let modulus = || modulus.at_least_one("modulus", "divides nothing");
    let count = || count.at_least_one("count", "selects nothing");
    match scheme {
        "every" => Ok(SchemeKind::Every),
        "modulo" => Ok(SchemeKind::Modulo { modulus: modulus()? }),
        "safe-modulo" => Ok(SchemeKind::SafeModulo { modulus: modulus()? }),
        "winnow" => Ok(SchemeKind::Winnow),
        "robust" => Ok(SchemeKind::Robust),
        "compact" => Ok(SchemeKind::Compact),
        "compact-robust" => Ok(SchemeKind::CompactRobust),
        "smallest" => Ok(SchemeKind::Smallest { count: count()? as usize }),
        other => Err(unknown("scheme", other, &SCHEMES)),
    }
}

/// Positions that a scheme selects from given hashes, compared by value.
#[pyfunction]
pub fn select(
    py: Python<'_>,
    hashes: Hashes,
    window: Whole,
    scheme: &str,
    modulus: Whole,
    count: Whole,
) -> PyResult<Column> {
    let window = window.at_least_one("window", "holds no hash")? as usize;
    let kind = kind_of(scheme, modulus, count)?;
    let picked = detached(py, 8 * hashes.0.len(), || scheme::select_hashes(kind.scheme(window).as_ref(), &hashes.0));
    Ok(Values::U32(picked).into())
}

/// The canonical form of a text, as a string.
#[pyfunction]
pub fn canonical(text: Input, homoglyphs: bool) -> PyResult<String> {
    let text = text.open().map_err(to_python)?;
    let options = Options { unit: Unit::Character, homoglyphs };
    let stream = frontend::stream(&text.decoded.text, options).map_err(to_python)?;
    Ok(stream.tokens.into_iter().filter_map(|code| char::from_u32(code as u32)).collect())
}

/// All tokens of a text and their spans.
#[pyfunction]
pub fn stream(py: Python<'_>, text: Input, unit: &str, homoglyphs: bool) -> PyResult<(Column, Column)> {
    let options = options_of(unit, homoglyphs)?;
    let read = || -> Result<_> {
        let text = text.open()?;
        let stream = frontend::stream(&text.decoded.text, options)?;
        Ok((stream.tokens, text.as_given(stream.spans)))
    };
    let (tokens, spans) = detached(py, text.len_bytes(), read).map_err(to_python)?;
    Ok((Values::U64(tokens).into(), Values::Spans(spans).into()))
}

/// Spans of the k-grams at ascending positions of a text.
#[pyfunction]
pub fn locate(
    py: Python<'_>,
    text: Input,
    positions: &Column,
    k: usize,
    unit: &str,
    homoglyphs: bool,
) -> PyResult<Column> {
    let options = options_of(unit, homoglyphs)?;
    let positions = positions.as_positions();
    let find = || -> Result<_> {
        let text = text.open()?;
        let spans = frontend::locate(&text.decoded.text, options, positions, k);
        Ok(text.as_given(spans))
    };
    let spans = detached(py, text.len_bytes(), find).map_err(to_python)?;
    Ok(Values::Spans(spans).into())
}

/// How a document was read: encoding, whether that was a guess, how much was replaced.
pub type Reading = (String, bool, u32);

/// One document of a batch that was not read plainly as UTF-8: its index, and the reading or what went wrong.
pub type Note = (usize, Option<Reading>, Option<String>);

/// How a text was read.
pub fn reading(text: &Text) -> Reading {
    (text.decoded.encoding.to_string(), text.decoded.guessed, text.decoded.replaced)
}

/// Makes fingerprints of texts, all by the same parameters.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Fingerprinter(Core);

impl Fingerprinter {
    /// What makes the fingerprints.
    pub fn core(&self) -> &Core {
        &self.0
    }
}

#[pymethods]
impl Fingerprinter {
    #[new]
    fn new(
        k: Whole,
        t: Whole,
        scheme: &str,
        unit: &str,
        homoglyphs: bool,
        modulus: Whole,
        count: Whole,
    ) -> PyResult<Self> {
        let thresholds = Thresholds::new(k.0, t.0).map_err(to_python)?;
        Ok(Self(Core::new(thresholds, kind_of(scheme, modulus, count)?, options_of(unit, homoglyphs)?)))
    }

    /// Fingerprints of one document: hashes, positions, number of tokens, and how it was read.
    fn one(&self, py: Python<'_>, text: Input) -> PyResult<(Column, Column, usize, Reading)> {
        let make = || -> Result<_> {
            let text = text.open()?;
            let mut picks = Picks::default();
            let tokens = self.0.text(&text.decoded.text, &mut picks)?;
            Ok((picks, tokens, reading(&text)))
        };
        let (picks, tokens, read) = detached(py, text.len_bytes(), make).map_err(to_python)?;
        Ok((Values::U64(picks.hashes).into(), Values::U32(picks.positions).into(), tokens, read))
    }

    /// Fingerprints of many documents: hashes, positions, where each document's begin (one more than documents), tokens
    /// of each, and a note on each document that was guessed, mended or refused. One bad document never ends a batch.
    fn many(&self, py: Python<'_>, texts: Texts) -> PyResult<(Column, Column, Column, Column, Vec<Note>)> {
        let mut batch = Batch { offsets: vec![0], ..Batch::default() };
        texts.view()?.each(py, |text| batch.add(&self.0, text))?;
        let (hashes, positions) = (Values::U64(batch.picks.hashes), Values::U32(batch.picks.positions));
        let (offsets, tokens) = (Values::U64(batch.offsets), Values::U32(batch.tokens));
        Ok((hashes.into(), positions.into(), offsets.into(), tokens.into(), batch.notes))
    }
}

/// Columns in the making.
#[derive(Default)]
struct Batch {
    picks: Picks,
    offsets: Vec<u64>,
    tokens: Vec<u32>,
    notes: Vec<Note>,
}

impl Batch {
    /// Appends one document; one that cannot be read has no fingerprints and a note.
    fn add(&mut self, by: &Core, text: Opened) {
        let index = self.tokens.len();
        let made = text.and_then(|text| {
            let count = by.text(&text.decoded.text, &mut self.picks).map_err(|error| error.to_string())?;
            let is_notable = text.decoded.guessed || text.decoded.replaced > 0;
            Ok((count, is_notable.then(|| reading(&text))))
        });
        let count = match made {
            Ok((count, notable)) => {
                self.notes.extend(notable.map(|read| (index, Some(read), None)));
                count
            }
            Err(error) => {
                self.notes.push((index, None, Some(error)));
                0
            }
        };
        self.tokens.push(count as u32);
        self.offsets.push(self.picks.len() as u64);
    }
}

/// The columns of one batch.
type Columns<'py> = (Bound<'py, Column>, Bound<'py, Column>, Bound<'py, Column>, Bound<'py, Column>);

/// Joins batches end to end: hashes, positions, offsets (shifted), tokens.
#[pyfunction]
pub fn concatenate(batches: Vec<Columns<'_>>) -> (Column, Column, Column, Column) {
    let (mut hashes, mut positions, mut offsets, mut tokens) = (Vec::new(), Vec::new(), vec![0], Vec::new());
    for (batch_hashes, batch_positions, batch_offsets, batch_tokens) in &batches {
        let base = hashes.len() as u64;
        hashes.extend_from_slice(batch_hashes.get().as_hashes());
        positions.extend_from_slice(batch_positions.get().as_positions());
        offsets.extend(batch_offsets.get().as_hashes().iter().skip(1).map(|offset| base + offset));
        tokens.extend_from_slice(batch_tokens.get().as_positions());
    }
    (Values::U64(hashes).into(), Values::U32(positions).into(), Values::U64(offsets).into(), Values::U32(tokens).into())
}
