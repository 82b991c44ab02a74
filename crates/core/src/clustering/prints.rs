//! Proposes documents whose fingerprints differ in at most k bits, found by the complete search of `hamming`.
//!
//! Documents with equal fingerprints are one group, and groups within the distance are neighbours. The holders of a
//! fingerprint are a list like those of a key: a document is proposed with a later one of its own or a neighbouring
//! group if it is among the first [`FIRST`](super::FIRST) holders of its fingerprint, or among the last
//! [`LAST`](super::LAST) before the later one. So a million texts with one fingerprint cost no more than a million
//! texts with one key, and no pair of two fingerprints with fewer holders is left out.
//!
//! Cost: that of `hamming::tables` for the distinct fingerprints; 16 bytes per document, 4 per pair of neighbours.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.

use super::candidates::{order_documents, Sets};
use super::{Capped, Proposals, Proposer, Reach};
use crate::error::Result;
use crate::hamming::solve::{solve, Limit};
use crate::hamming::tables::Tables;
use crate::hamming::BITS;

/// Fingerprints searched at a time.
const CHUNK: usize = 1 << 18;
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
    /// The neighbours of each group, itself included, ascending; the start of each group, and the end.
    neighbours: Vec<u32>,
    neighbour_starts: Vec<usize>,
    /// The group of each document, and its place in its component.
    group_of: Vec<u32>,
    place_of: Vec<u32>,
    members: Vec<u32>,
    member_starts: Vec<usize>,
}

impl PrintGroups {
    /// Groups documents, numbered in order of rank, by fingerprint; those without one are alone. Ends early if
    /// `is_stopped`. Errors: a distance out of range, or more fingerprints than 32 bits can number.
    pub fn new(prints: &[Option<u64>], distance: u32, is_stopped: impl Fn() -> bool) -> Result<Self> {
        let mut pairs: Vec<(u64, u32)> =
            (0..).zip(prints).filter_map(|(document, print)| print.map(|print| (print, document))).collect();
        pairs.sort_unstable();
        let mut groups = Self {
            values: Vec::new(),
            holders: pairs.iter().map(|(_, document)| *document).collect(),
            holder_starts: vec![0],
            neighbours: Vec::new(),
            neighbour_starts: vec![0],
            group_of: vec![NONE; prints.len()],
            place_of: Vec::new(),
            members: Vec::new(),
            member_starts: Vec::new(),
        };
        for group in pairs.chunk_by(|left, right| left.0 == right.0) {
            group.iter().for_each(|(_, document)| groups.group_of[*document as usize] = groups.values.len() as u32);
            groups.values.push(group[0].0);
            groups.holder_starts.push(groups.holder_starts[groups.values.len() - 1] + group.len());
        }
        drop(pairs);
        groups.search(distance, is_stopped)?;
        groups.order();
        Ok(groups)
    }

    /// Finds the neighbours of all groups.
    fn search(&mut self, distance: u32, is_stopped: impl Fn() -> bool) -> Result<()> {
        let design = solve(BITS, distance, self.values.len() as u64, Limit::Fast)?;
        let tables = Tables::build(&design, &self.values, None)?;
        for chunk in self.values.chunks(CHUNK) {
            if is_stopped() {
                break;
            }
            let found = tables.query_batch(chunk)?;
            let first = self.neighbour_starts.len() - 1;
            self.neighbour_starts.resize(first + 1 + chunk.len(), 0);
            // Answers ascend by query, and by group within a query.
            found.queries.iter().for_each(|query| self.neighbour_starts[first + 1 + *query as usize] += 1);
            (first..first + chunk.len()).for_each(|at| self.neighbour_starts[at + 1] += self.neighbour_starts[at]);
            self.neighbours.extend(found.ids.iter().map(|group| *group as u32));
        }
        let end = self.neighbours.len();
        self.neighbour_starts.resize(self.values.len() + 1, end);
        Ok(())
    }

    /// Orders documents by component.
    fn order(&mut self) {
        let mut sets = Sets::default();
        sets.reset(self.group_of.len());
        for group in 0..self.values.len() {
            let first = self.holders_of(group)[0];
            let near = self.neighbours_of(group).iter().map(|other| self.holders_of(*other as usize)[0]);
            near.chain(self.holders_of(group).iter().copied()).for_each(|document| {
                sets.unite(first, document);
            });
        }
        let (homes, members, member_starts) = order_documents(sets, self.group_of.len());
        self.place_of = homes.iter().map(|home| home.place).collect();
        (self.members, self.member_starts) = (members, member_starts);
    }

    fn holders_of(&self, group: usize) -> &[u32] {
        &self.holders[self.holder_starts[group]..self.holder_starts[group + 1]]
    }

    fn neighbours_of(&self, group: usize) -> &[u32] {
        &self.neighbours[self.neighbour_starts[group]..self.neighbour_starts[group + 1]]
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
        let capped = |(group, key): (usize, &u64)| {
            let documents = self.holders_of(group).len();
            let untried = Reach::CROWDED.left_out(documents);
            (untried > 0).then_some(Capped { key: *key, documents: documents as u32, untried })
        };
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
        for group in groups.neighbours_of(own) {
            let others = groups.holders_of(*group as usize);
            let later = others.partition_point(|other| *other <= document);
            let reached = others[later..].iter().take_while(|other| end.is_none_or(|end| **other <= end));
            proposed.extend(reached.map(|other| groups.place_of[*other as usize]));
        }
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
