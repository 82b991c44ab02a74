//! Finds the archived fingerprints that are near a new one.
//!
//! One scan of all archived fingerprints, in parts, against tables of the new ones (`core::hamming`): complete within
//! the distance. Of more documents with one fingerprint than the rule for crowded keys compares, the first and last are
//! kept, and all are counted.
//!
//! Cost: a lookup per archived document, 8 bytes each that are read; memory for those that are near.

use crate::archive::Archive;
use crate::job::Failure;
use lookalike_core::clustering::{Reach, Settled};
use lookalike_core::hamming::solve::{solve, Limit};
use lookalike_core::hamming::tables::Tables;
use lookalike_core::hamming::BITS;
use lookalike_table::Error as TableError;
use std::collections::{BTreeMap, VecDeque};

/// Archived fingerprints that are looked up at a time.
const PART: usize = 1 << 16;

/// Archived documents near new ones, in order of rank.
#[derive(Default)]
pub struct NearPrints {
    /// Their numbers in the archive.
    pub numbers: Vec<u64>,
    /// Their fingerprints.
    pub prints: Vec<u64>,
    /// Which of them lead.
    pub settled: Settled,
}

/// The first and last documents with one fingerprint.
#[derive(Default)]
struct Crowd {
    first: Vec<u64>,
    last: VecDeque<u64>,
    all: u64,
}

impl Crowd {
    fn push(&mut self, number: u64, reach: Reach) {
        self.all += 1;
        if self.first.len() < reach.first {
            return self.first.push(number);
        }
        if self.last.len() == reach.last {
            self.last.pop_front();
        }
        self.last.push_back(number);
    }
}

/// Finds the archived documents whose fingerprints differ in at most `distance` bits from one of `prints`. With
/// `is_verified` only documents with shingles count. Errors: the archive cannot be read.
pub fn near_prints(
    archive: &impl Archive,
    mut prints: Vec<u64>,
    distance: u32,
    is_verified: bool,
) -> Result<NearPrints, Failure> {
    prints.sort_unstable();
    prints.dedup();
    if prints.is_empty() {
        return Ok(NearPrints::default());
    }
    let tables = Tables::numbered(&solve(BITS, distance, prints.len() as u64, Limit::Fast)?, &prints)?;
    let mut scan = Scan { archive, tables, is_verified, crowds: BTreeMap::new(), failure: None };
    let (mut numbers, mut values) = (Vec::with_capacity(PART), Vec::with_capacity(PART));
    archive.each_print(&mut |number, print| {
        numbers.push(number);
        values.push(print);
        if values.len() == PART {
            scan.take(&mut numbers, &mut values);
        }
    })?;
    scan.take(&mut numbers, &mut values);
    scan.finish()
}

struct Scan<'a, A> {
    archive: &'a A,
    tables: Tables,
    is_verified: bool,
    crowds: BTreeMap<u64, Crowd>,
    failure: Option<Failure>,
}

impl<A: Archive> Scan<'_, A> {
    /// Looks a part up, unless something failed before, and empties it.
    fn take(&mut self, numbers: &mut Vec<u64>, values: &mut Vec<u64>) {
        if self.failure.is_none() {
            self.failure = self.look_up(numbers, values).err();
        }
        numbers.clear();
        values.clear();
    }

    fn look_up(&mut self, numbers: &[u64], values: &[u64]) -> Result<(), Failure> {
        let mut near = self.tables.query_batch(values)?.queries;
        // Answers ascend by query.
        near.dedup();
        for at in near {
            let (number, value) = (numbers[at as usize], values[at as usize]);
            if !self.is_verified || self.archive.has_shingles(number)? {
                self.crowds.entry(value).or_default().push(number, Reach::CROWDED);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<NearPrints, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (mut found, mut settled) = (Vec::new(), Settled::default());
        for (print, crowd) in self.crowds {
            let held = crowd.first.len() + crowd.last.len();
            found.extend(crowd.first.into_iter().chain(crowd.last).map(|number| (number, print)));
            if crowd.all > held as u64 {
                settled.crowds.insert(print, crowd.all);
            }
        }
        found.sort_unstable();
        let leads = found.iter().map(|(number, _)| self.archive.leads(*number));
        settled.leads = leads.collect::<Result<_, TableError>>()?;
        let (numbers, prints) = found.into_iter().unzip();
        Ok(NearPrints { numbers, prints, settled })
    }
}
