//! Which documents hold the k-grams and literals of the asked one, and how many tokens each can share at most.
//!
//! **The bound.** A tile is a common run of at least t tokens. Each of its tokens lies in a window of t tokens of the run, and in every
//! window a k-gram is selected, of which both documents have the same (winnowing, §3.1; nesting for longer windows). So a
//! document holds a k-gram at a, of which the token is in a − (t − k)..a + t: the *halo* of the k-gram. Tiles do not overlap, so
//! a document shares at most the tokens in the halos of the k-grams that it holds; besides, the words of its literals, and the
//! parts that are too short for a window, which are shared where documents are equal as a whole.
//!
//! Cost: linear in the holders, each looked at once for each place of its k-gram; where k-grams repeat too often
//! ([`REPEATED`]) there is no bound.

use super::{hot, FoundPassages};
use crate::questions::conditions::Conditions;
use crate::record::TEMPLATE;
use crate::segment::Which;
use crate::snapshot::Snapshot;
use lookalike_core::matching::entry::{Entry as MatchEntry, Pick};
use lookalike_table::Result;
use std::cmp::Reverse;
use std::collections::hash_map::{Entry, HashMap};
use std::collections::HashSet;

/// Places of k-grams that are looked at for each holder, on average, before bounds are given up.
const REPEATED: usize = 4;

/// Who holds some keys: the place of a key and a document, in order of keys.
pub(super) struct Holders<'a> {
    keys: &'a [u64],
    rows: Vec<(usize, u64)>,
}

impl Holders<'_> {
    fn by_key(&self) -> impl Iterator<Item = (u64, &[(usize, u64)])> {
        let runs = self.rows.chunk_by(|left, right| left.0 == right.0);
        runs.filter_map(|run| Some((*self.keys.get(run.first()?.0)?, run)))
    }

    /// The documents that hold a key. REQUIRES: the keys ascend.
    fn of(&self, key: u64) -> &[(usize, u64)] {
        let Ok(place) = self.keys.binary_search(&key) else { return &[] };
        let from = self.rows.partition_point(|row| row.0 < place);
        let to = self.rows.partition_point(|row| row.0 <= place);
        &self.rows[from..to]
    }
}

/// What documents hold of the asked one.
#[derive(Default)]
pub(super) struct Held {
    /// Number of documents that hold each k-gram.
    pub of_pick: HashMap<u64, u64>,
    /// Documents and how much they share that not very many have, most first.
    pub ranked: Vec<(u64, u32)>,
    pub templates: HashSet<u64>,
    /// The flags of all holders.
    flags: HashMap<u64, u32>,
}

impl Held {
    /// Finds who holds these k-grams and literals, without counting them yet.
    pub fn of<'a>(
        snapshot: &Snapshot,
        [picks, literals]: &'a [Vec<u64>; 2],
        found: &mut FoundPassages,
    ) -> Result<(Self, [Holders<'a>; 2])> {
        let mut held = Self::default();
        let holders = [(Which::Postings, picks), (Which::Literals, literals)].map(|(which, keys)| {
            let mut rows = Vec::new();
            snapshot.holders(which, keys, |place, number| rows.push((place, number))).map(|()| Holders { keys, rows })
        });
        let [picks, literals] = holders;
        let holders = [picks?, literals?];
        let numbers = || holders.iter().flat_map(|one| one.rows.iter().map(|(_, number)| *number));
        found.work.holders += numbers().count() as u64;
        held.flags = held.flags(snapshot, numbers())?;
        found.work.rows += held.flags.len() as u64;
        Ok((held, holders))
    }

    /// Counts what each document holds, besides what starter code has: k-grams of `given`, and all that starter code holds.
    pub fn count(
        &mut self,
        snapshot: &Snapshot,
        [picks, literals]: &[Holders<'_>; 2],
        given: &HashSet<u64>,
        conditions: &Conditions,
        found: &mut FoundPassages,
    ) -> Result<()> {
        let (most, mut shared) = (hot(snapshot.documents()?), HashMap::<u64, u32>::new());
        let mut count = |run: &[(usize, u64)]| {
            if self.templates.is_empty() || run.iter().all(|(_, number)| !self.templates.contains(number)) {
                let is_rare = u32::from(run.len() as u64 <= most);
                run.iter().for_each(|(_, number)| *shared.entry(*number).or_insert(0) += is_rare);
            }
        };
        for (key, run) in picks.by_key() {
            self.of_pick.insert(key, run.len() as u64);
            if !given.contains(&key) {
                count(run);
            }
        }
        literals.by_key().for_each(|(_, run)| count(run));
        let mut all: Vec<(u64, u32)> =
            shared.into_iter().filter(|(number, _)| self.flags.get(number) == Some(&0)).collect();
        all.sort_unstable_by_key(|(number, shared)| (Reverse(*shared), *number));
        for (number, shared) in all {
            if conditions.is_empty() || conditions.are_met(&snapshot.meta(number)?) {
                found.documents += 1;
                found.candidates += u64::from(shared > 0);
                self.ranked.extend((shared > 0).then_some((number, shared)));
            }
        }
        Ok(())
    }

    /// The flags of documents, each once. Keeps the numbers of starter code.
    fn flags(&mut self, snapshot: &Snapshot, numbers: impl Iterator<Item = u64>) -> Result<HashMap<u64, u32>> {
        let mut flags = HashMap::new();
        for number in numbers {
            if let Entry::Vacant(place) = flags.entry(number) {
                let found = *place.insert(snapshot.flags(number)?);
                self.templates.extend((found & TEMPLATE != 0).then_some(number));
            }
        }
        Ok(flags)
    }

    /// Whether more than so many documents hold a k-gram.
    pub fn is_hot(&self, pick: &Pick, most: u64) -> bool {
        self.of_pick.get(&pick.key).is_some_and(|count| *count > most)
    }
}

/// The most tokens and words of literals that documents can share with the asked one; by default nothing is known.
#[derive(Default)]
pub(super) struct Bounds {
    /// Tokens in halos, and where the last halo ends, by document.
    covered: HashMap<u64, (u64, u32)>,
    /// What any document may share besides.
    besides: u64,
    is_known: bool,
}

impl Bounds {
    /// The bounds of all documents that hold something of an entry. REQUIRES: the keys of the holders are those of the entry.
    pub fn of(entry: &MatchEntry, [picks, literals]: &[Holders<'_>; 2]) -> Self {
        let mut bounds = Self { besides: besides(entry, literals), is_known: true, ..Self::default() };
        let mut left = REPEATED * picks.rows.len();
        for pick in &entry.picks {
            let Some(part) = entry.parts.get(entry.part_of(pick.at)) else { continue };
            let start = pick.at.saturating_sub(part.t.saturating_sub(part.k)).max(part.start);
            let end = pick.at.saturating_add(part.t).min(part.end);
            let holders = picks.of(pick.key);
            let Some(rest) = left.checked_sub(holders.len()) else { return Self::default() };
            left = rest;
            for (_, number) in holders {
                let (tokens, reached) = bounds.covered.entry(*number).or_insert((0, 0));
                *tokens += u64::from(end.saturating_sub(start.max(*reached)));
                *reached = end.max(*reached);
            }
        }
        bounds
    }

    /// The most that a document can share.
    pub fn of_document(&self, number: u64) -> u64 {
        let covered = self.covered.get(&number).map_or(0, |covered| covered.0);
        match self.is_known {
            true => self.besides.saturating_add(covered),
            false => u64::MAX,
        }
    }
}

/// Tokens of the parts that are too short for a window, and words of literals, if anyone holds one.
fn besides(entry: &MatchEntry, literals: &Holders<'_>) -> u64 {
    let short = entry.parts.iter().map(|part| part.end - part.start).zip(&entry.parts);
    let short: u64 = short.filter(|(length, part)| *length < part.t).map(|(length, _)| u64::from(length)).sum();
    let words: u64 = entry.literals.iter().map(|one| u64::from(one.words)).sum();
    short + if literals.rows.is_empty() { 0 } else { words }
}
