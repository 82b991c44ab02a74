//! Puts the rows of a corpus in order of rank, and finds the rows with identical texts.
//!
//! Cost: a sort of the rows by content, within the memory budget; 8 bytes per row.

use crate::corpus::Corpus;
use crate::job::{DedupSettings, Failure, Keep, SearchMethod};
use crate::sign::RowState;
use crate::spill::SpillFolder;
use lookalike_core::hash::mix64;
use std::cmp::Ordering;

/// The rows of a corpus by rank.
pub struct Ranking {
    /// For each row, the first in rank of the rows with the same text. A row without a text is alone.
    pub class: Vec<u32>,
    /// The rows that are compared, one of each class, in order of rank. Their *numbers* count from 0.
    pub documents: Vec<u32>,
}

impl Ranking {
    /// Ranks the rows of a corpus. Errors: the sort cannot be written or read.
    pub fn new(corpus: &Corpus, settings: &DedupSettings) -> Result<Self, Failure> {
        let mut order = ordered(corpus, settings);
        let mut rank = vec![0; order.len()];
        for (at, row) in (0..).zip(&order) {
            rank[*row as usize] = at;
        }
        let class = classes(corpus, settings, &rank)?;
        order.retain(|row| class[*row as usize] == *row && corpus.rows[*row as usize].state == RowState::Compared);
        Ok(Self { class, documents: order })
    }
}

/// The rows in order of rank: rows that come first are preferred for keeping. References come first, then the `keep`
/// rule decides, then the order of rows. For containment, larger documents come before smaller ones.
fn ordered(corpus: &Corpus, settings: &DedupSettings) -> Vec<u32> {
    let rows = &corpus.rows;
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    let by_rule = |left: &u32, right: &u32| {
        let (a, b) = (&rows[*left as usize], &rows[*right as usize]);
        match settings.keep {
            Keep::First => Ordering::Equal,
            Keep::Longest => b.bytes.cmp(&a.bytes),
            // Rows without a number come last.
            Keep::Largest => match (a.number.is_nan(), b.number.is_nan()) {
                (false, false) => b.number.total_cmp(&a.number),
                (left, right) => left.cmp(&right),
            },
        }
    };
    let is_reference = |row: &u32| settings.references.is_some_and(|references| *row < references);
    if !corpus.places.is_empty() {
        let place = |row: &u32| corpus.places.get(*row as usize).copied().unwrap_or(u32::MAX);
        order.sort_by_key(|row| (!is_reference(row), place(row)));
    }
    if settings.search == SearchMethod::Containment {
        let size = |row: &u32| corpus.store.id_count(*row);
        order.sort_by(|a, b| {
            is_reference(b).cmp(&is_reference(a)).then_with(|| size(b).cmp(&size(a))).then_with(|| by_rule(a, b))
        });
    } else if settings.keep != Keep::First {
        order.sort_by(|a, b| is_reference(b).cmp(&is_reference(a)).then_with(|| by_rule(a, b)));
    }
    order
}

/// For each row, the first in rank of the rows with the same text.
fn classes(corpus: &Corpus, settings: &DedupSettings, rank: &[u32]) -> Result<Vec<u32>, Failure> {
    let folder = SpillFolder::new(&settings.folder, "texts")?;
    let mut sorter = folder.sorter(settings.budget_bytes);
    for (row, known) in (0..).zip(&corpus.rows) {
        if known.state.has_text() {
            sorter.push(row, &[mix64(known.content as u64)])?;
        }
    }
    let mut class: Vec<u32> = (0..corpus.rows.len() as u32).collect();
    let mut table = sorter.finish()?;
    let mut same = Vec::new();
    while let Some((_, rows)) = table.next_run()? {
        if rows.len() == 1 {
            continue;
        }
        same.clear();
        same.extend(rows.iter().map(|row| (corpus.rows[*row as usize].content, rank[*row as usize], *row)));
        same.sort_unstable();
        for run in same.chunk_by(|left, right| left.0 == right.0) {
            let first = run[0].2;
            run.iter().for_each(|(_, _, row)| class[*row as usize] = first);
        }
    }
    Ok(class)
}
