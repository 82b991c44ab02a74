//! Decides which rows of a signed corpus are kept if an archive has earlier rows.
//!
//! The rows are decided as if the archive's rows stood before them in one corpus: star clustering, the first row is kept
//! (docs/dedup.md, "Day by day"; as a program tests/oracles/dedup_days.py). A text that the archive has follows the
//! document kept for it. All other texts are clustered after the archive's documents, of which only those that share a
//! key with a new text are read.
//!
//! Cost: that of `job` for the new rows, a lookup per new text and per key, and the archived holders that are looked at.

use crate::archive::{Archive, Found};
use crate::corpus::Corpus;
use crate::job::{ended, DedupOutcome, DedupSettings, Failure, Grouping, Keep, Link, SearchMethod};
use crate::judge::{Measure, ShingleJudge};
use crate::near_prints::near_prints;
use crate::proposing::push_keys;
use crate::ranking::Ranking;
use crate::recalled::Recalled;
use crate::simhash_judge::{score, Nearness, SimhashJudge};
use crate::spill::SpillFolder;
use lookalike_core::clustering::{self, Candidates, Clustering, Giant, Judge, Method, PrintGroups, Proposals, Reach};
use lookalike_core::error::Error;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The row kept for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// A document of the archive, by number.
    Archived(u64),
    /// A new row.
    Row(u32),
}

/// What became of a text.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    kept: Kept,
    score: f32,
    link: Link,
}

impl From<Found> for Verdict {
    fn from(found: Found) -> Self {
        Self { kept: Kept::Archived(found.leader), score: found.score, link: found.link }
    }
}

/// Result of a deduplication after an archive.
#[derive(Clone, Debug, Default)]
pub struct LaterOutcome {
    /// The archived documents that are kept for a row, ascending.
    pub leaders: Vec<u64>,
    /// The outcome for these documents and then the rows: row `r` has the number `leaders.len() + r`.
    pub outcome: DedupOutcome,
    /// The rows whose texts the archive lacks, the first of each text, ascending.
    pub lacking: Vec<u32>,
}

impl LaterOutcome {
    /// The outcome where some leaders are rows themselves: an archive that has a row of an earlier run over the same
    /// corpus. `own` has these rows. They are kept, and rows that follow the leader follow them. Returns the places of
    /// the leaders that are left, in order, and the outcome with these alone before the rows.
    pub fn with_own(&self, own: &[Option<u32>]) -> (Vec<usize>, DedupOutcome) {
        let (before, all) = (self.leaders.len(), &self.outcome);
        let row_of = |place: usize| {
            let at = before + (*own.get(place)?)? as usize;
            let is_it = all.survivor.get(at) == Some(&(place as u32)) && all.link.get(at) == Some(&Link::Identical);
            is_it.then_some(at)
        };
        let own: Vec<Option<usize>> = (0..before).map(row_of).collect();
        let is_left = |place: &usize| own.get(*place).is_none_or(Option::is_none);
        let mut left: Vec<usize> = (0..all.survivor.len()).filter(is_left).collect();
        let mut number = vec![0; all.survivor.len()];
        (0..).zip(&left).for_each(|(new, place)| number[*place] = new);
        let mut link = all.link.clone();
        for (place, at) in own.iter().enumerate().filter_map(|(place, at)| Some((place, (*at)?))) {
            (number[place], link[at]) = (number[at], Link::None);
        }
        let giants = all.giants.iter();
        let outcome = DedupOutcome {
            survivor: left.iter().map(|at| number[all.survivor[*at] as usize]).collect(),
            score: left.iter().map(|at| all.score[*at]).collect(),
            link: left.iter().map(|at| link[*at]).collect(),
            giants: giants.map(|giant| Giant { leader: number[giant.leader as usize], ..giant.clone() }).collect(),
            capped: all.capped.clone(),
            ..*all
        };
        left.truncate(left.partition_point(|place| *place < before));
        (left, outcome)
    }
}

/// Documents that were clustered, and those of the archive before them.
struct Near {
    clustering: Clustering,
    numbers: Vec<u64>,
    unsampled: u64,
}

/// Deduplicates a corpus after an archive. If `stop` becomes true, ends soon after with [`Failure::Stopped`].
///
/// Errors: settings for which days one by one are not all days at once, or something cannot be read.
pub fn decide_after(
    corpus: &Corpus,
    settings: &DedupSettings,
    archive: &impl Archive,
    stop: &AtomicBool,
) -> Result<LaterOutcome, Failure> {
    check(settings)?;
    let mut ranking = Ranking::new(corpus, settings)?;
    let mut verdicts = archived(corpus, &ranking, archive)?;
    ended(None, stop)?;
    let is_lacking = |row: &u32| is_first(corpus, &ranking, *row) && !verdicts.contains_key(row);
    let lacking = (0..corpus.rows.len() as u32).filter(is_lacking).collect();
    let documents = ranking.documents.len() as u64;
    ranking.documents.retain(|row| !verdicts.contains_key(row));
    let near = match settings.search {
        SearchMethod::Identical => None,
        SearchMethod::Simhash(nearness) => {
            Some(by_prints(corpus, settings, nearness, &ranking.documents, archive, stop)?)
        }
        _ => Some(by_keys(corpus, settings, &ranking.documents, archive, stop)?),
    };
    let mut outcome = DedupOutcome { documents, ..DedupOutcome::default() };
    let mut giants = Vec::new();
    if let Some(near) = near {
        giants = join(near, settings, &ranking.documents, &mut verdicts, &mut outcome);
    }
    Ok(LaterOutcome { lacking, ..numbered(&ranking.class, &verdicts, giants, outcome) })
}

/// Errors: a parameter for which an archive cannot be asked.
fn check(settings: &DedupSettings) -> Result<(), Failure> {
    let is_known = matches!(
        settings.search,
        SearchMethod::Identical | SearchMethod::Resemblance { .. } | SearchMethod::Simhash(_)
    );
    let is_limited = settings.limits.is_any()
        || matches!(settings.search, SearchMethod::Simhash(near) if near.length.is_some() || near.same_language);
    let is_first = settings.keep == Keep::First && settings.references.is_none();
    if is_known && is_first && !is_limited && settings.grouping == Grouping::Star {
        return Ok(());
    }
    let reason = "cannot be combined with an archive: use star, keep first, and minhash, exact or simhash".to_owned();
    Err(Failure::Parameter(Error::Parameter { name: "clustering", value: settings.grouping as i64, reason }))
}

/// Whether a row is the first with its text.
fn is_first(corpus: &Corpus, ranking: &Ranking, row: u32) -> bool {
    ranking.class.get(row as usize) == Some(&row) && corpus.rows[row as usize].state.has_text()
}

/// What the archive knows of the texts of the rows, by the first row with each text.
fn archived(
    corpus: &Corpus,
    ranking: &Ranking,
    archive: &impl Archive,
) -> lookalike_table::Result<HashMap<u32, Verdict>> {
    let find = |row: u32| match archive.find(corpus.rows[row as usize].content) {
        Ok(found) => found.map(|found| Ok((row, Verdict::from(found)))),
        Err(error) => Some(Err(error)),
    };
    (0..corpus.rows.len() as u32)
        .into_par_iter()
        .filter(|row| is_first(corpus, ranking, *row))
        .filter_map(find)
        .collect()
}

/// Clusters documents that share keys of the filter.
fn by_keys(
    corpus: &Corpus,
    settings: &DedupSettings,
    documents: &[u32],
    archive: &impl Archive,
    stop: &AtomicBool,
) -> Result<Near, Failure> {
    let folder = SpillFolder::new(&settings.folder, "keys")?;
    let mut sorter = folder.sorter(settings.budget_bytes);
    let unsampled = push_keys(corpus, settings.search, documents, stop, &mut sorter)?;
    let (candidates, numbers) = Candidates::after(sorter.finish()?, documents.len(), Reach::CROWDED, archive)?;
    drop(folder);
    let judge = judge(corpus, settings, documents, stop, Recalled::new(archive, numbers.clone(), corpus.shingling()));
    let clustering = clustered(&candidates, settings.threshold, &judge);
    ended(judge.failure(), stop)?;
    Ok(Near { clustering, numbers, unsampled })
}

/// Clusters documents whose fingerprints are near.
fn by_prints(
    corpus: &Corpus,
    settings: &DedupSettings,
    nearness: Nearness,
    documents: &[u32],
    archive: &impl Archive,
    stop: &AtomicBool,
) -> Result<Near, Failure> {
    let own = crate::job::fingerprints(corpus, documents);
    let new: Vec<u64> = own.iter().flatten().copied().collect();
    let found = near_prints(archive, new, nearness.distance, nearness.is_verified)?;
    let prints: Vec<Option<u64>> = found.prints.iter().copied().map(Some).chain(own).collect();
    let is_stopped = || stop.load(Ordering::Relaxed);
    let groups = PrintGroups::new(&prints, nearness.distance, found.settled, is_stopped)?;
    let recalled = Recalled::new(archive, found.numbers.clone(), corpus.shingling());
    let judge = SimhashJudge::of_prints(nearness, &prints, judge(corpus, settings, documents, stop, recalled));
    let threshold = if nearness.is_verified { settings.threshold } else { score(nearness.distance) };
    let clustering = clustered(&groups, threshold, &judge);
    ended(judge.failure(), stop)?;
    Ok(Near { clustering, numbers: found.numbers, unsampled: 0 })
}

fn judge<'a>(
    corpus: &'a Corpus,
    settings: &DedupSettings,
    documents: &'a [u32],
    stop: &'a AtomicBool,
    recalled: Recalled<'a>,
) -> ShingleJudge<'a> {
    ShingleJudge::new(&corpus.store, documents, Measure::Resemblance, settings.threshold, None, stop).after(recalled)
}

fn clustered(proposals: &impl Proposals, threshold: f64, judge: &impl Judge) -> Clustering {
    clustering::cluster(proposals, threshold, Method::Star, judge)
}

/// Notes what became of clustered documents. Returns the unusually large clusters.
fn join(
    near: Near,
    settings: &DedupSettings,
    documents: &[u32],
    verdicts: &mut HashMap<u32, Verdict>,
    outcome: &mut DedupOutcome,
) -> Vec<(Kept, Giant)> {
    let (found, before, link) = (near.clustering, near.numbers.len(), Link::of(settings.search));
    let kept = |document: u32| match near.numbers.get(document as usize) {
        Some(number) => Kept::Archived(*number),
        None => Kept::Row(documents[document as usize - before]),
    };
    for (document, row) in (before as u32..).zip(documents) {
        let leader = found.leader[document as usize];
        if leader != document {
            verdicts.insert(*row, Verdict { kept: kept(leader), score: found.score[document as usize], link });
        }
    }
    (outcome.capped, outcome.glances, outcome.exacts) = (found.capped, found.glances, found.exacts);
    outcome.unsampled = near.unsampled;
    found.giants.into_iter().map(|giant| (kept(giant.leader), giant)).collect()
}

/// The verdicts of all rows: a row follows the first row with its text, or the row kept for that one.
fn numbered(
    class: &[u32],
    verdicts: &HashMap<u32, Verdict>,
    giants: Vec<(Kept, Giant)>,
    mut outcome: DedupOutcome,
) -> LaterOutcome {
    let archived = |kept: Kept| match kept {
        Kept::Archived(number) => Some(number),
        Kept::Row(_) => None,
    };
    let used = verdicts.values().map(|one| one.kept).chain(giants.iter().map(|(kept, _)| *kept));
    let mut leaders: Vec<u64> = used.filter_map(archived).collect();
    leaders.sort_unstable();
    leaders.dedup();
    let first = leaders.len() as u32;
    let place = |kept: Kept| match kept {
        // Every leader that is used is in the list.
        Kept::Archived(number) => leaders.partition_point(|other| *other < number) as u32,
        Kept::Row(row) => first + row,
    };
    outcome.survivor = (0..first + class.len() as u32).collect();
    outcome.score = vec![1.0; outcome.survivor.len()];
    outcome.link = vec![Link::None; outcome.survivor.len()];
    for (row, of_text) in (0u32..).zip(class) {
        let same = Verdict { kept: Kept::Row(*of_text), score: 1.0, link: Link::Identical };
        let verdict = verdicts.get(of_text).copied().or((row != *of_text).then_some(same));
        if let Some(verdict) = verdict {
            let at = (first + row) as usize;
            outcome.survivor[at] = place(verdict.kept);
            (outcome.score[at], outcome.link[at]) = (verdict.score, verdict.link);
        }
    }
    outcome.giants = giants.into_iter().map(|(kept, giant)| Giant { leader: place(kept), ..giant }).collect();
    LaterOutcome { leaders, outcome, lacking: Vec::new() }
}
