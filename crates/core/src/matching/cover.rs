//! Covers what tiles leave out: every token of one submission in a run of t tokens that the other has too.
//!
//! Tiles use each token once, so the second copy of a passage that occurs once on the other side stays uncovered; in
//! repetitive texts the search for tiles may also end early. Here each run of t tokens is looked up among the distinct
//! runs of the other side, so the guarantee depends on equality alone. Cost: linear; a run is compared in full only if
//! it does not continue the run before.

use super::align::Tile;
use super::entry::{Entry, EntryPart, SEPARATOR};
use crate::hash::rolling::Rolling;
use std::collections::HashMap;

/// Runs that cover every token of `a` inside a common run of at least t tokens with `b`, ascending in `a`.
pub fn cover(a: &Entry, b: &Entry) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let mut indexes: HashMap<u32, TokenRuns> = HashMap::new();
    for part in a.parts.iter().filter(|part| part.end - part.start >= part.t) {
        let runs = indexes.entry(part.t).or_insert_with(|| TokenRuns::new(b, part.t));
        runs.cover(a, part, &mut tiles);
    }
    tiles
}

/// The distinct runs of t tokens of a submission, with their first positions.
struct TokenRuns<'a> {
    tokens: &'a [u32],
    t: usize,
    rolling: Rolling,
    /// First positions of the distinct runs, by order key.
    first: HashMap<u32, Vec<u32>>,
}

impl<'a> TokenRuns<'a> {
    fn new(entry: &'a Entry, t: u32) -> Self {
        let t = t as usize;
        let mut runs = Self { tokens: &entry.tokens, t, rolling: Rolling::new(t), first: HashMap::new() };
        for part in entry.parts.iter().filter(|part| part.t as usize == t) {
            let mut twin = None;
            for (offset, key) in runs.keys(&entry.tokens, part).into_iter().enumerate() {
                let at = part.start as usize + offset;
                twin = runs.find(&entry.tokens, at, key, twin);
                if twin.is_none() {
                    runs.first.entry(key).or_default().push(at as u32);
                }
            }
        }
        runs
    }

    fn keys(&self, tokens: &[u32], part: &EntryPart) -> Vec<u32> {
        let mut keys = Vec::new();
        self.rolling.keys(&tokens[part.start as usize..part.end as usize], &mut keys);
        keys
    }

    /// The position here of the run of t tokens at `at`; `before` is the position of the run one token earlier.
    fn find(&self, tokens: &[u32], at: usize, key: u32, before: Option<usize>) -> Option<usize> {
        if let Some(place) = before {
            let last = self.tokens.get(place + self.t).copied().unwrap_or(SEPARATOR);
            if last != SEPARATOR && tokens[at + self.t - 1] == last {
                return Some(place + 1);
            }
        }
        let run = &tokens[at..at + self.t];
        let places = self.first.get(&key)?.iter().map(|place| *place as usize);
        places.into_iter().find(|place| &self.tokens[*place..*place + self.t] == run)
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
                    tile.len = (at + self.t) as u32 - tile.a;
                }
                _ => {
                    tiles.extend(open);
                    open = Some(Tile { a: at as u32, b: found as u32, len: self.t as u32 });
                }
            }
        }
        tiles.extend(open);
    }
}
