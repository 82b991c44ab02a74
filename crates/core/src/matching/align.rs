//! Aligns two submissions: finds maximal matches and chooses disjoint tiles from them.
//!
//! Every k-gram of one submission is looked up in an index of the other. A hit on a diagonal that is not covered yet is
//! compared token by token and extended to both sides, so each match is maximal and a hash collision is never reported.
//! The tiles are those of Greedy String Tiling (Wise 1993): longest first, no token twice. Here the matches are found
//! once and trimmed to the tokens that are still free, instead of a new search for each length.
//!
//! A run of one repeated k-gram counts as its first and its last k-gram, so that runs align at both ends and n equal
//! tokens do not make n² hits. Cost: linear in the tokens plus the length of the matches; `PLACES` and `WORK` limit it
//! for repetitive texts. If a limit was reached, the search is repeated among the free tokens, up to `ROUNDS` times;
//! [`super::cover`] finds what is still missing.

use super::entry::{gram_starts, Entry, EntryPart, SEPARATOR};
use std::collections::BinaryHeap;

/// Most places of one k-gram that are tried; beyond that the text is repetitive and more places add little.
pub(super) const PLACES: usize = 64;
/// Tokens compared per token of the pair before the search ends.
const WORK: usize = 64;

/// Most searches among the free tokens after an incomplete one.
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

/// An index of the places of each k-gram of a submission.
pub struct Index<'a> {
    tokens: &'a [u32],
    keys: &'a [u32],
    /// First position of each slot's chain.
    heads: Vec<u32>,
    /// Next position with the same slot, ascending.
    next: Vec<u32>,
    shift: u32,
    /// Whether k-grams were left out.
    has_gaps: bool,
}

impl<'a> Index<'a> {
    /// Indexes all k-grams of `parts`, except the inner ones of constant runs.
    pub fn new(tokens: &'a [u32], keys: &'a [u32], parts: &[EntryPart]) -> Self {
        let bits = (usize::BITS - tokens.len().leading_zeros() + 1).clamp(4, 30);
        let (heads, next) = (vec![NONE; 1 << bits], vec![NONE; tokens.len()]);
        let mut index = Self { tokens, keys, heads, next, shift: 32 - bits, has_gaps: false };
        for part in parts.iter().rev() {
            for at in gram_starts(part).rev() {
                if is_inner(tokens, keys, part, at) {
                    index.has_gaps = true;
                    continue;
                }
                let slot = index.slot(keys[at]);
                index.next[at] = index.heads[slot];
                index.heads[slot] = at as u32;
            }
        }
        index
    }

    /// Indexes an entry.
    pub fn of(entry: &'a Entry) -> Self {
        Self::new(&entry.tokens, entry.keys(), &entry.parts)
    }

    fn slot(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9E37_79B1) >> self.shift) as usize
    }

    /// The positions of `gram`, whose key is `key`.
    pub fn places<'b>(&'b self, key: u32, gram: &'b [u32]) -> impl Iterator<Item = usize> + 'b {
        let mut at = self.heads[self.slot(key)];
        std::iter::from_fn(move || {
            while at != NONE {
                let here = at as usize;
                at = self.next[here];
                if self.keys[here] == key && self.tokens.get(here..here + gram.len()) == Some(gram) {
                    return Some(here);
                }
            }
            None
        })
    }
}

/// Whether the k-gram at `at` equals both its neighbours: the inside of a run of one token.
fn is_inner(tokens: &[u32], keys: &[u32], part: &EntryPart, at: usize) -> bool {
    let grams = gram_starts(part);
    at > grams.start
        && at + 1 < grams.end
        && keys[at - 1] == keys[at]
        && keys[at] == keys[at + 1]
        && tokens[at - 1] == tokens[at]
        && tokens[at..=at + part.k as usize].iter().all(|token| *token == tokens[at])
}

/// What two submissions have in common.
#[derive(Debug, Default)]
pub struct Alignment {
    /// The tiles, in the order of the first submission; no token of either side is in two of them.
    pub tiles: Vec<Tile>,
    /// Whether every common run of at least t tokens became one tile, so that nothing remains to be covered.
    pub is_whole: bool,
}

/// Aligns pairs; reuses its buffers.
#[derive(Default)]
pub struct Aligner {
    ends: Vec<u32>,
    taken_a: Vec<bool>,
    taken_b: Vec<bool>,
    heap: BinaryHeap<Match>,
    /// Tokens compared so far; tests compare it with the size of the texts.
    #[cfg(test)]
    pub(super) compared: usize,
}

/// A match waiting to be placed. The longest comes first, then the one with the most tokens of equal exact text, then
/// the earliest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    len: u32,
    same: u32,
    a: std::cmp::Reverse<u32>,
    b: std::cmp::Reverse<u32>,
    k: u32,
    t: u32,
}

/// How a search ended.
struct SearchEnd {
    /// Whether every place of every k-gram was tried.
    is_complete: bool,
    /// Whether the inside of a run of one token was skipped.
    has_gaps: bool,
}

impl Aligner {
    /// Aligns `a` with `b`. REQUIRES: `index` is the index of `a`.
    pub fn align(&mut self, a: &Entry, index: &Index, b: &Entry) -> Alignment {
        reset(&mut self.taken_a, a.tokens.len());
        reset(&mut self.taken_b, b.tokens.len());
        let mut tiles = Vec::new();
        let mut search = self.find([a, b], index, &b.tokens, b.keys(), &b.parts);
        let is_whole = self.place([a, b], &mut tiles) && search.is_complete;
        let mut before = 0;
        for _ in 0..ROUNDS {
            if before == tiles.len() || (search.is_complete && !search.has_gaps) {
                break;
            }
            before = tiles.len();
            let [(left, left_parts), (right, right_parts)] = [free(a, &self.taken_a), free(b, &self.taken_b)];
            let index = Index::new(&left, a.keys(), &left_parts);
            search = self.find([a, b], &index, &right, b.keys(), &right_parts);
            self.place([a, b], &mut tiles);
        }
        tiles.sort_unstable();
        Alignment { tiles, is_whole }
    }

    /// Puts the maximal matches of at least k tokens on the heap.
    fn find(
        &mut self,
        pair: [&Entry; 2],
        index: &Index,
        tokens: &[u32],
        keys: &[u32],
        parts: &[EntryPart],
    ) -> SearchEnd {
        let size = index.tokens.len() + tokens.len();
        // On diagonal d = (position in b) − (position in a) + |a|, every token of b before ends[d] is covered.
        self.ends.clear();
        self.ends.resize(size + 1, 0);
        self.heap.clear();
        let mut search = SearchEnd { is_complete: true, has_gaps: index.has_gaps };
        let mut work = WORK * size + (1 << 16);
        for part in parts {
            let k = part.k as usize;
            for at in gram_starts(part) {
                if is_inner(tokens, keys, part, at) {
                    search.has_gaps = true;
                    continue;
                }
                for (count, place) in index.places(keys[at], &tokens[at..at + k]).enumerate() {
                    if count >= PLACES || work == 0 {
                        search.is_complete = false;
                        break;
                    }
                    #[cfg(test)]
                    {
                        self.compared += k;
                    }
                    let diagonal = at + index.tokens.len() - place;
                    if self.ends[diagonal] as usize > at {
                        continue;
                    }
                    let (before, len) = extend(index.tokens, place, tokens, at, k);
                    self.ends[diagonal] = (at - before + len) as u32;
                    #[cfg(test)]
                    {
                        self.compared += len;
                    }
                    work = work.saturating_sub(len);
                    self.heap.push(waiting(pair, [place - before, at - before], len, (part.k, part.t)));
                }
            }
        }
        search
    }

    /// Places matches from the longest on, each as far as its tokens are free. Returns whether all those of t tokens or
    /// more were placed whole.
    fn place(&mut self, pair: [&Entry; 2], tiles: &mut Vec<Tile>) -> bool {
        let mut untouched = true;
        while let Some(found) = self.heap.pop() {
            let (a, b, len) = (found.a.0 as usize, found.b.0 as usize, found.len as usize);
            let free = |i: usize| !self.taken_a[a + i] && !self.taken_b[b + i];
            if (0..len).all(free) {
                self.taken_a[a..a + len].fill(true);
                self.taken_b[b..b + len].fill(true);
                tiles.push(Tile { a: a as u32, b: b as u32, len: len as u32 });
                continue;
            }
            untouched &= found.len < found.t;
            let mut pieces = Vec::new();
            let mut start = 0;
            for i in 0..=len {
                if i == len || !free(i) {
                    if i - start >= found.k as usize {
                        pieces.push((start, i - start));
                    }
                    start = i + 1;
                }
            }
            for (offset, length) in pieces {
                self.heap.push(waiting(pair, [a + offset, b + offset], length, (found.k, found.t)));
            }
        }
        untouched
    }
}

/// A match of `len` tokens at `i` and `j`, in the order of the heap.
fn waiting([a, b]: [&Entry; 2], [i, j]: [usize; 2], len: usize, (k, t): (u32, u32)) -> Match {
    let same = (0..len).filter(|offset| a.same_text(i + offset, b, j + offset)).count() as u32;
    Match { len: len as u32, same, a: std::cmp::Reverse(i as u32), b: std::cmp::Reverse(j as u32), k, t }
}

fn reset(marks: &mut Vec<bool>, len: usize) {
    marks.clear();
    marks.resize(len, false);
}

/// The tokens of an entry with separators for taken ones, and the free stretches of at least k tokens.
fn free(entry: &Entry, taken: &[bool]) -> (Vec<u32>, Vec<EntryPart>) {
    let tokens =
        entry.tokens.iter().zip(taken).map(|(token, is_taken)| if *is_taken { SEPARATOR } else { *token }).collect();
    let mut parts = Vec::new();
    for part in &entry.parts {
        let mut start = part.start;
        for stretch in taken[part.start as usize..part.end as usize].split(|is_taken| *is_taken) {
            let end = start + stretch.len() as u32;
            if end - start >= part.k {
                parts.push(EntryPart { start, end, ..*part });
            }
            start = end + 1;
        }
    }
    (tokens, parts)
}

/// Extends k equal tokens at `i` and `j` to both sides. Returns the tokens added before, and the whole length.
fn extend(a: &[u32], i: usize, b: &[u32], j: usize, k: usize) -> (usize, usize) {
    let equal = |(x, y): &(&u32, &u32)| x == y && **x != SEPARATOR;
    let before = a[..i].iter().rev().zip(b[..j].iter().rev()).take_while(equal).count();
    let after = a[i + k..].iter().zip(&b[j + k..]).take_while(equal).count();
    (before, before + k + after)
}

/// The alignment of a submission with another of the same content.
pub fn whole(entry: &Entry) -> Alignment {
    let tile = |part: &EntryPart| Tile { a: part.start, b: part.start, len: part.end - part.start };
    Alignment { tiles: entry.parts.iter().map(tile).collect(), is_whole: true }
}
