//! Makes the passages of a pair that a person reads: tiles without template, joined over small gaps, further copies of
//! what is repeated, and equal string literals.
//!
//! `shared_by` says how many submitters have most of a passage: the median over its own tokens of the submitters that
//! hold the rarest shared pick over each. Neighbouring tiles are joined only if both are rare or both are not, so that no
//! common part is told as "in these two only", and no rare one as common.
//!
//! A passage is *weak* if its surprise is below 30 bits and below a tenth of that of either submission. Weak passages
//! are listed like all others; a page folds them away. Cost: linear in the tokens of the pair.

use super::align::{Alignment, Tile};
use super::bits::BIT;
use super::cover::cover;
use super::entry::Entry;
use super::score::Judged;
use super::weigh::UNIT;

/// Passages with fewer bits may be weak.
const WEAK_BITS: u64 = 30;
/// A passage is not weak if it has at least one of so many parts of a submission's surprise.
const WEAK_SHARE: u64 = 10;

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
    /// Number of submitters that have most of it, these two included.
    pub shared_by: u32,
    /// Whether names and values are equal too, and there is no gap.
    pub exact: bool,
    /// Number of matching tokens, template included, and of those with the same text.
    pub same_text: [u32; 2],
    /// Its kind.
    pub kind: PassageKind,
    /// Surprise of its own tokens in thousandths of a bit, of the side that has less; for a literal, that of its words.
    pub bits: u64,
    /// Whether it has so few bits that a page folds it away.
    pub is_weak: bool,
}

/// Tokens between two joined tiles of a passage, which do not match: first and after the last, on each side. One of the
/// sides may have none.
pub type Gap = [[u32; 2]; 2];

impl Judged<'_> {
    /// The passages that are told, in the order of the left side, and the gaps in them. `shown` are tiles that do not
    /// count.
    pub(super) fn passages(&self, alignment: &Alignment, mut shown: Vec<Tile>) -> (Vec<Passage>, Vec<Gap>) {
        shown.extend(&alignment.tiles);
        shown.sort_unstable();
        let pieces = shown.iter().flat_map(|tile| self.clip(tile)).collect();
        let groups = self.joined(pieces);
        let (mut found, mut gaps) = (Vec::new(), Vec::new());
        // First drop passages that are not reported: they must not count as covering anything.
        for tiles in &groups {
            if let Some(passage) = self.passage(tiles, PassageKind::Run).filter(|one| self.is_worth_telling(one)) {
                found.push(passage);
                gaps.extend(tiles.windows(2).map(|two| gap(&two[0], &two[1])));
            }
        }
        gaps.retain(|gap| gap.iter().any(|[start, end]| start < end));
        if !alignment.is_whole {
            let repeats = self.repeats(&found);
            found.extend(repeats);
        }
        found.extend(self.literals(&found));
        found.retain(|passage| self.is_worth_telling(passage));
        found.sort_by_key(|passage| (passage.start, passage.end));
        let least = self.weighed[0].own_bits().min(self.weighed[1].own_bits());
        for passage in &mut found {
            passage.is_weak = passage.bits < WEAK_BITS * BIT && passage.bits * WEAK_SHARE < least;
        }
        (found, gaps)
    }

    /// Cuts a tile at template material and material that too many share; gaps shorter than k do not cut.
    pub(super) fn clip<'b>(&'b self, tile: &'b Tile) -> impl Iterator<Item = Tile> + 'b {
        let (k, _) = self.entries[0].thresholds(tile.a);
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

    /// The passage over tiles that follow each other on both sides; none without tiles.
    fn passage(&self, tiles: &[Tile], kind: PassageKind) -> Option<Passage> {
        let (first, last) = (tiles.first()?, tiles.last()?);
        let [a, b] = self.entries;
        let (mut len, mut same, mut own, mut bits) = (0, 0, [0; 2], [0; 2]);
        for tile in tiles {
            let is_same = |i: &usize| a.same_text(tile.a as usize + i, b, tile.b as usize + i);
            len += tile.len;
            same += (0..tile.len as usize).filter(is_same).count() as u32;
            for (side, start) in [tile.a, tile.b].into_iter().enumerate() {
                own[side] += self.own(side, start, start + tile.len);
                bits[side] += self.weighed[side].bits_between(start, start + tile.len);
            }
        }
        let end = [last.a + last.len, last.b + last.len];
        Some(Passage {
            start: [first.a, first.b],
            end,
            tokens: own[0].max(own[1]),
            shared_by: self.shared_by(tiles),
            exact: same == len && [end[0] - first.a, end[1] - first.b] == [len; 2],
            same_text: [len, same],
            kind,
            bits: bits[0].min(bits[1]),
            is_weak: false,
        })
    }

    /// The median over the own tokens of tiles of how many submitters hold the rarest shared pick over each, on the side
    /// where it is more common: at the edge of a tile, a pick may reach into other material. 2 if no pick is shared.
    fn shared_by(&self, tiles: &[Tile]) -> u32 {
        let [left, right] = self.weighed;
        let places =
            tiles.iter().flat_map(|tile| (0..tile.len).map(|i| ((tile.a + i) as usize, (tile.b + i) as usize)));
        let own = places.filter(|(i, j)| left.tokens[*i] > 0 || right.tokens[*j] > 0);
        let mut holders: Vec<u32> =
            own.map(|(i, j)| left.rarest[i].max(right.rarest[j])).filter(|holders| *holders > 1).collect();
        let middle = holders.len().saturating_sub(1) / 2;
        if holders.is_empty() {
            2
        } else {
            *holders.select_nth_unstable(middle).1
        }
    }

    /// Groups of tiles that follow each other within k tokens on both sides, in the same parts, and are all rare or all
    /// common.
    fn joined(&self, tiles: Vec<Tile>) -> Vec<Vec<Tile>> {
        let mut groups: Vec<(bool, Vec<Tile>)> = Vec::with_capacity(tiles.len());
        for next in tiles {
            let is_rare = self.is_rare(self.shared_by(&[next]));
            match groups.last_mut() {
                Some((rare, group))
                    if *rare == is_rare && group.last().is_some_and(|last| follows(self.entries, last, &next)) =>
                {
                    group.push(next);
                }
                _ => groups.push((is_rare, vec![next])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
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
                let (_, t) = self.entries[side].thresholds(start as u32);
                let stretch = &mut covered[side][start..start + tile.len as usize];
                let is_open = |i: &usize| !stretch[*i] && self.weighed[side].tokens[start + i] > 0;
                let open: Vec<usize> = (0..stretch.len()).filter(is_open).collect();
                if let (Some(first), Some(last)) = (open.first(), open.last()) {
                    let piece = around(tile, *first as u32, *last as u32 + 1, t);
                    stretch.fill(true);
                    repeats.extend(self.clip(&piece).filter_map(|tile| self.passage(&[tile], PassageKind::Repeat)));
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
                let (tokens, exact, same_text, kind) = (a.words, true, [1, 1], PassageKind::Literal);
                let (bits, is_weak) = (self.frequencies.literal_bits(&a), false);
                found.push(Passage { start, end, tokens, shared_by, exact, same_text, kind, bits, is_weak });
            }
        }
        found
    }

    /// Whether a passage is reported: it has at least t own tokens, or it is rare and has at least k own tokens or is a
    /// literal.
    fn is_worth_telling(&self, passage: &Passage) -> bool {
        let (k, t) = self.entries[0].thresholds(passage.start[0]);
        let is_long = passage.tokens >= k || passage.kind == PassageKind::Literal;
        passage.tokens >= t || is_long && self.is_rare(passage.shared_by)
    }

    /// Whether material of so many submitters weighs at least half.
    fn is_rare(&self, holders: u32) -> bool {
        2 * super::weigh::weight(holders, self.frequencies.submitters) >= UNIT
    }
}

/// Whether a tile begins within k tokens after another on both sides, in the same parts: both are told as one passage.
pub fn follows(entries: [&Entry; 2], last: &Tile, next: &Tile) -> bool {
    let places = [(last.a, next.a), (last.b, next.b)];
    entries.into_iter().zip(places).all(|(entry, (before, after))| {
        let part = entry.part_of(before);
        let k = entry.parts.get(part).map_or(0, |part| part.k);
        after >= before + last.len && after - before - last.len <= k && entry.part_of(after) == part
    })
}

/// What lies between two tiles that follow each other.
fn gap(last: &Tile, next: &Tile) -> Gap {
    [[last.a + last.len, next.a], [last.b + last.len, next.b]]
}

/// The tokens of a tile from `first` to `last`, with enough around them to make t.
fn around(tile: &Tile, first: u32, last: u32, t: u32) -> Tile {
    let len = (last - first).max(t).min(tile.len);
    let start = first.min(tile.len - len);
    Tile { a: tile.a + start, b: tile.b + start, len }
}
