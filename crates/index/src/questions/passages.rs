//! Which documents share passages with the asked one, where they stand on both sides, and what very many share.
//!
//! ```text
//! files ─▶ k-grams, literals ─▶ Snapshot::holders ─▶ documents by what they share ─▶ files again ─▶ tiles ─▶ passages
//! ```
//!
//! Documents are looked at from the one that shares most k-grams and literals, then by arrival, and are told by the tokens
//! of their passages: most first, then by the longest passage, then by arrival. This order is exact where at most [`LOOKED`]
//! texts share something; of more, those that share most k-grams are looked at, and the answer says so. Each is aligned with the asked document as `compare` aligns pairs, so a passage is equal token by token, and
//! any run of t tokens that both have is in one. Starter code of the index cuts passages and is never told. A k-gram that
//! more than [`hot`] documents hold proposes none; stretches of such k-grams are told once, with their number of documents.
//!
//! Tiles that follow each other within k tokens on both sides are one passage, as in `compare`.
//!
//! **Coarser windows.** If the files were read with longer windows than the index has, fewer k-grams are looked up: the minimum
//! of a longer window is the minimum of each shorter one around it, so the index has it (winnowing, §3.2). Every document that
//! shares a run of k + window − 1 tokens is then found, and tiles have at least that many: the matches are those of an index with
//! that window.
//!
//! All documents that share something besides starter code are counted. Those with one content are told once. Without texts nothing is aligned,
//! and matches have no passages. Cost: linear in the holders of the k-grams, and in the texts of the documents that are
//! looked at: [`LOOKED`], or at most [`TRIED`] more than are told.

use super::candidates::may_be_told;
use super::conditions::Conditions;
use super::Work;
use crate::earlier::loading::Loader;
use crate::record::{Document, TEMPLATE};
use crate::segment::{StoredRow, Which};
use crate::sign::literal_key;
use crate::snapshot::Snapshot;
use lookalike_compare::places::{Region, Ruler};
use lookalike_compare::stored::short_key;
use lookalike_compare::submissions::{Submission, TokenNumbers};
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_core::hash::keyed::RunKey;
use lookalike_core::matching::align::{Aligner, Index, Tile};
use lookalike_core::matching::entry::{Entry as MatchEntry, Pick};
use lookalike_core::matching::passages::follows;
use lookalike_core::matching::template::Template;
use lookalike_table::Result;
use std::cmp::Reverse;
use std::collections::hash_map::{Entry, HashMap};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
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

impl PassageMatch {
    /// What decides its place, more first: the tokens of its passages, its longest passage, and the earlier arrival. Without
    /// texts there are no passages, and the shared k-grams decide.
    fn weight(&self) -> (u64, u32, u32, Reverse<u64>) {
        let tokens = self.passages.iter().map(|one| u64::from(one.tokens)).sum();
        let longest = self.passages.iter().map(|one| one.tokens).max().unwrap_or(0);
        let shared = if self.passages.is_empty() { self.shared } else { 0 };
        (tokens, longest, shared, Reverse(self.number))
    }
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
    /// Whether the search ended before all of these were looked at: others may share more tokens.
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
    let (mut found, keys) = (FoundPassages::default(), keys_of(files, wish.keyed));
    let (mut held, holders) = Held::of(snapshot, &keys, &mut found)?;
    let mut side = Side::new(files.to_vec(), wish.window);
    let mut loader = Loader::new(wish.thresholds)?;
    side.leave_out(snapshot, &held.templates, &mut loader)?;
    held.count(snapshot, &holders, &side.given_keys(), wish.conditions, &mut found)?;
    found.common = side.common(&held, snapshot.documents()?);
    side.matches(snapshot, &held, wish, &mut loader, &mut found)?;
    Ok(found)
}

/// Who holds some keys: the place of a key and a document, in order of keys.
struct Holders<'a> {
    keys: &'a [u64],
    rows: Vec<(usize, u64)>,
}

impl Holders<'_> {
    fn by_key(&self) -> impl Iterator<Item = (u64, &[(usize, u64)])> {
        let runs = self.rows.chunk_by(|left, right| left.0 == right.0);
        runs.filter_map(|run| Some((*self.keys.get(run.first()?.0)?, run)))
    }
}

/// What documents hold of the asked one.
#[derive(Default)]
struct Held {
    /// Number of documents that hold each k-gram.
    of_pick: HashMap<u64, u64>,
    /// Documents and how much they share that not very many have, most first.
    ranked: Vec<(u64, u32)>,
    templates: HashSet<u64>,
    /// The flags of all holders.
    flags: HashMap<u64, u32>,
}

impl Held {
    /// Finds who holds these k-grams and literals, without counting them yet.
    fn of<'a>(
        snapshot: &Snapshot,
        [picks, literals]: &'a [Vec<u64>; 2],
        found: &mut FoundPassages,
    ) -> Result<(Self, [Holders<'a>; 2])> {
        let mut held = Self::default();
        let holders = [(Which::Postings, picks), (Which::Literals, literals)].map(|(which, keys)| {
            let mut rows = Vec::new();
            snapshot.holders(which, keys, |place, number| rows.push((place, number))).map(|()| Holders { keys, rows })
        });
        let [picks, literals] = holders;
        let holders = [picks?, literals?];
        let numbers = || holders.iter().flat_map(|one| one.rows.iter().map(|(_, number)| *number));
        found.work.holders += numbers().count() as u64;
        held.flags = held.flags(snapshot, numbers())?;
        found.work.rows += held.flags.len() as u64;
        Ok((held, holders))
    }

    /// Counts what each document holds, besides what starter code has: k-grams of `given`, and all that starter code holds.
    fn count(
        &mut self,
        snapshot: &Snapshot,
        [picks, literals]: &[Holders<'_>; 2],
        given: &HashSet<u64>,
        conditions: &Conditions,
        found: &mut FoundPassages,
    ) -> Result<()> {
        let (most, mut shared) = (hot(snapshot.documents()?), HashMap::<u64, u32>::new());
        let mut count = |run: &[(usize, u64)]| {
            if self.templates.is_empty() || run.iter().all(|(_, number)| !self.templates.contains(number)) {
                let is_rare = u32::from(run.len() as u64 <= most);
                run.iter().for_each(|(_, number)| *shared.entry(*number).or_insert(0) += is_rare);
            }
        };
        for (key, run) in picks.by_key() {
            self.of_pick.insert(key, run.len() as u64);
            if !given.contains(&key) {
                count(run);
            }
        }
        literals.by_key().for_each(|(_, run)| count(run));
        let mut all: Vec<(u64, u32)> =
            shared.into_iter().filter(|(number, _)| self.flags.get(number) == Some(&0)).collect();
        all.sort_unstable_by_key(|(number, shared)| (Reverse(*shared), *number));
        for (number, shared) in all {
            if conditions.is_empty() || conditions.are_met(&snapshot.meta(number)?) {
                found.documents += 1;
                found.candidates += u64::from(shared > 0);
                self.ranked.extend((shared > 0).then_some((number, shared)));
            }
        }
        Ok(())
    }

    /// The flags of documents, each once. Keeps the numbers of starter code.
    fn flags(&mut self, snapshot: &Snapshot, numbers: impl Iterator<Item = u64>) -> Result<HashMap<u64, u32>> {
        let mut flags = HashMap::new();
        for number in numbers {
            if let Entry::Vacant(place) = flags.entry(number) {
                let found = *place.insert(snapshot.flags(number)?);
                self.templates.extend((found & TEMPLATE != 0).then_some(number));
            }
        }
        Ok(flags)
    }
}

/// The asked document among those it is aligned with.
struct Side {
    numbers: TokenNumbers,
    run_key: RunKey,
    /// See [`PassageWish::window`].
    window: u32,
    submission: Submission,
    entry: MatchEntry,
    /// Whether each token is starter code.
    given: Vec<bool>,
}

impl Side {
    fn new(files: Vec<Arc<SubmittedFile>>, window: u32) -> Self {
        let run_key = RunKey::new(RandomState::new().hash_one(0));
        let mut numbers = TokenNumbers::default();
        let (submission, mut entry) = numbers.entry(files, 0, false);
        entry.roll(run_key);
        let given = vec![false; entry.tokens.len()];
        Self { numbers, run_key, window, submission, entry, given }
    }

    fn entry_of(&mut self, files: Vec<Arc<SubmittedFile>>) -> (Submission, MatchEntry) {
        let (submission, mut entry) = self.numbers.entry(files, 1, true);
        for part in &mut entry.parts {
            part.t = part.t.max((part.k + self.window).saturating_sub(1));
        }
        entry.roll(self.run_key);
        (submission, entry)
    }

    /// Marks the starter code among its tokens. Without texts none can be marked.
    fn leave_out(&mut self, snapshot: &Snapshot, templates: &HashSet<u64>, loader: &mut Loader) -> Result<()> {
        let mut files = Vec::new();
        for number in templates {
            if snapshot.text(*number)?.is_some() {
                files.push(self.entry_of(loader.load(snapshot, *number)?.files).1);
            }
        }
        if !files.is_empty() {
            self.given = Template::new(files.iter()).marker(self.run_key).mark(&self.entry);
        }
        Ok(())
    }

    /// The k-grams whose tokens are all starter code.
    fn given_keys(&self) -> HashSet<u64> {
        let is_given = |pick: &&Pick| self.is_given(pick.at, pick.at + self.entry.thresholds(pick.at).0);
        self.entry.picks.iter().filter(is_given).map(|pick| pick.key).collect()
    }

    /// The stretches of k-grams that very many documents hold.
    fn common(&self, held: &Held, documents: u64) -> Vec<CommonStretch> {
        let mut stretches: Vec<(u32, u32, u64)> = Vec::new();
        for pick in &self.entry.picks {
            let count = held.of_pick.get(&pick.key).copied().unwrap_or(0);
            let Some(part) = self.entry.parts.get(self.entry.part_of(pick.at)) else { continue };
            if count <= hot(documents) || self.is_given(pick.at, pick.at + part.k) {
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

    fn matches(
        &mut self,
        snapshot: &Snapshot,
        held: &Held,
        wish: PassageWish,
        loader: &mut Loader,
        found: &mut FoundPassages,
    ) -> Result<()> {
        let (mut aligner, mut met, mut tried) = (Aligner::default(), HashSet::new(), 0);
        for (number, shared) in &held.ranked {
            let row = snapshot.row(*number)?;
            if !met.insert(row.content) {
                continue;
            }
            let is_kept = snapshot.text(*number)?.is_some();
            let is_enough = found.matches.len() >= wish.top || tried >= TRIED;
            if is_enough && (!is_kept || met.len() > LOOKED) {
                found.is_limited = is_kept;
                break;
            }
            let mut passages = Vec::new();
            if is_kept {
                found.work.texts += 1;
                let (submission, entry) = self.entry_of(loader.load(snapshot, *number)?.files);
                passages = self.shared(&submission, &entry, held, snapshot.documents()?, &mut aligner);
            }
            if passages.is_empty() && is_kept {
                tried += 1;
                continue;
            }
            found.matches.push(PassageMatch { number: *number, row, copies: 0, shared: *shared, passages });
        }
        found.matches.sort_by_key(|one| Reverse(one.weight()));
        found.matches.truncate(wish.top);
        for one in &mut found.matches {
            one.copies = copies(snapshot, one.row.content, wish.conditions, &mut found.work)?;
        }
        Ok(())
    }

    /// The passages that a document shares, in the order of the asked one.
    fn shared(
        &self,
        submission: &Submission,
        entry: &MatchEntry,
        held: &Held,
        documents: u64,
        aligner: &mut Aligner,
    ) -> Vec<SharedPassage> {
        let is_whole = self.entry.is_same(entry);
        let tiles = if is_whole {
            lookalike_core::matching::align::whole(&self.entry).tiles
        } else {
            aligner.search(&Index::of(&self.entry), entry);
            aligner.lay([&self.entry, entry], false).tiles
        };
        let pieces = tiles.iter().flat_map(|tile| self.clipped(tile));
        let mut pieces: Vec<Tile> = pieces.filter(|piece| !self.is_common(piece, held, documents)).collect();
        pieces.sort_unstable();
        let rulers = [self.submission.rulers(), submission.rulers()];
        let groups = pieces.chunk_by(|last, next| follows([&self.entry, entry], last, next));
        let mut found: Vec<SharedPassage> =
            groups.filter_map(|tiles| self.passage(tiles, submission, entry, &rulers)).collect();
        found.extend(self.said(submission, entry, &rulers, &tiles));
        found.sort_by_key(|one| (one.asked.file, one.asked.start, one.stored.file, one.stored.start));
        found
    }

    /// Cuts a tile at starter code of at least k tokens; what has fewer than k tokens of its own is dropped.
    fn clipped(&self, tile: &Tile) -> Vec<Tile> {
        let k = self.entry.thresholds(tile.a).0;
        let (mut pieces, mut open): (Vec<Tile>, Option<(u32, u32)>) = (Vec::new(), None);
        let piece = |(start, end): (u32, u32)| Tile { a: tile.a + start, b: tile.b + start, len: end - start };
        for i in (0..tile.len).filter(|i| !self.given.get((tile.a + i) as usize).copied().unwrap_or(false)) {
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
    fn is_common(&self, tile: &Tile, held: &Held, documents: u64) -> bool {
        let k = self.entry.thresholds(tile.a).0;
        let from = self.entry.picks.partition_point(|pick| pick.at < tile.a);
        let inside = self.entry.picks[from..].iter().take_while(|pick| pick.at + k <= tile.a + tile.len);
        let mut counts = inside.map(|pick| held.of_pick.get(&pick.key).copied().unwrap_or(0)).peekable();
        counts.peek().is_some() && counts.all(|count| count > hot(documents))
    }

    /// The passage over tiles that follow each other; none without tiles. It is exact only without gaps.
    fn passage(
        &self,
        tiles: &[Tile],
        submission: &Submission,
        entry: &MatchEntry,
        rulers: &[Vec<Ruler>; 2],
    ) -> Option<SharedPassage> {
        let (first, last) = (tiles.first()?, tiles.last()?);
        let (end, there) = (last.a + last.len, last.b + last.len);
        let tokens = tiles.iter().map(|tile| tile.len).sum();
        let same = |i: u32| self.entry.same_text((first.a + i) as usize, entry, (first.b + i) as usize);
        Some(SharedPassage {
            asked: self.submission.region(&rulers[0], first.a, end),
            stored: submission.region(&rulers[1], first.b, there),
            tokens,
            exact: [end - first.a, there - first.b] == [tokens; 2] && (0..tokens).all(same),
            is_literal: false,
        })
    }

    /// String literals of both that no passage covers.
    fn said<'a>(
        &'a self,
        submission: &'a Submission,
        entry: &'a MatchEntry,
        rulers: &'a [Vec<Ruler<'a>>; 2],
        tiles: &'a [Tile],
    ) -> impl Iterator<Item = SharedPassage> + 'a {
        let theirs: HashMap<u64, u32> = entry.literals.iter().map(|one| (one.key, one.at)).collect();
        let is_told = |at: u32| tiles.iter().any(|tile| (tile.a..tile.a + tile.len).contains(&at));
        self.entry.literals.iter().filter_map(move |one| {
            let at = *theirs.get(&one.key)?;
            (!is_told(one.at) && !self.is_given(one.at, one.at + 1)).then(|| SharedPassage {
                asked: self.submission.region(&rulers[0], one.at, one.at + 1),
                stored: submission.region(&rulers[1], at, at + 1),
                tokens: one.words,
                exact: true,
                is_literal: true,
            })
        })
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
        let picks = document.postings.iter().map(|posting| posting.key);
        return [ascending(picks), ascending(document.literals.iter().copied())];
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
