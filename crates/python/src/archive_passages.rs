//! Passages that documents of an index share with a document, as Python calls it.

use crate::archive_questions::AskedDocument;
use crate::compare::ReadFile;
use crate::detach::detached;
use crate::error::archive_to_python;
use crate::segments::{Snapshot, StoredRow};
use lookalike_compare::places::Region;
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_index::questions::conditions::Conditions;
use lookalike_index::questions::passages::{passages, PassageMatch, PassageWish, SharedPassage};
use pyo3::prelude::*;
use std::sync::Arc;

/// File, start, end, first and last line.
type Place = (u32, u32, u32, u32, u32);
/// Place in the asked document, place in the stored one, tokens, whether it is exact, whether it is a literal.
type PassageRow = (Place, Place, u32, bool, bool);
/// Number, what is stored, documents with this content, shared k-grams and literals, passages.
type MatchRow = (u64, StoredRow, u64, u32, Vec<PassageRow>);
/// Matches; what very many have: place and number of documents; documents that share something, those that share something
/// rare, whether the search ended early; holders, rows and texts that were read.
type FoundRow = (Vec<MatchRow>, Vec<(Place, u64)>, (u64, u64, bool), [u64; 3]);

fn place(region: Region) -> Place {
    (region.file, region.start, region.end, region.start_line, region.end_line)
}

fn passage(one: &SharedPassage) -> PassageRow {
    (place(one.asked), place(one.stored), one.tokens, one.exact, one.is_literal)
}

fn matched(one: PassageMatch) -> MatchRow {
    let rows = one.passages.iter().map(passage).collect();
    (one.number, StoredRow(one.row), one.copies, one.shared, rows)
}

/// The documents of a snapshot that share passages with a document of these files, at most `top`. `thresholds` are those of
/// rows of a corpus; `window` is that of the files if it is coarser than that of the index, or 0; conditions are keys and values that meta data must have; `keyed` is the document as an index with keys of
/// its own knows it.
#[pyfunction]
#[pyo3(signature = (snapshot, files, thresholds, window, top, conditions, keyed=None))]
#[allow(clippy::too_many_arguments)]
pub fn shared_passages(
    py: Python<'_>,
    snapshot: &Snapshot,
    files: Vec<Py<ReadFile>>,
    thresholds: (u32, u32),
    window: u32,
    top: usize,
    conditions: Vec<(String, String)>,
    keyed: Option<Py<AskedDocument>>,
) -> PyResult<FoundRow> {
    let files: Vec<Arc<SubmittedFile>> = files.iter().map(|file| file.get().file.clone()).collect();
    let conditions = Conditions::new(conditions);
    let keyed = keyed.as_ref().map(|asked| &asked.get().0.document);
    let wish = PassageWish { conditions: &conditions, top, thresholds, window, keyed };
    let found = detached(py, usize::MAX, || passages(&snapshot.0, &files, wish)).map_err(archive_to_python)?;
    let work = [found.work.holders, found.work.rows, found.work.texts];
    let common = found.common.iter().map(|one| (place(one.asked), one.documents)).collect();
    let counts = (found.documents, found.candidates, found.is_limited);
    Ok((found.matches.into_iter().map(matched).collect(), common, counts, work))
}
