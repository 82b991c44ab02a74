//! Finds strong passages: common material that is worth a look by itself, however low the score of its pair is.
//!
//! In prose, two tiles are *neighbours* if at most `JOINED` letters lie between them on each side, in the same parts.
//! In code no tiles are neighbours. A *stretch* is a set of tiles that are connected by neighbours. Its worth on a side
//! is the sum of the rarities of its own tokens there: 1 for material that two submitters have, less for material that
//! more have, as in the score, and nothing below one half ([`super::weigh::RARE`]). A stretch is *strong* if its worth
//! reaches, on both sides, the least worth of the languages of its two parts. The *strength* of a pair is the most bits that the
//! tokens of a strong stretch have which count in its worth, on the side that has fewer.
//!
//! The bound: on each side, all tokens of a tile lie in halos of shared picks (`proposals.rs`), or in common runs
//! (`align.rs`). Cut the union of all halos, or runs, of a side where more than `JOINED` letters, or any token of code,
//! are in none. A tile lies in one piece, and neighbours do too. So a stretch lies in one piece, and if no piece of a
//! side is worth enough, no stretch is strong. The same holds for the tokens of a side that can be in a tile with anybody:
//! only those in a piece that is worth enough count in these bounds.
//!
//! Cost: tiles are sorted, and each is compared with those that lie at most `JOINED` letters before it.

use super::align::{Alignment, Tile};
use super::entry::{Entry, EntryPart};
use super::score::Judged;
use super::weigh::{Sums, Union, Weighed, UNIT};

/// Most letters between neighbours, on each side: about the 500 characters that sections of prose are joined across.
const JOINED: u32 = 400;

impl EntryPart {
    /// Most tokens between neighbours.
    pub(super) fn joined(&self) -> u32 {
        if self.worth < UNIT {
            JOINED
        } else {
            0
        }
    }
}

/// The least worth of strong passages in some submissions, in thousandths; none if no language has one.
pub fn least_worth<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Option<u64> {
    let parts = entries.into_iter().flat_map(|entry| &entry.parts);
    parts.filter_map(|part| part.passage).min().map(|least| u64::from(least) * u64::from(UNIT))
}

/// Marks the tokens that can be in a strong stretch with anybody, given those that can be in a tile: these are cut into
/// pieces in the same way, and a piece that is worth too little holds no strong stretch.
pub fn candidates(entry: &Entry, rarity: &[u16], in_tiles: &[bool]) -> Vec<bool> {
    let mut found = vec![false; in_tiles.len()];
    for part in &entry.parts {
        let Some(least) = part.passage else { continue };
        let (mut at, end) = (part.start as usize, part.end as usize);
        while let Some(start) = (at..end).find(|at| in_tiles[*at]) {
            let (mut worth, mut gap) = (0, 0);
            at = start;
            while at < end && gap <= part.joined() {
                (worth, gap) = if in_tiles[at] { (worth + u64::from(rarity[at]), 0) } else { (worth, gap + 1) };
                at += 1;
            }
            if worth >= u64::from(least) * u64::from(UNIT) {
                found[start..at].fill(true);
            }
        }
    }
    found
}

/// The union of stretches of tokens that are added in the order of their starts, and its most worthy piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pieces {
    /// The union of everything.
    pub union: Union,
    /// What lies before the open piece.
    before: u64,
    /// Worth of the best piece before the open one.
    best: u64,
}

impl Pieces {
    /// Adds a stretch of tokens; a new piece begins with it if all before end before `from`.
    pub fn add(&mut self, weighed: &Weighed, (start, end): (u32, u32), from: u32) {
        if self.union.end() < from {
            self.best = self.most().worth;
            self.before = self.union.sums.worth;
        }
        self.union.add(weighed, start, end);
    }

    /// Weight in bounds of everything, and worth of the best piece.
    pub fn most(&self) -> Sums {
        let Sums { weight, worth } = self.union.sums;
        Sums { weight, worth: self.best.max(worth - self.before) }
    }
}

impl Judged<'_> {
    /// The most bits that a strong stretch of an alignment has, in thousandths; none if no stretch is strong.
    pub(super) fn strength(&self, alignment: &Alignment) -> Option<u64> {
        let (tiles, mut parent) = (&alignment.tiles, self.stretches(&alignment.tiles));
        // Worth and bits of each stretch, on each side.
        let mut sums = vec![[[0u64; 2]; 2]; tiles.len()];
        for (i, tile) in tiles.iter().enumerate() {
            let of = root(&mut parent, i);
            for (side, start) in [tile.a, tile.b].into_iter().enumerate() {
                let [worth, bits] = self.weighed[side].worth_and_bits(start, start + tile.len);
                sums[of][0][side] += worth;
                sums[of][1][side] += bits;
            }
        }
        let strong = tiles.iter().zip(&sums).filter_map(|(tile, [worth, bits])| {
            // Languages of one family match each other; the stricter of the two decides.
            let [left, right] = [(0, tile.a), (1, tile.b)].map(|(side, at)| {
                let entry = self.entries[side];
                entry.parts.get(entry.part_of(at))?.passage
            });
            let least = left?.max(right?);
            (worth[0].min(worth[1]) >= u64::from(least) * u64::from(UNIT)).then_some(bits[0].min(bits[1]))
        });
        strong.max()
    }

    /// Joins neighbours: a tree of tiles for each stretch, whose root is its own parent. REQUIRES: tiles are in the order
    /// of the left side.
    fn stretches(&self, tiles: &[Tile]) -> Vec<usize> {
        let mut parent: Vec<usize> = (0..tiles.len()).collect();
        let mut near = 0;
        for (i, tile) in tiles.iter().enumerate() {
            let part = self.entries[0].part_of(tile.a);
            let joined = self.entries[0].parts.get(part).map_or(0, EntryPart::joined);
            while near < i && tiles[near].a + tiles[near].len + joined < tile.a {
                near += 1;
            }
            for (j, other) in tiles.iter().enumerate().take(i).skip(near) {
                if joined > 0 && self.are_neighbours(other, tile, joined) {
                    let (one, other) = (root(&mut parent, j), root(&mut parent, i));
                    parent[one] = other;
                }
            }
        }
        parent
    }

    /// Whether at most `joined` tokens lie between two tiles on each side, in the same parts.
    fn are_neighbours(&self, one: &Tile, other: &Tile, joined: u32) -> bool {
        let places = [(one.a, other.a), (one.b, other.b)];
        self.entries.into_iter().zip(places).all(|(entry, (i, j))| {
            let (first, then) = if i < j { ((i, one), j) } else { ((j, other), i) };
            entry.part_of(i) == entry.part_of(j) && then <= first.0 + first.1.len + joined
        })
    }
}

/// The set of a tile; paths are halved on the way.
fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}
