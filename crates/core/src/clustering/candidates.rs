//! Turns runs of equal keys into buckets of at least two documents, and buckets into components of candidates.
//!
//! One pass: each run becomes a bucket, and its documents are united into one set (union-find with path halving, Tarjan
//! and van Leeuwen 1984). Then documents are ordered by component and rank, and buckets by component, with counting
//! sorts.

use super::local::Local;
use super::verify::{VerifiedEdges, Verifier};
use super::{components, giants, star, Clustering, Judge, Method};
use crate::table::external::{Result, Sorted, TableError};
use rayon::prelude::*;
use std::ops::Range;

/// Least number of documents per task: enough that the overhead is small, few enough that all cores have work.
const TASK: usize = 4096;
/// Documents whose cells are loaded at once: 256 KiB of cache lines, half of a second-level cache.
const AHEAD: usize = 4096;
/// Marks the absence of a set or component.
const NONE: u32 = u32::MAX;

/// Disjoint sets of numbers; the root of a set is its smallest number.
#[derive(Clone, Debug, Default)]
pub struct Sets(Vec<u32>);

impl Sets {
    /// Makes a set of each number below `count`; reuses the memory.
    pub fn reset(&mut self, count: usize) {
        self.0.clear();
        self.0.extend(0..count as u32);
    }

    /// The root of the set of `i`.
    pub fn find(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let above = self.0[self.0[i as usize] as usize];
            self.0[i as usize] = above;
            i = above;
        }
        i
    }

    /// Unites two sets and returns the root.
    pub fn unite(&mut self, i: u32, j: u32) -> u32 {
        let (i, j) = (self.find(i), self.find(j));
        self.0[i.max(j) as usize] = i.min(j);
        i.min(j)
    }
}

/// The start of each list if lists are stored one after the other, and the end of the last.
fn starts_of(sizes: &[usize]) -> Vec<usize> {
    let mut starts = vec![0; sizes.len() + 1];
    for (i, size) in sizes.iter().enumerate() {
        starts[i + 1] = starts[i] + size;
    }
    starts
}

/// The component of a document and its place there.
#[derive(Clone, Copy)]
struct ComponentPlace {
    component: u32,
    place: u32,
}

/// The buckets of the table in order of key.
#[derive(Default)]
struct KeyBuckets {
    keys: Vec<u64>,
    /// Number of documents of each bucket.
    sizes: Vec<u32>,
    /// The documents, bucket by bucket, ascending.
    holders: Vec<u32>,
}

impl KeyBuckets {
    /// Reads the buckets of a table.
    fn read(mut table: Sorted, documents: usize) -> Result<Self> {
        let mut runs = Self::default();
        while let Some((key, owners)) = table.next_run()? {
            // Owners ascend, so the last is the greatest; if first and last are equal there is only one.
            let (Some(first), Some(last)) = (owners.first(), owners.last()) else { continue };
            if *last as usize >= documents {
                return Err(TableError::Owner { owner: *last, documents });
            }
            if first == last {
                continue;
            }
            let start = runs.holders.len();
            runs.holders.extend(owners.chunk_by(|a, b| a == b).map(|same| same[0]));
            runs.sizes.push((runs.holders.len() - start) as u32);
            runs.keys.push(key);
        }
        Ok(runs)
    }

    /// Visits the key and the documents of each bucket. Before a batch of buckets, `load` reads the cells of its
    /// documents: the cache misses of a batch overlap, while those of a root search or a sort do not.
    fn each<T>(&self, cells: &mut T, load: impl Fn(&T, u32) -> u32, mut visit: impl FnMut(&mut T, u64, &[u32])) {
        let (mut start, mut loaded) = (0, 0);
        for (key, size) in self.keys.iter().zip(&self.sizes) {
            let end = start + *size as usize;
            if end > loaded {
                loaded = (end + AHEAD).min(self.holders.len());
                let batch = self.holders[start..loaded].iter();
                std::hint::black_box(batch.fold(0, |all, document| all ^ load(cells, *document)));
            }
            visit(cells, *key, &self.holders[start..end]);
            start = end;
        }
    }
}

/// Buckets and components, ready for verification.
#[derive(Debug, Default)]
pub struct Candidates {
    /// Number of documents.
    documents: usize,
    /// Documents with candidates, by component and rank; the start of each component, and the end. The *place* of a
    /// document counts from the start of its component.
    members: Vec<u32>,
    member_starts: Vec<usize>,
    /// Buckets by component and key, each as [`HEAD`] words and the ascending places of its documents; the start of
    /// each component, and the end. One list holds all, because the buckets of a component are scattered over the
    /// table: more lists would cost more cache misses per bucket.
    words: Vec<u32>,
    word_starts: Vec<usize>,
}

/// Words of a bucket before its places: the two halves of the key, higher first, and the number of places.
pub const HEAD: usize = 3;

impl Candidates {
    /// Reads a table once. Errors: it cannot be read, an owner has no rank, or there are 2^32 − 1 documents or more.
    pub fn new(table: Sorted, rank: &[u32]) -> Result<Self> {
        if rank.len() >= NONE as usize {
            return Err(TableError::TooMany { documents: rank.len() });
        }
        let runs = KeyBuckets::read(table, rank.len())?;
        let mut sets = Sets::default();
        sets.reset(rank.len());
        runs.each(
            &mut sets,
            |sets, document| sets.0[document as usize],
            |sets, _, holders| {
                holders.iter().fold(holders[0], |root, document| sets.unite(root, *document));
            },
        );
        let mut candidates = Self { documents: rank.len(), ..Self::default() };
        let homes = candidates.order_documents(sets, rank);
        candidates.order_buckets(&runs, homes);
        Ok(candidates)
    }

    /// Orders documents by component and rank; components are numbered by their first document in rank. Returns the
    /// component and place of each document.
    fn order_documents(&mut self, mut sets: Sets, rank: &[u32]) -> Vec<ComponentPlace> {
        let mut homes = vec![ComponentPlace { component: NONE, place: NONE }; rank.len()];
        for document in 0..rank.len() as u32 {
            let root = sets.find(document);
            if root != document {
                homes[root as usize].place = 0;
                homes[document as usize].place = 0;
            }
        }
        let mut order: Vec<u32> = (0..rank.len() as u32).filter(|i| homes[*i as usize].place != NONE).collect();
        order.par_sort_unstable_by_key(|document| (rank[*document as usize], *document));
        let mut sizes = Vec::new();
        for document in &order {
            let root = &mut homes[sets.find(*document) as usize].component;
            if *root == NONE {
                *root = sizes.len() as u32;
                sizes.push(0);
            }
            let component = *root;
            homes[*document as usize] = ComponentPlace { component, place: sizes[component as usize] as u32 };
            sizes[component as usize] += 1;
        }
        self.member_starts = starts_of(&sizes);
        self.members = vec![0; order.len()];
        for document in order {
            let home = homes[document as usize];
            self.members[self.member_starts[home.component as usize] + home.place as usize] = document;
        }
        homes
    }

    /// Orders buckets by component and key.
    fn order_buckets(&mut self, runs: &KeyBuckets, mut homes: Vec<ComponentPlace>) {
        let load = |homes: &Vec<ComponentPlace>, document: u32| homes[document as usize].place;
        let mut sizes = vec![0; self.member_starts.len() - 1];
        runs.each(
            &mut homes,
            |_, _| 0,
            |homes, _, holders| {
                sizes[homes[holders[0] as usize].component as usize] += HEAD + holders.len();
            },
        );
        self.word_starts = starts_of(&sizes);
        self.words = vec![0; self.word_starts[sizes.len()]];
        let (mut next, mut sorted) = (self.word_starts.clone(), Vec::new());
        runs.each(&mut homes, load, |homes, key, holders| {
            let start = &mut next[homes[holders[0] as usize].component as usize];
            // Sorted before they are written, because the target is not in the cache yet.
            sorted.clear();
            sorted.extend(holders.iter().map(|document| homes[*document as usize].place));
            sorted.sort_unstable();
            let bucket = &mut self.words[*start..*start + HEAD + holders.len()];
            *start += bucket.len();
            (bucket[0], bucket[1], bucket[2]) = ((key >> 32) as u32, key as u32, holders.len() as u32);
            bucket[HEAD..].copy_from_slice(&sorted);
        });
    }

    /// Components of at least two documents.
    pub(super) fn components(&self) -> Range<usize> {
        0..self.word_starts.len().saturating_sub(1)
    }

    /// The documents of a component in order of rank.
    pub(super) fn members(&self, component: usize) -> &[u32] {
        &self.members[self.member_starts[component]..self.member_starts[component + 1]]
    }

    /// The words of the buckets of a component.
    pub(super) fn words(&self, component: usize) -> &[u32] {
        &self.words[self.word_starts[component]..self.word_starts[component + 1]]
    }

    /// Groups components into tasks of at least [`TASK`] documents; the last may have fewer.
    fn tasks(&self) -> Vec<Range<usize>> {
        let (mut tasks, mut start) = (Vec::new(), 0);
        for end in 1..self.member_starts.len() {
            if self.member_starts[end] - self.member_starts[start] >= TASK || end + 1 == self.member_starts.len() {
                tasks.push(start..end);
                start = end;
            }
        }
        tasks
    }

    /// Verifies the candidates and clusters them.
    pub fn cluster(&self, threshold: f64, method: Method, judge: &impl Judge) -> Clustering {
        let work = |components: Range<usize>| {
            let (mut local, mut verifier) = (Local::new(), Verifier::new(judge, threshold));
            for component in components {
                local.load(self, component);
                match method {
                    Method::Star => star::star(&mut local, &mut verifier),
                    Method::Components => components::components(&mut local, &mut verifier),
                }
                verifier.close(&local);
            }
            verifier.found
        };
        let found: Vec<VerifiedEdges> = self.tasks().into_par_iter().map(work).collect();
        let mut clustering = Clustering::alone(self.documents);
        found.into_iter().for_each(|found| found.write(&mut clustering));
        clustering.edges.par_sort_unstable_by_key(|edge| (edge.left, edge.right));
        clustering.capped.sort_unstable();
        clustering.giants = giants::by_keys(self, &clustering.leader);
        clustering
    }
}
