//! Lists the passages that very many submissions have, once each, with all submissions that have them.
//!
//! They count in scores like everything else, but weigh little. A passage is a stretch of hot picks that follow each
//! other within a window in the first submission that has it. Each key is reported only once.

use super::entry::Entry;
use super::weigh::{distinct, Weighed};
use super::Cohort;
use std::collections::{HashMap, HashSet};

/// Number of submitters above which a pick is hot, among `submissions`.
pub fn hot(submissions: usize) -> usize {
    (submissions / 1000).max(64)
}

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
    let owners = hot_keys(cohort);
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

/// The keys that more than [`hot`] different contents of different submitters hold, and their holders, ascending.
fn hot_keys(cohort: &Cohort) -> HashMap<u64, Vec<u32>> {
    let (entries, rows) = (cohort.entries(), cohort.frequencies().table.rows());
    let most = hot(entries.len());
    let mut owners: HashMap<u64, Vec<u32>> = HashMap::new();
    for run in cohort.frequencies().table.runs().filter(|run| run.len() > most) {
        let holds = |owner: u32, pick: u32| {
            let (entry, weighed) = (&entries[owner as usize], &cohort.weighed()[owner as usize]);
            cohort.classes().is_first(owner) && is_own(entry, weighed, pick)
        };
        let own = rows[run.clone()].iter().filter(|row| holds(row.owner, row.at));
        if distinct(own.map(|row| entries[row.owner as usize].submitter)) > most as u32 {
            let mut holders: Vec<u32> = rows[run.clone()].iter().map(|row| row.owner).collect();
            holders.dedup();
            owners.insert(rows[run.start].key, holders);
        }
    }
    owners
}

/// Whether any token of a pick is the submission's own.
fn is_own(entry: &Entry, weighed: &Weighed, pick: u32) -> bool {
    let at = entry.picks[pick as usize].at;
    let k = entry.thresholds(at).0;
    weighed.tokens[at as usize..(at + k) as usize].iter().any(|weight| *weight > 0)
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
