//! Earlier submissions in a comparison: the documents of indexes that new submissions can be listed with, and how many
//! persons hold what they hold.
//!
//! ```text
//! new files ─▶ keys ─▶ Snapshot::holders ─▶ candidates ─▶ files again ─▶ those that count ─▶ the matcher, as old ones
//!              sieve.rs                     mod.rs        loading.rs     sieve.rs             counting.rs: holders of their keys
//! ```
//!
//! A pair is listed only if its two sides share a run of t tokens, a string literal, or all of their content. Each run of
//! t tokens holds a selected k-gram that both sides selected, so the holders of the k-grams and literals of the new
//! submissions are all documents that can be listed; what else an index holds matters only by its number of persons.
//!
//! A document is of the person it was stored with, or of the one new submitter who is known by its name, as in a
//! comparison with earlier years as files. Removed documents, shadows and starter code are nobody's.
//!
//! Cost: linear in the postings of the keys that are asked for, and in the documents of the indexes for their persons.

pub mod counting;
pub mod loading;
pub mod sieve;

#[cfg(test)]
mod tests;

use crate::record::TEMPLATE;
use crate::segment::Which;
use crate::sign::person_key;
use crate::snapshot::{Snapshot, Submitters};
use lookalike_table::Result;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Marks a document that is nobody's.
const NOBODY: u32 = u32::MAX;

/// A submission of the comparison that is not of an index.
#[derive(Clone, Debug)]
pub struct Handed {
    /// The key of its person.
    pub person: Vec<u8>,
    /// The name by which the person is known in other years; none for old submissions, and where nothing names a person.
    pub known_as: Option<Vec<u8>>,
    /// Whether its person counts: an old submission of which nothing could be read does not.
    pub counts: bool,
}

/// A document of one of the indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The index.
    pub index: u32,
    /// Its number there.
    pub number: u64,
}

/// The documents of some indexes as earlier submissions, and the persons of everything that is compared.
pub struct Earlier {
    snapshots: Vec<Arc<Snapshot>>,
    /// The person of each document of each index; [`NOBODY`] for those that do not take part.
    persons: Vec<Vec<u32>>,
    /// The persons of the submissions that were handed in.
    handed: Vec<u32>,
    /// Starter code, in order.
    templates: Vec<At>,
    documents: u64,
    submitters: u32,
}

impl Earlier {
    /// Reads who handed in what. Errors: damaged.
    pub fn new(snapshots: Vec<Arc<Snapshot>>, handed: &[Handed]) -> Result<Self> {
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let known = sole(handed);
        let counting = handed.iter().filter(|one| one.counts).chain(handed.iter().filter(|one| !one.counts));
        let mut submitters = 0;
        for one in counting {
            let next = numbers.len() as u32;
            numbers.entry(person_key(&one.person)).or_insert(next);
            submitters = if one.counts { numbers.len() } else { submitters };
        }
        // Persons who do not count have numbers from here on, until they hold a document of an index.
        let (mut held, counted) = (HashSet::new(), submitters as u32);
        let mut all = Self {
            handed: handed.iter().filter_map(|one| numbers.get(&person_key(&one.person)).copied()).collect(),
            persons: Vec::new(),
            templates: Vec::new(),
            documents: 0,
            submitters: 0,
            snapshots,
        };
        for (index, snapshot) in all.snapshots.iter().enumerate() {
            let mut persons = vec![NOBODY; snapshot.rows() as usize];
            for (number, submitter, flags) in stored(&snapshot.submitters()?, &known) {
                if flags & TEMPLATE != 0 {
                    all.templates.push(At { index: index as u32, number });
                    continue;
                }
                let next = numbers.len() as u32;
                let person = *numbers.entry(submitter).or_insert(next);
                held.extend((person >= counted).then_some(person));
                persons.get_mut(number as usize).into_iter().for_each(|place| *place = person);
                all.documents += 1;
            }
            all.persons.push(persons);
        }
        all.submitters = counted + held.len() as u32;
        Ok(all)
    }

    /// The indexes.
    pub fn snapshots(&self) -> &[Arc<Snapshot>] {
        &self.snapshots
    }

    /// The persons of the submissions that were handed in, in their order.
    pub fn handed(&self) -> &[u32] {
        &self.handed
    }

    /// The person of a document; none for one that does not take part.
    pub fn person(&self, at: At) -> Option<u32> {
        let persons = self.persons.get(at.index as usize)?;
        persons.get(usize::try_from(at.number).ok()?).copied().filter(|person| *person != NOBODY)
    }

    /// Starter code of the indexes, in order of index and arrival.
    pub fn templates(&self) -> &[At] {
        &self.templates
    }

    /// Number of documents that take part.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of documents of each of some persons that take part.
    pub fn documents_of(&self, persons: &[u32]) -> Vec<u64> {
        let mut counts: HashMap<u32, u64> = persons.iter().map(|person| (*person, 0)).collect();
        for person in self.persons.iter().flatten() {
            counts.get_mut(person).into_iter().for_each(|count| *count += 1);
        }
        persons.iter().map(|person| counts.get(person).copied().unwrap_or(0)).collect()
    }

    /// The documents of some persons that take part, in order of index and arrival. Cost: linear in all documents.
    pub fn places_of(&self, persons: &[u32]) -> Vec<At> {
        let wanted: HashSet<&u32> = persons.iter().filter(|person| **person != NOBODY).collect();
        let of_index = |(index, all): (usize, &Vec<u32>)| {
            let met = all.iter().enumerate().filter(|(_, person)| wanted.contains(person));
            met.map(|(number, _)| At { index: index as u32, number: number as u64 }).collect::<Vec<_>>()
        };
        self.persons.iter().enumerate().flat_map(of_index).collect()
    }

    /// Number of persons of the indexes and of what was handed in together.
    pub fn submitters(&self) -> u32 {
        self.submitters
    }

    /// The documents that hold one of these keys or literals, both ascending, in order of index and arrival. Errors:
    /// damaged.
    pub fn candidates(&self, picks: &[u64], literals: &[u64]) -> Result<Vec<At>> {
        let mut found = Vec::new();
        for (index, (snapshot, persons)) in self.snapshots.iter().zip(&self.persons).enumerate() {
            let mut is_met = vec![false; persons.len()];
            for (which, keys) in [(Which::Postings, picks), (Which::Literals, literals)] {
                let meet = |_, number: u64| is_met.get_mut(number as usize).into_iter().for_each(|met| *met = true);
                snapshot.holders(which, keys, meet)?;
            }
            let met = is_met.iter().zip(persons).enumerate();
            let met = met.filter(|(_, (is_met, person))| **is_met && **person != NOBODY);
            found.extend(met.map(|(number, _)| At { index: index as u32, number: number as u64 }));
        }
        Ok(found)
    }
}

/// The new submitters who alone are known by a name: the name's key and the person's.
fn sole(handed: &[Handed]) -> HashMap<u64, u64> {
    let mut known: HashMap<u64, HashSet<u64>> = HashMap::new();
    for one in handed {
        if let Some(name) = one.known_as.as_ref().filter(|name| !name.is_empty()) {
            known.entry(person_key(name)).or_default().insert(person_key(&one.person));
        }
    }
    let alone = known.into_iter().filter(|(_, persons)| persons.len() == 1);
    alone.filter_map(|(name, persons)| Some((name, persons.into_iter().next()?))).collect()
}

/// Number, person and flags of each document.
fn stored<'a>(all: &'a Submitters, known: &'a HashMap<u64, u64>) -> impl Iterator<Item = (u64, u64, u32)> + 'a {
    let columns = all.numbers.iter().zip(&all.submitters).zip(all.known_as.iter().zip(&all.flags));
    columns.map(|((number, submitter), (known_as, flags))| {
        (*number, known.get(known_as).copied().unwrap_or(*submitter), *flags)
    })
}
