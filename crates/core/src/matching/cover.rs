//! What tiles leave out: every token of one submission that lies in a run of t tokens found in the other, however often.
//!
//! Tiles use each token once, so the second copy of a passage that stands once on the other side stays uncovered, and in texts
//! that repeat themselves the search for tiles may end early. Here each run of t tokens is looked up among the distinct ones of
//! the other side; the guarantee therefore rests on nothing but equality. Cost: linear; a run is compared in full only where
//! it does not go on from the one before.

use super::align::Tile;
use super::entry::{Entry, EntryPart, SEPARATOR};
use crate::hash::rolling::Rolling;
use std::collections::HashMap;

/// Runs that cover every token of `a` inside a run of at least t tokens in common with `b`, ascending in `a`.
pub fn cover(a: &Entry, b: &Entry) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let mut indexes: HashMap<u32, TokenRuns> = HashMap::new();
    for part in a.parts.iter().filter(|part| part.end - part.start >= part.t) {
        let runs = indexes.entry(part.t).or_insert_with(|| TokenRuns::new(b, part.t));
        runs.cover(a, part, &mut tiles);
    }
    tiles
}

/// The distinct runs of t tokens of a submission, by where each first stands.
struct TokenRuns<'a> {
    tokens: &'a [u32],
    t: usize,
    rolling: Rolling,
    /// Order key → first places of the distinct runs with that key.
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

    /// Where the run of t tokens at `at` stands here; `before` is where the run one token earlier does.
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
                // The same diagonal and no gap: what does not touch is another run, though it may lie on the same diagonal.
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
