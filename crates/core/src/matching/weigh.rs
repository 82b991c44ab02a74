//! What a token weighs: nothing in template or in what too many share, else by how rare the material is in the cohort.
//!
//! The weight of material that f of N submitters have is ln((N + 1) / f) / ln((N + 1) / 2), at most 1 and at least `FLOOR`:
//! what two share weighs as much as what one has alone, so a pair's own passages are not held against it; what everybody
//! wrote weighs next to nothing. Frequencies count submitters, not files, so nobody can make a stolen passage common by handing it in
//! many times. A token's frequency is that of the rarest selected k-gram that covers it and is shared at all.

use super::entry::{Entry, Literal};
use super::template::Marker;
use crate::table::{Row, Table};
use std::collections::HashMap;

/// The weight 1 as a number; sums of weights are exact integers, so no order of addition matters.
pub const UNIT: u32 = 1000;
/// The least a token of one's own weighs, so that identical submissions score 1 even when everybody handed in the same.
const FLOOR: f64 = 0.02;

/// The weight of material that `holders` of `submitters` have.
pub fn weight(holders: u32, submitters: u32) -> u32 {
    if submitters <= 2 {
        return UNIT;
    }
    let all = f64::from(submitters) + 1.0;
    let share = (all / f64::from(holders.clamp(2, submitters))).ln() / (all / 2.0).ln();
    (share.clamp(FLOOR, 1.0) * f64::from(UNIT)).round() as u32
}

/// A submission weighed.
#[derive(Clone, Debug, Default)]
pub struct Weighed {
    /// Weight of each token; 0 for template and for what too many share.
    pub tokens: Vec<u16>,
    /// Holders of each pick.
    pub holders: Vec<u32>,
    /// Weight of each literal; 0 where its token has none.
    pub literals: Vec<u32>,
    /// Sum of all weights: its own material.
    pub total: u64,
    /// Tokens in a template, and tokens that too many share; neither is its own.
    pub template: Vec<bool>,
    /// Likewise.
    pub common: Vec<bool>,
}

impl Weighed {
    /// Tokens that are its own.
    pub fn own(&self) -> usize {
        self.tokens.iter().filter(|weight| **weight > 0).count()
    }
}

/// The picks of all submissions in one table, and how many submitters hold each of its runs.
pub struct Frequencies {
    /// Owner: the submission; position: the index of the pick.
    pub table: Table,
    /// Submitters of each row's key.
    pub holders: Vec<u32>,
    literals: HashMap<u64, u32>,
    /// Distinct submitters.
    pub submitters: u32,
}

impl Frequencies {
    /// Sorts the picks and counts.
    pub fn new(entries: &[Entry]) -> Self {
        let rows: Vec<Row> = entries
            .iter()
            .enumerate()
            .flat_map(|(owner, entry)| {
                let row = move |(at, key): (usize, u64)| Row { key, owner: owner as u32, at: at as u32 };
                entry.picks.iter().map(|pick| pick.key).enumerate().map(row)
            })
            .collect();
        let table = Table::new(&rows);
        let mut holders = vec![0; rows.len()];
        for run in table.runs() {
            let count = distinct(table.rows()[run.clone()].iter().map(|row| entries[row.owner as usize].submitter));
            holders[run].fill(count);
        }
        Self {
            table,
            holders,
            literals: count_literals(entries),
            submitters: distinct(entries.iter().map(|e| e.submitter)),
        }
    }

    /// Holders of each pick of each submission.
    pub fn by_pick(&self, entries: &[Entry]) -> Vec<Vec<u32>> {
        let mut found: Vec<Vec<u32>> = entries.iter().map(|entry| vec![0; entry.picks.len()]).collect();
        for (row, holders) in self.table.rows().iter().zip(&self.holders) {
            found[row.owner as usize][row.at as usize] = *holders;
        }
        found
    }

    /// Weighs a submission. `max_sharing`: what more submitters share is nobody's own.
    pub fn weigh(&self, entry: &Entry, holders: Vec<u32>, marker: &Marker, max_sharing: Option<u32>) -> Weighed {
        let rarest = rarest_cover(entry, &holders);
        let template = marker.mark(entry);
        let common: Vec<bool> = rarest.iter().map(|count| max_sharing.is_some_and(|most| *count > most)).collect();
        let mut tokens = vec![0u16; entry.tokens.len()];
        for part in &entry.parts {
            for at in part.start as usize..part.end as usize {
                if !template[at] && !common[at] {
                    tokens[at] = (weight(rarest[at], self.submitters) * part.worth / UNIT).max(1) as u16;
                }
            }
        }
        let literals: Vec<u32> =
            entry.literals.iter().map(|literal| self.weigh_literal(literal, marker, max_sharing)).collect();
        let total =
            tokens.iter().map(|w| u64::from(*w)).sum::<u64>() + literals.iter().map(|w| u64::from(*w)).sum::<u64>();
        Weighed { tokens, holders, literals, total, template, common }
    }

    fn weigh_literal(&self, literal: &Literal, marker: &Marker, max_sharing: Option<u32>) -> u32 {
        let holders = self.literals.get(&literal.key).copied().unwrap_or(1);
        if marker.has_literal(literal.key) || max_sharing.is_some_and(|most| holders > most) {
            return 0;
        }
        literal.words * weight(holders, self.submitters)
    }

    /// Submitters that have a literal.
    pub fn literal_holders(&self, key: u64) -> u32 {
        self.literals.get(&key).copied().unwrap_or(1)
    }
}

/// Different ones among numbers.
pub(super) fn distinct(numbers: impl Iterator<Item = u32>) -> u32 {
    let mut all: Vec<u32> = numbers.collect();
    all.sort_unstable();
    all.dedup();
    all.len() as u32
}

fn count_literals(entries: &[Entry]) -> HashMap<u64, u32> {
    let mut holders: Vec<(u64, u32)> =
        entries.iter().flat_map(|entry| entry.literals.iter().map(|literal| (literal.key, entry.submitter))).collect();
    holders.sort_unstable();
    holders.dedup();
    let mut counts = HashMap::new();
    for (key, _) in holders {
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}

/// For each token, the holders of the rarest pick whose k-gram covers it and that somebody else has too, or 1 where nobody has;
/// where no pick covers it, those of the pick before it, or of the first one.
///
/// A pick that nobody else has says nothing about its tokens one by one: at the edge of a passage that all have, it reaches into what
/// is common and would lend it full weight in every pair.
fn rarest_cover(entry: &Entry, holders: &[u32]) -> Vec<u32> {
    let mut rarest = vec![0u32; entry.tokens.len()];
    let mut pick = 0;
    for part in &entry.parts {
        let mut last = holders.get(pick).filter(|_| entry.picks[pick].at < part.end).copied().unwrap_or(1);
        while let Some(found) = entry.picks.get(pick).filter(|found| found.at < part.end) {
            for count in &mut rarest[found.at as usize..(found.at + part.k) as usize] {
                let (fewer, more) = ((*count).min(holders[pick]), (*count).max(holders[pick]));
                *count = if fewer < 2 { more } else { fewer };
            }
            pick += 1;
        }
        for count in &mut rarest[part.start as usize..part.end as usize] {
            last = if *count == 0 { last } else { *count };
            *count = last;
        }
    }
    rarest
}
