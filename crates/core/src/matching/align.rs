//! Aligns two submissions: finds maximal common runs and chooses disjoint tiles from them.
//!
//! The definition is Greedy String Tiling (Wise 1993): of the common runs whose tokens are free on both sides the longest
//! becomes a tile, until none of t tokens is left. Of equally long ones the one with most tokens of equal exact text
//! comes first, then the one that begins first in the first submission, then in the second.
//!
//! Here each run of t tokens of one submission is looked up in an index of the other, and a hit is compared token by
//! token and extended to both sides, so each run is maximal and a hash collision is never reported. All runs wait in a
//! heap. A free run of the definition is always a piece of a maximal one, so the longest waiting run is a tile if it is
//! free, and otherwise its free pieces of at least t tokens wait in its place. Tiles of k to t − 1 tokens are found in
//! the same way among the tokens that are still free, for those who read the pair.
//!
//! Cost: linear in the tokens plus the length of the runs. Texts that repeat themselves have many: beyond `WORK` tokens
//! for each token the pair is *limited*. Then each place is given its own share of work (`SHARE`, `PLACES`), so that no
//! stretch of a text hides the rest, and the search is repeated among the free tokens, up to `ROUNDS` times.

use super::entry::{gram_starts, Entry, EntryPart, Length, SEPARATOR};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Places tried and tokens compared, for each token of the pair, before a pair is limited.
pub(super) const WORK: usize = 64;
/// The same for the pair as a whole.
pub(super) const SPARE: usize = 1 << 22;
/// The same for each token of a limited pair.
const SHARE: usize = 64;
/// Most places of one run of tokens that are tried in a limited pair.
const PLACES: usize = 64;
/// Most searches among the free tokens of a limited pair.
const ROUNDS: usize = 8;

const NONE: u32 = u32::MAX;

/// A run of tokens in common: `tokens[a..a + len]` of one, `[b..b + len]` of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tile {
    /// Start in the first.
    pub a: u32,
    /// Start in the second.
    pub b: u32,
    /// Number of tokens.
    pub len: u32,
}

impl Tile {
    /// The same run with the submissions in the other order.
    pub fn turned(self) -> Self {
        Self { a: self.b, b: self.a, len: self.len }
    }
}

/// Tokens in which runs are looked up, or whose runs are looked up.
#[derive(Clone, Copy)]
struct Text<'a> {
    tokens: &'a [u32],
    keys: &'a [u32],
    parts: &'a [EntryPart],
    length: Length,
}

impl<'a> Text<'a> {
    fn of(entry: &'a Entry) -> Self {
        let length = Length::Guarantee;
        Self { tokens: &entry.tokens, keys: entry.run_keys(), parts: &entry.parts, length }
    }
}

/// An index of the places of each run of t (or k) tokens of a submission.
pub struct Index<'a> {
    text: Text<'a>,
    /// First position of each slot's chain.
    heads: Vec<u32>,
    /// Next position with the same slot, ascending.
    next: Vec<u32>,
    shift: u32,
}

impl<'a> Index<'a> {
    /// Indexes the runs of t tokens of an entry.
    pub fn of(entry: &'a Entry) -> Self {
        Self::new(Text::of(entry))
    }

    fn new(text: Text<'a>) -> Self {
        let bits = (usize::BITS - text.tokens.len().leading_zeros() + 1).clamp(4, 30);
        let (heads, next) = (vec![NONE; 1 << bits], vec![NONE; text.tokens.len()]);
        let mut index = Self { text, heads, next, shift: 32 - bits };
        for part in text.parts.iter().rev() {
            for at in gram_starts(part, text.length).rev() {
                let slot = index.slot(text.keys[at]);
                index.next[at] = index.heads[slot];
                index.heads[slot] = at as u32;
            }
        }
        index
    }

    fn slot(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9E37_79B1) >> self.shift) as usize
    }

    /// The positions of runs whose key is `key`, ascending. Other runs with the same key are among them.
    fn places(&self, key: u32) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.heads[self.slot(key)];
        std::iter::from_fn(move || {
            while at != NONE {
                let here = at as usize;
                at = self.next[here];
                if self.text.keys[here] == key {
                    return Some(here);
                }
            }
            None
        })
    }

    /// Whether `gram` begins at a position.
    fn is_at(&self, place: usize, gram: &[u32]) -> bool {
        self.text.tokens.get(place..place + gram.len()) == Some(gram)
    }
}

/// What two submissions have in common.
#[derive(Debug, Default)]
pub struct Alignment {
    /// The tiles, in the order of the first submission; no token of either side is in two of them.
    pub tiles: Vec<Tile>,
    /// Whether every common run of at least t tokens became one tile, so that nothing remains to be covered.
    pub is_whole: bool,
    /// Whether a limit of work was reached, so that there may be better tiles.
    pub is_limited: bool,
}

/// A maximal run that was found: a tile whose first side is the indexed one, and the least length of a piece of it.
#[derive(Clone, Copy)]
struct Found {
    run: Tile,
    least: u32,
}

/// A run waiting to be placed, in the order of the definition.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    len: u32,
    same: u32,
    a: Reverse<u32>,
    b: Reverse<u32>,
    least: u32,
}

/// Aligns pairs; reuses its buffers.
#[derive(Default)]
pub struct Aligner {
    ends: Vec<u32>,
    taken: [Vec<bool>; 2],
    found: Vec<Found>,
    heap: BinaryHeap<Waiting>,
    is_limited: bool,
    /// Work done so far; tests compare it with the size of the texts.
    #[cfg(test)]
    pub(super) spent: usize,
}

impl Aligner {
    /// Aligns two submissions, of which the first comes first by name.
    pub fn align(&mut self, pair: [&Entry; 2]) -> Alignment {
        self.search(&Index::of(pair[0]), pair[1]);
        self.lay(pair, false)
    }

    /// Finds the maximal common runs of at least t tokens of an indexed submission and another. Returns whether all were
    /// found.
    pub fn search(&mut self, index: &Index, other: &Entry) -> bool {
        self.is_limited = !self.find(index, Text::of(other), false);
        !self.is_limited
    }

    /// The runs of the last search, those of the indexed submission first.
    pub fn runs(&self) -> impl Iterator<Item = Tile> + '_ {
        self.found.iter().map(|found| found.run)
    }

    /// Chooses tiles from the runs of the last search. `is_turned` says that the second submission was the indexed one.
    pub fn lay(&mut self, pair: [&Entry; 2], is_turned: bool) -> Alignment {
        self.reset(pair);
        let mut tiles = Vec::new();
        if self.is_limited {
            // The answer of a limited search depends on which side is indexed: always the first.
            self.find(&Index::of(pair[0]), Text::of(pair[1]), true);
        }
        self.wait(pair, is_turned && !self.is_limited);
        let is_whole = self.place(pair, &mut tiles) && !self.is_limited;
        for _ in 0..if self.is_limited { ROUNDS } else { 0 } {
            let before = tiles.len();
            self.find_among_free(pair, Length::Guarantee, true);
            self.place(pair, &mut tiles);
            if tiles.len() == before {
                break;
            }
        }
        tiles.sort_unstable();
        Alignment { tiles, is_whole, is_limited: self.is_limited }
    }

    /// Tiles of k to t − 1 tokens among those that `alignment` leaves free. They are shown, and no score counts them.
    pub fn shorter(&mut self, pair: [&Entry; 2], alignment: &mut Alignment) -> Vec<Tile> {
        self.reset(pair);
        for tile in &alignment.tiles {
            self.take(tile);
        }
        let mut tiles = Vec::new();
        if !self.find_among_free(pair, Length::Noise, false) {
            alignment.is_limited = true;
            self.find_among_free(pair, Length::Noise, true);
        }
        self.place(pair, &mut tiles);
        tiles
    }

    fn reset(&mut self, pair: [&Entry; 2]) {
        for (taken, entry) in self.taken.iter_mut().zip(pair) {
            taken.clear();
            taken.resize(entry.tokens.len(), false);
        }
    }

    fn take(&mut self, tile: &Tile) {
        for (taken, start) in self.taken.iter_mut().zip([tile.a, tile.b]) {
            taken[start as usize..(start + tile.len) as usize].fill(true);
        }
    }

    /// Finds runs among the free tokens and lets them wait. Returns whether all were found.
    fn find_among_free(&mut self, pair: [&Entry; 2], length: Length, is_limited: bool) -> bool {
        let [(left, left_parts), (right, right_parts)] = [0, 1].map(|side| free(pair[side], &self.taken[side], length));
        let [left_keys, right_keys] = pair.map(|entry| entry.keys(length));
        let index = Index::new(Text { tokens: &left, keys: &left_keys, parts: &left_parts, length });
        let other = Text { tokens: &right, keys: &right_keys, parts: &right_parts, length };
        let is_complete = self.find(&index, other, is_limited);
        self.wait(pair, false);
        is_complete
    }

    /// Finds the maximal common runs. Returns whether all were found; unless `is_limited` it ends with the work.
    fn find(&mut self, index: &Index, other: Text, is_limited: bool) -> bool {
        let size = index.text.tokens.len() + other.tokens.len();
        // On diagonal d = (position in the other) − (position in the index) + size of the index, every token of the other
        // before ends[d] is covered.
        self.ends.clear();
        self.ends.resize(size + 1, 0);
        self.found.clear();
        let (mut spent, mut allowed) = (0, SPARE + if is_limited { 0 } else { WORK * size });
        let most = if is_limited { PLACES } else { usize::MAX };
        for part in other.parts {
            let n = other.length.of(part) as usize;
            for at in gram_starts(part, other.length) {
                allowed += if is_limited { SHARE } else { 0 };
                let mut left = most;
                for place in index.places(other.keys[at]) {
                    let diagonal = at + index.text.tokens.len() - place;
                    let end = self.ends[diagonal] as usize;
                    // A run that was found is maximal: what lies in it is equal, and what goes on beyond its end is not.
                    let is_found = end > at;
                    let is_equal = if is_found { end >= at + n } else { index.is_at(place, &other.tokens[at..at + n]) };
                    if !is_equal {
                        continue;
                    }
                    if spent > allowed || left == 0 {
                        break;
                    }
                    (spent, left) = (spent + 1, left - 1);
                    if is_found {
                        continue;
                    }
                    let (before, len) = extend(index.text.tokens, place, other.tokens, at, n);
                    self.ends[diagonal] = (at - before + len) as u32;
                    spent += len;
                    let run = Tile { a: (place - before) as u32, b: (at - before) as u32, len: len as u32 };
                    self.found.push(Found { run, least: n as u32 });
                }
            }
            if spent > allowed && !is_limited {
                break;
            }
        }
        #[cfg(test)]
        {
            self.spent += spent;
        }
        spent <= allowed
    }

    /// Puts the runs that were found on the heap.
    fn wait(&mut self, pair: [&Entry; 2], is_turned: bool) {
        self.heap.clear();
        let turn = |run: Tile| if is_turned { run.turned() } else { run };
        self.heap.extend(self.found.iter().map(|found| waiting(pair, turn(found.run), found.least)));
    }

    /// Places runs from the longest on, each as far as its tokens are free. Returns whether all were placed whole.
    fn place(&mut self, pair: [&Entry; 2], tiles: &mut Vec<Tile>) -> bool {
        let mut untouched = true;
        while let Some(Waiting { len, a, b, least, .. }) = self.heap.pop() {
            let tile = Tile { a: a.0, b: b.0, len };
            let pieces = self.free_pieces(&tile, least);
            if pieces.first() == Some(&tile) {
                self.take(&tile);
                tiles.push(tile);
                continue;
            }
            untouched = false;
            self.heap.extend(pieces.into_iter().map(|piece| waiting(pair, piece, least)));
        }
        untouched
    }

    /// The stretches of a run of at least `least` tokens that are free on both sides.
    fn free_pieces(&self, tile: &Tile, least: u32) -> Vec<Tile> {
        let [left, right] = [(0, tile.a), (1, tile.b)]
            .map(|(side, start)| &self.taken[side][start as usize..(start + tile.len) as usize]);
        let mut pieces = Vec::new();
        let mut start = 0;
        for i in 0..=tile.len {
            if i == tile.len || left[i as usize] || right[i as usize] {
                if i - start >= least {
                    pieces.push(Tile { a: tile.a + start, b: tile.b + start, len: i - start });
                }
                start = i + 1;
            }
        }
        pieces
    }
}

/// A run in the order of the heap.
fn waiting([a, b]: [&Entry; 2], run: Tile, least: u32) -> Waiting {
    let is_same = |i: &u32| a.same_text((run.a + i) as usize, b, (run.b + i) as usize);
    let same = (0..run.len).filter(is_same).count() as u32;
    Waiting { len: run.len, same, a: Reverse(run.a), b: Reverse(run.b), least }
}

/// The tokens of an entry with separators for taken ones, and the free stretches of at least k (or t) tokens.
fn free(entry: &Entry, taken: &[bool], length: Length) -> (Vec<u32>, Vec<EntryPart>) {
    let tokens =
        entry.tokens.iter().zip(taken).map(|(token, is_taken)| if *is_taken { SEPARATOR } else { *token }).collect();
    let mut parts = Vec::new();
    for part in &entry.parts {
        let mut start = part.start;
        for stretch in taken[part.start as usize..part.end as usize].split(|is_taken| *is_taken) {
            let end = start + stretch.len() as u32;
            if end - start >= length.of(part) {
                parts.push(EntryPart { start, end, ..*part });
            }
            start = end + 1;
        }
    }
    (tokens, parts)
}

/// Extends n equal tokens at `i` and `j` to both sides. Returns the tokens added before, and the whole length.
fn extend(a: &[u32], i: usize, b: &[u32], j: usize, n: usize) -> (usize, usize) {
    let equal = |(x, y): &(&u32, &u32)| x == y && **x != SEPARATOR;
    let before = a[..i].iter().rev().zip(b[..j].iter().rev()).take_while(equal).count();
    let after = a[i + n..].iter().zip(&b[j + n..]).take_while(equal).count();
    (before, before + n + after)
}

/// The alignment of a submission with another of the same content.
pub fn whole(entry: &Entry) -> Alignment {
    let tile = |part: &EntryPart| Tile { a: part.start, b: part.start, len: part.end - part.start };
    Alignment { tiles: entry.parts.iter().map(tile).collect(), is_whole: true, is_limited: false }
}
