//! Proposes the pairs that are worth aligning: those that share a selected k-gram of their own.
//!
//! Runs of equal keys in the table say, row by row, which other submissions hold the picks of a submission. A score is
//! estimated from the weights of the shared picks. No pair without a shared pick is ever made, and none is kept below
//! the threshold. Only the first submission of each class takes part. A pair belongs to the row of the submission that
//! comes first by content, so the result does not depend on the order of the input.
//!
//! A pick that more than [`hot`] submitters hold proposes no pairs, so each posting costs at most that much. It still
//! counts in the estimate and in the alignment. If a submission shares nothing else, or its hot picks alone could reach
//! the cut-off, it is compared with the holders that follow it in the table for its rarest hot pick. So it is never
//! passed over.

use super::entry::Entry;
use super::weigh::{distinct, weight, Frequencies, Weighed};
use super::Classes;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// Number of holders above which a pick proposes no pairs, among `submissions`.
pub fn hot(submissions: usize) -> usize {
    (submissions / 1000).max(64)
}

/// A submission that shares picks with the row, and the estimated score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The other submission.
    pub other: u32,
    /// Estimated score.
    pub estimate: f64,
}

/// A submission that holds a key, and how often.
#[derive(Clone, Copy)]
struct Holder {
    owner: u32,
    times: u32,
}

/// A key that several submissions hold.
struct SharedKey {
    holders: Range<u32>,
    worth: u32,
}

/// A shared key of a submission, and how often it holds the key.
#[derive(Clone, Copy)]
struct OwnedKey {
    run: u32,
    times: u32,
}

/// The shared keys of one submission.
#[derive(Clone, Default)]
struct Owner {
    /// Keys that propose pairs.
    cool: Vec<OwnedKey>,
    /// Keys too common to propose pairs, ascending.
    hot: Vec<OwnedKey>,
    /// Weight of the hot keys.
    hot_weight: u64,
    /// Weight of all its own picks.
    total: u64,
    /// Submissions to compare with because of a hot key, ascending.
    neighbours: Vec<u32>,
    /// Rank in the order by content.
    rank: u32,
}

/// The shared keys of all submissions.
pub struct Proposals {
    runs: Vec<SharedKey>,
    /// Rows of the table with a hot key.
    hot_runs: Vec<Range<usize>>,
    holders: Vec<Holder>,
    owners: Vec<Owner>,
}

impl Proposals {
    /// Reads the table once. `cut_off` is the least score of pairs that are kept.
    pub fn new(
        entries: &[Entry],
        frequencies: &Frequencies,
        weighed: &[Weighed],
        classes: &Classes,
        cut_off: f64,
    ) -> Self {
        let owners = ranks(entries).into_iter().map(|rank| Owner { rank, ..Owner::default() }).collect();
        let mut proposals = Self { runs: Vec::new(), hot_runs: Vec::new(), holders: Vec::new(), owners };
        let most = hot(entries.len());
        for run in frequencies.table.runs() {
            let worth = weight(frequencies.holders[run.start], frequencies.submitters);
            let first = proposals.holders.len();
            for row in &frequencies.table.rows()[run.clone()] {
                let entry = &entries[row.owner as usize];
                if classes.is_first(row.owner) && is_own(entry, &weighed[row.owner as usize], row.at) {
                    proposals.owners[row.owner as usize].total += u64::from(worth);
                    match proposals.holders[first..].last_mut() {
                        Some(last) if last.owner == row.owner => last.times += 1,
                        _ => proposals.holders.push(Holder { owner: row.owner, times: 1 }),
                    }
                }
            }
            if proposals.close(entries, first, worth, most) {
                proposals.hot_runs.push(run);
            }
        }
        proposals.meet_neighbours(most, cut_off);
        proposals
    }

    /// Makes a shared key of the holders from `first` on, if there are at least two. Returns whether it is hot.
    fn close(&mut self, entries: &[Entry], first: usize, worth: u32, most: usize) -> bool {
        let found = &self.holders[first..];
        if found.len() < 2 {
            self.holders.truncate(first);
            return false;
        }
        let is_hot = found.len() > most
            && distinct(found.iter().map(|held| entries[held.owner as usize].submitter)) > most as u32;
        for held in found {
            let owner = &mut self.owners[held.owner as usize];
            let entry = OwnedKey { run: self.runs.len() as u32, times: held.times };
            if is_hot {
                owner.hot.push(entry);
                owner.hot_weight += u64::from(worth) * u64::from(held.times);
            } else {
                owner.cool.push(entry);
            }
        }
        self.runs.push(SharedKey { holders: first as u32..self.holders.len() as u32, worth });
        is_hot
    }

    /// Rows of the table with keys too common to propose pairs.
    pub fn hot_runs(&self) -> &[Range<usize>] {
        &self.hot_runs
    }

    /// Pairs each submission that could reach the cut-off by hot keys alone with the `most` holders that follow it
    /// under its rarest hot key, cyclically.
    fn meet_neighbours(&mut self, most: usize, cut_off: f64) {
        for row in 0..self.owners.len() as u32 {
            let owner = &self.owners[row as usize];
            let rarity = |held: &&OwnedKey| (self.runs[held.run as usize].holders.len(), held.run);
            let is_crowded = owner.cool.is_empty() || owner.hot_weight as f64 >= cut_off * owner.total as f64;
            let Some(rarest) = owner.hot.iter().min_by_key(rarity).filter(|_| is_crowded) else { continue };
            let holders = &self.runs[rarest.run as usize].holders;
            let holders = &self.holders[holders.start as usize..holders.end as usize];
            let after = holders.partition_point(|held| held.owner <= row);
            for other in holders[after..].iter().chain(holders).map(|held| held.owner).take(most) {
                let [first, second] = if self.comes_before(row, other) { [row, other] } else { [other, row] };
                self.owners[first as usize].neighbours.push(second);
            }
        }
        for (row, owner) in self.owners.iter_mut().enumerate() {
            owner.neighbours.sort_unstable();
            owner.neighbours.dedup();
            owner.neighbours.retain(|other| *other != row as u32);
        }
    }

    fn comes_before(&self, row: u32, other: u32) -> bool {
        self.owners[row as usize].rank < self.owners[other as usize].rank
    }

    /// Appends the candidates of submission `row` that come after it by content, in order. An estimate is exact enough
    /// to decide whether it reaches `enough`. `shared` is scratch memory with one cell per submission.
    pub fn of(&self, row: u32, enough: f64, shared: &mut Vec<u64>, found: &mut Vec<Candidate>) {
        shared.resize(self.owners.len(), 0);
        let owner = &self.owners[row as usize];
        let mut touched = owner.neighbours.clone();
        for held in &owner.cool {
            let run = &self.runs[held.run as usize];
            for other in &self.holders[run.holders.start as usize..run.holders.end as usize] {
                if self.comes_before(row, other.owner) {
                    let cell = &mut shared[other.owner as usize];
                    if *cell == 0 {
                        touched.push(other.owner);
                    }
                    *cell += u64::from(run.worth) * u64::from(held.times.min(other.times));
                }
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for other in touched {
            let cool = std::mem::take(&mut shared[other as usize]);
            found.push(Candidate { other, estimate: self.estimate(owner, &self.owners[other as usize], cool, enough) });
        }
    }

    /// The score that the shared picks promise; `cool` is the weight of those that are not hot.
    fn estimate(&self, row: &Owner, other: &Owner, cool: u64, enough: f64) -> f64 {
        let score = |shared: u64| (2.0 * shared as f64 / ((row.total + other.total) as f64).max(1.0)).min(1.0);
        let most = cool + row.hot_weight.min(other.hot_weight);
        if score(cool) >= enough || score(most) < enough {
            return score(cool);
        }
        let (mut i, mut j, mut shared) = (0, 0, cool);
        while let (Some(a), Some(b)) = (row.hot.get(i), other.hot.get(j)) {
            if a.run == b.run {
                shared += u64::from(self.runs[a.run as usize].worth) * u64::from(a.times.min(b.times));
            }
            (i, j) = (i + usize::from(a.run <= b.run), j + usize::from(b.run <= a.run));
        }
        score(shared)
    }
}

/// Whether any token of a pick is the submission's own.
fn is_own(entry: &Entry, weighed: &Weighed, pick: u32) -> bool {
    let at = entry.picks[pick as usize].at;
    let k = entry.parts.get(entry.part_of(at)).map_or(0, |part| part.k);
    weighed.tokens[at as usize..(at + k) as usize].iter().any(|weight| *weight > 0)
}

/// The rank of each submission in an order that depends on contents only.
fn ranks(entries: &[Entry]) -> Vec<u32> {
    let digests: Vec<u64> = entries.iter().map(digest).collect();
    let mut order: Vec<u32> = (0..entries.len() as u32).collect();
    order.sort_by(|a, b| {
        let [(i, x), (j, y)] = [a, b].map(|i| (*i as usize, &entries[*i as usize]));
        digests[i].cmp(&digests[j]).then_with(|| x.tokens.cmp(&y.tokens)).then(i.cmp(&j))
    });
    let mut ranks = vec![0; order.len()];
    for (rank, entry) in order.into_iter().enumerate() {
        ranks[entry as usize] = rank as u32;
    }
    ranks
}

/// A hash of picks and exact texts; it does not depend on the numbering of tokens in this cohort.
fn digest(entry: &Entry) -> u64 {
    let mut hash = Xxh3::new();
    for pick in &entry.picks {
        hash.update(&pick.key.to_le_bytes());
        hash.update(&pick.at.to_le_bytes());
    }
    for text in &entry.verbatim {
        hash.update(&text.to_le_bytes());
    }
    hash.digest()
}
