//! Finds the references that rows contain, or are contained in, while the rows are read.
//!
//! A row *contains* a reference if the share of the reference's distinct shingles that the row has reaches the
//! threshold. It is *contained* in a reference if the share of its own distinct shingles that this reference has reaches
//! it. Both are counted exactly. A reference without shingles is found only where the whole text is identical.
//!
//! All shingles of all references stand in one table, and each shingle of a row is looked up in it. A pair is counted only
//! if it can reach the threshold. Of a set of n shingles, all but `least` − 1 must be missed for it to fall short, so one of
//! the n − least + 1 that fewest references hold must be shared. Boilerplate, which many references hold, is looked at last
//! and proposes a reference only where little else is left of it.
//!
//! Cost: at most 48 bytes per shingle of the references. A row costs one look-up per shingle and, for each reference it may have,
//! a search of the smaller list in the larger. **Source.** Chaudhuri, Ganti, Kaushik 2006 (prefix filtering).

use crate::sign::{Signed, SignedRow};
use crate::signed_store::SignedStore;
use lookalike_core::hash::mix64;
use lookalike_core::sketch::shingle::into_set;
use lookalike_table::Error as TableError;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// Bytes that a shingle of a reference takes at most, while the table is made and afterwards.
const SHINGLE_BYTES: u64 = 48;
/// Bytes that a reference takes beside its shingles.
const REFERENCE_BYTES: u64 = 64;

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sought {
    /// Rows that contain a reference.
    pub contains: bool,
    /// Rows that are contained in a reference.
    pub contained: bool,
    /// The least share.
    pub threshold: f64,
}

/// A reference and a row, with the distinct shingles of each and those of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The first reference with this text.
    pub reference: u32,
    /// The row.
    pub row: u32,
    /// Shingles of both.
    pub common: u32,
    /// Shingles of the reference.
    pub reference_size: u32,
    /// Shingles of the row.
    pub row_size: u32,
    /// Whether the texts are identical.
    pub is_identical: bool,
}

impl Match {
    /// The share of the reference that the row contains; 1 for identical texts without shingles.
    pub fn contains(&self) -> f64 {
        share(self.common, self.reference_size)
    }

    /// The share of the row that the reference contains; 1 for identical texts without shingles.
    pub fn contained(&self) -> f64 {
        share(self.common, self.row_size)
    }

    /// The larger of the shares that were sought.
    pub fn score(&self, sought: Sought) -> f64 {
        let one = |is_sought, share| if is_sought { share } else { 0.0 };
        one(sought.contains, self.contains()).max(one(sought.contained, self.contained()))
    }
}

fn share(common: u32, size: u32) -> f64 {
    if size == 0 {
        1.0
    } else {
        f64::from(common) / f64::from(size)
    }
}

/// The reason why there is no table of references.
#[derive(Debug)]
pub enum Unfit {
    /// They need so many bytes, which is more than there are.
    Memory(u64),
    /// The store cannot be read.
    Table(TableError),
}

impl From<TableError> for Unfit {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

/// The table of references. References with the same text are one; they are numbered by their size, then by their row.
pub struct References {
    sought: Sought,
    shingles: Shingles,
    /// Where the holders of each shingle start, and one end more.
    starts: Vec<u32>,
    /// Where those holders end that propose themselves by this shingle. The rest follows.
    own_ends: Vec<u32>,
    /// References, ascending in both parts.
    holders: Vec<u32>,
    /// The shingles of each reference by number, ascending.
    lists: Vec<u32>,
    list_ends: Vec<u32>,
    /// For each reference the least number of its shingles that reaches the threshold; ascends.
    least: Vec<u32>,
    /// The first row with the text of each reference.
    rows: Vec<u32>,
    /// The first row of each text, also of those without shingles.
    contents: HashMap<u128, u32>,
}

/// What one thread needs for one row after the other.
#[derive(Default)]
struct Desk {
    /// Numbers of the row's shingles that a reference has, ascending.
    hits: Vec<u32>,
    by_holders: Vec<u32>,
    candidates: Vec<u32>,
}

/// The rows of a batch that have a reference.
#[derive(Debug, Default)]
pub struct FoundMatches {
    /// Every pair, by row in the batch and reference.
    pub matches: Vec<Match>,
    /// Number of pairs that were counted.
    pub counted: u64,
}

impl References {
    /// Makes the table of the first rows of a corpus, all of which are references.
    ///
    /// Errors: it needs more than `budget_bytes`, or the store cannot be read.
    pub fn new(rows: &[SignedRow], store: &SignedStore, sought: Sought, budget_bytes: u64) -> Result<Self, Unfit> {
        let mut contents = HashMap::new();
        let with_text = (0..).zip(rows).filter(|(_, known)| known.state.has_text());
        let first = |(row, known): (u32, &SignedRow)| {
            let is_new = *contents.entry(known.content).or_insert(row) == row;
            is_new.then_some(row)
        };
        let firsts: Vec<u32> = with_text.filter_map(first).collect();
        let count: u64 = firsts.iter().map(|row| store.id_count(*row) as u64).sum();
        let needed = count * SHINGLE_BYTES + rows.len() as u64 * REFERENCE_BYTES;
        if needed > budget_bytes || count > u64::from(u32::MAX) {
            return Err(Unfit::Memory(needed));
        }
        let shingles = Shingles::new(&firsts, store)?;
        let mut made: Vec<(u32, Vec<u32>)> = Vec::with_capacity(firsts.len());
        for row in firsts {
            let numbers = shingles.numbers(&store.ids(row)?);
            if !numbers.is_empty() {
                made.push((row, numbers));
            }
        }
        made.sort_by_key(|(row, numbers)| (numbers.len(), *row));
        let rows = made.iter().map(|(row, _)| *row).collect();
        let least = made.iter().map(|(_, numbers)| least(numbers.len() as u32, sought.threshold)).collect();
        let mut list_ends = Vec::with_capacity(made.len());
        let mut lists = Vec::with_capacity(made.iter().map(|(_, numbers)| numbers.len()).sum());
        for (_, numbers) in made {
            lists.extend(numbers);
            list_ends.push(lists.len() as u32);
        }
        let (starts, own_ends, holders) = (Vec::new(), Vec::new(), Vec::new());
        let table = Self { sought, shingles, starts, own_ends, holders, lists, list_ends, least, rows, contents };
        Ok(table.with_holders())
    }

    /// Fills in who holds each shingle: first those that propose themselves by it.
    fn with_holders(mut self) -> Self {
        let keys = self.shingles.len();
        let mut counts = vec![0u32; keys];
        self.lists.iter().for_each(|key| counts[*key as usize] += 1);
        let mut owned = vec![0u32; keys];
        let proposers: Vec<Vec<u32>> =
            (0..self.rows.len()).into_par_iter().map(|reference| self.proposers(reference, &counts)).collect();
        proposers.iter().flatten().for_each(|key| owned[*key as usize] += 1);
        self.starts = std::iter::once(0)
            .chain(counts.iter().scan(0, |end, count| {
                *end += count;
                Some(*end)
            }))
            .collect();
        self.own_ends = self.starts.iter().zip(&owned).map(|(start, owned)| start + owned).collect();
        let (mut own, mut rest) = (self.starts.clone(), self.own_ends.clone());
        let mut holders = vec![0; self.lists.len()];
        for (reference, proposers) in proposers.iter().enumerate() {
            for key in self.list(reference) {
                let place = if proposers.binary_search(key).is_ok() { &mut own } else { &mut rest };
                holders[place[*key as usize] as usize] = reference as u32;
                place[*key as usize] += 1;
            }
        }
        self.holders = holders;
        self
    }

    /// The shingles of a reference of which a row must have one to contain it: those that fewest references hold.
    /// Ascending by number.
    fn proposers(&self, reference: usize, counts: &[u32]) -> Vec<u32> {
        if !self.sought.contains {
            return Vec::new();
        }
        let mut keys = self.list(reference).to_vec();
        keys.sort_unstable_by_key(|key| (counts[*key as usize], *key));
        keys.truncate(keys.len() + 1 - self.least[reference] as usize);
        keys.sort_unstable();
        keys
    }

    fn list(&self, reference: usize) -> &[u32] {
        let start = reference.checked_sub(1).map_or(0, |before| self.list_ends[before]);
        &self.lists[start as usize..self.list_ends[reference] as usize]
    }

    /// What is sought.
    pub fn sought(&self) -> Sought {
        self.sought
    }

    /// Finds the references of all rows of a batch. Rows are numbered in the batch.
    pub fn look_up(&self, signed: &Signed) -> FoundMatches {
        let mut found = FoundMatches::default();
        let mut desk = Desk::default();
        let mut start = 0;
        for ((row, known), end) in (0..).zip(&signed.rows).zip(&signed.id_ends) {
            if known.state.has_text() {
                self.row(row, known, &signed.ids[start..*end as usize], &mut desk, &mut found);
            }
            start = *end as usize;
        }
        found
    }

    fn row(&self, row: u32, known: &SignedRow, ids: &[u64], desk: &mut Desk, found: &mut FoundMatches) {
        let first = found.matches.len();
        let same = self.contents.get(&known.content).copied();
        desk.hits.clear();
        desk.hits.extend(ids.iter().filter_map(|id| self.shingles.find(*id)));
        if !desk.hits.is_empty() {
            desk.hits.sort_unstable();
            desk.hits.dedup();
            self.near(row, ids, desk, found);
        }
        let found_here = &mut found.matches[first..];
        found_here.sort_unstable_by_key(|one| one.reference);
        found_here.iter_mut().for_each(|one| one.is_identical = Some(one.reference) == same);
        if let Some(reference) = same.filter(|_| ids.is_empty()) {
            let (common, reference_size, row_size) = (0, 0, 0);
            found.matches.push(Match { reference, row, common, reference_size, row_size, is_identical: true });
        }
    }

    /// Finds the references that share enough of the shingles `desk.hits`.
    fn near(&self, row: u32, ids: &[u64], desk: &mut Desk, found: &mut FoundMatches) {
        desk.candidates.clear();
        self.propose_contained(ids, desk);
        let hits = desk.hits.len();
        let most = self.least.partition_point(|least| *least as usize <= hits) as u32;
        for key in &desk.hits {
            let own = &self.holders[self.starts[*key as usize] as usize..self.own_ends[*key as usize] as usize];
            desk.candidates.extend(own.iter().take_while(|reference| **reference < most));
        }
        desk.candidates.sort_unstable();
        desk.candidates.dedup();
        found.counted += desk.candidates.len() as u64;
        let mut row_size = None;
        for reference in &desk.candidates {
            let list = self.list(*reference as usize);
            let common = common(list, &desk.hits);
            let is_possible = f64::from(common) / list.len().min(hits) as f64 >= self.sought.threshold;
            if !is_possible {
                continue;
            }
            let row_size = *row_size.get_or_insert_with(|| distinct(ids));
            let reference = self.rows[*reference as usize];
            let one =
                Match { reference, row, common, reference_size: list.len() as u32, row_size, is_identical: false };
            if one.score(self.sought) >= self.sought.threshold {
                found.matches.push(one);
            }
        }
    }

    /// Adds the references in which the row may be contained. Of its shingles, those that no reference has come first.
    fn propose_contained(&self, ids: &[u64], desk: &mut Desk) {
        let hits = desk.hits.len();
        if !self.sought.contained {
            return;
        }
        // One more than may be missing, and one for rounding.
        let room = (hits as f64 / self.sought.threshold) as usize - hits + 2;
        let missing = self.missing(ids, room);
        let size = (hits + missing) as u32;
        let least = least(size, self.sought.threshold);
        if (hits as u32) < least {
            return;
        }
        desk.by_holders.clone_from(&desk.hits);
        desk.by_holders.sort_unstable_by_key(|key| (self.holders_of(*key).len(), *key));
        let first = self.least_size(least);
        for key in &desk.by_holders[..=(size - least) as usize - missing] {
            let (own, rest) = (self.own_ends[*key as usize], self.starts[*key as usize + 1]);
            for part in [self.starts[*key as usize]..own, own..rest] {
                let part = &self.holders[part.start as usize..part.end as usize];
                desk.candidates.extend(&part[part.partition_point(|reference| *reference < first)..]);
            }
        }
    }

    fn holders_of(&self, key: u32) -> &[u32] {
        &self.holders[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }

    /// The first reference with at least `size` shingles.
    fn least_size(&self, size: u32) -> u32 {
        let (mut low, mut high) = (0, self.rows.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.list(middle).len() < size as usize {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low as u32
    }

    /// Number of distinct shingles that no reference has; stops at `room`.
    fn missing(&self, ids: &[u64], room: usize) -> usize {
        let mut seen = HashSet::new();
        for id in ids.iter().filter(|id| self.shingles.find(**id).is_none()) {
            seen.insert(*id);
            if seen.len() == room {
                break;
            }
        }
        seen.len()
    }

    /// Number of references, rows with the same text counted each, of those in `found`, which are first rows.
    pub fn count(&self, rows: &[SignedRow], found: &HashSet<u32>) -> u64 {
        let is_found = |known: &&SignedRow| {
            known.state.has_text() && self.contents.get(&known.content).is_some_and(|first| found.contains(first))
        };
        rows.iter().filter(is_found).count() as u64
    }
}

/// The least number of `size` shingles whose share reaches the threshold.
fn least(size: u32, threshold: f64) -> u32 {
    let reaches = |count: u32| f64::from(count) / f64::from(size) >= threshold;
    let mut count = (threshold * f64::from(size)).ceil().clamp(1.0, f64::from(size.max(1))) as u32;
    while count > 1 && reaches(count - 1) {
        count -= 1;
    }
    while count < size && !reaches(count) {
        count += 1;
    }
    count
}

fn distinct(ids: &[u64]) -> u32 {
    let mut ids = ids.to_vec();
    into_set(&mut ids);
    ids.len() as u32
}

/// Number of elements in both ascending lists: each of the shorter is searched in the rest of the longer.
fn common(left: &[u32], right: &[u32]) -> u32 {
    let (short, mut long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let mut count = 0;
    for element in short {
        let mut step = 1;
        while step < long.len() && long[step] < *element {
            step *= 2;
        }
        let near = &long[..(step + 1).min(long.len())];
        long = &long[near.partition_point(|other| other < element)..];
        count += u32::from(long.first() == Some(element));
    }
    count
}

/// The distinct shingles of all references, numbered: a sorted column and where each of its parts begins.
///
/// Shingles are sorted by a mixture of their ids with a random key. Ids are published functions of the text, and without
/// the key a stranger could choose texts whose ids all fall into one part.
struct Shingles {
    key: u64,
    shift: u32,
    parts: Vec<u32>,
    mixed: Vec<u64>,
}

impl Shingles {
    fn new(rows: &[u32], store: &SignedStore) -> lookalike_table::Result<Self> {
        let key = RandomState::new().hash_one(0);
        let mut mixed = Vec::with_capacity(rows.iter().map(|row| store.id_count(*row)).sum());
        for row in rows {
            mixed.extend(store.ids(*row)?.iter().map(|id| mix(*id, key)));
        }
        mixed.par_sort_unstable();
        mixed.dedup();
        mixed.shrink_to_fit();
        let bits = mixed.len().max(2).ilog2();
        let shift = 64 - bits;
        let mut parts = vec![0u32; (1 << bits) + 1];
        mixed.iter().for_each(|one| parts[(one >> shift) as usize + 1] += 1);
        (1..parts.len()).for_each(|part| parts[part] += parts[part - 1]);
        Ok(Self { key, shift, parts, mixed })
    }

    fn len(&self) -> usize {
        self.mixed.len()
    }

    /// The number of a shingle, if a reference has it.
    #[inline]
    fn find(&self, id: u64) -> Option<u32> {
        let wanted = mix(id, self.key);
        let part = (wanted >> self.shift) as usize;
        let (start, end) = (self.parts[part], self.parts[part + 1]);
        (start..end).find(|number| self.mixed[*number as usize] == wanted)
    }

    /// The numbers of the distinct shingles that a reference has, ascending.
    fn numbers(&self, ids: &[u64]) -> Vec<u32> {
        let mut numbers: Vec<u32> = ids.iter().filter_map(|id| self.find(*id)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// A bijection of ids that nobody can foresee.
#[inline]
fn mix(id: u64, key: u64) -> u64 {
    mix64((id ^ key).wrapping_mul(key | 1))
}

#[cfg(test)]
mod tests;
