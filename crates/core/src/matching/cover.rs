//! Covers what tiles leave out: every token of one submission in a run of t tokens that the other has too.
//!
//! Tiles use each token once, so the second copy of a passage that occurs once on the other side stays uncovered; in
//! repetitive texts the search for tiles may also end early. Here each run of t tokens is looked up among the distinct
//! runs of the other side, so the guarantee depends on equality alone. Cost: linear; a run is compared in full only if
//! it does not continue the run before.

use super::align::Tile;
use super::entry::{Entry, EntryPart, SEPARATOR};
use crate::hash::keyed::RunKey;
use std::collections::HashMap;

/// Runs that cover every token of `a` inside a common run of at least t tokens with `b`, ascending in `a`.
pub fn cover(a: &Entry, b: &Entry) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let mut indexes: HashMap<(u32, u32), TokenRuns> = HashMap::new();
    for part in a.parts.iter().filter(|part| part.end - part.start >= part.t) {
        let thresholds = (part.k, part.t);
        let of_b = || TokenRuns::new(a.run_key(), &b.tokens, &b.parts, thresholds, part.t);
        indexes.entry(thresholds).or_insert_with(of_b).cover(a, part, &mut tiles);
    }
    tiles
}

/// The distinct runs of a number of tokens, with their first positions.
#[derive(Clone, Debug)]
pub(super) struct TokenRuns<'a> {
    tokens: &'a [u32],
    n: usize,
    key: RunKey,
    /// First positions of the distinct runs, by key.
    first: HashMap<u32, Vec<u32>>,
}

impl<'a> TokenRuns<'a> {
    /// The runs of `n` tokens in parts with these thresholds.
    pub fn new(key: RunKey, tokens: &'a [u32], parts: &[EntryPart], thresholds: (u32, u32), n: u32) -> Self {
        let mut runs = Self { tokens, n: n as usize, key, first: HashMap::new() };
        for part in parts.iter().filter(|part| (part.k, part.t) == thresholds) {
            let mut twin = None;
            for (offset, key) in runs.keys(tokens, part).into_iter().enumerate() {
                let at = part.start as usize + offset;
                twin = runs.find(tokens, at, key, twin);
                if twin.is_none() {
                    runs.first.entry(key).or_default().push(at as u32);
                }
            }
        }
        runs
    }

    fn keys(&self, tokens: &[u32], part: &EntryPart) -> Vec<u32> {
        let mut keys = Vec::new();
        self.key.keys(self.n, &tokens[part.start as usize..part.end as usize], &mut keys);
        keys
    }

    /// The position here of the run of n tokens at `at`; `before` is the position of the run one token earlier.
    fn find(&self, tokens: &[u32], at: usize, key: u32, before: Option<usize>) -> Option<usize> {
        if let Some(place) = before {
            let last = self.tokens.get(place + self.n).copied().unwrap_or(SEPARATOR);
            if last != SEPARATOR && tokens[at + self.n - 1] == last {
                return Some(place + 1);
            }
        }
        let run = &tokens[at..at + self.n];
        let places = self.first.get(&key)?.iter().map(|place| *place as usize);
        places.into_iter().find(|place| &self.tokens[*place..*place + self.n] == run)
    }

    /// Marks the tokens of a part that lie in one of these runs.
    pub fn mark(&self, tokens: &[u32], part: &EntryPart, marks: &mut [bool]) {
        let (mut place, mut end) = (None, 0);
        for (offset, key) in self.keys(tokens, part).into_iter().enumerate() {
            let at = part.start as usize + offset;
            place = self.find(tokens, at, key, place);
            if place.is_some() {
                marks[at.max(end)..at + self.n].fill(true);
                end = at + self.n;
            }
        }
    }

    fn cover(&self, a: &Entry, part: &EntryPart, tiles: &mut Vec<Tile>) {
        let mut open: Option<Tile> = None;
        let mut place = None;
        for (offset, key) in self.keys(&a.tokens, part).into_iter().enumerate() {
            let at = part.start as usize + offset;
            place = self.find(&a.tokens, at, key, place);
            let Some(found) = place else { continue };
            match &mut open {
                // The run continues the tile if it is on the same diagonal without a gap.
                Some(tile) if found as u32 + tile.a == tile.b + at as u32 && at as u32 <= tile.a + tile.len => {
                    tile.len = (at + self.n) as u32 - tile.a;
                }
                _ => {
                    tiles.extend(open);
                    open = Some(Tile { a: at as u32, b: found as u32, len: self.n as u32 });
                }
            }
        }
        tiles.extend(open);
    }
}
