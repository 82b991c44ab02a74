//! Scores an alignment: the score, how much of the smaller side is contained, and how much evidence there is.
//!
//! `score` = matched own material of both / own material of both, with each token weighted. A token that is equal only
//! after folding its name or value counts 70 %. Template material and material that too many share have no weight, so
//! they are in neither numerator nor denominator, and identical submissions score 1. Only tiles of at least t tokens
//! count.
//!
//! A submission can hide its copied part among code that cannot run. So there are two scores: of everything, and with
//! code that cannot run weighing nothing. The better of both is the score.
//!
//! `contained` is the same share of the smaller side alone: the side with less own material, on a tie the one whose name
//! sorts first. Padding a copy lowers the score, but not how much of the original it contains.
//!
//! Cost: linear in the tokens of the tiles.

use super::align::{Alignment, Tile};
use super::cluster::Link;
use super::entry::{Entry, EntryPart};
use super::passages::{Gap, Passage};
use super::strong::Pieces;
use super::weigh::{Frequencies, Sums, Weighed, UNIT};

/// Weight of a matching token whose exact text differs, in thousandths. Renaming is easy, so it must not hide a match,
/// but equal text is stronger evidence.
const RENAMED: u64 = 700;
/// Least weight of what can run on a side with code that cannot: 60 tokens that nobody else has. If only a driver that everybody
/// received can run, it says nothing about the rest.
const LEAST_REACHABLE: u64 = 60 * UNIT as u64;
/// How many times as much own material the larger side of a contained pair has, at least.
const TIMES: u64 = 3;

/// Two submissions and their common material.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedPair {
    /// The submission whose name sorts first.
    pub left: u32,
    /// The other one.
    pub right: u32,
    /// Its measures.
    pub measures: Measures,
    /// Place in the ranking, from 0.
    pub place: u32,
    /// Number of pairs it stands for: more than 1 if one of them is in a group of identical submissions.
    pub stands_for: u64,
    /// Whether a limit of work was reached.
    pub is_limited: bool,
    /// Share of each side's own tokens in tiles.
    pub coverage: [f64; 2],
    /// Number of own tokens in tiles, on the side that has more.
    pub matched: u32,
    /// Number of own tokens of the longest piece of a tile between template material, on the side that has more.
    pub longest: u32,
    /// The passages, in the order of the left side.
    pub passages: Vec<Passage>,
    /// What does not match inside them.
    pub gaps: Vec<Gap>,
}

/// What an alignment is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// The better of both scores, 0 to 1.
    pub score: f64,
    /// The score of everything.
    pub whole: f64,
    /// The score of code that can run; `None` if neither side was analysed, or nothing of their own can run.
    pub reachable: Option<f64>,
    /// Share of the smaller side's own material that is matched, 0 to 1; 0 if it has none.
    pub contained: f64,
    /// Own matched tokens that are not trivial, of the side that has fewer, and words of shared literals.
    pub evidence: u64,
    /// Surprise of the own matched tokens and literals in thousandths of a bit, of the side that has less.
    pub bits: u64,
    /// Surprise of its strongest passage in thousandths of a bit; none if none is strong. See `strong.rs`.
    pub strength: Option<u64>,
}

/// Two submissions being scored.
pub struct Judged<'a> {
    /// The submissions.
    pub entries: [&'a Entry; 2],
    /// Their weights.
    pub weighed: [&'a Weighed; 2],
    /// Frequencies in the cohort.
    pub frequencies: &'a Frequencies,
}

/// Which of two submissions has less own material; the first on a tie.
pub fn smaller(totals: [u64; 2]) -> usize {
    usize::from(totals[1] < totals[0])
}

/// Whether the smaller of two submissions has something of its own, and the other so much more that the smaller may be
/// listed as contained in it.
pub fn is_uneven(totals: [u64; 2]) -> bool {
    let least = totals[smaller(totals)];
    least > 0 && totals[0].max(totals[1]) >= TIMES.saturating_mul(least)
}

impl Judged<'_> {
    /// The own material of each side.
    pub fn totals(&self) -> [u64; 2] {
        self.weighed.map(|weighed| weighed.total)
    }

    /// Measures an alignment; `None` if neither side has material of its own.
    pub fn measure(&self, alignment: &Alignment) -> Option<Measures> {
        let (totals, unit) = (self.totals(), u64::from(UNIT));
        let total = totals[0] + totals[1];
        if total == 0 {
            return None;
        }
        let (shared, side) = (self.shared_literals(), smaller(totals));
        let mut matched = self.literal_weights(&shared, |side, i| self.weighed[side].literals[i]).map(|one| unit * one);
        let mut live = self.literal_weights(&shared, |side, i| self.live_literal(side, i)).map(|one| unit * one);
        let (mut evidence, mut bits) = ([0; 2], [0; 2]);
        for tile in &alignment.tiles {
            self.add_weights(tile, &mut matched, &mut live);
            for (side, start) in [tile.a, tile.b].into_iter().enumerate() {
                evidence[side] += self.evidence(side, start, start + tile.len);
                bits[side] += self.weighed[side].bits_between(start, start + tile.len);
            }
        }
        let own = |(i, _): &&(usize, usize)| self.weighed[0].literals[*i] > 0;
        let said = || shared.iter().filter(own).map(|(i, _)| &self.entries[0].literals[*i]);
        let share = |matched: [u64; 2], total: u64| (matched[0] + matched[1]) as f64 / (total as f64 * f64::from(UNIT));
        let whole = share(matched, total);
        let can_run = self.weighed[0].reachable + self.weighed[1].reachable;
        let is_analysed = self.entries.iter().any(|entry| entry.is_analysed);
        let is_enough =
            self.weighed.iter().all(|side| side.reachable == side.total || side.reachable >= LEAST_REACHABLE);
        let reachable = (is_analysed && is_enough && can_run > 0).then(|| share(live, can_run));
        Some(Measures {
            score: whole.max(reachable.unwrap_or(0.0)),
            whole,
            reachable,
            contained: matched[side] as f64 / (totals[side].max(1) as f64 * f64::from(UNIT)),
            evidence: evidence[0].min(evidence[1]) + said().map(|one| u64::from(one.words)).sum::<u64>(),
            bits: bits[0].min(bits[1]) + said().map(|one| self.frequencies.literal_bits(one)).sum::<u64>(),
            strength: self.strength(alignment),
        })
    }

    /// Adds the weight of a tile on each side, in thousandths: of all tokens, and of those that can run.
    fn add_weights(&self, tile: &Tile, matched: &mut [u64; 2], live: &mut [u64; 2]) {
        let [a, b] = self.entries;
        for i in 0..tile.len {
            let at = [tile.a + i, tile.b + i];
            let is_same = a.same_text(at[0] as usize, b, at[1] as usize);
            let worth = if is_same { u64::from(UNIT) } else { RENAMED };
            for side in 0..2 {
                let weight = u64::from(self.weighed[side].tokens[at[side] as usize]) * worth;
                matched[side] += weight;
                live[side] += if self.entries[side].is_dead(at[side]) { 0 } else { weight };
            }
        }
    }

    /// Weight of a literal, if it can run.
    fn live_literal(&self, side: usize, i: usize) -> u64 {
        let is_dead = self.entries[side].is_dead(self.entries[side].literals[i].at);
        if is_dead {
            0
        } else {
            self.weighed[side].literals[i]
        }
    }

    /// Own tokens of a side that are not trivial, from `start` to `end`.
    fn evidence(&self, side: usize, start: u32, end: u32) -> u64 {
        let (entry, weights) = (self.entries[side], &self.weighed[side].tokens);
        let from = entry.trivial.partition_point(|at| *at < start);
        let trivial = entry.trivial[from..].iter().take_while(|at| **at < end);
        let trivial = trivial.filter(|at| weights[**at as usize] > 0).count() as u64;
        u64::from(self.own(side, start, end)) - trivial
    }

    /// Literals on both sides, as indices into each side's literals.
    pub(super) fn shared_literals(&self) -> Vec<(usize, usize)> {
        let [a, b] = self.entries.map(|entry| &entry.literals);
        let (mut i, mut j, mut shared) = (0, 0, Vec::new());
        while i < a.len() && j < b.len() {
            match a[i].key.cmp(&b[j].key) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    shared.push((i, j));
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        shared
    }

    /// Weight of shared literals on each side, given that of one.
    fn literal_weights(&self, shared: &[(usize, usize)], of: impl Fn(usize, usize) -> u64) -> [u64; 2] {
        shared.iter().fold([0; 2], |[left, right], (i, j)| [left + of(0, *i), right + of(1, *j)])
    }

    /// The most that each side can match, in weight in bounds, and the worth of its best piece, if tiles lie in these runs
    /// only. This is the *run bound*: a tile is a piece of a common run and counts at most its full weight, so on each side
    /// the tiles weigh no more than the union of the runs there. It bounds the score by both sides and the containment by
    /// the smaller side alone.
    pub fn most(&self, runs: impl Iterator<Item = Tile>) -> [Sums; 2] {
        let mut stretches = [Vec::new(), Vec::new()];
        for run in runs {
            stretches[0].push((run.a, run.a + run.len));
            stretches[1].push((run.b, run.b + run.len));
        }
        let literals = self.literal_weights(&self.shared_literals(), |side, i| {
            let (entry, weighed) = (self.entries[side], self.weighed[side]);
            weighed.bounding(weighed.literals[i], entry.is_dead(entry.literals[i].at))
        });
        [0, 1].map(|side| {
            let covered = self.covered(side, &mut stretches[side]);
            Sums { weight: covered.weight + literals[side], ..covered }
        })
    }

    /// Weight of the union of stretches that may overlap, and worth of its best piece; it sorts them.
    fn covered(&self, side: usize, stretches: &mut [(u32, u32)]) -> Sums {
        stretches.sort_unstable();
        let (entry, mut pieces) = (self.entries[side], Pieces::default());
        for stretch in stretches {
            let joined = entry.parts.get(entry.part_of(stretch.0)).map_or(0, EntryPart::joined);
            pieces.add(self.weighed[side], *stretch, stretch.0.saturating_sub(joined));
        }
        pieces.most()
    }

    /// Makes the pair with its coverage and passages. `shorter` are tiles that are shown and do not count.
    pub fn pair(&self, link: &Link, stands_for: u64, alignment: &Alignment, shorter: Vec<Tile>) -> MatchedPair {
        let measures = self.measure(alignment).unwrap_or_default();
        let (passages, gaps) = self.passages(alignment, shorter);
        let own_in = |tile: &Tile| [self.own(0, tile.a, tile.a + tile.len), self.own(1, tile.b, tile.b + tile.len)];
        let (mut matched, mut longest) = ([0; 2], 0);
        for own in alignment.tiles.iter().flat_map(|tile| self.clip(tile)).map(|piece| own_in(&piece)) {
            matched = [matched[0] + own[0], matched[1] + own[1]];
            longest = longest.max(own[0]).max(own[1]);
        }
        let coverage = [0, 1].map(|side| f64::from(matched[side]) / (self.weighed[side].own() as f64).max(1.0));
        let (matched, is_limited) = (matched[0].max(matched[1]), alignment.is_limited);
        let Link { left, right, .. } = *link;
        MatchedPair {
            left,
            right,
            measures,
            place: 0,
            stands_for,
            is_limited,
            coverage,
            matched,
            longest,
            passages,
            gaps,
        }
    }

    /// Number of own tokens in a range.
    pub(super) fn own(&self, side: usize, start: u32, end: u32) -> u32 {
        self.weighed[side].tokens[start as usize..end as usize].iter().filter(|weight| **weight > 0).count() as u32
    }
}
