//! One component of candidates with local numbers: *places* of documents in order of rank, buckets in order of key.

use super::candidates::{Candidates, HEAD};
use super::{Capped, CROWD, CROWDED_GLANCES};
use std::ops::Range;

/// The loaded component; its memory is reused for the next.
pub struct Local<'a> {
    /// Documents in order of rank.
    members: &'a [u32],
    /// The buckets in the form of [`Candidates`], and the range of the places of each.
    words: &'a [u32],
    held: Vec<Range<usize>>,
    /// The buckets of each place, ascending; the start of each place, and the end.
    holds: Vec<u32>,
    holds_starts: Vec<usize>,
    /// Per bucket, the number of documents and of hubs whose turn is over.
    passed: Vec<u32>,
    hubs: Vec<u32>,
    /// Per bucket, the number of proposed pairs that were not tried.
    pub untried: Vec<u64>,
    /// Per place, the number of glances through crowded buckets.
    crowded: Vec<u32>,
    /// Per place, how often the current proposals met it; 0 between calls.
    met: Vec<u32>,
}

impl<'a> Local<'a> {
    /// Makes an empty component.
    pub fn new() -> Self {
        Self {
            members: &[],
            words: &[],
            held: Vec::new(),
            holds: Vec::new(),
            holds_starts: Vec::new(),
            passed: Vec::new(),
            hubs: Vec::new(),
            untried: Vec::new(),
            crowded: Vec::new(),
            met: Vec::new(),
        }
    }

    /// Loads a component.
    pub fn load(&mut self, candidates: &'a Candidates, component: usize) {
        (self.members, self.words) = (candidates.members(component), candidates.words(component));
        let documents = self.members.len();
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
        refill(&mut self.crowded, documents);
        refill(&mut self.met, documents);
        for (bucket, places) in self.held.iter().enumerate() {
            for place in &self.words[places.clone()] {
                // `met` counts the buckets written so far and is cleared below.
                let met = &mut self.met[*place as usize];
                self.holds[self.holds_starts[*place as usize] + *met as usize] = bucket as u32;
                *met += 1;
            }
        }
        self.met.fill(0);
        refill(&mut self.passed, self.held.len());
        refill(&mut self.hubs, self.held.len());
        refill(&mut self.untried, self.held.len());
    }

    /// Number of documents of the component.
    pub fn len(&self) -> usize {
        self.met.len()
    }

    /// Buckets of the component.
    pub fn buckets(&self) -> Range<usize> {
        0..self.untried.len()
    }

    /// The document at a place.
    pub fn document(&self, place: u32) -> u32 {
        self.members[place as usize]
    }

    /// Places in a bucket, ascending.
    pub fn held(&self, bucket: usize) -> &'a [u32] {
        &self.words[self.held[bucket].clone()]
    }

    fn holds(&self, place: u32) -> Range<usize> {
        self.holds_starts[place as usize]..self.holds_starts[place as usize + 1]
    }

    /// Ends the turn of `place`, in order of rank; `is_hub` says whether it was a hub.
    pub fn pass(&mut self, place: u32, is_hub: bool) {
        for at in self.holds(place) {
            let bucket = self.holds[at] as usize;
            self.passed[bucket] += 1;
            self.hubs[bucket] += u32::from(is_hub);
        }
    }

    /// Fills `proposed` with the later places that share a bucket with the hub `place`, as far as [`CROWD`] allows.
    /// REQUIRES: it is the turn of `place`.
    pub fn propose(&mut self, place: u32, proposed: &mut Vec<u32>) {
        proposed.clear();
        let mut is_crowded = false;
        for at in self.holds(place) {
            let bucket = self.holds[at] as usize;
            if self.held(bucket).len() > CROWD {
                is_crowded = true;
                continue;
            }
            for at in self.later(bucket) {
                let other = self.words[at];
                if std::mem::replace(&mut self.met[other as usize], 1) == 0 {
                    proposed.push(other);
                }
            }
        }
        if is_crowded {
            self.propose_crowded(place, proposed);
        }
        proposed.iter().for_each(|other| self.met[*other as usize] = 0);
    }

    fn propose_crowded(&mut self, place: u32, proposed: &mut Vec<u32>) {
        for at in self.holds(place) {
            let bucket = self.holds[at] as usize;
            if self.held(bucket).len() <= CROWD {
                continue;
            }
            let later = self.later(bucket);
            let reach = if (self.hubs[bucket] as usize) < CROWD / 2 { later.len() } else { later.len().min(CROWD / 2) };
            self.untried[bucket] += (later.len() - reach) as u64;
            for at in later.take(reach) {
                let other = self.words[at];
                if self.met[other as usize] != 0 {
                    continue;
                }
                if self.crowded[other as usize] == CROWDED_GLANCES {
                    self.untried[bucket] += 1;
                    continue;
                }
                self.crowded[other as usize] += 1;
                self.met[other as usize] = 1;
                proposed.push(other);
            }
        }
    }

    /// The range of the places of a bucket that come after the current one.
    fn later(&self, bucket: usize) -> Range<usize> {
        self.held[bucket].start + self.passed[bucket] as usize + 1..self.held[bucket].end
    }

    /// Fills `others` with at most `most` places that share buckets with `place` and are not `barred`: those with the
    /// most shared buckets first, then in order of rank. In a crowded bucket only the [`CROWD`] places around it are
    /// considered.
    pub fn neighbours(&mut self, place: u32, most: usize, barred: impl Fn(u32) -> bool, others: &mut Vec<u32>) {
        others.clear();
        for at in self.holds(place) {
            let bucket = self.holds[at] as usize;
            let all = self.held[bucket].clone();
            let own = all.start + self.held(bucket).partition_point(|other| *other < place);
            let near = own.saturating_sub(CROWD / 2).max(all.start)..(own + CROWD / 2).min(all.end);
            for at in if all.len() > CROWD { near } else { all } {
                let other = self.words[at];
                if other != place && !barred(other) {
                    self.met[other as usize] += 1;
                    if self.met[other as usize] == 1 {
                        others.push(other);
                    }
                }
            }
        }
        let met = &mut self.met;
        others.sort_unstable_by_key(|other| (std::cmp::Reverse(met[*other as usize]), *other));
        others.iter().for_each(|other| met[*other as usize] = 0);
        others.truncate(most);
    }

    /// The buckets with pairs that were not tried.
    pub fn capped(&self) -> impl Iterator<Item = Capped> + '_ {
        let capped = self.buckets().filter(|bucket| self.untried[*bucket] > 0);
        capped.map(|bucket| Capped {
            key: self.key(bucket),
            documents: self.held[bucket].len() as u32,
            untried: self.untried[bucket],
        })
    }

    /// The key of a bucket.
    pub fn key(&self, bucket: usize) -> u64 {
        let head = self.held[bucket].start - HEAD;
        u64::from(self.words[head]) << 32 | u64::from(self.words[head + 1])
    }
}

/// Fills cells with zeros; reuses the memory.
fn refill<T: Clone + Default>(cells: &mut Vec<T>, length: usize) {
    cells.clear();
    cells.resize(length, T::default());
}
