//! Lists the passages that are too common to propose pairs, once each, with all submissions that have them.
//!
//! A passage is a stretch of hot picks that follow each other within a window in the first submission that has it. Each
//! key is reported only once.

use super::Cohort;
use std::collections::{HashMap, HashSet};

/// A passage that many submissions have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Common {
    /// The first submission that has it.
    pub entry: u32,
    /// Its first token there.
    pub start: u32,
    /// The token after its last.
    pub end: u32,
    /// Submissions with its most common key, ascending; at its edges the selected k-grams differ.
    pub holders: Vec<u32>,
}

/// A stretch of hot picks: its tokens and its most common key.
struct HotStretch {
    start: u32,
    end: u32,
    widest: (u32, u64),
}

/// All common passages, by the number of submissions that have them, then by position.
pub fn common(cohort: &Cohort) -> Vec<Common> {
    let rows = cohort.frequencies().table.rows();
    let mut owners: HashMap<u64, Vec<u32>> = HashMap::new();
    for run in cohort.proposals.hot_runs() {
        let mut holders: Vec<u32> = rows[run.clone()].iter().map(|row| row.owner).collect();
        holders.dedup();
        owners.insert(rows[run.start].key, holders);
    }
    let mut told = HashSet::new();
    let mut found = Vec::new();
    for entry in 0..cohort.entries().len() as u32 {
        for stretch in stretches(cohort, entry, &owners, &mut told) {
            let holders = owners.get(&stretch.widest.1).cloned().unwrap_or_default();
            found.push(Common { entry, start: stretch.start, end: stretch.end, holders });
        }
    }
    found.sort_by_key(|common| (std::cmp::Reverse(common.holders.len()), common.entry, common.start));
    found
}

/// The stretches of hot picks of one submission that were not reported yet; marks them as reported.
fn stretches(cohort: &Cohort, entry: u32, owners: &HashMap<u64, Vec<u32>>, told: &mut HashSet<u64>) -> Vec<HotStretch> {
    let (at, weighed) = (&cohort.entries()[entry as usize], &cohort.weighed()[entry as usize]);
    let mut found: Vec<HotStretch> = Vec::new();
    for (pick, holders) in at.picks.iter().zip(&weighed.holders) {
        let is_own = weighed.tokens[pick.at as usize] > 0;
        if !is_own || !owners.contains_key(&pick.key) || !told.insert(pick.key) {
            continue;
        }
        let part = &at.parts[at.part_of(pick.at)];
        let (end, width) = (pick.at + part.k, (*holders, pick.key));
        // Neighbouring picks of one passage are at most a window of t − k + 1 apart.
        let is_next = |last: &HotStretch| last.start >= part.start && end - last.end <= part.t - part.k + 1;
        match found.last_mut() {
            Some(last) if is_next(last) => {
                last.end = end;
                last.widest = last.widest.max(width);
            }
            _ => found.push(HotStretch { start: pick.at, end, widest: width }),
        }
    }
    found
}
