//! Proposes the pairs that can reach the cut-off; what it leaves out is below it by proof.
//!
//! Tiles have at least t tokens, so every token of a tile lies within w − 1 tokens of the k-gram of a shared pick: its
//! *halo* (w = t − k + 1; each window of w k-grams inside a tile has a pick with the same key on both sides). With U the
//! weight of the union of the halos of all picks that two submissions share, plus their shared literals, and W the
//! weight of everything, score ≤ (U_A + U_B) / (W_A + W_B). This is the *halo bound*. So if the score reaches c, then
//! U_A ≥ c·W_A or U_B ≥ c·W_B: a pair is found from one of its sides alone. Tokens that `shared_runs.rs` shows to be in no
//! tile with anybody do not count in U.
//!
//! The same holds for containment, on one side: the matched material of the smaller side S lies in its halos, so
//! contained ≤ U_S / W_S. If it reaches m, then U_S ≥ m·W_S, and the pair is found from S. The halos of the larger side
//! say nothing about it. Only pairs whose sides differ enough in weight are looked at for it.
//!
//! If a pair has a strong passage, it lies in one piece of the halos on each side, which is worth at least P, the least
//! worth of such passages (`strong.rs`). So the pair is found from both sides.
//!
//! Material that many have would propose everybody to everybody. So each submission sets its most-held keys aside whose
//! halos and literals weigh at most half of b·W together, the *tail*, with b the smaller of c and m. What a side shares
//! outside its tail still weighs at least c·W less the tail if the score reaches c by this side, and at least m·W less
//! the tail if it is S and the containment reaches m. Both are more than nothing, so only keys outside the tail are
//! looked up, among all their holders. Material that many have weighs little, so a passage of the whole class lies in
//! every tail and costs nothing.
//!
//! Tails are also worth at most P/2. The halos of a strong passage outside the tail of a side are then worth at least P/2.
//! They are in one piece if pieces are also connected over the halos of the tail. So this piece and the tail are worth P.
//!
//! The score is the better of two, with two sets of weights. All of the above is computed with the weights in bounds of
//! `weigh.rs`, whose shares are at least those of both sets on each side. So what is left out is below by both.
//!
//! Cost: the picks outside the tails times their holders, and the picks of both for each pair that is proposed.

use super::entry::{Entry, Pick};
use super::score::{is_uneven, smaller};
use super::shared_runs::in_shared_runs;
use super::strong::Pieces;
use super::weigh::{Frequencies, Sums, Weighed};
use super::Classes;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::Arc;

/// The share of the smaller cut-off that a tail may weigh.
const TAIL: f64 = 0.5;
/// Bounds are compared with a little less than the cut-off, so that no rounding drops a pair.
const SAFE: f64 = 1.0 - 1e-9;

const NONE: u32 = u32::MAX;

/// A key that several classes hold, at a pick of a submission: its halo.
#[derive(Clone, Copy, Debug)]
struct Halo {
    key: u32,
    start: u32,
    end: u32,
    /// Most tokens between neighbours in its part; see `strong.rs`.
    joined: u32,
    /// A stretch of tiles with this halo can hold another one outside the tail only if that ends here or later.
    from: u32,
    in_tail: bool,
}

/// A literal that several classes hold.
#[derive(Clone, Copy, Debug)]
struct SharedLiteral {
    key: u32,
    weight: u64,
    in_tail: bool,
}

/// The shared keys of one submission.
#[derive(Clone, Debug, Default)]
struct Side {
    /// Ascending by position.
    halos: Vec<Halo>,
    literals: Vec<SharedLiteral>,
    /// At least the weight in bounds and the worth of the tail.
    tail: Sums,
}

/// The shared keys of all submissions. Only the first of each class takes part.
pub struct Proposals {
    weighed: Arc<[Weighed]>,
    /// Where the holders of each key begin, and where the last end.
    starts: Vec<usize>,
    holders: Vec<u32>,
    sides: Vec<Side>,
    least: Least,
}

/// The least measures of pairs that are kept.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    /// The least score.
    pub score: f64,
    /// The least containment of pairs whose sides differ enough.
    pub contained: f64,
    /// The least worth of a strong passage, in thousandths; none if no language has such passages.
    pub passage: Option<u64>,
}

impl Least {
    /// Whether a pair can be kept in which each side matches at most this weight in bounds, and in which no stretch of
    /// a side is worth more.
    pub fn allows(&self, most: [Sums; 2], sides: [&Weighed; 2]) -> bool {
        if self.passage.is_some_and(|least| most.iter().all(|side| side.worth >= least)) {
            return true;
        }
        let shares = [0, 1].map(|side| most[side].weight as f64 / sides[side].bounding_total().max(1) as f64);
        let totals = sides.map(|side| side.total);
        let reaches = |most: f64, least: f64| most > 0.0 && most >= SAFE * least;
        reaches(joint(shares, totals), self.score)
            || reaches(joint(shares, sides.map(|side| side.reachable)), self.score)
            || is_uneven(totals) && reaches(shares[smaller(totals)], self.contained)
    }
}

/// The share of both sides together, given the share of each and how much each has.
fn joint(shares: [f64; 2], totals: [u64; 2]) -> f64 {
    let [left, right] = totals.map(|total| total as f64);
    (shares[0] * left + shares[1] * right) / (left + right).max(1.0)
}

/// Scratch memory of a thread.
#[derive(Default)]
pub struct Scratch {
    cells: Vec<Pieces>,
    touched: Vec<u32>,
    /// Number of the row whose keys these are, plus 1.
    mine: Vec<u32>,
    /// Number of the call of `shared` that met the key.
    theirs: Vec<u32>,
    calls: u32,
}

/// What a row shares with another submission.
#[derive(Clone, Copy, Debug)]
pub struct SharedMaterial {
    /// Weight in bounds of the halos and literals on each side, and the worth of its best piece: of the row, of the other.
    pub most: [Sums; 2],
    /// Whether the other row proposes the pair too.
    pub is_mutual: bool,
}

impl Proposals {
    /// Reads the table once. `least` says which pairs are kept.
    pub fn new(
        entries: &[Entry],
        frequencies: &Frequencies,
        mut weighed: Vec<Weighed>,
        classes: &Classes,
        least: Least,
    ) -> Self {
        let sides = vec![Side::default(); entries.len()];
        let mut all = Self { weighed: Arc::default(), starts: vec![0], holders: Vec::new(), sides, least };
        all.read_picks(entries, frequencies, classes);
        let stretches: Vec<_> = all.sides.iter().map(|side| joined(&side.halos)).collect();
        let marks = in_shared_runs(entries, &stretches);
        weighed
            .par_iter_mut()
            .zip(entries)
            .zip(marks)
            .for_each(|((weighed, entry), marks)| weighed.count_only(entry, &marks));
        all.weighed = weighed.into();
        all.read_literals(entries, classes);
        let mut sides = std::mem::take(&mut all.sides);
        sides.par_iter_mut().enumerate().for_each(|(row, side)| all.set_tail_aside(row, side));
        Self { sides, ..all }
    }

    /// The weights of all submissions.
    pub fn weighed(&self) -> &Arc<[Weighed]> {
        &self.weighed
    }

    fn read_picks(&mut self, entries: &[Entry], frequencies: &Frequencies, classes: &Classes) {
        let mut keys: Vec<Vec<u32>> = entries.iter().map(|entry| vec![NONE; entry.picks.len()]).collect();
        for run in frequencies.table.runs() {
            let rows = frequencies.table.rows()[run].iter().filter(|row| classes.is_first(row.owner));
            if let Some(key) = self.close(rows.clone().map(|row| row.owner)) {
                rows.for_each(|row| keys[row.owner as usize][row.at as usize] = key);
            }
        }
        for ((entry, side), keys) in entries.iter().zip(&mut self.sides).zip(keys) {
            let shared = entry.picks.iter().zip(keys).filter(|(_, key)| *key != NONE);
            side.halos = shared.map(|(pick, key)| halo(entry, pick, key)).collect();
        }
    }

    fn read_literals(&mut self, entries: &[Entry], classes: &Classes) {
        let firsts = (0..entries.len()).filter(|row| classes.is_first(*row as u32));
        let of_row =
            |row: usize| entries[row].literals.iter().enumerate().map(move |(i, one)| (one.key, row as u32, i));
        let mut all: Vec<(u64, u32, usize)> = firsts.flat_map(of_row).collect();
        all.sort_unstable();
        for run in all.chunk_by(|a, b| a.0 == b.0) {
            let Some(key) = self.close(run.iter().map(|held| held.1)) else { continue };
            for (_, row, i) in run {
                let (entry, weighed) = (&entries[*row as usize], &self.weighed[*row as usize]);
                let weight = weighed.bounding(weighed.literals[*i], entry.is_dead(entry.literals[*i].at));
                self.sides[*row as usize].literals.push(SharedLiteral { key, weight, in_tail: false });
            }
        }
    }

    /// Makes a key of its holders, ascending, if there are at least two.
    fn close(&mut self, owners: impl Iterator<Item = u32>) -> Option<u32> {
        let first = self.holders.len();
        for owner in owners {
            if self.holders[first..].last() != Some(&owner) {
                self.holders.push(owner);
            }
        }
        if self.holders.len() < first + 2 {
            self.holders.truncate(first);
            return None;
        }
        self.starts.push(self.holders.len());
        Some(self.starts.len() as u32 - 2)
    }

    fn holders(&self, key: u32) -> &[u32] {
        &self.holders[self.starts[key as usize]..self.starts[key as usize + 1]]
    }

    /// Sets the most-held keys aside as long as their halos and literals weigh little enough.
    fn set_tail_aside(&self, row: usize, side: &mut Side) {
        let weighed = &self.weighed[row];
        let most = TAIL * self.least.score.min(self.least.contained) * weighed.bounding_total() as f64;
        let keys = side.halos.iter().map(|halo| halo.key).chain(side.literals.iter().map(|literal| literal.key));
        let mut order: Vec<(Reverse<usize>, u32, usize)> =
            keys.enumerate().map(|(i, key)| (Reverse(self.holders(key).len()), key, i)).collect();
        order.sort_unstable();
        let mut in_tail = vec![false; weighed.tokens.len()];
        let most_worth = self.least.passage.map_or(f64::INFINITY, |least| TAIL * least as f64);
        for held in order.chunk_by(|a, b| a.1 == b.1) {
            let mut tail = side.tail;
            held.iter().for_each(|(_, _, i)| tail += side.sums_of(*i, weighed, &in_tail));
            if tail.weight as f64 <= most && tail.worth as f64 <= most_worth {
                side.tail = tail;
                held.iter().for_each(|(_, _, i)| side.set_aside(*i, &mut in_tail));
            }
        }
        side.bridge_tail();
    }

    /// Whether what a row shares with another outside its tail is enough to propose the pair.
    fn is_enough(&self, row: u32, other: u32, outside: Sums) -> bool {
        let tail = self.sides[row as usize].tail;
        if self.least.passage.is_some_and(|least| outside.worth > 0 && outside.worth + tail.worth >= least) {
            return true;
        }
        let totals = [row, other].map(|i| self.weighed[i as usize].total);
        let most = (outside.weight + tail.weight) as f64;
        let is_contained = smaller(totals) == 0 && is_uneven(totals);
        let least = if is_contained { self.least.score.min(self.least.contained) } else { self.least.score };
        outside.weight > 0 && most >= SAFE * least * self.weighed[row as usize].bounding_total() as f64
    }

    /// Appends the submissions that share enough with `row` by its own measure, ascending.
    pub fn of(&self, row: u32, scratch: &mut Scratch, found: &mut Vec<u32>) {
        scratch.prepare(self.sides.len(), self.starts.len());
        let (side, weighed) = (&self.sides[row as usize], &self.weighed[row as usize]);
        for halo in &side.halos {
            scratch.mine[halo.key as usize] = row + 1;
            for other in if halo.in_tail { &[] } else { self.holders(halo.key) } {
                scratch.touch(*other).add(weighed, (halo.start, halo.end), halo.from);
            }
        }
        for literal in &side.literals {
            scratch.mine[literal.key as usize] = row + 1;
            for other in if literal.in_tail { &[] } else { self.holders(literal.key) } {
                scratch.touch(*other).union.sums.weight += literal.weight;
            }
        }
        for other in scratch.touched.drain(..) {
            let cell = std::mem::take(&mut scratch.cells[other as usize]);
            if other != row && self.is_enough(row, other, cell.most()) {
                found.push(other);
            }
        }
        found.sort_unstable();
        found.dedup();
    }

    /// What `row` and `other` share. REQUIRES: the last call of `of` with this scratch memory was for `row`.
    pub fn shared(&self, row: u32, other: u32, scratch: &mut Scratch) -> SharedMaterial {
        scratch.calls += 1;
        let [mine, theirs] = [row, other].map(|i| (&self.sides[i as usize], &self.weighed[i as usize]));
        let (mut all, mut outside) = (Pieces::default(), Pieces::default());
        for halo in theirs.0.halos.iter().filter(|halo| scratch.mine[halo.key as usize] == row + 1) {
            scratch.theirs[halo.key as usize] = scratch.calls;
            all.add(theirs.1, (halo.start, halo.end), halo.start.saturating_sub(halo.joined));
            if !halo.in_tail {
                outside.add(theirs.1, (halo.start, halo.end), halo.from);
            }
        }
        for literal in theirs.0.literals.iter().filter(|literal| scratch.mine[literal.key as usize] == row + 1) {
            scratch.theirs[literal.key as usize] = scratch.calls;
            all.union.sums.weight += literal.weight;
            outside.union.sums.weight += if literal.in_tail { 0 } else { literal.weight };
        }
        let mut own = Pieces::default();
        let is_shared = |key: u32| scratch.theirs[key as usize] == scratch.calls;
        for halo in mine.0.halos.iter().filter(|halo| is_shared(halo.key)) {
            own.add(mine.1, (halo.start, halo.end), halo.start.saturating_sub(halo.joined));
        }
        own.union.sums.weight +=
            mine.0.literals.iter().filter(|literal| is_shared(literal.key)).map(|literal| literal.weight).sum::<u64>();
        let is_mutual = self.is_enough(other, row, outside.most());
        SharedMaterial { most: [own.most(), all.most()], is_mutual }
    }
}

impl Side {
    /// Says how far back each halo outside the tail is connected: over halos of the tail, and over what may lie between
    /// neighbours. Halos in the tail may cover tiles with anybody, so they count as covered.
    fn bridge_tail(&mut self) {
        // Where the last halo of the tail ends that was met, and how far back it is connected itself.
        let (mut end, mut from) = (0, 0);
        for halo in &mut self.halos {
            let near = halo.start.saturating_sub(halo.joined);
            halo.from = if end >= near { near.min(from) } else { near };
            if halo.in_tail {
                (end, from) = (end.max(halo.end), halo.from);
            }
        }
    }

    /// Sums of a halo outside the tokens that are in the tail already, or of a literal.
    fn sums_of(&self, i: usize, weighed: &Weighed, in_tail: &[bool]) -> Sums {
        let Some(halo) = self.halos.get(i) else {
            return Sums { weight: self.literals[i - self.halos.len()].weight, worth: 0 };
        };
        let mut sums = Sums::default();
        let outside = (halo.start..halo.end).filter(|at| !in_tail[*at as usize]);
        outside.for_each(|at| sums += weighed.between(at, at + 1));
        sums
    }

    fn set_aside(&mut self, i: usize, in_tail: &mut [bool]) {
        let halos = self.halos.len();
        match self.halos.get_mut(i) {
            Some(halo) => {
                halo.in_tail = true;
                in_tail[halo.start as usize..halo.end as usize].fill(true);
            }
            None => self.literals[i - halos].in_tail = true,
        }
    }
}

impl Scratch {
    fn prepare(&mut self, rows: usize, keys: usize) {
        self.cells.resize(rows, Pieces::default());
        self.mine.resize(keys, 0);
        self.theirs.resize(keys, 0);
        if self.calls > u32::MAX / 2 {
            self.calls = 0;
            self.theirs.fill(0);
        }
    }

    fn touch(&mut self, other: u32) -> &mut Pieces {
        let cell = &mut self.cells[other as usize];
        if cell.union.is_untouched() {
            self.touched.push(other);
        }
        cell
    }
}

/// The stretches of tokens that lie in halos.
fn joined(halos: &[Halo]) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for halo in halos {
        match found.last_mut() {
            Some(last) if halo.start <= last.1 => last.1 = last.1.max(halo.end),
            _ => found.push((halo.start, halo.end)),
        }
    }
    found
}

/// The tokens within w − 1 of a pick's k-gram, in its part.
fn halo(entry: &Entry, pick: &Pick, key: u32) -> Halo {
    let part = &entry.parts[entry.part_of(pick.at)];
    let reach = part.t - part.k;
    let start = pick.at.saturating_sub(reach).max(part.start);
    let end = (pick.at + part.k + reach).min(part.end);
    Halo { key, start, end, joined: part.joined(), from: 0, in_tail: false }
}
