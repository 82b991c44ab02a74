//! The asked document beside a stored one: tiles without starter code, joined to passages, and placed on both sides.
//!
//! Cost: reading, numbering and rolling the tokens of the asked document once; then each stored one, and one lookup per token
//! of it (`lookalike_core::matching::align`). A document without candidates is not rolled.

use super::held::Held;
use super::{CommonStretch, PassageWish, SharedPassage};
use crate::earlier::loading::load_to_align;
use crate::snapshot::Snapshot;
use crate::texts::TextUnpacker;
use lookalike_compare::places::Ruler;
use lookalike_compare::submissions::{Submission, TokenNumbers};
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_core::hash::keyed::RunKey;
use lookalike_core::matching::align::{whole, Aligner, Index, Tile};
use lookalike_core::matching::entry::{Entry as MatchEntry, Pick};
use lookalike_core::matching::passages::follows;
use lookalike_core::matching::template::Template;
use lookalike_table::Result;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Numbers the tokens of stored documents as those of the asked one.
pub(super) struct StoredReader<'a> {
    unpacker: &'a mut TextUnpacker,
    wish: PassageWish<'a>,
    numbers: TokenNumbers,
    run_key: RunKey,
}

impl StoredReader<'_> {
    /// Reads a stored document. Errors: damaged, or its text is not kept.
    pub fn read(&mut self, snapshot: &Snapshot, number: u64) -> Result<(Submission, MatchEntry)> {
        let files = load_to_align(self.unpacker, self.wish.thresholds, snapshot, number)?;
        let (submission, mut entry) = self.numbers.entry(files, 1, true);
        for part in &mut entry.parts {
            part.t = part.t.max((part.k + self.wish.window).saturating_sub(1));
        }
        entry.roll(self.run_key);
        Ok((submission, entry))
    }
}

/// The asked document.
pub(super) struct Side {
    run_key: RunKey,
    submission: Submission,
    pub entry: MatchEntry,
    /// Whether each token is starter code.
    given: Vec<bool>,
}

impl Side {
    /// The asked document, and the reader of those it is compared with.
    pub fn new<'a>(
        files: &[Arc<SubmittedFile>],
        wish: PassageWish<'a>,
        unpacker: &'a mut TextUnpacker,
    ) -> (Self, StoredReader<'a>) {
        let run_key = RunKey::new(RandomState::new().hash_one(0));
        let mut numbers = TokenNumbers::default();
        let (submission, entry) = numbers.entry(files.to_vec(), 0, false);
        let side = Self { run_key, submission, entry, given: Vec::new() };
        (side, StoredReader { unpacker, wish, numbers, run_key })
    }

    /// Marks the starter code among its tokens. Without texts none can be marked.
    pub fn leave_out(
        &mut self,
        snapshot: &Snapshot,
        templates: &HashSet<u64>,
        reader: &mut StoredReader<'_>,
    ) -> Result<()> {
        let mut files = Vec::new();
        for number in templates {
            if snapshot.text(*number)?.is_some() {
                files.push(reader.read(snapshot, *number)?.1);
            }
        }
        if !files.is_empty() {
            self.given = Template::new(files.iter()).marker(self.run_key).mark(&self.entry);
        }
        Ok(())
    }

    /// Makes it ready to be compared.
    pub fn roll(&mut self) {
        self.entry.roll(self.run_key);
    }

    /// The k-grams whose tokens are all starter code.
    pub fn given_keys(&self) -> HashSet<u64> {
        let is_given = |pick: &&Pick| self.is_given(pick.at, pick.at + self.entry.thresholds(pick.at).0);
        self.entry.picks.iter().filter(is_given).map(|pick| pick.key).collect()
    }

    /// The stretches of k-grams that more than so many documents hold.
    pub fn common(&self, held: &Held, most: u64) -> Vec<CommonStretch> {
        let mut stretches: Vec<(u32, u32, u64)> = Vec::new();
        for pick in &self.entry.picks {
            let count = held.of_pick.get(&pick.key).copied().unwrap_or(0);
            let Some(part) = self.entry.parts.get(self.entry.part_of(pick.at)) else { continue };
            if count <= most || self.is_given(pick.at, pick.at + part.k) {
                continue;
            }
            match stretches.last_mut() {
                // Neighbouring k-grams of one passage are at most a window apart.
                Some(last) if last.0 >= part.start && pick.at + part.k - last.1 <= part.t - part.k + 1 => {
                    (last.1, last.2) = (pick.at + part.k, last.2.max(count));
                }
                _ => stretches.push((pick.at, pick.at + part.k, count)),
            }
        }
        let rulers = self.submission.rulers();
        let told = |(start, end, documents): (u32, u32, u64)| CommonStretch {
            asked: self.submission.region(&rulers, start, end),
            documents,
        };
        stretches.into_iter().map(told).collect()
    }

    /// Whether all of these tokens are starter code.
    fn is_given(&self, start: u32, end: u32) -> bool {
        self.given.get(start as usize..end as usize).is_some_and(|marks| marks.iter().all(|mark| *mark))
    }

    /// Whether a token is starter code.
    fn is_given_at(&self, token: u32) -> bool {
        self.given.get(token as usize).copied().unwrap_or(false)
    }
}

/// Compares the asked document with stored ones; reuses its memory.
pub(super) struct Comparison<'a> {
    side: &'a Side,
    held: &'a Held,
    /// Number of documents above which a k-gram is told once.
    most: u64,
    index: Index<'a>,
    rulers: Vec<Ruler<'a>>,
    aligner: Aligner,
}

impl<'a> Comparison<'a> {
    /// REQUIRES: the side is rolled.
    pub fn new(side: &'a Side, held: &'a Held, most: u64) -> Self {
        let (index, rulers) = (Index::of(&side.entry), side.submission.rulers());
        Self { side, held, most, index, rulers, aligner: Aligner::default() }
    }

    /// The passages that a document shares, in the order of the asked one.
    pub fn shared(&mut self, submission: &Submission, entry: &MatchEntry) -> Vec<SharedPassage> {
        let mine = &self.side.entry;
        let tiles = if mine.is_same(entry) {
            whole(mine).tiles
        } else {
            self.aligner.search(&self.index, entry);
            self.aligner.lay([mine, entry], false).tiles
        };
        let pieces = tiles.iter().flat_map(|tile| self.clipped(tile));
        let mut pieces: Vec<Tile> = pieces.filter(|piece| !self.is_common(piece)).collect();
        pieces.sort_unstable();
        let there = submission.rulers();
        let groups = pieces.chunk_by(|last, next| follows([mine, entry], last, next));
        let mut found: Vec<SharedPassage> =
            groups.filter_map(|tiles| self.passage(tiles, submission, entry, &there)).collect();
        self.said(submission, entry, &there, &tiles, &mut found);
        found.sort_by_key(|one| (one.asked.file, one.asked.start, one.stored.file, one.stored.start));
        found
    }

    /// Cuts a tile at starter code of at least k tokens; what has fewer than k tokens of its own is dropped.
    fn clipped(&self, tile: &Tile) -> Vec<Tile> {
        let k = self.side.entry.thresholds(tile.a).0;
        if self.side.given.is_empty() {
            return vec![*tile];
        }
        let (mut pieces, mut open): (Vec<Tile>, Option<(u32, u32)>) = (Vec::new(), None);
        let piece = |(start, end): (u32, u32)| Tile { a: tile.a + start, b: tile.b + start, len: end - start };
        for i in (0..tile.len).filter(|i| !self.side.is_given_at(tile.a + i)) {
            open = match open {
                Some((start, end)) if i - end < k => Some((start, i + 1)),
                last => {
                    pieces.extend(last.map(piece));
                    Some((i, i + 1))
                }
            };
        }
        pieces.extend(open.map(piece));
        pieces.retain(|piece| piece.len >= k.min(tile.len));
        pieces
    }

    /// Whether very many documents hold all k-grams of a tile; those are told once.
    fn is_common(&self, tile: &Tile) -> bool {
        let (k, picks) = (self.side.entry.thresholds(tile.a).0, &self.side.entry.picks);
        let from = picks.partition_point(|pick| pick.at < tile.a);
        let mut inside = picks[from..].iter().take_while(|pick| pick.at + k <= tile.a + tile.len).peekable();
        inside.peek().is_some() && inside.all(|pick| self.held.is_hot(pick, self.most))
    }

    /// The passage over tiles that follow each other; none without tiles. It is exact only without gaps.
    fn passage(
        &self,
        tiles: &[Tile],
        submission: &Submission,
        entry: &MatchEntry,
        there: &[Ruler],
    ) -> Option<SharedPassage> {
        let (first, last) = (tiles.first()?, tiles.last()?);
        let ends = [last.a + last.len, last.b + last.len];
        let tokens = tiles.iter().map(|tile| tile.len).sum();
        let same = |i: u32| self.side.entry.same_text((first.a + i) as usize, entry, (first.b + i) as usize);
        Some(SharedPassage {
            asked: self.side.submission.region(&self.rulers, first.a, ends[0]),
            stored: submission.region(there, first.b, ends[1]),
            tokens,
            exact: [ends[0] - first.a, ends[1] - first.b] == [tokens; 2] && (0..tokens).all(same),
            is_literal: false,
        })
    }

    /// Appends string literals of both that no passage covers.
    fn said(
        &self,
        submission: &Submission,
        entry: &MatchEntry,
        there: &[Ruler],
        tiles: &[Tile],
        found: &mut Vec<SharedPassage>,
    ) {
        let theirs: HashMap<u64, u32> = entry.literals.iter().map(|one| (one.key, one.at)).collect();
        let is_told = |at: u32| tiles.iter().any(|tile| (tile.a..tile.a + tile.len).contains(&at));
        found.extend(self.side.entry.literals.iter().filter_map(|one| {
            let at = *theirs.get(&one.key)?;
            (!is_told(one.at) && !self.side.is_given_at(one.at)).then(|| SharedPassage {
                asked: self.side.submission.region(&self.rulers, one.at, one.at + 1),
                stored: submission.region(there, at, at + 1),
                tokens: one.words,
                exact: true,
                is_literal: true,
            })
        }));
    }
}
