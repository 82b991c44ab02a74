//! Limits on pairs of rows: similar lengths, and the same language (Manku 2007, §6 A and C), as in deduplication.
//!
//! Cost: two comparisons per pair; 8 bytes a row for its length and 4 for its language, of the queries and a chunk.

use lookalike_core::simhash::lengths::is_within;
use std::collections::HashMap;

/// The number of an unknown language, and of one that no query has. No row is in the language of these.
const UNKNOWN: u32 = 0;

/// What limits compare of rows. A column that no limit asks for is empty.
#[derive(Debug, Default)]
pub struct RowTraits {
    lengths: Vec<u64>,
    languages: Vec<u32>,
}

/// The limits, with the traits of the queries.
#[derive(Debug, Default)]
pub struct RowLimits {
    length: Option<f64>,
    same_language: bool,
    /// The languages of the queries, numbered from 1 on.
    numbers: HashMap<String, u32>,
    asked: RowTraits,
}

impl RowLimits {
    /// Limits for queries. `length` is the largest difference of lengths, as a share of the longer one; with languages
    /// only rows with the same known language are paired. REQUIRES: a length for every query if there is such a share.
    pub fn new(length: Option<f64>, lengths: Vec<u64>, languages: Option<&[&str]>) -> Self {
        let mut limits = Self { length, same_language: languages.is_some(), ..Self::default() };
        for code in languages.unwrap_or_default().iter().filter(|code| !code.is_empty()) {
            if !limits.numbers.contains_key(*code) {
                limits.numbers.insert((*code).to_owned(), limits.numbers.len() as u32 + 1);
            }
        }
        limits.asked = limits.traits(lengths, languages);
        limits
    }

    /// The traits of stored rows.
    pub fn traits(&self, lengths: Vec<u64>, languages: Option<&[&str]>) -> RowTraits {
        let number = |code: &&str| self.numbers.get(*code).copied().unwrap_or(UNKNOWN);
        RowTraits { lengths, languages: languages.unwrap_or_default().iter().map(number).collect() }
    }

    /// Whether a query and a stored row may be paired.
    pub fn allow(&self, query: usize, row: usize, rows: &RowTraits) -> bool {
        let length = |traits: &RowTraits, at: usize| traits.lengths.get(at).copied().unwrap_or_default();
        let language = |traits: &RowTraits, at: usize| traits.languages.get(at).copied().unwrap_or(UNKNOWN);
        let spoken = language(&self.asked, query);
        let is_spoken = !self.same_language || (spoken != UNKNOWN && spoken == language(rows, row));
        is_spoken && is_within(self.length, length(&self.asked, query), length(rows, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_language_is_no_common_one() {
        let limits = RowLimits::new(None, vec![], Some(&["en", "", "sw"]));
        let rows = limits.traits(vec![], Some(&["en", "", "sw", "de"]));
        let found: Vec<Vec<usize>> =
            (0..3).map(|query| (0..4).filter(|row| limits.allow(query, *row, &rows)).collect()).collect();
        assert_eq!(found, [vec![0], vec![], vec![2]]);
    }

    #[test]
    fn both_limits_hold_and_none_allows_all() {
        let limits = RowLimits::new(Some(0.2), vec![100], Some(&["en"]));
        let rows = limits.traits(vec![80, 79, 100], Some(&["en", "en", "de"]));
        assert_eq!((0..3).map(|row| limits.allow(0, row, &rows)).collect::<Vec<_>>(), [true, false, false]);
        assert!(RowLimits::default().allow(5, 7, &RowTraits::default()));
    }
}
