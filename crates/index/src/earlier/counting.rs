//! Counts the persons that hold what is compared, in the indexes and in what was handed in together.
//!
//! The keys of everything in the cohort are looked up, some at a time; the holders of each are told apart by person. What
//! the cohort took from an index is counted once, because its person is the same. Cost: linear in the postings that are
//! read, which are sorted a batch at a time.

use super::{Earlier, NOBODY};
use crate::segment::Which;
use crate::sign::literal_key;
use lookalike_compare::submissions::TokenNumbers;
use lookalike_core::matching::entry::Entry;
use lookalike_core::matching::Holders;
use lookalike_table::Result;
use std::collections::HashMap;

/// Keys that are looked up at a time.
const BATCH: usize = 1 << 12;

impl Earlier {
    /// How many persons of all hold the picks and literals of a cohort, whose submitters are the persons of this. Errors:
    /// damaged.
    pub fn holders(&self, entries: &[Entry], numbers: &TokenNumbers) -> Result<Holders> {
        let picks = pairs(entries, |entry| entry.picks.iter().map(|pick| pick.key).collect());
        let of_pick = self.count(Which::Postings, picks)?;
        let said = pairs(entries, |entry| entry.literals.iter().map(|literal| literal.key).collect());
        let keys: HashMap<u64, u64> =
            numbers.texts().map(|(number, text)| (u64::from(number), literal_key(text))).collect();
        let hashed = said.iter().filter_map(|(key, person)| Some((*keys.get(key)?, *person))).collect();
        let of_hash = self.count(Which::Literals, hashed)?;
        let of_literal = said.iter().filter_map(|(key, _)| Some((*key, *of_hash.get(keys.get(key)?)?))).collect();
        Ok(Holders { submitters: Some(self.submitters), picks: Some(of_pick), literals: Some(of_literal) })
    }

    /// How many persons hold each key: those given with it, and those of the indexes.
    pub(super) fn count(&self, which: Which, mut own: Vec<(u64, u32)>) -> Result<HashMap<u64, u32>> {
        own.sort_unstable();
        own.dedup();
        let mut keys: Vec<u64> = own.iter().map(|(key, _)| *key).collect();
        keys.dedup();
        let (mut counts, mut rest, mut held) = (HashMap::with_capacity(keys.len()), &own[..], Vec::new());
        for keys in keys.chunks(BATCH) {
            held.clear();
            let (now, later) = rest.split_at(rest.partition_point(|(key, _)| Some(key) <= keys.last()));
            rest = later;
            let place = |key: &u64| keys.partition_point(|one| one < key) as u32;
            held.extend(now.iter().map(|(key, person)| (place(key), *person)));
            for (snapshot, persons) in self.snapshots.iter().zip(&self.persons) {
                snapshot.holders(which, keys, |place, number| {
                    let person = persons.get(number as usize).copied().unwrap_or(NOBODY);
                    held.extend((person != NOBODY).then_some((place as u32, person)));
                })?;
            }
            held.sort_unstable();
            held.dedup();
            let of_key = held.chunk_by(|a, b| a.0 == b.0);
            counts.extend(of_key.filter_map(|run| Some((*keys.get(run.first()?.0 as usize)?, run.len() as u32))));
        }
        Ok(counts)
    }
}

/// Keys of each entry with its submitter.
fn pairs(entries: &[Entry], of: impl Fn(&Entry) -> Vec<u64>) -> Vec<(u64, u32)> {
    entries.iter().flat_map(|entry| of(entry).into_iter().map(|key| (key, entry.submitter))).collect()
}
