//! Compares submissions: finds pairs that share material, their common passages, and clusters.
//!
//! ```text
//! entries ─▶ one sorted table ─▶ candidates ─▶ runs ─▶ tiles, score ─▶ clusters ─▶ passages of listed pairs
//!           weigh.rs, bits.rs    proposals.rs  align.rs  score.rs      cluster.rs   passages.rs
//! ```
//!
//! The matcher does not depend on the meaning of tokens. The definition is: every two submissions of different
//! submitters, not both old, are aligned by tiles of at least t tokens, and the score is the share of their own material
//! in tiles. Pairs are skipped only where a bound proves that they stand in no list, neither by their score nor by
//! their containment, nor for a strong passage: the halo bound of `proposals.rs`, then the *run bound*, the weight of all common runs of t tokens
//! whether or not they overlap. So the pairs at or above y are the same at every cut-off up to y.
//!
//! A pair whose score reaches the cut-off stands in the main list if it has enough evidence, and else among those of too
//! little to say. If the sides differ enough, and the smaller one is contained in the other to the least share, with
//! enough evidence and surprise, the pair stands in the list of contained pairs, whatever its score. A pair of neither
//! list that has enough evidence and surprise is listed apart if it has a strong passage (`strong.rs`).
//!
//! Submissions with the same content form one class: it is compared once and its pairs are listed afterwards, so n
//! identical submissions cost no n² alignments. The rows of the triangle of pairs are independent and run on all cores.
//! Results are combined in the order of the rows and do not depend on the number of threads.

pub mod align;
pub mod bits;
pub mod classes;
pub mod cluster;
pub mod common;
mod comparison;
pub mod cover;
pub mod entry;
pub mod passages;
pub mod placed_keys;
pub mod proposals;
pub mod score;
mod shared_runs;
pub mod strong;
pub mod template;
pub mod weigh;

use crate::hash::keyed::RunKey;
use align::{Aligner, Index};
use classes::{Classes, Rows};
use cluster::Link;
pub use comparison::{Comparison, MatchOutcome};
use entry::Entry;
use proposals::{Least, Proposals, Scratch};
use rayon::prelude::*;
use score::{is_uneven, Judged, MatchedPair, Measures};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use template::Template;
pub use weigh::Holders;
use weigh::{Frequencies, Weighed};

/// Intervals of the histogram of scores.
pub const BINS: usize = 20;

/// Parameters of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct MatchSettings {
    /// Material that more submitters share has no weight; `None` for no limit.
    pub max_sharing: Option<u32>,
    /// Pairs below this score are counted, not scored.
    pub min_score: f64,
    /// The least containment of pairs in the list of contained ones.
    pub min_contained: f64,
    /// The least evidence of listed pairs, in tokens. Pairs with less are listed apart.
    pub min_evidence: u32,
    /// The least surprise of contained pairs and of pairs listed for a strong passage, in bits.
    pub min_bits: u32,
    /// Pairs with at least this score form clusters.
    pub cluster_threshold: f64,
    /// Most pairs in each list, best first.
    pub max_pairs: usize,
}

/// Lists of pairs: the main one, contained ones, those that share too little to say anything, and those below the cut-off
/// that share a strong passage.
const LISTS: usize = 4;
const MAIN: usize = 0;
const CONTAINED: usize = 1;
const LITTLE: usize = 2;
const SHARED: usize = 3;

/// Submissions with their weights, ready for comparison.
pub struct Cohort {
    entries: Vec<Entry>,
    /// Place of each submission in the order of names.
    places: Vec<u32>,
    classes: Classes,
    frequencies: Frequencies,
    weighed: Arc<[Weighed]>,
    proposals: Proposals,
    least: Least,
    settings: MatchSettings,
}

/// A pair with its score; its passages are not made yet.
#[derive(Clone, Copy, Debug)]
struct Scored {
    link: Link,
    contained: f64,
    strength: Option<u64>,
    stands_for: u64,
}

/// The results of one row.
#[derive(Default)]
struct RowMatches {
    /// By list.
    scored: [Vec<Scored>; LISTS],
    /// Number of pairs in any list.
    listed: u64,
    aligned: u64,
    limited: u64,
}

/// Buffers of a thread.
#[derive(Default)]
struct Buffers {
    aligner: Aligner,
    scratch: Scratch,
}

impl Cohort {
    /// Sorts the table and weighs every submission. Template files are entries too.
    pub fn new(entries: Vec<Entry>, templates: &[Entry], settings: MatchSettings) -> Self {
        Self::among(entries, templates, settings, Holders::default())
    }

    /// The same for a part of all submissions: `outside` says how many submitters of all hold what these hold. Old
    /// submissions that share neither a literal nor t tokens with any new one may then be left out, which changes nothing.
    pub fn among(mut entries: Vec<Entry>, templates: &[Entry], settings: MatchSettings, outside: Holders) -> Self {
        // Runs are looked up by keys that no text can be written for. No answer depends on them.
        let run_key = RunKey::new(RandomState::new().hash_one(0));
        entries.par_iter_mut().for_each(|entry| entry.roll(run_key));
        let frequencies = Frequencies::new(&entries, outside);
        let template = Template::new(templates.iter());
        let marker = template.marker(run_key);
        let by_pick = frequencies.by_pick(&entries);
        let weighed: Vec<Weighed> = entries
            .par_iter()
            .zip(by_pick)
            .zip(bits::measure(&entries))
            .map(|((entry, holders), bits)| {
                let mut weighed = frequencies.weigh(entry, holders, &marker, settings.max_sharing);
                weighed.measure(bits);
                weighed
            })
            .collect();
        let places = places(&entries);
        let classes = Classes::new(&entries, &places);
        let passage = strong::least_worth(&entries);
        let least = Least { score: settings.min_score, contained: settings.min_contained, passage };
        let proposals = Proposals::new(&entries, &frequencies, weighed, &classes, least);
        let weighed = proposals.weighed().clone();
        Self { entries, places, classes, frequencies, weighed, proposals, least, settings }
    }

    /// The submissions.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The place of each submission in the order of names.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The weights of each submission.
    pub fn weighed(&self) -> &[Weighed] {
        &self.weighed
    }

    /// Classes of identical submissions.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Frequencies of picks.
    pub fn frequencies(&self) -> &Frequencies {
        &self.frequencies
    }

    fn judged(&self, left: u32, right: u32) -> Judged<'_> {
        let sides = [left as usize, right as usize];
        Judged {
            entries: sides.map(|i| &self.entries[i]),
            weighed: sides.map(|i| &self.weighed[i]),
            frequencies: &self.frequencies,
        }
    }

    /// Scores the pairs that `row` proposes, and those within its class.
    fn row(&self, row: u32, buffers: &mut Buffers) -> RowMatches {
        let mut found = RowMatches::default();
        if !self.classes.is_first(row) {
            return found;
        }
        self.twins(row, &mut found);
        let mut candidates = Vec::new();
        self.proposals.of(row, &mut buffers.scratch, &mut candidates);
        let mut index = None;
        for other in candidates {
            let shared = self.proposals.shared(row, other, &mut buffers.scratch);
            let is_others = shared.is_mutual && other < row;
            let sides = [row, other].map(|i| &self.weighed[i as usize]);
            if !is_others && self.least.allows(shared.most, sides) {
                let index = index.get_or_insert_with(|| Index::of(&self.entries[row as usize]));
                self.compare(row, other, index, &mut buffers.aligner, &mut found);
            }
        }
        found
    }

    /// Adds the pairs within the class of `row`.
    fn twins(&self, row: u32, found: &mut RowMatches) {
        let rows = self.classes.within(&self.entries, row);
        if rows.pairs.is_empty() {
            return;
        }
        let judged = self.judged(row, row);
        if let Some(measures) = judged.measure(&align::whole(&self.entries[row as usize])) {
            self.keep(&rows, judged.totals(), &measures, found);
        }
    }

    fn compare(&self, row: u32, other: u32, index: &Index, aligner: &mut Aligner, found: &mut RowMatches) {
        let orders = self.classes.between(&self.entries, &self.places, row, other);
        if orders.iter().all(|rows| rows.pairs.is_empty()) {
            return;
        }
        let is_complete = aligner.search(index, &self.entries[other as usize]);
        let judged = self.judged(row, other);
        if is_complete && !self.least.allows(judged.most(aligner.runs()), judged.weighed) {
            return;
        }
        found.aligned += 1;
        for (is_turned, rows) in [false, true].into_iter().zip(&orders) {
            if rows.pairs.is_empty() {
                continue;
            }
            let judged = if is_turned { self.judged(other, row) } else { self.judged(row, other) };
            let alignment = aligner.lay(judged.entries, is_turned);
            found.limited += if alignment.is_limited { rows.stands_for * rows.pairs.len() as u64 } else { 0 };
            if let Some(measures) = judged.measure(&alignment) {
                self.keep(rows, judged.totals(), &measures, found);
            }
        }
    }

    /// Keeps pairs in the lists where they belong.
    fn keep(&self, rows: &Rows, totals: [u64; 2], measures: &Measures, found: &mut RowMatches) {
        let Measures { score, contained, evidence, bits, strength, .. } = *measures;
        let asked = &self.settings;
        let has_score = score > 0.0 && score >= asked.min_score;
        let is_enough = evidence >= u64::from(asked.min_evidence);
        let is_unusual = is_enough && bits >= u64::from(asked.min_bits) * bits::BIT;
        let is_inside = is_unusual && is_uneven(totals) && contained > 0.0 && contained >= asked.min_contained;
        let is_shared = is_unusual && !has_score && !is_inside && strength.is_some();
        let is_in = [has_score && is_enough, is_inside, has_score && !is_enough, is_shared];
        if is_in.contains(&true) {
            found.listed += rows.stands_for * rows.pairs.len() as u64;
        }
        for (list, _) in found.scored.iter_mut().zip(is_in).filter(|(_, is_in)| *is_in) {
            list.extend(rows.pairs.iter().map(|(left, right)| {
                let link = Link { left: *left, right: *right, score };
                Scored { link, contained, strength, stands_for: rows.stands_for }
            }));
        }
    }

    /// Makes the passages of a pair.
    fn pair(&self, scored: &Scored, aligner: &mut Aligner) -> MatchedPair {
        let Link { left, right, .. } = scored.link;
        let judged = self.judged(left, right);
        if self.classes.of(left) == self.classes.of(right) {
            return judged.pair(&scored.link, scored.stands_for, &align::whole(judged.entries[0]), Vec::new());
        }
        let mut alignment = aligner.align(judged.entries);
        let shorter = aligner.shorter(judged.entries, &mut alignment);
        judged.pair(&scored.link, scored.stands_for, &alignment, shorter)
    }
}

/// The place of each submission by rank, then in the order given.
fn places(entries: &[Entry]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|i| (entries[*i].rank, *i));
    let mut places = vec![0; order.len()];
    for (place, i) in order.into_iter().enumerate() {
        places[i] = place as u32;
    }
    places
}

#[cfg(test)]
mod tests;
