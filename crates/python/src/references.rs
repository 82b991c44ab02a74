//! The references found in a corpus, as Python takes them.

use crate::column::{Column, Values};
use lookalike_dedup::corpus::Corpus;
use lookalike_dedup::job::{DedupOutcome, Link};
use lookalike_dedup::references::Match;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Pairs of a reference and a row: reference, row, common shingles, shingles of the reference, of the row, and whether the
/// texts are identical.
pub type Matches = (Column, Column, Column, Column, Column, Py<PyBytes>);
/// References with a text and those found, pairs not listed and pairs counted, the best pair of each row by row, all
/// listed pairs by reference and row.
pub type Contaminated = ((u64, u64), (u64, u64), Matches, Matches);

/// Pairs as columns.
pub fn columns(py: Python<'_>, matches: &[Match]) -> Matches {
    let column = |of: fn(&Match) -> u32| Column::from(Values::U32(matches.iter().map(of).collect()));
    let identical: Vec<u8> = matches.iter().map(|one| u8::from(one.is_identical)).collect();
    (
        column(|one| one.reference),
        column(|one| one.row),
        column(|one| one.common),
        column(|one| one.reference_size),
        column(|one| one.row_size),
        PyBytes::new(py, &identical).unbind(),
    )
}

/// What was found of the references of a corpus, if it has any.
pub fn contaminated(py: Python<'_>, corpus: &Corpus) -> Option<Contaminated> {
    let found = corpus.contamination()?;
    let mut pairs = found.pairs.clone();
    pairs.sort_unstable_by_key(|one| (one.reference, one.row));
    let work = (found.unlisted, found.counted);
    Some((corpus.references(), work, columns(py, &found.best), columns(py, &pairs)))
}

/// The rows that go because of a reference, as an outcome without pairs.
pub fn outcome(corpus: &Corpus) -> Option<DedupOutcome> {
    let found = corpus.contamination()?;
    let rows = corpus.rows.len();
    let (mut survivor, mut score, mut link) =
        ((0..rows as u32).collect::<Vec<u32>>(), vec![1.0; rows], vec![Link::None; rows]);
    for one in &found.best {
        let row = one.row as usize;
        survivor[row] = one.reference;
        score[row] = one.score(found.sought()) as f32;
        link[row] = if one.is_identical { Link::Identical } else { Link::Contained };
    }
    let documents = corpus.states[0];
    Some(DedupOutcome { survivor, score, link, documents, exacts: found.counted, ..DedupOutcome::default() })
}
