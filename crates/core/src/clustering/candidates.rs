//! Turns runs of equal keys into buckets of at least two documents, and buckets into components of candidates.
//!
//! One pass: each run becomes a bucket, and its documents are united into one set (union-find with path halving, Tarjan
//! and van Leeuwen 1984). Then documents and buckets are ordered by component, with counting sorts.

use super::local::Local;
use super::{Capped, Earlier, NoEarlier, Proposals, Reach, Settled};
use lookalike_table::spill::Sorted;
use lookalike_table::{Error, Result};
use std::collections::HashMap;

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
#[derive(Clone, Copy, Debug)]
pub struct ComponentPlace {
    /// The number of the component.
    pub component: u32,
    /// The place in it.
    pub place: u32,
}

/// The earlier documents met so far, numbered after the new ones, and the keys of which not all holders are met.
struct Known {
    new: u32,
    numbers: HashMap<u64, u32>,
    crowds: HashMap<u64, u64>,
}

impl Known {
    fn after(documents: usize) -> Self {
        Self { new: documents as u32, numbers: HashMap::new(), crowds: HashMap::new() }
    }

    /// The number of an earlier document until all are met. Errors: there are too many.
    fn number(&mut self, earlier: u64) -> Result<u32> {
        let next = self.new.saturating_add(self.numbers.len() as u32);
        match next {
            NONE => Err(too_many(self.new as usize + self.numbers.len())),
            _ => Ok(*self.numbers.entry(earlier).or_insert(next)),
        }
    }
}

fn too_many(documents: usize) -> Error {
    Error::refused(format!(
        "`{documents}` documents are too many: numbers have 32 bits, so there must be fewer than 2^32; divide them"
    ))
}

/// Keys that are looked up at a time.
const BATCH: usize = 1 << 10;

/// Some keys of a table, and the documents of each, ascending.
#[derive(Default)]
struct KeyBatch {
    keys: Vec<u64>,
    owners: Vec<u32>,
    ends: Vec<usize>,
}

impl KeyBatch {
    /// Reads the next keys; with `is_shared` only those of several documents. Errors: an owner is no document.
    fn fill(&mut self, table: &mut Sorted, documents: usize, is_shared: bool) -> Result<()> {
        self.keys.clear();
        self.owners.clear();
        self.ends.clear();
        while self.keys.len() < BATCH {
            let Some((key, owners)) = table.next_run()? else { return Ok(()) };
            // Owners ascend, so the last is the greatest; if first and last are equal there is only one.
            let (Some(first), Some(last)) = (owners.first(), owners.last()) else { continue };
            if *last as usize >= documents {
                return Err(Error::refused(format!(
                    "a row belongs to document `{last}`, there are `{documents}`: give a rank for every document"
                )));
            }
            if first == last && is_shared {
                continue;
            }
            self.owners.extend(owners.chunk_by(|a, b| a == b).map(|same| same[0]));
            self.ends.push(self.owners.len());
            self.keys.push(key);
        }
        Ok(())
    }

    fn owners(&self, place: usize) -> &[u32] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.owners[start..self.ends[place]]
    }
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
    /// Reads the buckets of a table. Until `settle` numbers them, earlier documents are numbered after the new ones, in
    /// the order in which they are met; in a bucket they come first.
    fn read(mut table: Sorted, documents: usize, reach: Reach, earlier: &impl Earlier) -> Result<(Self, Known)> {
        let (mut runs, mut known, mut batch) = (Self::default(), Known::after(documents), KeyBatch::default());
        loop {
            batch.fill(&mut table, documents, earlier.is_empty())?;
            if batch.keys.is_empty() {
                return Ok((runs, known));
            }
            let mut next = 0;
            earlier.holders(&batch.keys, reach, &mut |place, before, all| {
                (next..place).for_each(|place| runs.push(&batch, place));
                next = place + 1;
                let start = runs.holders.len();
                for number in before {
                    runs.holders.push(known.number(*number)?);
                }
                if all > before.len() as u64 {
                    known.crowds.insert(batch.keys[place], all);
                }
                runs.end(&batch, place, start);
                Ok(())
            })?;
            (next..batch.keys.len()).for_each(|place| runs.push(&batch, place));
        }
    }

    /// Appends the bucket of a key without earlier holders, if there are several others.
    fn push(&mut self, batch: &KeyBatch, place: usize) {
        if batch.owners(place).len() > 1 {
            self.end(batch, place, self.holders.len());
        }
    }

    /// Appends the new holders of a key, whose earlier ones begin at `start`.
    fn end(&mut self, batch: &KeyBatch, place: usize, start: usize) {
        self.holders.extend(batch.owners(place));
        self.sizes.push((self.holders.len() - start) as u32);
        self.keys.push(batch.keys[place]);
    }

    /// Numbers earlier documents in order of rank, and new ones after them. Returns the earlier ones.
    ///
    /// Errors: they cannot be read.
    fn settle(&mut self, known: Known, earlier: &impl Earlier) -> Result<(Vec<u64>, Settled)> {
        let (new, mut ranked) = (known.new, known.numbers.into_iter().collect::<Vec<(u64, u32)>>());
        ranked.sort_unstable();
        let mut rank = vec![0; ranked.len()];
        (0..).zip(&ranked).for_each(|(at, (_, met))| rank[(*met - new) as usize] = at);
        let count = ranked.len() as u32;
        for holder in &mut self.holders {
            *holder = if *holder < new { count + *holder } else { rank[(*holder - new) as usize] };
        }
        let numbers: Vec<u64> = ranked.into_iter().map(|(number, _)| number).collect();
        let leads = numbers.iter().map(|number| earlier.leads(*number)).collect::<Result<_>>()?;
        Ok((numbers, Settled { leads, crowds: known.crowds }))
    }

    /// The keys whose pairs are not all proposed.
    fn capped(&self, reach: Reach, settled: &Settled) -> Vec<Capped> {
        let mut start = 0;
        let capped = |(key, size): (&u64, &u32)| {
            let holders = &self.holders[start..start + *size as usize];
            start += holders.len();
            settled.capped(*key, holders, reach)
        };
        self.keys.iter().zip(&self.sizes).filter_map(capped).collect()
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
#[derive(Debug)]
pub struct Candidates {
    /// Number of documents.
    documents: usize,
    /// How far the holders of a bucket reach.
    reach: Reach,
    /// Documents with candidates, by component, ascending; the start of each component, and the end. The *place* of a
    /// document counts from the start of its component.
    members: Vec<u32>,
    member_starts: Vec<usize>,
    /// Buckets by component and key, each as [`HEAD`] words and the ascending places of its documents; the start of
    /// each component, and the end. One list holds all, because the buckets of a component are scattered over the
    /// table: more lists would cost more cache misses per bucket.
    words: Vec<u32>,
    word_starts: Vec<usize>,
    capped: Vec<Capped>,
    settled: Settled,
}

/// Words of a bucket before its places: the two halves of the key, higher first, and the number of places.
pub const HEAD: usize = 3;

impl Candidates {
    /// Reads a table once. Its owners are documents below `documents`, numbered in order of rank. Errors: it cannot be
    /// read, an owner is no such document, or there are 2^32 − 1 documents or more.
    pub fn new(table: Sorted, documents: usize, reach: Reach) -> Result<Self> {
        Ok(Self::after(table, documents, reach, &NoEarlier)?.0)
    }

    /// As [`Candidates::new`], after earlier documents. Those that can propose a pair get the first numbers, in order
    /// of rank; the numbers of the table follow. The second result has the earlier documents, by number. Errors: as
    /// for `new`, or the earlier documents cannot be read.
    pub fn after(table: Sorted, documents: usize, reach: Reach, earlier: &impl Earlier) -> Result<(Self, Vec<u64>)> {
        if documents >= NONE as usize {
            return Err(too_many(documents));
        }
        let (mut runs, known) = KeyBuckets::read(table, documents, reach, earlier)?;
        let (numbers, settled) = runs.settle(known, earlier)?;
        let documents = numbers.len() + documents;
        let mut sets = Sets::default();
        sets.reset(documents);
        runs.each(
            &mut sets,
            |sets, document| sets.0[document as usize],
            |sets, _, holders| {
                holders.iter().fold(holders[0], |root, document| sets.unite(root, *document));
            },
        );
        let (homes, members, member_starts) = order_documents(sets, documents);
        let (words, word_starts, capped) = (Vec::new(), Vec::new(), runs.capped(reach, &settled));
        let mut candidates = Self { documents, reach, members, member_starts, words, word_starts, capped, settled };
        candidates.order_buckets(&runs, homes);
        Ok((candidates, numbers))
    }

    /// Orders buckets by component and key.
    fn order_buckets(&mut self, runs: &KeyBuckets, mut homes: Vec<ComponentPlace>) {
        let load = |homes: &Vec<ComponentPlace>, document: u32| homes[document as usize].place;
        let mut sizes = vec![0; self.member_starts.len() - 1];
        runs.each(
            &mut homes,
            |_, _| 0,
            |homes, _, holders| {
                // A key whose earlier holders are all out of reach may have one document alone, which is in no component.
                if holders.len() > 1 {
                    sizes[homes[holders[0] as usize].component as usize] += HEAD + holders.len();
                }
            },
        );
        self.word_starts = starts_of(&sizes);
        self.words = vec![0; self.word_starts[sizes.len()]];
        let mut next = self.word_starts.clone();
        runs.each(&mut homes, load, |homes, key, holders| {
            if holders.len() < 2 {
                return;
            }
            let start = &mut next[homes[holders[0] as usize].component as usize];
            let bucket = &mut self.words[*start..*start + HEAD + holders.len()];
            *start += bucket.len();
            (bucket[0], bucket[1], bucket[2]) = ((key >> 32) as u32, key as u32, holders.len() as u32);
            // Holders ascend, and places ascend with them.
            for (cell, document) in bucket[HEAD..].iter_mut().zip(holders) {
                *cell = homes[*document as usize].place;
            }
        });
    }

    /// How far the holders of a bucket reach.
    pub(super) fn reach(&self) -> Reach {
        self.reach
    }

    /// The earlier documents.
    pub(super) fn settled(&self) -> &Settled {
        &self.settled
    }

    /// The documents of a component, ascending.
    pub(super) fn members_of(&self, component: usize) -> &[u32] {
        &self.members[self.member_starts[component]..self.member_starts[component + 1]]
    }

    /// The words of the buckets of a component.
    pub(super) fn words(&self, component: usize) -> &[u32] {
        &self.words[self.word_starts[component]..self.word_starts[component + 1]]
    }
}

impl Proposals for Candidates {
    type Local<'a> = Local<'a>;

    fn documents(&self) -> usize {
        self.documents
    }

    fn components(&self) -> usize {
        self.word_starts.len().saturating_sub(1)
    }

    fn members(&self, component: usize) -> &[u32] {
        self.members_of(component)
    }

    fn local(&self) -> Local<'_> {
        Local::new(self)
    }

    fn capped(&self) -> Vec<Capped> {
        self.capped.clone()
    }
}

/// Numbers components by their first document. Returns the component and place of each document, the documents by
/// component, ascending, and the start of each component, and the end.
pub fn order_documents(mut sets: Sets, documents: usize) -> (Vec<ComponentPlace>, Vec<u32>, Vec<usize>) {
    let mut homes = vec![ComponentPlace { component: NONE, place: NONE }; documents];
    for document in 0..documents as u32 {
        let root = sets.find(document);
        if root != document {
            homes[root as usize].place = 0;
            homes[document as usize].place = 0;
        }
    }
    let mut sizes: Vec<usize> = Vec::new();
    for document in 0..documents as u32 {
        if homes[document as usize].place == NONE {
            continue;
        }
        // The root of a set is its smallest number, so it is met first.
        let root = sets.find(document);
        if root == document {
            homes[document as usize].component = sizes.len() as u32;
            sizes.push(0);
        }
        let component = homes[root as usize].component;
        homes[document as usize] = ComponentPlace { component, place: sizes[component as usize] as u32 };
        sizes[component as usize] += 1;
    }
    let starts = starts_of(&sizes);
    let mut members = vec![0; starts[sizes.len()]];
    for (document, home) in (0..).zip(&homes).filter(|(_, home)| home.component != NONE) {
        members[starts[home.component as usize] + home.place as usize] = document;
    }
    (homes, members, starts)
}
