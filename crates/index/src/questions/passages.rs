//! Which documents share passages with the asked one, where they stand on both sides, and what very many share.
//!
//! ```text
//! files ─▶ k-grams, literals ─▶ Snapshot::holders ─▶ documents by what they share ─▶ files again ─▶ tiles ─▶ passages
//! ```
//!
//! Documents are looked at from the one that shares most k-grams and literals, then by arrival, and are told by the tokens
//! of their passages: most first, then by the longest passage, then by arrival. A document that cannot share as many tokens as
//! those that are told already is passed over: the k-grams that it holds bound its passages (`passages/held.rs`). Where more than
//! [`LOOKED`] texts are left to look at, those that share most k-grams are, and the answer says so; otherwise the order is exact.
//! Each text is aligned with the asked document as `compare` aligns pairs (`passages/side.rs`), so a passage is equal token by
//! token, and any run of t tokens that both have is in one. Starter code of the index cuts passages and is never told. A k-gram that
//! more than [`hot`] documents hold proposes none; stretches of such k-grams are told once, with their number of documents.
//!
//! Tiles that follow each other within k tokens on both sides are one passage, as in `compare`.
//!
//! **Coarser windows.** If the files were read with longer windows than the index has, fewer k-grams are looked up: the minimum
//! of a longer window is the minimum of each shorter one around it, so the index has it (winnowing, §3.2). Every document that
//! shares a run of k + window − 1 tokens is then found, and tiles have at least that many: the matches are those of an index with
//! that window.
//!
//! All documents that share something besides starter code are counted. Those with one content are told once. Without texts
//! nothing is aligned, and matches have no passages. Cost: linear in the holders of the k-grams, and in the texts of the documents that are
//! looked at: [`LOOKED`], or at most [`TRIED`] more than are told.

mod held;
mod side;

use super::candidates::may_be_told;
use super::conditions::Conditions;
use super::Work;
use crate::idle::Idle;
use crate::record::Document;
use crate::segment::StoredRow;
use crate::sign::literal_key;
use crate::snapshot::Snapshot;
use crate::texts::TextUnpacker;
use held::{Bounds, Held};
use lookalike_compare::places::Region;
use lookalike_compare::stored::short_key;
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_table::Result;
use side::{Comparison, Side, StoredReader};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;

/// Texts that are looked at before the search may end.
pub const LOOKED: usize = 500;
/// Documents without a passage that are looked at before the search ends.
pub const TRIED: usize = 200;

/// Number of documents above which a k-gram is told once, among so many.
pub fn hot(documents: u64) -> u64 {
    (documents / 1000).max(64)
}

/// A passage of the asked document and of a stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPassage {
    /// Where it stands in the asked document.
    pub asked: Region,
    /// Where it stands in the stored one.
    pub stored: Region,
    /// Number of its tokens, or of the words of a string literal.
    pub tokens: u32,
    /// Whether names and values are equal too.
    pub exact: bool,
    /// Whether it is a string literal.
    pub is_literal: bool,
}

/// A document that shares passages.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageMatch {
    /// Its number.
    pub number: u64,
    /// What is stored of it.
    pub row: StoredRow,
    /// Number of documents with this content.
    pub copies: u64,
    /// Number of k-grams and literals that it shares, those that very many hold left out.
    pub shared: u32,
    /// Its passages in the order of the asked document; none if texts are not kept.
    pub passages: Vec<SharedPassage>,
}

/// A stretch of the asked document that very many documents have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonStretch {
    /// Where it stands.
    pub asked: Region,
    /// Number of documents with its most common k-gram.
    pub documents: u64,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundPassages {
    /// The documents that share most.
    pub matches: Vec<PassageMatch>,
    /// What very many have, in the order of the asked document.
    pub common: Vec<CommonStretch>,
    /// Number of documents that share a k-gram or a literal.
    pub documents: u64,
    /// Number of those that share something that not very many have.
    pub candidates: u64,
    /// Whether the search ended before all were looked at that may share more tokens than the last that is told.
    pub is_limited: bool,
    /// What was read.
    pub work: Work,
}

/// What is asked for.
#[derive(Clone, Copy)]
pub struct PassageWish<'a> {
    /// What the meta data of documents must say.
    pub conditions: &'a Conditions,
    /// Most documents that are told.
    pub top: usize,
    /// Noise and guarantee threshold of rows.
    pub thresholds: (u32, u32),
    /// The length of windows in k-grams that the files were read with, if it is more than that of the index; otherwise 0.
    pub window: u32,
    /// The k-grams and literals as the index knows them, where they are not those of the files: it has keys of its own.
    pub keyed: Option<&'a Document>,
}

/// Finds the passages that documents share with a document of these files. Errors: damaged.
pub fn passages(snapshot: &Snapshot, files: &[Arc<SubmittedFile>], wish: PassageWish) -> Result<FoundPassages> {
    UNPACKERS.with(TextUnpacker::new, |unpacker| answered(snapshot, files, wish, unpacker))
}

/// Making one asks the processor what it can do, which takes 10 µs in a virtual machine.
static UNPACKERS: Idle<TextUnpacker> = Idle::none();

fn answered(
    snapshot: &Snapshot,
    files: &[Arc<SubmittedFile>],
    wish: PassageWish,
    unpacker: &mut TextUnpacker,
) -> Result<FoundPassages> {
    let (mut found, keys) = (FoundPassages::default(), keys_of(files, wish.keyed));
    let (mut held, holders) = Held::of(snapshot, &keys, &mut found)?;
    let (mut side, mut reader) = Side::new(files, wish, unpacker);
    side.leave_out(snapshot, &held.templates, &mut reader)?;
    held.count(snapshot, &holders, &side.given_keys(), wish.conditions, &mut found)?;
    let most = hot(snapshot.documents()?);
    found.common = side.common(&held, most);
    if held.ranked.is_empty() {
        return Ok(found);
    }
    // Bounds are of use only where some are not told, and know nothing of keys that are not those of the files.
    let has_bounds = held.ranked.len() > wish.top && wish.keyed.is_none();
    let bounds = if has_bounds { Bounds::of(&side.entry, &holders) } else { Bounds::default() };
    side.roll();
    let comparison = Comparison::new(&side, &held, most);
    let best = looked_at(snapshot, &held, &bounds, wish.top, comparison, &mut reader, &mut found)?;
    for one in best {
        let row = snapshot.row(one.number)?;
        let copies = copies(snapshot, row.content, wish.conditions, &mut found.work)?;
        let Candidate { number, shared, passages } = one;
        found.matches.push(PassageMatch { number, row, copies, shared, passages });
    }
    Ok(found)
}

/// A document that was looked at.
struct Candidate {
    number: u64,
    shared: u32,
    passages: Vec<SharedPassage>,
}

impl Candidate {
    fn tokens(&self) -> u64 {
        self.passages.iter().map(|one| u64::from(one.tokens)).sum()
    }

    /// What decides its place, more first: the tokens of its passages, its longest passage, and the earlier arrival. Without
    /// texts there are no passages, and the shared k-grams decide.
    fn weight(&self) -> (u64, u32, u32, Reverse<u64>) {
        let longest = self.passages.iter().map(|one| one.tokens).max().unwrap_or(0);
        let shared = if self.passages.is_empty() { self.shared } else { 0 };
        (self.tokens(), longest, shared, Reverse(self.number))
    }
}

/// The documents that share most, at most `top`, most first. Errors: damaged.
fn looked_at(
    snapshot: &Snapshot,
    held: &Held,
    bounds: &Bounds,
    top: usize,
    mut comparison: Comparison,
    reader: &mut StoredReader<'_>,
    found: &mut FoundPassages,
) -> Result<Vec<Candidate>> {
    let (mut all, mut most): (Vec<Candidate>, _) = (Vec::new(), MostTokens::new(top));
    let (mut met, mut tried) = (HashSet::new(), 0);
    for (number, shared) in &held.ranked {
        if bounds.of_document(*number) < most.least() || !met.insert(snapshot.content(*number)?) {
            continue;
        }
        let is_kept = snapshot.text(*number)?.is_some();
        let is_enough = all.len() >= top || tried >= TRIED;
        if is_enough && (!is_kept || found.work.texts >= LOOKED as u64) {
            found.is_limited = is_kept;
            break;
        }
        let mut passages = Vec::new();
        if is_kept {
            found.work.texts += 1;
            let (submission, entry) = reader.read(snapshot, *number)?;
            passages = comparison.shared(&submission, &entry);
        }
        if passages.is_empty() && is_kept {
            tried += 1;
            continue;
        }
        let one = Candidate { number: *number, shared: *shared, passages };
        most.push(one.tokens());
        all.push(one);
    }
    all.sort_by_key(|one| Reverse(one.weight()));
    all.truncate(top);
    Ok(all)
}

/// The most tokens that documents share, of so many documents.
struct MostTokens {
    top: usize,
    tokens: BinaryHeap<Reverse<u64>>,
}

impl MostTokens {
    fn new(top: usize) -> Self {
        Self { top, tokens: BinaryHeap::new() }
    }

    fn push(&mut self, tokens: u64) {
        self.tokens.push(Reverse(tokens));
        if self.tokens.len() > self.top {
            self.tokens.pop();
        }
    }

    /// What a document must share to be among them: nothing as long as there are fewer.
    fn least(&self) -> u64 {
        let is_full = self.top > 0 && self.tokens.len() >= self.top;
        self.tokens.peek().filter(|_| is_full).map_or(0, |least| least.0)
    }
}

/// Number of documents with this content that may be told. Errors: damaged.
fn copies(snapshot: &Snapshot, content: u128, conditions: &Conditions, work: &mut Work) -> Result<u64> {
    let mut copies = 0;
    for number in snapshot.find_content(content)? {
        copies += u64::from(may_be_told(snapshot, number, conditions, work)?);
    }
    Ok(copies)
}

/// The k-grams and the literals that are looked up, both ascending.
fn keys_of(files: &[Arc<SubmittedFile>], keyed: Option<&Document>) -> [Vec<u64>; 2] {
    if let Some(document) = keyed {
        return [&document.postings, &document.literals].map(|keys| ascending(keys.iter().copied()));
    }
    let parts = || files.iter().flat_map(|file| &file.parts);
    let said = parts().flat_map(|part| part.literals.iter().map(|one| part.exact_text(one.key as u32)));
    let picks = parts().flat_map(|part| part.picks.iter().map(|pick| pick.key));
    [ascending(picks), ascending(said.map(literal_key).chain(short_key(files)))]
}

fn ascending(keys: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
