//! Files of fingerprints, as Python reads them and writes pairs: columns in, columns out, no object per row.

use crate::column::{Column, Values};
use crate::detach::detached;
use crate::error::{unknown, ParameterError};
use crate::hamming::HammingBatch;
use crate::input::{GivenStrings, Hashes};
use lookalike_near::names::Strings;
use lookalike_near::pairs::{csv, PairSheet};
use lookalike_near::print_reader::{remedy, Layout, PrintReader as Core, PrintRows, RefusedFile};
use lookalike_near::print_text::parse;
use lookalike_near::row_limits::RowLimits;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// Rows: ids, fingerprints, further columns; rows left out, and the first of them with number and reason.
type Rows = (Column, Column, Vec<Column>, u64, Vec<(u64, String)>);

fn columns(rows: PrintRows) -> Rows {
    let others = rows.others.into_iter().map(|column| Values::Texts(column).into()).collect();
    (Values::Texts(rows.ids).into(), Values::U64(rows.fingerprints).into(), others, rows.left_out, rows.problems)
}

/// The reason is told by the caller, who knows the name of the file: number of the line, and why.
fn refused(error: RefusedFile) -> PyErr {
    ParameterError::new_err(format!("line {}: {}", error.line, error.reason))
}

/// Reads a file of fingerprints chunk by chunk.
#[pyclass(module = "lookalike._core")]
pub struct PrintReader(Core);

#[pymethods]
impl PrintReader {
    /// `layout` is csv, tsv, json, or cells for columns that are cut already; `columns` are id, fingerprint, and others.
    #[new]
    fn new(layout: &str, columns: Vec<String>, record_bytes: usize) -> PyResult<Self> {
        let layout = match layout {
            "csv" => Layout::Csv(b','),
            "tsv" => Layout::Csv(b'\t'),
            "json" => Layout::Json,
            "cells" => Layout::Cells,
            other => return Err(unknown("layout", other, &["csv", "tsv", "json", "cells"])),
        };
        if columns.len() < 2 {
            return Err(ParameterError::new_err("a file of fingerprints has a column of ids and one of fingerprints"));
        }
        Ok(Self(Core::new(layout, columns, record_bytes)))
    }

    /// Takes a chunk of the file, cut anywhere.
    fn push(&mut self, py: Python<'_>, data: PyBackedBytes, last: bool) -> PyResult<Rows> {
        let reader = &mut self.0;
        detached(py, usize::MAX, || reader.push(&data, last)).map(columns).map_err(refused)
    }

    /// The rest of a file that is cut short, without the row at its end.
    fn abandon(&mut self) -> Rows {
        columns(self.0.abandon())
    }

    /// Takes rows as columns of texts.
    fn push_cells(&mut self, py: Python<'_>, cells: Vec<GivenStrings>, last: bool) -> PyResult<Rows> {
        let cells = cells.iter().map(GivenStrings::cells).collect::<PyResult<Vec<_>>>()?;
        let reader = &mut self.0;
        Ok(columns(detached(py, usize::MAX, || reader.push_cells(&cells, last))))
    }
}

/// One column of several columns of strings.
#[pyfunction]
pub fn concatenate_texts(columns: Vec<GivenStrings>) -> PyResult<Column> {
    let mut all = Strings::default();
    for column in &columns {
        column.all()?.into_iter().for_each(|text| all.push(text));
    }
    Ok(Values::Texts(all).into())
}

/// The numbers of a column of strings, if each is a whole number below 2^64 as it is usually written; else nothing.
#[pyfunction]
pub fn whole_numbers(texts: GivenStrings) -> PyResult<Option<Column>> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    let numbers: Option<Vec<u64>> = texts.all()?.into_iter().map(number).collect();
    Ok(numbers.map(|numbers| Values::U64(numbers).into()))
}

/// A fingerprint written as a signed or unsigned number, as 0x…, or as 16 hexadecimal digits; none if it is no such.
#[pyfunction]
pub fn parse_fingerprint(text: &str, hexadecimal: bool) -> Option<u64> {
    parse(text, hexadecimal)
}

/// What to do if the column with this number is missing.
#[pyfunction]
pub fn column_remedy(number: usize) -> &'static str {
    remedy(number)
}

/// Gathers the pairs of a file that is streamed past queries.
#[pyclass(module = "lookalike._core")]
pub struct NearPairs {
    sheet: PairSheet,
    limits: RowLimits,
}

#[pymethods]
impl NearPairs {
    /// Lengths of the queries if `length_within` is a limit, and their languages if those have to be the same.
    #[new]
    fn new(length_within: Option<f64>, lengths: Option<Hashes>, languages: Option<GivenStrings>) -> PyResult<Self> {
        let languages = languages.as_ref().map(GivenStrings::all).transpose()?;
        let limits =
            RowLimits::new(length_within, lengths.map_or_else(Vec::new, |given| given.0), languages.as_deref());
        Ok(Self { sheet: PairSheet::default(), limits })
    }

    /// Adds the pairs of a chunk whose first row has position `first`; of a file with itself each once.
    #[expect(clippy::too_many_arguments, reason = "columns of one chunk, as Python holds them")]
    fn add(
        &mut self,
        py: Python<'_>,
        batch: &HammingBatch,
        fingerprints: Hashes,
        ids: GivenStrings,
        first: u64,
        is_own: bool,
        lengths: Option<Hashes>,
        languages: Option<GivenStrings>,
    ) -> PyResult<()> {
        let (ids, languages) = (ids.all()?, languages.as_ref().map(GivenStrings::all).transpose()?);
        let Self { sheet, limits } = self;
        let work = || {
            let rows = limits.traits(lengths.map_or_else(Vec::new, |given| given.0), languages.as_deref());
            let is_allowed = |query, row| limits.allow(query, row, &rows);
            batch.core().chunk(&fingerprints.0, first).map(|pairs| sheet.add(&pairs, &ids, first, is_own, is_allowed))
        };
        detached(py, usize::MAX, work).map_err(crate::error::to_python)
    }

    /// All pairs, ascending by query and position: ids of queries, ids of rows, distances.
    fn finish(&mut self, py: Python<'_>, asked: GivenStrings) -> PyResult<(Column, Column, Column)> {
        let (asked, sheet) = (asked.all()?, std::mem::take(&mut self.sheet));
        let pairs = detached(py, usize::MAX, || sheet.finish(&asked));
        Ok((Values::Texts(pairs.left).into(), Values::Texts(pairs.right).into(), Values::U32(pairs.distances).into()))
    }
}

/// Rows `first` to `last` of pairs as lines of CSV; texts are guarded against formulas.
#[pyfunction]
pub fn csv_pairs(
    py: Python<'_>,
    left: GivenStrings,
    right: GivenStrings,
    distances: &Column,
    first: usize,
    last: usize,
) -> PyResult<Py<PyBytes>> {
    let (left, right, distances) = (left.all()?, right.all()?, distances.as_positions());
    let last = last.min(left.len()).min(right.len()).min(distances.len());
    let rows = || (first.min(last)..last).map(|row| (left[row], right[row], distances[row]));
    let lines = detached(py, usize::MAX, || csv(rows()));
    Ok(PyBytes::new(py, &lines).unbind())
}
