//! Scores an alignment: the score, the coverage of both sides, and the passages that a person reads.
//!
//! `score` = matched own material of both / own material of both, with each token weighted. A token that is equal only
//! after folding its name or value counts 70 %. Template material and material that too many share have no weight, so
//! they are in neither numerator nor denominator, and identical submissions score 1. Only tiles of at least t tokens
//! count. Shorter ones are shown.

use super::align::{Alignment, Tile};
use super::cluster::Link;
use super::cover::cover;
use super::entry::Entry;
use super::weigh::{Frequencies, Weighed, UNIT};

/// Weight of a matching token whose exact text differs, in thousandths. Renaming is easy, so it must not hide a match,
/// but equal text is stronger evidence.
const RENAMED: u64 = 700;

/// The kind of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassageKind {
    /// A run of tokens, small gaps included.
    Run,
    /// A run of which one side is in another passage too: a further copy of something repeated.
    Repeat,
    /// A string literal with the same text.
    Literal,
}

/// A stretch of tokens on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// First token on each side.
    pub start: [u32; 2],
    /// Token after the last on each side.
    pub end: [u32; 2],
    /// Number of matching own tokens, without template and gaps; for a literal, of words.
    pub tokens: u32,
    /// Number of submitters that have its rarest part, these two included.
    pub shared_by: u32,
    /// Whether names and values are equal too, and there is no gap.
    pub exact: bool,
    /// Number of matching tokens, template included, and of those with the same text.
    pub same_text: [u32; 2],
    /// Its kind.
    pub kind: PassageKind,
}

/// Two submissions and their common material.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedPair {
    /// The submission whose name sorts first.
    pub left: u32,
    /// The other one.
    pub right: u32,
    /// The score, 0 to 1.
    pub score: f64,
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
    /// Number of tokens of the longest passage.
    pub longest: u32,
    /// The passages, in the order of the left side.
    pub passages: Vec<Passage>,
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

impl Judged<'_> {
    /// Scores an alignment; `None` if neither side has material of its own.
    pub fn score(&self, alignment: &Alignment) -> Option<f64> {
        let total = self.weighed[0].total + self.weighed[1].total;
        if total == 0 {
            return None;
        }
        let matched: u64 = alignment.tiles.iter().map(|tile| self.matched_weight(tile)).sum();
        Some((matched + UNIT as u64 * self.literal_weight()) as f64 / (total as f64 * f64::from(UNIT)))
    }

    /// Weight of a tile on both sides, in thousandths.
    fn matched_weight(&self, tile: &Tile) -> u64 {
        let [a, b] = self.entries;
        (0..tile.len as usize)
            .map(|i| {
                let (i, j) = (tile.a as usize + i, tile.b as usize + i);
                let weight = u64::from(self.weighed[0].tokens[i]) + u64::from(self.weighed[1].tokens[j]);
                weight * if a.same_text(i, b, j) { u64::from(UNIT) } else { RENAMED }
            })
            .sum()
    }

    /// Literals on both sides, as indices into each side's literals.
    fn shared_literals(&self) -> Vec<(usize, usize)> {
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

    fn literal_weight(&self) -> u64 {
        let weight = |(i, j): &(usize, usize)| self.weighed[0].literals[*i] + self.weighed[1].literals[*j];
        self.shared_literals().iter().map(weight).sum()
    }

    /// The most that the score can be if tiles lie in these runs only.
    pub fn most(&self, runs: impl Iterator<Item = Tile>) -> f64 {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for run in runs {
            left.push((run.a, run.a + run.len));
            right.push((run.b, run.b + run.len));
        }
        let covered = self.weighed[0].covered(&mut left) + self.weighed[1].covered(&mut right);
        let total = self.weighed[0].total + self.weighed[1].total;
        (covered + self.literal_weight()) as f64 / (total as f64).max(1.0)
    }

    /// Makes the pair with its coverage and passages. `shorter` are tiles that are shown and do not count.
    pub fn pair(&self, link: &Link, stands_for: u64, alignment: &Alignment, shorter: Vec<Tile>) -> MatchedPair {
        let passages = self.passages(alignment, shorter);
        let own_in = |side: usize| {
            let starts = alignment.tiles.iter().map(|tile| (if side == 0 { tile.a } else { tile.b }, tile.len));
            starts.map(|(start, len)| self.own(side, start, start + len)).sum::<u32>()
        };
        let matched = [own_in(0), own_in(1)];
        let coverage = [0, 1].map(|side| f64::from(matched[side]) / (self.weighed[side].own() as f64).max(1.0));
        let longest = passages.iter().filter(|p| p.kind != PassageKind::Literal).map(|p| p.tokens).max().unwrap_or(0);
        let (matched, is_limited) = (matched[0].max(matched[1]), alignment.is_limited);
        let Link { left, right, score } = *link;
        MatchedPair { left, right, score, place: 0, stands_for, is_limited, coverage, matched, longest, passages }
    }

    /// Number of own tokens in a range.
    fn own(&self, side: usize, start: u32, end: u32) -> u32 {
        self.weighed[side].tokens[start as usize..end as usize].iter().filter(|weight| **weight > 0).count() as u32
    }

    fn passages(&self, alignment: &Alignment, mut shown: Vec<Tile>) -> Vec<Passage> {
        let mut found = Vec::new();
        shown.extend(&alignment.tiles);
        shown.sort_unstable();
        for tile in &shown {
            found.extend(self.clip(tile).map(|tile| self.passage(&tile, PassageKind::Run)));
        }
        let mut found = self.merge(found);
        // First drop passages that are not reported: they must not count as covering anything.
        found.retain(|passage| self.is_worth_telling(passage));
        if !alignment.is_whole {
            let repeats = self.repeats(&found);
            found.extend(repeats);
        }
        found.extend(self.literals(&found));
        found.retain(|passage| self.is_worth_telling(passage));
        found.sort_by_key(|passage| (passage.start, passage.end));
        found
    }

    /// Cuts a tile at template material and material that too many share; gaps shorter than k do not cut.
    fn clip<'b>(&'b self, tile: &'b Tile) -> impl Iterator<Item = Tile> + 'b {
        let k = self.entries[0].parts.get(self.entries[0].part_of(tile.a)).map_or(1, |part| part.k);
        let is_own = move |i: u32| {
            self.weighed[0].tokens[(tile.a + i) as usize] > 0 || self.weighed[1].tokens[(tile.b + i) as usize] > 0
        };
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = (at..tile.len).find(|i| is_own(*i))?;
            let (mut end, mut i) = (start + 1, start + 1);
            while i < tile.len && i - end < k {
                if is_own(i) {
                    end = i + 1;
                }
                i += 1;
            }
            at = i;
            Some(Tile { a: tile.a + start, b: tile.b + start, len: end - start })
        })
    }

    fn passage(&self, tile: &Tile, kind: PassageKind) -> Passage {
        let [a, b] = self.entries;
        let is_same = |i: &usize| a.same_text(tile.a as usize + i, b, tile.b as usize + i);
        let same = (0..tile.len as usize).filter(is_same).count() as u32;
        let tokens = self.own(0, tile.a, tile.a + tile.len).max(self.own(1, tile.b, tile.b + tile.len));
        let end = [tile.a + tile.len, tile.b + tile.len];
        Passage {
            start: [tile.a, tile.b],
            end,
            tokens,
            shared_by: self.holders(tile),
            exact: same == tile.len,
            same_text: [tile.len, same],
            kind,
        }
    }

    /// Number of submitters that have the rarest pick of either side inside a tile.
    fn holders(&self, tile: &Tile) -> u32 {
        let rarest = |side: usize, start: u32| {
            let (entry, end) = (self.entries[side], start + tile.len);
            let k = entry.parts.get(entry.part_of(start)).map_or(1, |part| part.k);
            let from = entry.picks.partition_point(|pick| pick.at < start);
            let inside = entry.picks[from..].iter().take_while(|pick| pick.at + k <= end).count();
            self.weighed[side].holders[from..from + inside].iter().copied().min()
        };
        [rarest(0, tile.a), rarest(1, tile.b)].into_iter().flatten().min().unwrap_or(2).max(2)
    }

    /// Joins passages that follow each other within k tokens on both sides, in the same parts.
    fn merge(&self, passages: Vec<Passage>) -> Vec<Passage> {
        let mut merged: Vec<Passage> = Vec::with_capacity(passages.len());
        for next in passages {
            match merged.last_mut() {
                Some(last) if self.follows(last, &next) => {
                    last.exact &= next.exact && last.end == next.start;
                    last.end = next.end;
                    last.tokens += next.tokens;
                    last.shared_by = last.shared_by.min(next.shared_by);
                    last.same_text = [0, 1].map(|i| last.same_text[i] + next.same_text[i]);
                }
                _ => merged.push(next),
            }
        }
        merged
    }

    fn follows(&self, last: &Passage, next: &Passage) -> bool {
        (0..2).all(|side| {
            let entry = self.entries[side];
            let part = entry.part_of(last.start[side]);
            let k = entry.parts.get(part).map_or(0, |part| part.k);
            next.start[side] >= last.end[side]
                && next.start[side] - last.end[side] <= k
                && entry.part_of(next.start[side]) == part
        })
    }

    /// Passages over tokens in common runs of at least t that no passage covers yet, on either side.
    fn repeats(&self, passages: &[Passage]) -> Vec<Passage> {
        let mut covered = [0, 1].map(|side| vec![false; self.entries[side].tokens.len()]);
        for passage in passages {
            for (side, covered) in covered.iter_mut().enumerate() {
                covered[passage.start[side] as usize..passage.end[side] as usize].fill(true);
            }
        }
        let [a, b] = self.entries;
        let found = [cover(a, b), cover(b, a).into_iter().map(Tile::turned).collect()];
        let mut repeats = Vec::new();
        for (side, tiles) in found.iter().enumerate() {
            for tile in tiles {
                let start = if side == 0 { tile.a } else { tile.b } as usize;
                let t = entry_t(self.entries[side], start as u32);
                let stretch = &mut covered[side][start..start + tile.len as usize];
                let is_open = |i: &usize| !stretch[*i] && self.weighed[side].tokens[start + i] > 0;
                let open: Vec<usize> = (0..stretch.len()).filter(is_open).collect();
                if let (Some(first), Some(last)) = (open.first(), open.last()) {
                    let piece = around(tile, *first as u32, *last as u32 + 1, t);
                    stretch.fill(true);
                    repeats.extend(self.clip(&piece).map(|tile| self.passage(&tile, PassageKind::Repeat)));
                }
            }
        }
        repeats
    }

    /// Shared literals that are in no passage yet. Cost: linear in the tokens of the passages, because a passage is looked
    /// at once for each literal inside it.
    fn literals(&self, passages: &[Passage]) -> Vec<Passage> {
        let mut found = Vec::new();
        let mut by_start: Vec<&Passage> = passages.iter().collect();
        by_start.sort_unstable_by_key(|passage| std::cmp::Reverse(passage.start));
        let mut shared = self.shared_literals();
        shared.sort_unstable_by_key(|(i, _)| self.entries[0].literals[*i].at);
        let mut open: Vec<&Passage> = Vec::new();
        for (i, j) in shared {
            let [a, b] = [self.entries[0].literals[i], self.entries[1].literals[j]];
            while by_start.last().is_some_and(|passage| passage.start[0] <= a.at) {
                open.extend(by_start.pop());
            }
            open.retain(|passage| a.at < passage.end[0]);
            let is_told = open.iter().any(|passage| (passage.start[1]..passage.end[1]).contains(&b.at));
            if !is_told && (self.weighed[0].literals[i] > 0 || self.weighed[1].literals[j] > 0) {
                let shared_by = self.frequencies.literal_holders(a.key).max(2);
                let (start, end) = ([a.at, b.at], [a.at + 1, b.at + 1]);
                let (exact, same_text, kind) = (true, [1, 1], PassageKind::Literal);
                found.push(Passage { start, end, tokens: a.words, shared_by, exact, same_text, kind });
            }
        }
        found
    }

    /// Whether a passage is reported: it has at least t own tokens, or it is rare and has at least k own tokens or is a
    /// literal.
    fn is_worth_telling(&self, passage: &Passage) -> bool {
        let entry = self.entries[0];
        let (k, t) = entry.parts.get(entry.part_of(passage.start[0])).map_or((1, 1), |part| (part.k, part.t));
        let is_rare = || 2 * super::weigh::weight(passage.shared_by, self.frequencies.submitters) >= UNIT;
        passage.tokens >= t || (passage.tokens >= k || passage.kind == PassageKind::Literal) && is_rare()
    }
}

/// The guarantee threshold at a token.
fn entry_t(entry: &Entry, at: u32) -> u32 {
    entry.parts.get(entry.part_of(at)).map_or(1, |part| part.t)
}

/// The tokens of a tile from `first` to `last`, with enough around them to make t.
fn around(tile: &Tile, first: u32, last: u32, t: u32) -> Tile {
    let len = (last - first).max(t).min(tile.len);
    let start = first.min(tile.len - len);
    Tile { a: tile.a + start, b: tile.b + start, len }
}
