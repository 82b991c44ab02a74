//! Proposes documents whose fingerprints differ in at most k bits, found by the complete search of `hamming`.
//!
//! Documents with equal fingerprints are one group, and groups within the distance are neighbours. The holders of a
//! fingerprint are a list like those of a key: a document is proposed with a later one of its own or a neighbouring
//! group if it is among the first [`FIRST`](super::FIRST) holders of its fingerprint, or among the last
//! [`LAST`](super::LAST) before the later one. So a million texts with one fingerprint cost no more than a million
//! texts with one key, and no pair of two fingerprints with fewer holders is left out.
//!
//! The neighbours of a fingerprint are kept if they are at most [`KEPT`]; those of a crowded one are searched for again
//! when its documents are compared. So the memory does not grow with the number of pairs.
//!
//! Cost: that of `hamming::tables` for the distinct fingerprints, and another search per document of a crowded one that
//! is compared with others; 16 bytes per document and up to 268 per fingerprint. If any is crowded, the tables stay in
//! memory, and a search takes up to 64 bytes per fingerprint and thread.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.

use super::candidates::{order_documents, Sets};
use super::{Capped, Proposals, Proposer, Reach, Settled};
use crate::error::Result;
use crate::hamming::solve::{solve, Limit};
use crate::hamming::tables::{Answers, Tables};
use crate::hamming::BITS;
use crate::hash::mix64;
use std::hash::{BuildHasher, RandomState};

/// The most fingerprints searched at a time.
const CHUNK: usize = 1 << 18;
/// About the most neighbours found at a time: 64 MiB of answers, or those of one fingerprint.
const ANSWERS: usize = 1 << 20;
/// The most neighbours of a fingerprint that are kept. A search that finds more costs little more than reading them.
pub const KEPT: usize = 64;
/// Marks a fingerprint whose neighbours are not kept.
const CROWDED: u8 = u8::MAX;
/// The group of a document without a fingerprint.
const NONE: u32 = u32::MAX;

/// Groups of documents with equal fingerprints, and their neighbours.
#[derive(Debug)]
pub struct PrintGroups {
    /// The fingerprint of each group, ascending.
    values: Vec<u64>,
    /// The documents of each group, ascending; the start of each group, and the end.
    holders: Vec<u32>,
    holder_starts: Vec<usize>,
    /// The neighbours of groups that are not crowded, the group itself included, ascending.
    neighbours: Vec<u32>,
    /// Where the neighbours of each group start, and how many there are, or [`CROWDED`].
    neighbour_starts: Vec<usize>,
    neighbour_counts: Vec<u8>,
    /// For the groups that are crowded, if any.
    tables: Option<Tables>,
    /// The group of each document, and its place in its component.
    group_of: Vec<u32>,
    place_of: Vec<u32>,
    members: Vec<u32>,
    member_starts: Vec<usize>,
    settled: Settled,
}

impl PrintGroups {
    /// Groups documents, numbered in order of rank, by fingerprint; those without one are alone. The first of them are
    /// `settled`. Ends early if `is_stopped`. Errors: a distance out of range, or more fingerprints than 32 bits can
    /// number.
    pub fn new(prints: &[Option<u64>], distance: u32, settled: Settled, is_stopped: impl Fn() -> bool) -> Result<Self> {
        let mut pairs: Vec<(u64, u32)> =
            (0..).zip(prints).filter_map(|(document, print)| print.map(|print| (print, document))).collect();
        pairs.sort_unstable();
        let mut groups = Self {
            values: Vec::new(),
            holders: pairs.iter().map(|(_, document)| *document).collect(),
            holder_starts: vec![0],
            neighbours: Vec::new(),
            neighbour_starts: Vec::new(),
            neighbour_counts: Vec::new(),
            tables: None,
            group_of: vec![NONE; prints.len()],
            place_of: Vec::new(),
            members: Vec::new(),
            member_starts: Vec::new(),
            settled,
        };
        for group in pairs.chunk_by(|left, right| left.0 == right.0) {
            group.iter().for_each(|(_, document)| groups.group_of[*document as usize] = groups.values.len() as u32);
            groups.values.push(group[0].0);
            groups.holder_starts.push(groups.holder_starts[groups.values.len() - 1] + group.len());
        }
        drop(pairs);
        let sets = groups.search(distance, is_stopped)?;
        groups.order(sets);
        Ok(groups)
    }

    /// Finds the neighbours of all groups, and returns the documents that they connect.
    ///
    /// Groups are searched in a random order, in chunks that double as long as their answers are few: so a chunk has
    /// about as many answers per group as those before it, and crowded groups do not fill the memory.
    fn search(&mut self, distance: u32, is_stopped: impl Fn() -> bool) -> Result<Sets> {
        let count = self.values.len();
        let mut sets = Sets::default();
        sets.reset(self.group_of.len());
        self.neighbour_starts = vec![0; count];
        self.neighbour_counts = vec![0; count];
        let tables = Tables::numbered(&solve(BITS, distance, count as u64, Limit::Fast)?, &self.values)?;
        let key = RandomState::new().hash_one(0);
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|group| mix64(self.values[*group as usize] ^ key));
        let (mut start, mut size, mut values) = (0, (ANSWERS / count.max(1)).clamp(1, CHUNK), Vec::new());
        while start < count && !is_stopped() {
            let chunk = &order[start..count.min(start + size)];
            values.clear();
            values.extend(chunk.iter().map(|group| self.values[*group as usize]));
            let found = tables.query_batch(&values)?;
            self.keep(chunk, &found, &mut sets);
            start += chunk.len();
            size = match found.ids.len() {
                few if few <= ANSWERS / 4 => (2 * size).min(CHUNK),
                many if many > ANSWERS => (size / 2).max(1),
                _ => size,
            };
        }
        self.tables = self.neighbour_counts.contains(&CROWDED).then_some(tables);
        Ok(sets)
    }

    /// Keeps the neighbours of a chunk of groups, and connects their documents.
    fn keep(&mut self, chunk: &[u32], found: &Answers, sets: &mut Sets) {
        let mut at = 0;
        // Answers ascend by query, and by group within a query.
        for same in found.queries.chunk_by(|left, right| left == right) {
            let (group, near) = (chunk[same[0] as usize] as usize, &found.ids[at..at + same.len()]);
            at += same.len();
            let first = self.holders_of(group)[0];
            let others = near.iter().map(|other| self.holders_of(*other as usize)[0]);
            others.chain(self.holders_of(group).iter().copied()).for_each(|document| {
                sets.unite(first, document);
            });
            self.neighbour_starts[group] = self.neighbours.len();
            if near.len() <= KEPT {
                self.neighbour_counts[group] = near.len() as u8;
                self.neighbours.extend(near.iter().map(|other| *other as u32));
            } else {
                self.neighbour_counts[group] = CROWDED;
            }
        }
    }

    /// Orders documents by component.
    fn order(&mut self, sets: Sets) {
        let (homes, members, member_starts) = order_documents(sets, self.group_of.len());
        self.place_of = homes.iter().map(|home| home.place).collect();
        (self.members, self.member_starts) = (members, member_starts);
    }

    /// Calls `visit` with each neighbour of a group, itself included, ascending.
    fn each_neighbour(&self, group: usize, visit: impl FnMut(usize)) {
        let (start, count) = (self.neighbour_starts[group], self.neighbour_counts[group]);
        match (&self.tables, count) {
            // One query is never too many, so there is an answer.
            (Some(tables), CROWDED) => {
                let found = tables.query_batch(&[self.values[group]]).unwrap_or_default();
                found.ids.iter().map(|other| *other as usize).for_each(visit);
            }
            _ => self.neighbours[start..][..count as usize].iter().map(|other| *other as usize).for_each(visit),
        }
    }

    /// Number of neighbours that are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.neighbours.len()
    }

    fn holders_of(&self, group: usize) -> &[u32] {
        &self.holders[self.holder_starts[group]..self.holder_starts[group + 1]]
    }
}

impl Proposals for PrintGroups {
    type Local<'a> = PrintLocal<'a>;

    fn documents(&self) -> usize {
        self.group_of.len()
    }

    fn components(&self) -> usize {
        self.member_starts.len().saturating_sub(1)
    }

    fn members(&self, component: usize) -> &[u32] {
        &self.members[self.member_starts[component]..self.member_starts[component + 1]]
    }

    fn local(&self) -> PrintLocal<'_> {
        PrintLocal { groups: self, members: &[] }
    }

    /// Fingerprints as keys; only pairs of equal fingerprints are counted.
    fn capped(&self) -> Vec<Capped> {
        let capped = |(group, key): (usize, &u64)| self.settled.capped(*key, self.holders_of(group), Reach::CROWDED);
        self.values.iter().enumerate().filter_map(capped).collect()
    }
}

/// The loaded component.
pub struct PrintLocal<'a> {
    groups: &'a PrintGroups,
    members: &'a [u32],
}

impl Proposer for PrintLocal<'_> {
    fn load(&mut self, component: usize) {
        self.members = self.groups.members(component);
    }

    fn places(&self) -> usize {
        self.members.len()
    }

    fn document(&self, place: u32) -> u32 {
        self.members[place as usize]
    }

    fn may_lead(&self, place: u32) -> bool {
        self.groups.settled.may_lead(self.document(place))
    }

    fn propose(&mut self, place: u32, proposed: &mut Vec<u32>) {
        proposed.clear();
        let (groups, document) = (self.groups, self.members[place as usize]);
        let own = groups.group_of[document as usize] as usize;
        let holders = groups.holders_of(own);
        let before = holders.partition_point(|other| *other < document);
        // Beyond the holder that comes LAST after it, a document is no longer among the last before the later one.
        let end = match before < Reach::CROWDED.first {
            true => None,
            false => holders.get(before + Reach::CROWDED.last).copied(),
        };
        let new = groups.settled.count();
        groups.each_neighbour(own, |group| {
            let others = groups.holders_of(group);
            let later = others.partition_point(|other| *other <= document || *other < new);
            let reached = others[later..].iter().take_while(|other| end.is_none_or(|end| **other <= end));
            proposed.extend(reached.map(|other| groups.place_of[*other as usize]));
        });
    }

    fn each_key(&self, mut visit: impl FnMut(u64, &[u32])) {
        let groups = self.groups;
        let mut places = Vec::new();
        for document in self.members {
            let group = groups.group_of[*document as usize] as usize;
            let holders = groups.holders_of(group);
            if holders[0] == *document {
                places.clear();
                places.extend(holders.iter().map(|other| groups.place_of[*other as usize]));
                visit(groups.values[group], &places);
            }
        }
    }
}
