//! Weighs tokens: 0 in template material and in material that too many share, otherwise by rarity in the cohort.
//!
//! Material that f of N submitters have weighs ln((N + 1) / f) / ln((N + 1) / 2), at most 1 and at least `FLOOR`. So
//! material that two submitters share weighs as much as material that only one has: a pair's own passages do not lower
//! its score. Material that everybody has weighs next to nothing. Frequencies count submitters, not files, so handing
//! in a passage many times does not make it common. The frequency of a token is that of the rarest shared k-gram that
//! covers it.
//!
//! Code that cannot run weighs nothing in a second set of weights, which is otherwise the same. Bounds are computed with
//! a third one that serves both: with W the weight of everything and R that of what can run, a token that can run weighs
//! w, another one w·R/W rounded up. The share of R that a set of tokens has by these weights is at least its share of W
//! by the first and its share of R by the second.

use super::bits::{surprise, PRIOR};
use super::entry::{Entry, Literal};
use super::placed_keys::{PlacedKey, PlacedKeys};
use super::strong::candidates;
use super::template::Marker;
use std::collections::HashMap;

/// The weight 1. Sums of weights are exact integers, so the order of addition does not matter.
pub const UNIT: u32 = 1000;
/// Tokens that together weigh less than 2³².
const STEP: u32 = u32::MAX / u16::MAX as u32;
/// Least weight of a submission's own token. With it identical submissions score 1 even if everybody handed in the
/// same.
const FLOOR: f64 = 0.02;
/// Least rarity of a token that counts in strong passages. At most √(2(N + 1)) of N submitters have such a token: 7 of
/// 24, 24 of 300. Without it, a library that a whole class hands in would be long enough to be strong.
pub const RARE: u32 = UNIT / 2;

/// The weight of material that `holders` of `submitters` have.
pub fn weight(holders: u32, submitters: u32) -> u32 {
    if submitters <= 2 {
        return UNIT;
    }
    let all = f64::from(submitters) + 1.0;
    let share = (all / f64::from(holders.clamp(2, submitters))).ln() / (all / 2.0).ln();
    (share.clamp(FLOOR, 1.0) * f64::from(UNIT)).round() as u32
}

/// The weights of a submission.
#[derive(Clone, Debug, Default)]
pub struct Weighed {
    /// Weight of each token; 0 for template material and material that too many share.
    pub tokens: Vec<u16>,
    /// Rarity of each own token: its weight, had all parts the same worth; 0 for other tokens and below [`RARE`].
    pub rarity: Vec<u16>,
    /// Number of submitters that hold each pick.
    pub holders: Vec<u32>,
    /// Number of submitters that hold the rarest shared pick over each token; 1 if none is shared.
    pub rarest: Vec<u32>,
    /// Surprise of each own token in thousandths of a bit; see `bits.rs`.
    pub bits: Vec<u16>,
    /// Sums over the tokens before each, and over all at the end, modulo 2³²: of the weights in bounds of those that can be
    /// in a tile, and of the rarities of those that can be in a strong passage.
    sums: Vec<[u32; 2]>,
    /// Weight of each literal; 0 if its token has none.
    pub literals: Vec<u64>,
    /// Sum of all weights: the amount of own material.
    pub total: u64,
    /// Sum of the weights of what can run.
    pub reachable: u64,
    /// Whether each token is in a template.
    pub template: Vec<bool>,
    /// Whether too many share each token.
    pub common: Vec<bool>,
}

impl Weighed {
    /// Number of its own tokens.
    pub fn own(&self) -> usize {
        self.tokens.iter().filter(|weight| **weight > 0).count()
    }

    /// Sets the surprise of each token; only own tokens keep it.
    pub fn measure(&mut self, mut bits: Vec<u16>) {
        bits.iter_mut().zip(&self.tokens).filter(|(_, weight)| **weight == 0).for_each(|(bits, _)| *bits = 0);
        self.bits = bits;
    }

    /// Surprise of the own tokens from `start` to `end`, in thousandths of a bit.
    pub fn bits_between(&self, start: u32, end: u32) -> u64 {
        self.bits[start as usize..end as usize].iter().map(|bits| u64::from(*bits)).sum()
    }

    /// Surprise of all own tokens, in thousandths of a bit.
    pub fn own_bits(&self) -> u64 {
        self.bits_between(0, self.bits.len() as u32)
    }

    /// Says which tokens can be in a tile: only these count in bounds.
    pub fn count_only(&mut self, entry: &Entry, marks: &[bool]) {
        let (mut sum, strong) = ([0u32; 2], candidates(entry, &self.rarity, marks));
        let before = (0..).zip(self.tokens.iter().zip(marks)).map(|(at, (weight, is_in))| {
            if *is_in {
                let most = self.bounding(u64::from(*weight), entry.is_dead(at)) as u32;
                let worth = if strong[at as usize] { u32::from(self.rarity[at as usize]) } else { 0 };
                sum = [sum[0].wrapping_add(most), sum[1].wrapping_add(worth)];
            }
            sum
        });
        self.sums = std::iter::once([0; 2]).chain(before).collect();
    }

    /// The weight in bounds of material with this weight.
    pub fn bounding(&self, weight: u64, is_dead: bool) -> u64 {
        if !is_dead || self.reachable == 0 {
            return weight;
        }
        (u128::from(weight) * u128::from(self.reachable)).div_ceil(u128::from(self.total)) as u64
    }

    /// What the weights in bounds are shares of.
    pub fn bounding_total(&self) -> u64 {
        if self.reachable == 0 {
            self.total
        } else {
            self.reachable
        }
    }

    /// Weight in bounds of the tokens from `start` to `end` that can be in a tile, and worth of those that can be in a
    /// strong passage.
    pub fn between(&self, mut start: u32, end: u32) -> Sums {
        let mut found = Sums::default();
        while start < end {
            let stop = end.min(start.saturating_add(STEP));
            let [before, after] = [start, stop].map(|at| self.sums[at as usize]);
            found.weight += u64::from(after[0].wrapping_sub(before[0]));
            found.worth += u64::from(after[1].wrapping_sub(before[1]));
            start = stop;
        }
        found
    }

    /// Worth of the tokens from `start` to `end`, the sum of their rarities, and the bits of those that have one.
    pub fn worth_and_bits(&self, start: u32, end: u32) -> [u64; 2] {
        let range = start as usize..end as usize;
        let rare = self.rarity[range.clone()].iter().zip(&self.bits[range]).filter(|(rarity, _)| **rarity > 0);
        rare.fold([0, 0], |sums, (rarity, bits)| [sums[0] + u64::from(*rarity), sums[1] + u64::from(*bits)])
    }
}

/// Sums over tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Their weight in bounds.
    pub weight: u64,
    /// Their worth: the sum of their rarities, see `strong.rs`.
    pub worth: u64,
}

impl std::ops::AddAssign for Sums {
    fn add_assign(&mut self, more: Self) {
        self.weight += more.weight;
        self.worth += more.worth;
    }
}

/// Sums over a union of stretches that are added in the order of their starts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Union {
    /// The sums so far.
    pub sums: Sums,
    end: u32,
}

impl Union {
    /// Whether nothing was added yet.
    pub fn is_untouched(&self) -> bool {
        self.end == 0 && self.sums.weight == 0
    }

    /// Where it ends so far.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Adds a stretch of tokens.
    pub fn add(&mut self, weighed: &Weighed, start: u32, end: u32) {
        if end > self.end {
            self.sums += weighed.between(start.max(self.end), end);
            self.end = end;
        }
    }
}

/// Who holds what, counted outside the cohort: of an archive, only a part is in the cohort. What is none is counted there.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    /// Number of submitters in all.
    pub submitters: Option<u32>,
    /// Number of submitters that hold each key of a pick in the cohort.
    pub picks: Option<HashMap<u64, u32>>,
    /// Number of submitters that hold each literal in the cohort, by its key there.
    pub literals: Option<HashMap<u64, u32>>,
}

/// The picks of all submissions in one table, and the number of submitters that hold each key.
pub struct Frequencies {
    /// The table. The owner of a row is the submission, its position the index of the pick.
    pub table: PlacedKeys,
    /// Number of submitters that hold the key of each row.
    pub holders: Vec<u32>,
    literals: HashMap<u64, u32>,
    /// The same among new submissions only, of which the bits of literals are made.
    new_literals: HashMap<u64, u32>,
    /// Sum of the new submitters of all literals.
    literal_rows: u64,
    /// Number of distinct submitters.
    pub submitters: u32,
}

impl Frequencies {
    /// Sorts the picks and counts submitters, unless they were counted outside.
    pub fn new(entries: &[Entry], outside: Holders) -> Self {
        let rows: Vec<PlacedKey> = entries
            .iter()
            .enumerate()
            .flat_map(|(owner, entry)| {
                let row = move |(at, key): (usize, u64)| PlacedKey { key, owner: owner as u32, at: at as u32 };
                entry.picks.iter().map(|pick| pick.key).enumerate().map(row)
            })
            .collect();
        let table = PlacedKeys::new(&rows);
        let mut holders = vec![0; rows.len()];
        for run in table.runs() {
            let rows = &table.rows()[run.clone()];
            let known = outside.picks.as_ref().and_then(|picks| picks.get(&rows[0].key).copied());
            let count = || distinct(rows.iter().map(|row| entries[row.owner as usize].submitter));
            holders[run].fill(known.unwrap_or_else(count));
        }
        let new_literals = count_literals(entries.iter().filter(|entry| !entry.old));
        let literal_rows = new_literals.values().map(|count| u64::from(*count)).sum();
        let literals = outside.literals.unwrap_or_else(|| count_literals(entries.iter()));
        let all = || distinct(entries.iter().map(|entry| entry.submitter));
        let submitters = outside.submitters.unwrap_or_else(all);
        Self { table, holders, literals, new_literals, literal_rows, submitters }
    }

    /// The number of holders of each pick of each submission.
    pub fn by_pick(&self, entries: &[Entry]) -> Vec<Vec<u32>> {
        let mut found: Vec<Vec<u32>> = entries.iter().map(|entry| vec![0; entry.picks.len()]).collect();
        for (row, holders) in self.table.rows().iter().zip(&self.holders) {
            found[row.owner as usize][row.at as usize] = *holders;
        }
        found
    }

    /// Weighs a submission. Material that more than `max_sharing` submitters share has no weight.
    pub fn weigh(&self, entry: &Entry, holders: Vec<u32>, marker: &Marker, max_sharing: Option<u32>) -> Weighed {
        let rarest = rarest_cover(entry, &holders);
        let template = marker.mark(entry);
        let common: Vec<bool> = rarest.iter().map(|count| max_sharing.is_some_and(|most| *count > most)).collect();
        let (mut tokens, mut rarity) = (vec![0u16; entry.tokens.len()], vec![0u16; entry.tokens.len()]);
        for part in &entry.parts {
            for at in part.start as usize..part.end as usize {
                if !template[at] && !common[at] {
                    let rare = weight(rarest[at], self.submitters);
                    tokens[at] = (rare * part.worth / UNIT).max(1) as u16;
                    rarity[at] = if rare < RARE { 0 } else { rare as u16 };
                }
            }
        }
        let literals: Vec<u64> =
            entry.literals.iter().map(|literal| self.weigh_literal(literal, marker, max_sharing)).collect();
        let total = tokens.iter().map(|weight| u64::from(*weight)).sum::<u64>() + literals.iter().sum::<u64>();
        let reachable = total - dead_weight(entry, &tokens, &literals);
        let (sums, bits) = (Vec::new(), Vec::new());
        Weighed { tokens, rarity, sums, holders, rarest, bits, literals, total, reachable, template, common }
    }

    fn weigh_literal(&self, literal: &Literal, marker: &Marker, max_sharing: Option<u32>) -> u64 {
        let holders = self.literals.get(&literal.key).copied().unwrap_or(1);
        if marker.has_literal(literal.key) || max_sharing.is_some_and(|most| holders > most) {
            return 0;
        }
        u64::from(literal.words) * u64::from(weight(holders, self.submitters))
    }

    /// Number of submitters that have a literal.
    pub fn literal_holders(&self, key: u64) -> u32 {
        self.literals.get(&key).copied().unwrap_or(1)
    }

    /// Surprise of a literal in thousandths of a bit: each word has that of the literal among the literals of the new
    /// submitters, under the model of `bits.rs` without a context.
    pub fn literal_bits(&self, literal: &Literal) -> u64 {
        let count = f64::from(self.new_literals.get(&literal.key).copied().unwrap_or(0));
        let kinds = self.new_literals.len().max(1) as f64;
        u64::from(literal.words) * u64::from(surprise((count + PRIOR / kinds) / (self.literal_rows as f64 + PRIOR)))
    }
}

/// Weight of the tokens and literals that cannot run.
fn dead_weight(entry: &Entry, tokens: &[u16], literals: &[u64]) -> u64 {
    let dead = tokens.iter().zip(&entry.unreachable).filter(|(_, is_dead)| **is_dead);
    let words = entry.literals.iter().zip(literals).filter(|(literal, _)| entry.is_dead(literal.at));
    dead.map(|(weight, _)| u64::from(*weight)).sum::<u64>() + words.map(|(_, weight)| *weight).sum::<u64>()
}

/// Number of distinct numbers.
pub(super) fn distinct(numbers: impl Iterator<Item = u32>) -> u32 {
    let mut all: Vec<u32> = numbers.collect();
    all.sort_unstable();
    all.dedup();
    all.len() as u32
}

fn count_literals<'a>(entries: impl Iterator<Item = &'a Entry>) -> HashMap<u64, u32> {
    let mut holders: Vec<(u64, u32)> =
        entries.flat_map(|entry| entry.literals.iter().map(|literal| (literal.key, entry.submitter))).collect();
    holders.sort_unstable();
    holders.dedup();
    let mut counts = HashMap::new();
    for (key, _) in holders {
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}

/// For each token, the number of holders of the rarest shared pick whose k-gram covers it, or 1 if no covering pick is
/// shared. A token that no pick covers has the number of the pick before it, or of the first one.
///
/// A pick that nobody else holds says nothing about its single tokens: at the edge of a passage that all have, it
/// reaches into common material and would give it full weight in every pair.
fn rarest_cover(entry: &Entry, holders: &[u32]) -> Vec<u32> {
    let mut rarest = vec![0u32; entry.tokens.len()];
    let mut pick = 0;
    for part in &entry.parts {
        let mut last = holders.get(pick).filter(|_| entry.picks[pick].at < part.end).copied().unwrap_or(1);
        while let Some(found) = entry.picks.get(pick).filter(|found| found.at < part.end) {
            for count in &mut rarest[found.at as usize..(found.at + part.k) as usize] {
                let (fewer, more) = ((*count).min(holders[pick]), (*count).max(holders[pick]));
                *count = if fewer < 2 { more } else { fewer };
            }
            pick += 1;
        }
        for count in &mut rarest[part.start as usize..part.end as usize] {
            last = if *count == 0 { last } else { *count };
            *count = last;
        }
    }
    rarest
}
