//! One component of candidates with local numbers: *places* of documents in order of rank, buckets in order of key.

use super::candidates::{Candidates, HEAD};
use super::Proposer;
use std::ops::Range;

/// Where a place stands: the bucket, and the number of holders before it.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    bucket: u32,
    before: u32,
}

/// The loaded component; its memory is reused for the next.
pub struct Local<'a> {
    candidates: &'a Candidates,
    /// Documents in order of rank.
    members: &'a [u32],
    /// The buckets in the form of [`Candidates`], and the range of the places of each.
    words: &'a [u32],
    held: Vec<Range<usize>>,
    /// The buckets of each place, ascending; the start of each place, and the end.
    holds: Vec<Standing>,
    holds_starts: Vec<usize>,
    /// The place of the first new document.
    new: u32,
    /// Per place, whether the current proposals have it; 0 between calls.
    met: Vec<u32>,
}

impl<'a> Local<'a> {
    /// Makes an empty component.
    pub fn new(candidates: &'a Candidates) -> Self {
        let (held, holds, holds_starts, met) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { candidates, members: &[], words: &[], held, holds, holds_starts, new: 0, met }
    }

    /// The key of a bucket.
    fn key(&self, bucket: usize) -> u64 {
        let head = self.held[bucket].start - HEAD;
        u64::from(self.words[head]) << 32 | u64::from(self.words[head + 1])
    }
}

impl Proposer for Local<'_> {
    fn load(&mut self, component: usize) {
        (self.members, self.words) = (self.candidates.members_of(component), self.candidates.words(component));
        let (documents, settled) = (self.members.len(), self.candidates.settled().count());
        self.new = self.members.partition_point(|document| *document < settled) as u32;
        refill(&mut self.holds_starts, documents + 1);
        self.held.clear();
        let (mut at, mut rows) = (HEAD, 0);
        while at <= self.words.len() {
            let places = at..at + self.words[at - 1] as usize;
            self.words[places.clone()].iter().for_each(|place| self.holds_starts[*place as usize + 1] += 1);
            rows += places.len();
            at = places.end + HEAD;
            self.held.push(places);
        }
        (0..documents).for_each(|place| self.holds_starts[place + 1] += self.holds_starts[place]);
        refill(&mut self.holds, rows);
        refill(&mut self.met, documents);
        for (bucket, places) in self.held.iter().enumerate() {
            for (before, place) in (0..).zip(&self.words[places.clone()]) {
                // `met` counts the buckets written so far and is cleared below.
                let met = &mut self.met[*place as usize];
                let standing = Standing { bucket: bucket as u32, before };
                self.holds[self.holds_starts[*place as usize] + *met as usize] = standing;
                *met += 1;
            }
        }
        self.met.fill(0);
    }

    fn places(&self) -> usize {
        self.met.len()
    }

    fn document(&self, place: u32) -> u32 {
        self.members[place as usize]
    }

    fn may_lead(&self, place: u32) -> bool {
        self.candidates.settled().may_lead(self.document(place))
    }

    fn propose(&mut self, place: u32, proposed: &mut Vec<u32>) {
        proposed.clear();
        let (reach, new) = (self.candidates.reach(), self.new);
        for holds in &self.holds[self.holds_starts[place as usize]..self.holds_starts[place as usize + 1]] {
            let places = &self.held[holds.bucket as usize];
            let next = places.start + holds.before as usize + 1;
            let end = match (holds.before as usize) < reach.first {
                true => places.end,
                false => places.end.min(next.saturating_add(reach.last)),
            };
            let reached = &self.words[next..end];
            let old = if place < new { reached.partition_point(|other| *other < new) } else { 0 };
            for other in &reached[old..] {
                if std::mem::replace(&mut self.met[*other as usize], 1) == 0 {
                    proposed.push(*other);
                }
            }
        }
        proposed.iter().for_each(|other| self.met[*other as usize] = 0);
    }

    fn each_key(&self, mut visit: impl FnMut(u64, &[u32])) {
        for (bucket, places) in self.held.iter().enumerate() {
            visit(self.key(bucket), &self.words[places.clone()]);
        }
    }
}

/// Fills cells with zeros; reuses the memory.
pub fn refill<T: Clone + Default>(cells: &mut Vec<T>, length: usize) {
    cells.clear();
    cells.resize(length, T::default());
}
