//! Signing of JSON Lines for an index, as Python calls it: lines are cut, read as `dedup` reads them, and signed.

use crate::archive::{documents, identity, row_of, Identity, RecordSigner, SignedDocument};
use crate::detach::{detached, locked};
use lookalike_dedup::line_cutter::{lines, JoinedLine, LineJoiner};
use lookalike_dedup::record::{self, Record, RecordColumns};
use lookalike_index::fields::put_fields;
use lookalike_index::record::Document;
use lookalike_index::sign::RecordSigner as Signer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// Documents, skipped rows with their number in the file and the reason, how many rows are known, how many have mended
/// parts, and whether any row, also a known one, has the column of times.
type SignedLines = (Vec<SignedDocument>, Vec<(usize, String)>, usize, usize, bool);

/// Signs the lines of one file after the other.
#[pyclass(frozen, module = "lookalike._core")]
pub struct RecordLines {
    signer: Py<RecordSigner>,
    columns: RecordColumns,
    time: Option<String>,
    with_fields: bool,
    most: usize,
    /// The lines that are open between chunks, and how many ended.
    state: Mutex<(LineJoiner, usize)>,
}

#[pymethods]
impl RecordLines {
    #[new]
    fn new(
        signer: Py<RecordSigner>,
        text_column: String,
        id_column: String,
        time_column: Option<String>,
        with_fields: bool,
        record_bytes: usize,
    ) -> Self {
        let columns = RecordColumns { text: text_column, number: None, name: Some(id_column) };
        let state = Mutex::new((LineJoiner::new(record_bytes), 0));
        Self { signer, columns, time: time_column, with_fields, most: record_bytes, state }
    }

    /// Takes a chunk of a file, cut anywhere; `source` is its name as JSON, `known` as for rows. Returns the documents of
    /// the lines that end in it.
    fn push(
        &self,
        py: Python<'_>,
        data: PyBackedBytes,
        last: bool,
        source: &str,
        known: Option<Bound<'_, PyAny>>,
    ) -> PyResult<SignedLines> {
        let (signer, mended, is_timed) = (self.signer.get(), AtomicUsize::new(0), AtomicBool::new(false));
        let (cut, first) = locked(py, &self.state, |state| cut(state, &data, last, self.most));
        let line = |row: usize| cut.get(row).and_then(Option::as_deref);
        // A column that is missing reads as null.
        let has_time = |line: &[u8]| self.time(line).is_some_and(|raw| raw != "null");
        let look = |line: &[u8]| is_timed.fetch_or(has_time(line), Ordering::Relaxed);
        let skip = signer.known(py, cut.len(), known, |row| {
            look(line(row)?);
            self.identity(line(row)?, source, first + row + 1)
        })?;
        let sign = |signer: &mut Signer, row: usize| match line(row) {
            Some(line) => {
                look(line);
                self.sign(signer, line, source, first + row + 1, &mended)
            }
            None => Err(format!("the line has more bytes than the limit of `{}`", self.most)),
        };
        let rows = detached(py, usize::MAX, || signer.map(cut.len(), &skip, sign));
        let (made, skipped, known) = documents(py, rows);
        let skipped = skipped.into_iter().filter(|(_, reason)| !reason.is_empty());
        let skipped = skipped.map(|(row, reason)| (first + row + 1, reason)).collect();
        Ok((made, skipped, known, mended.into_inner(), is_timed.into_inner()))
    }
}

/// A line, or nothing for one that is too long.
type Line<'a> = Option<Cow<'a, [u8]>>;

/// The lines that end in a chunk, and how many ended before.
fn cut<'a>(state: &mut (LineJoiner, usize), data: &'a [u8], last: bool, most: usize) -> (Vec<Line<'a>>, usize) {
    let (joiner, before) = state;
    let ended = joiner.push(data, last);
    let joined = |line: JoinedLine| match line {
        JoinedLine::Bytes(bytes) => Some(Cow::Owned(bytes)),
        JoinedLine::TooLong => None,
    };
    let whole = |line: &'a [u8]| Some(Cow::Borrowed(line)).filter(|line| line.len() <= most);
    let mut cut: Vec<Line<'a>> = ended.first.map(joined).into_iter().collect();
    cut.extend(lines(ended.rest).map(whole));
    cut.extend(ended.last.map(joined));
    let first = *before;
    *before = if last { 0 } else { first + cut.len() };
    (cut, first)
}

impl RecordLines {
    /// The id and mark of a line with a text.
    fn identity(&self, line: &[u8], source: &str, number: usize) -> Option<Identity> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut buffer = String::new();
        let (record, name) = record::read(line, &self.columns, &mut buffer);
        match record {
            Record::Text(text, _) | Record::Mended(text, _) => {
                let id = name.as_ref().map(|name| name.text.as_bytes());
                Some(identity(text, id, &self.meta(line, source, number), self.time(line)))
            }
            _ => None,
        }
    }

    /// Signs one line. A blank line has an empty reason: it is no row.
    fn sign(
        &self,
        signer: &mut Signer,
        line: &[u8],
        source: &str,
        number: usize,
        mended: &AtomicUsize,
    ) -> Result<Document, String> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut buffer = String::new();
        let (record, name) = record::read(line, &self.columns, &mut buffer);
        let text = match record {
            Record::Text(text, _) => text,
            Record::Mended(text, _) => {
                mended.fetch_add(1, Ordering::Relaxed);
                text
            }
            Record::Blank => return Err(String::new()),
            Record::Missing => return Err(format!("there is no `{}`", self.columns.text)),
            Record::Bad(reason) => return Err(reason),
        };
        let id = name.as_ref().map(|name| name.text.as_bytes());
        row_of(signer, text, id, self.meta(line, source, number), self.time(line))
    }

    /// The time of a line, as it is written.
    fn time<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        let raw = self.time.as_deref().and_then(|column| record::value(line, column));
        raw.map(|raw| raw.trim_matches('"'))
    }

    fn meta(&self, line: &[u8], source: &str, number: usize) -> Vec<u8> {
        let mut meta = String::new();
        // Writing to a string cannot fail.
        let _ = write!(meta, "{{\"source\":{source},\"line\":{number}");
        let mut fields = String::new();
        if self.with_fields {
            let name = self.columns.name.as_deref().unwrap_or("");
            put_fields(line, &[&self.columns.text, name], &mut fields);
        }
        if !fields.is_empty() {
            let _ = write!(meta, ",\"fields\":{{{fields}}}");
        }
        meta.push('}');
        meta.into_bytes()
    }
}
